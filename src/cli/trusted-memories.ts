import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { notFound } from '../errors.ts'
import { isOfAnotherUser, noFollow, prepareOwnPath, realPath, writePrivate } from '../files/own-files.ts'
import { parseObject } from '../json.ts'

/**
 * A memory directory that this account created or allowed, or a `.credence.json` that it allowed. The records are in the state
 * directory of the account, one file each. A record is valid only for the same real path, owner and id, so that a folder or file
 * that replaces the trusted one is not trusted.
 */
export type TrustedMemory = {
  /** The real path. */
  readonly dir: string
  readonly uid: number
  /** The random content of `state/id` in the memory, or the digest of the file. */
  readonly id: string
  readonly since: string
}

/** Whether a directory looks like a memory. */
export const isMemory = (dir: string): boolean => existsSync(join(dir, 'state')) || existsSync(join(dir, 'MEMORY.md'))

/** The file of a project, which may choose the scopes. */
export const projectFileName = '.credence.json'

export const isProjectFile = (path: string): boolean => basename(path) === projectFileName

const idFile = (dir: string): string => join(dir, 'state', 'id')
const readId = (path: string): string | undefined =>
  isProjectFile(path) ? digestOf(recordTextOf(path) ?? '') : recordTextOf(idFile(path))?.trim()
const recordDir = (state: string): string => join(state, 'trusted')
const recordFile = (state: string, dir: string): string => join(recordDir(state), `${digestOf(dir).slice(0, 32)}.json`)

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** `state`: the state directory of the account. */
export function isTrusted(state: string, dir: string): boolean {
  const real = realPath(dir)
  const record = readRecord(recordFile(state, real))
  return record !== null && record.dir === real && isUnchanged(record)
}

/** Whether the directory or file of a record is still the one that was trusted. */
export function isUnchanged({ dir, uid, id }: TrustedMemory): boolean {
  const stats = statSync(dir, { throwIfNoEntry: false })
  return stats !== undefined && stats.uid === uid && !isOfAnotherUser(stats) && readId(dir) === id
}

/**
 * Records that a memory is trusted. The memory always gets a new id, because others may know an existing one, such as an id
 * in a repository.
 */
export function trustMemory(state: string, dir: string, now: Date): void {
  if (!isMemory(dir)) throw notFound(`There is no memory in ${dir}.`, `\`credence init --dir ${dir}\` creates one.`)
  const real = realPath(dir)
  const id = randomBytes(16).toString('hex')
  // Removed first, because an existing file may be readable by others. After a crash in between, the memory is not trusted.
  rmSync(prepareOwnPath(real, idFile(real)), { force: true })
  writePrivate(idFile(real), `${id}\n`, 'replace')
  writeRecord(state, real, id, now)
}

/** Records that a `.credence.json` is trusted with its present contents. */
export function trustProjectFile(state: string, file: string, now: Date): void {
  if (!existsSync(file)) throw notFound(`There is no file ${file}.`)
  const real = realPath(file)
  writeRecord(state, real, readId(real) ?? '', now)
}

function writeRecord(state: string, dir: string, id: string, now: Date): void {
  const record = { dir, uid: statSync(dir).uid, id, since: now.toISOString() }
  writePrivate(prepareOwnPath(state, recordFile(state, dir)), `${JSON.stringify(record)}\n`, 'replace')
}

/** Removes the record of a memory. Returns whether the memory was trusted. */
export function distrustMemory(state: string, dir: string): boolean {
  const file = recordFile(state, realPath(dir))
  const wasTrusted = existsSync(file)
  rmSync(file, { force: true })
  return wasTrusted
}

export const trustedMemories = (state: string): readonly TrustedMemory[] =>
  (existsSync(recordDir(state)) ? readdirSync(recordDir(state)) : [])
    .flatMap((name) => readRecord(join(recordDir(state), name)) ?? [])
    .sort((a, b) => (a.dir < b.dir ? -1 : 1))

/** Null if the file is unreadable or not a record; the memory is then not trusted. */
function readRecord(file: string): TrustedMemory | null {
  const { dir, uid, id, since } = parseObject(recordTextOf(file) ?? '') ?? {}
  const isWhole = [dir, id, since].every((field) => typeof field === 'string') && typeof uid === 'number' && id !== ''
  // The fields were checked above.
  return isWhole ? ({ dir, uid, id, since } as TrustedMemory) : null
}

function recordTextOf(file: string): string | null {
  try {
    return readFileSync(file, { encoding: 'utf8', flag: noFollow })
  } catch {
    return null
  }
}
