import { join } from 'node:path'
import type { Ports } from '../change/transaction.ts'
import { keepWholeSave } from './conflict-file.ts'
import { type LateEdit, withLateEdit, withUnseenLines } from './late-edits.ts'
import { bytesHash, type LiveFile, readLive, signatureAt } from './live-file.ts'
import { beginningOf } from './mirror-files.ts'
import { type MirrorPlaces, mirrorFile } from './places.ts'
import type { Quiet } from './quiet.ts'
import { markText, parseSegments } from './segments.ts'
import { type Held, loadImprints, loadOutside, type MirrorState } from './state.ts'

/** A file that may have changed, as it is and as it is to be read. */
export type Found = {
  readonly name: string
  readonly live: Extract<LiveFile, { kind: 'read' }> | null
  readonly text: string
  readonly isChanged: boolean
}

/** What is known while the files are looked at. */
export type Lookout = {
  readonly ports: Pick<Ports, 'now'>
  readonly places: MirrorPlaces
  readonly state: MirrorState
  readonly quiet: Quiet
  /** Whether an empty file is meant to be empty. */
  readonly acceptsEmpty: boolean
}

export type Looked =
  | { readonly kind: 'found'; readonly found: readonly Found[] }
  /** One of them cannot be relied on: nothing is to be done at all. */
  | { readonly kind: 'held'; readonly held: Pick<Held, 'kind' | 'file' | 'reason'> }

/** Reads every file that may have changed, with what was written to its displaced versions put in. */
export async function lookAtFiles(lookout: Lookout, edits: readonly LateEdit[]): Promise<Looked> {
  const { places, state } = lookout
  const names = [mirrorFile, ...Object.keys(state.files).filter((name) => name !== mirrorFile)]
  const found: Found[] = []
  for (const name of names) {
    const late = edits.filter(({ entry }) => entry.file === name)
    const isUntouched = name !== mirrorFile && state.files[name]?.signature === signatureAt(join(places.dir, name))
    if (isUntouched && late.length === 0) continue
    const live = readLive(join(places.dir, name))
    if (live.kind === 'unreadable') return held({ kind: 'unreadable', file: name, reason: live.reason })
    if (live.kind === 'missing' && name !== mirrorFile) {
      forgetFile(state, name)
      continue
    }
    if (!lookout.acceptsEmpty && live.kind === 'read' && isEmptied(state, name, live.text)) {
      if (await lookout.quiet.isRestless([{ name, signature: live.signature }])) return lookAtFiles(lookout, edits)
      return held({ kind: 'removal', file: name, reason: 'it is empty' })
    }
    found.push(await foundAt(lookout, name, live.kind === 'read' ? live : null, late))
  }
  return { kind: 'found', found }
}

const held = (reason: Pick<Held, 'kind' | 'file' | 'reason'>): Looked => ({ kind: 'held', held: reason })

const isEmptied = ({ files }: MirrorState, name: string, text: string): boolean =>
  text.trim() === '' && (files[name]?.items ?? 0) > 0

async function foundAt(lookout: Lookout, name: string, live: Found['live'], late: readonly LateEdit[]): Promise<Found> {
  const { places, state } = lookout
  const known = state.files[name]
  const isBlank = live === null || (known === undefined && live.text.trim() === '')
  const text = isBlank ? beginningOf(null) : live.text
  const isSame = live !== null && known?.hash === bytesHash(state.key, live.bytes)
  const given = await withLate(lookout, known === undefined ? adopted(text) : text, late)
  const merged =
    isSame && late.length === 0
      ? given
      : withUnseenLines(state.key, given, await loadOutside(places, name), await loadImprints(places, name))
  return { name, live, text: merged, isChanged: !isSame || merged !== text }
}

async function withLate({ ports, places, state }: Lookout, text: string, edits: readonly LateEdit[]) {
  let merged = text
  for (const edit of edits) {
    const { text: next, isTorn } = withLateEdit(state.key, merged, edit)
    merged = next
    if (!isTorn) continue
    const at = ports.now()
    const file = await keepWholeSave(places, at, edit.bytes)
    state.conflicts.push({ at: at.toISOString(), file, beliefs: [] })
  }
  return merged
}

/** A topic file that somebody deleted is written anew: what it held is still remembered. */
function forgetFile(state: MirrorState, name: string): void {
  delete state.files[name]
  state.watermark = 0
}

/** Somebody's own file stays as it is, and what is ours begins behind it. */
function adopted(text: string): string {
  const isOurs = parseSegments(text).some(({ kind }) => kind === 'mark')
  if (isOurs || text.trim() === '') return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = /[\r\n]$/u.test(text) ? eol : eol + eol
  return `${text}${gap}${markText(0)}${eol}`
}
