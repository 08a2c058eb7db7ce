import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Belief } from '../../beliefs/belief.ts'
import type { Commit } from '../../beliefs/journal.ts'
import { syncDirectory } from '../../files/atomic-write.ts'
import type { ForgottenTexts } from '../../files/erase-texts.ts'
import { codeOf, isRunning, leftoverName } from '../../files/leftovers.ts'
import { checkOwn, prepareOwnPath } from '../../files/own-files.ts'
import { forEachInSlices } from '../../search/slices.ts'
import type { Store } from '../ports.ts'

/** The texts that one change forgot, and the author of the change. */
export type Forgotten = ForgottenTexts &
  Pick<Commit, 'user' | 'actor' | 'origin' | 'at'> & { readonly turnIds: readonly string[] }

/**
 * Wraps the `commit` of a store to pass every forgotten text to `erase`, so that copies outside the store are erased too. The
 * texts are read before the commit and kept in a file until the copies are erased. If the process is killed in between, `finish`
 * in a later process erases the copies.
 */
export function eraseCopiesOnCommit(
  store: Store,
  { dir, folder }: { readonly dir: string; readonly folder: string },
  erase: (forgotten: Forgotten) => Promise<void>,
) {
  const commit: Store['commit'] = async (wanted) => {
    const forgotten = await readTexts(store, wanted)
    if (forgotten === null) return store.commit(wanted)
    await finish()
    const note = join(folder, leftoverName('tmp', 'forgotten.json'))
    try {
      await writeNote(prepareOwnPath(dir, note), JSON.stringify(forgotten)).catch(ignoreFullDisk)
      const result = await store.commit(wanted)
      if (result.outcome === 'committed') await erase(forgotten)
      return result
    } finally {
      rmSync(note, { force: true })
    }
  }
  /** Erases the copies that killed processes left behind. Returns false if there is nothing to erase. */
  const finish = async (): Promise<boolean> => {
    checkOwn(dir, folder)
    const abandoned = existsSync(folder) ? listAbandoned(folder) : []
    for (const name of abandoned) {
      const forgotten: Forgotten | null = readNote(join(folder, name))
      if (forgotten !== null && (await isErased(store, forgotten))) await erase(forgotten)
      rmSync(join(folder, name), { force: true })
    }
    return abandoned.length > 0
  }
  return { commit, finish }
}

/** Writes a note of the forgotten texts directly under its final name. An incomplete note does no harm: nothing was forgotten at that point. */
async function writeNote(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true })
  await syncDirectory(dirname(path))
}

/** A full disk must not prevent forgetting. */
function ignoreFullDisk(error: unknown): void {
  if (codeOf(error) !== 'ENOSPC') throw error
}

const listAbandoned = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => {
    const pid = /^\.tmp-(\d+)-/u.exec(name)?.[1]
    return pid === undefined || !isRunning(Number(pid))
  })

/** Null for an incomplete note: the process was killed before it forgot anything. */
function readNote(file: string): Forgotten | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

async function isErased(store: Store, { user, beliefIds, turnIds }: Forgotten): Promise<boolean> {
  for (const id of beliefIds) if ((await store.history(user, id)).some(({ belief }) => belief !== null)) return false
  for (const id of turnIds) if ((await store.getTurn(user, id)) !== null) return false
  return true
}

/** Every text that a commit will erase, in all versions; null if it erases nothing. */
async function readTexts(store: Store, { changes, forgottenTurns = [], ...commit }: Commit): Promise<Forgotten | null> {
  const { user, actor, origin, at } = commit
  const beliefIds = changes.filter(({ outcome }) => outcome === 'erased').map(({ beliefId }) => beliefId)
  if (beliefIds.length + forgottenTurns.length === 0) return null
  const versions: Belief[] = []
  for (const id of beliefIds) for (const { belief } of await store.history(user, id)) if (belief) versions.push(belief)
  const said = new Set(versions.flatMap(({ content, why }) => [content, why]))
  await forEachInSlices(forgottenTurns, async (id) => void said.add((await store.getTurn(user, id))?.text ?? ''))
  const names = new Set(versions.flatMap(({ name, aliases }) => [name, ...aliases]))
  const isText = (text: string): boolean => text.trim() !== ''
  return {
    user,
    actor,
    origin,
    at,
    beliefIds,
    turnIds: forgottenTurns,
    said: [...said].filter(isText),
    names: [...names].filter(isText),
  }
}
