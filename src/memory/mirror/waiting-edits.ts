import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import type { Ports } from '../change/transaction.ts'
import { refuseSecret } from '../markdown/refuse-secret.ts'
import { newLine } from './apply.ts'
import { baseFor } from './base-for.ts'
import { MirrorDocument } from './document.ts'
import { readLive } from './live-file.ts'
import { withoutOrphans } from './orphans.ts'
import type { MirrorPlaces } from './places.ts'
import { loadImprints, type MirrorState } from './state.ts'
import { readNew } from './take-in.ts'
import { type Intent, type Reading, weigh } from './weigh.ts'

/** How many edits of the files a sync would take in. */
export type WaitingEdits = { readonly added: number; readonly changed: number; readonly removed: number }

export const nothingWaiting: WaitingEdits = { added: 0, changed: 0, removed: 0 }

/** Weighs the files that somebody edited, and changes nothing. */
export async function waitingEdits(
  { store }: Pick<Ports, 'store'>,
  places: MirrorPlaces,
  { user, key }: MirrorState,
  editedFiles: readonly string[],
): Promise<WaitingEdits> {
  const scales = { store, user, key }
  const live = editedFiles.flatMap((file) => {
    const read = readLive(join(places.dir, file))
    return read.kind === 'read' ? [{ file, text: read.text }] : []
  })
  const items = live.flatMap(({ text }) => new MirrorDocument(text).items())
  const present = new Set(items.flatMap(({ item }) => item.id ?? []))
  const readings: Reading[] = []
  for (const { file, text } of live) {
    const imprints = await loadImprints(places, file)
    const base = baseFor(key, new MirrorDocument(text), imprints)
    const cleared = await withoutOrphans(scales, text, base, (id) => present.has(id))
    readings.push({ file, document: new MirrorDocument(cleared), base, latest: imprints[0] ?? null })
  }
  const { intents, removed } = await weigh(scales, readings)
  const counts = { added: 0, changed: 0, removed: removed.length }
  for (const intent of intents) {
    const change = await changeOf({ store }, user, intent)
    if (change !== null) counts[change] += 1
  }
  return counts
}

async function changeOf(
  ports: Pick<Ports, 'store'>,
  user: string,
  intent: Intent,
): Promise<'added' | 'changed' | null> {
  try {
    if (intent.kind === 'correct' || intent.kind === 'conflict') {
      refuseSecret(intent.fields, intent.kind === 'correct' ? intent.old : intent.current)
      return 'changed'
    }
    if (intent.kind !== 'add') return null
    const { outcome } = await readNew(ports, user, newLine(intent))
    if (outcome === 'known') return null
    return outcome === 'corrected' ? 'changed' : 'added'
  } catch (error) {
    // A line that will be refused.
    if (error instanceof MemoryError && error.code !== 'unavailable') return null
    throw error
  }
}
