import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stateDirectory } from '../memory-location.ts'
import type { Machine } from '../session.ts'

/** The last hook that a host ran, its last call of a tool by MCP, and the version it said it has: names and times alone. */
type Seen = {
  readonly hook: { readonly at: string; readonly event: string; readonly outcome: string }
  readonly call: { readonly at: string; readonly tool: string }
  readonly version: { readonly at: string; readonly version: string }
}

const fileOf = (machine: Machine, host: string, kind: keyof Seen): string =>
  join(stateDirectory(machine), 'hosts', `${host}.${kind}.json`)

/** Remembers the last of a kind. It is for `connect --status` only, so failing to write it is no reason to fail. */
export function noteSeen<Kind extends keyof Seen>(machine: Machine, host: string, kind: Kind, seen: Seen[Kind]): void {
  const file = fileOf(machine, host, kind)
  const draft = `${file}.${process.pid}`
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
    writeFileSync(draft, JSON.stringify(seen), { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    // A full or read-only disk.
  }
}

/** The last of a kind; null when there was none. */
export function lastSeen<Kind extends keyof Seen>(machine: Machine, host: string, kind: Kind): Seen[Kind] | null {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(machine, host, kind), 'utf8'))
    const isWhole = value !== null && typeof value === 'object' && 'at' in value && typeof value.at === 'string'
    // Only noteSeen writes these files.
    return isWhole ? (value as Seen[Kind]) : null
  } catch {
    // It has not been seen, or the file was cut off by a crash.
    return null
  }
}
