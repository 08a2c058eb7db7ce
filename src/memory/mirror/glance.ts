import { createHmac } from 'node:crypto'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a directory has a mirror. Loads nothing else, so that a memory without one does not pay. */
export const hasMirror = (dir: string): boolean => existsSync(stateFile(dir))

const stateFile = (dir: string): string => join(dir, 'state', 'mirror', 'mirror.json')

type Glimpse = { readonly signature: string; readonly state: string }
const unchanged = new Map<string, Glimpse>()

/**
 * Whether MEMORY.md is not what the mirror last made of it. What is held counts only once it has changed again: it waits
 * for a person, not for the next question. Whatever else is wrong is for a sync to say.
 */
export function isEdited(dir: string): boolean {
  const file = join(dir, 'MEMORY.md')
  try {
    const state = signature(stateFile(dir))
    if (state === null) return false
    const seen = { signature: signature(file) ?? '', state }
    const before = unchanged.get(dir)
    if (before?.signature === seen.signature && before.state === seen.state) return false
    const isNews = differs(file, seen.signature, JSON.parse(readFileSync(stateFile(dir), 'utf8')))
    if (!isNews) unchanged.set(dir, seen)
    return isNews
  } catch {
    return false
  }
}

type Known = {
  readonly key: string
  readonly held: { readonly signature: string } | null
  readonly files: Readonly<Record<string, { readonly hash: string }>>
}

function differs(file: string, seen: string, { key, held, files }: Known): boolean {
  if (held !== null) return held.signature !== seen
  if (seen === '') return true
  const hash = createHmac('sha256', key).update(readFileSync(file)).digest('base64url').slice(0, 22)
  return hash !== files['MEMORY.md']?.hash
}

/** Tells two states of anything at a path apart; null when nothing is there. */
export function signature(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join(':')
}
