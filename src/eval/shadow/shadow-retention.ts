import type { Stats } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, sweepLeftovers } from '../../files/leftovers.ts'
import { dayOf, treePath } from '../store/layout.ts'

export type Retention = {
  /** Days before today that are kept. */
  readonly days: number
  readonly records: number
}

export const defaultRetention: Retention = { days: 30, records: 100_000 }

const dayName = /^\d{4}-\d{2}-\d{2}$/u
const msPerDay = 86_400_000

/** Removes records that are too old, and then the oldest ones beyond the number to keep. Says how many. */
export async function pruneShadows(root: string, now: Date, retention: Retention = defaultRetention): Promise<number> {
  const tree = treePath(root, 'shadow')
  const days = (await entriesOf(tree)).filter((entry) => entry.isDirectory() && dayName.test(entry.name))
  const oldest = dayOf(new Date(now.getTime() - retention.days * msPerDay).toISOString())
  let room = retention.records
  let removed = 0
  for (const day of days
    .map(({ name }) => name)
    .sort()
    .reverse()) {
    const folder = join(tree, day)
    await sweepLeftovers(folder)
    const names = (await entriesOf(folder)).filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    const files = names.map(({ name }) => join(folder, name))
    const kept = day < oldest ? 0 : Math.min(room, files.length)
    room -= kept
    const surplus = kept === 0 ? files : (await newestFirst(files, kept)).slice(kept)
    for (const file of surplus) await rm(file, { force: true })
    removed += surplus.length
    if (kept === 0) await removeIfEmpty(folder)
  }
  return removed
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Only looked at when some have to go: it asks the disk about every file. */
async function newestFirst(files: readonly string[], kept: number): Promise<readonly string[]> {
  if (files.length <= kept) return files
  const dated: { readonly file: string; readonly at: number }[] = []
  for (const file of files) dated.push({ file, at: (await statsOf(file))?.mtimeMs ?? 0 })
  return dated.sort((one, other) => other.at - one.at || (one.file < other.file ? 1 : -1)).map(({ file }) => file)
}

async function statsOf(file: string): Promise<Stats | null> {
  try {
    return await lstat(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  if ((await entriesOf(folder)).length === 0) await rm(folder, { recursive: true, force: true })
}
