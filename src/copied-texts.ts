import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Eraser, eraseInFile, type ForgottenTexts, listFilesBelow } from './files/erase-texts.ts'
import { sweepLeftovers } from './files/leftovers.ts'
import type { Forgotten } from './memory/change/erase-copies.ts'
import { storeFile } from './open-memory.ts'
import { forgetInBackup, isStoreFile } from './store/sqlite/care/backup.ts'

/** A place outside the memory directory that may contain copies of texts, and a callback for their erasure. */
export type CopyOptions = {
  /** An eval store outside the memory directory. */
  readonly evalStoreDir?: string | null | undefined
  /** Called after items were forgotten and their copies erased. */
  readonly onErased?: ((forgotten: Forgotten, erased: ErasedCopies) => void) | undefined
}

export type ErasedCopies = {
  /** Files from which a forgotten text was removed. */
  readonly changed: readonly string[]
  /** Files that may still contain a forgotten text, because they could not be changed. */
  readonly unchanged: readonly { readonly file: string; readonly reason: string }[]
}

/**
 * Erases forgotten texts from the rest of a memory directory: captured cases, runs, hook messages, backups, and drafts that
 * killed processes left behind. The store and the mirror erase their own copies. Returns files that cannot be changed, with the
 * reason, instead of throwing, because the texts are already gone from the store.
 */
export async function eraseCopies(
  { dir, evalStoreDir }: { readonly dir: string } & Pick<CopyOptions, 'evalStoreDir'>,
  forgotten: ForgottenTexts & Partial<Forgotten>,
): Promise<ErasedCopies> {
  const changed: string[] = []
  const unchanged: { file: string; reason: string }[] = []
  const attempt = async (file: string, erase: () => Promise<readonly string[]>): Promise<void> => {
    try {
      changed.push(...(await erase()))
    } catch (error) {
      unchanged.push({ file, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  const state = join(dir, 'state')
  const live = storeFile(dir)
  const evals = evalStoreDir ?? join(state, 'evals')
  const { user, actor, origin, at = new Date().toISOString(), turnIds = [], beliefIds } = forgotten
  if (existsSync(evals)) {
    const { eraseFromEvals } = await import('./eval/store/erase.ts')
    const { evalStoreIn } = await import('./eval/store/documents.ts')
    await attempt(evals, async () => eraseFromEvals(evalStoreDir ?? evalStoreIn(dir), forgotten, at))
  }
  await Promise.all([dir, state, join(state, 'hook-queue')].map(sweepLeftovers))
  const eraser = new Eraser(forgotten)
  const isOthers = (folder: string): boolean =>
    ['mirror', 'evals', 'forgetting', 'postgres-cache'].some((name) => folder === join(state, name))
  // Never opens the live database as a file, under any of its names, because closing the file would release SQLite's locks.
  for (const file of listFilesBelow(state, (folder) => !isOthers(folder)))
    if (!file.startsWith(live)) await attempt(file, async () => ((await eraseInFile(file, eraser)) ? [file] : []))
  const isCopy = (file: string): boolean => {
    const { ino, size } = statSync(file)
    return (
      size > 0 &&
      ino !== statSync(live, { throwIfNoEntry: false })?.ino &&
      !/^\.tmp-/u.test(basename(file)) &&
      isStoreFile(file)
    )
  }
  for (const file of listFilesBelow(dir, (folder) => !isOthers(folder)))
    if (!file.startsWith(live) && user !== undefined && actor !== undefined && origin !== undefined && isCopy(file)) {
      const erasure = { user, actor, origin, at, beliefIds, turnIds }
      await attempt(file, async () => ((await forgetInBackup({ file, random: randomBytes }, erasure)) ? [file] : []))
    }
  return { changed, unchanged }
}
