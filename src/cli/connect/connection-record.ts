import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import type { Machine } from '../session.ts'

/** What a file said before Credence changed it, and how it was left: the way back. */
export type ConnectionRecord = {
  readonly path: string
  /** Null when there was no file. */
  readonly before: string | null
  /** Hash of what was written. */
  readonly after: string
}

const directoryOf = ({ env, home }: Machine): string => {
  const given = env.XDG_STATE_HOME
  const state = given !== undefined && isAbsolute(given) ? given : join(home, '.local', 'state')
  return join(state, 'credence', 'connections')
}

const recordFile = (machine: Machine, path: string): string =>
  join(directoryOf(machine), `${hashOf(path).slice(0, 32)}.json`)

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export function readRecord(machine: Machine, path: string): ConnectionRecord | null {
  const file = recordFile(machine, path)
  if (!existsSync(file)) return null
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return isRecord(value) && value.path === path ? value : null
}

export const writeRecord = async (machine: Machine, record: ConnectionRecord): Promise<void> => {
  await writeAtomically(recordFile(machine, record.path), asJson(record), { existing: 'replace' })
}

export const dropRecord = (machine: Machine, path: string): void => rmSync(recordFile(machine, path), { force: true })

const isRecord = (value: unknown): value is ConnectionRecord =>
  value !== null &&
  typeof value === 'object' &&
  'path' in value &&
  typeof value.path === 'string' &&
  'after' in value &&
  typeof value.after === 'string' &&
  'before' in value &&
  (value.before === null || typeof value.before === 'string')
