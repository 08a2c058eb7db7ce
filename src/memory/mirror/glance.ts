import { createHmac } from 'node:crypto'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a directory has a mirror. Loads nothing else, so that a memory without one does not pay. */
export const hasMirror = (dir: string): boolean => existsSync(stateFile(dir))

const stateFile = (dir: string): string => join(dir, 'state', 'mirror', 'mirror.json')

type Glimpse = { readonly signature: string; readonly state: string }
const unchanged = new Map<string, Glimpse>()

/** Whether MEMORY.md is not what the mirror last made of it. Whatever is wrong with either is for the sync to say. */
export function isEdited(dir: string): boolean {
  const file = join(dir, 'MEMORY.md')
  try {
    const state = signature(stateFile(dir))
    if (state === null) return false
    const seen = { signature: signature(file) ?? '', state }
    const before = unchanged.get(dir)
    if (before?.signature === seen.signature && before.state === seen.state) return false
    const { key, held, files } = JSON.parse(readFileSync(stateFile(dir), 'utf8'))
    // What is held waits for a person, not for the next question.
    if (held !== null) return false
    const hash = createHmac('sha256', key).update(readFileSync(file)).digest('base64url').slice(0, 22)
    if (hash !== files['MEMORY.md']?.hash) return true
    unchanged.set(dir, seen)
    return false
  } catch {
    return false
  }
}

function signature(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join(':')
}
