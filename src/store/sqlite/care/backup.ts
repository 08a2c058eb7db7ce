import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { BeliefChange, Commit } from '../../../beliefs/journal.ts'
import { MemoryError } from '../../../errors.ts'
import { codeOf, leftoverName, sweepLeftovers } from '../../../files/leftovers.ts'
import { makeDirectory } from '../../../files/make-directory.ts'
import { syncDirectoryNow } from '../../../files/write-files.ts'
import { toHex } from '../../journal-chain.ts'
import { Connection } from '../connection.ts'
import { defaultBusyTimeoutMs, firstValue, openDatabase, sqliteCode, translateSqliteError } from '../database.ts'
import { applicationId, schemaState } from '../migrations/migrate.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../sqlite-store.ts'
import { storeSuffixes } from '../store-file.ts'
import { removeHead, setHead } from './journal-head.ts'
import { verifyBackup } from './verify.ts'

/**
 * Copies a consistent snapshot of the store to a new file. The copy is written under a temporary name, and gets its final name after a
 * check of every page and event, so that an interrupted backup never looks like a finished one.
 */
export async function backUp(connection: Connection, file: string): Promise<void> {
  const directory = dirname(file)
  await sweepLeftovers(directory)
  const draft = join(directory, leftoverName('tmp', basename(file)))
  try {
    if (existsSync(file)) throw alreadyThere(file)
    createDraft(draft, file)
    copyInto(connection, draft, file)
    verifyCopy(draft)
    synchronise(draft)
    publishDraft(draft, file)
    syncDirectoryNow(directory)
  } finally {
    removeStore(draft)
  }
}

/** Copies the store into the draft. If SQLite reports a full disk, it is the target's, because no other disk is written to. */
function copyInto(connection: Connection, draft: string, file: string): void {
  try {
    connection.outsideTransaction(() => {
      // Lifted for the copy, which writes only to a different file.
      connection.run('PRAGMA query_only = 0')
      connection.run('VACUUM INTO ?', [draft])
      if (connection.isReadonly) connection.run('PRAGMA query_only = 1')
    })
  } catch (error) {
    if (!(error instanceof MemoryError) || sqliteCode(error.cause) !== 'SQLITE_FULL') throw error
    throw new MemoryError('unavailable', `There is not enough room for the backup ${file}.`, {
      hint: 'Free some space on its disk, or name a file on another one.',
      cause: error,
    })
  }
}

/** Creates an empty file that only the user may read, into which SQLite writes. */
function createDraft(draft: string, file: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600))
  } catch (error) {
    throw new MemoryError('unavailable', `The backup ${file} cannot be created.`, {
      hint: 'Check that its directory exists and may be written to.',
      cause: error,
    })
  }
}

function verifyCopy(file: string): void {
  const open = () => openDatabase({ file, readonly: true })
  const connection = new Connection({ file, isReadonly: true, busyTimeoutMs: defaultBusyTimeoutMs, open })
  try {
    const broken = verifyBackup(connection).find(({ ok }) => !ok)
    if (broken !== undefined)
      throw new MemoryError('unavailable', `The copy is damaged: ${broken.detail}.`, {
        hint: 'Check the disk and the store with `credence doctor`.',
      })
  } finally {
    connection.close()
  }
}

/** Gives the draft its final name, unless that file exists by now. On file systems without hard links, checks whether it exists and then renames the draft. */
function publishDraft(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || existsSync(file)) throw alreadyThere(file)
    renameSync(draft, file)
  }
}

const alreadyThere = (file: string): MemoryError =>
  new MemoryError('conflict', `${file} already exists.`, { hint: 'Name a new file for the backup.' })

function synchronise(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function removeStore(file: string): void {
  for (const suffix of storeSuffixes) rmSync(file + suffix, { force: true })
}

/** The contents of a backup or a store. */
export type StoreContents = {
  readonly beliefs: number
  readonly turns: number
  /** Number and hash of the newest event in the journal; `newestChange` is its time. */
  readonly head: { readonly number: number; readonly hash: string }
  readonly newestChange: string | null
}

export type RestoreOptions = Omit<SqliteStoreOptions, 'readonly'> & {
  /** The path of the backup. */
  readonly from: string
  readonly onStage?: (stage: 'copy' | 'check' | 'replace') => void
  /** Called before the store is replaced, with the contents of the backup and of the replaced store. */
  readonly confirm: (backup: StoreContents, replaced: StoreContents | 'damaged' | null) => Promise<boolean>
  /** Changes the checked copy before the copy replaces a store. Called only if that store can be read. */
  readonly adapt?: (copy: SqliteStore, replaced: SqliteStore) => Promise<void>
}

export type Restored = StoreContents & {
  /** The new name of a damaged store; null if there was no store, or if it was sound and has been replaced. */
  readonly setAside: string | null
}

/**
 * Replaces the store with a backup. The backup is copied, migrated and checked under a temporary name; one rename replaces the store, so a
 * killed process leaves either the old store or the new one. Returns null if `confirm` returned false.
 */
export async function restoreStore({
  from,
  confirm,
  onStage,
  adapt,
  ...options
}: RestoreOptions): Promise<Restored | null> {
  const { file } = options
  const directory = dirname(file)
  requireBackup(from, file)
  makeDirectory(directory)
  await sweepLeftovers(directory)
  const draft = join(directory, leftoverName('tmp', basename(file)))
  try {
    onStage?.('copy')
    copyFileSync(from, draft, constants.COPYFILE_EXCL)
    chmodSync(draft, 0o600)
    onStage?.('check')
    let contents = await prepareCopy({ ...options, file: draft }, from)
    const old = await readContentsAt(options)
    if (!(await confirm(contents, old))) return null
    if (adapt !== undefined && old !== null && old !== 'damaged') {
      await adaptCopy(adapt, options, draft)
      contents = readContents(draft) as StoreContents
    }
    synchronise(draft)
    onStage?.('replace')
    // The head of the old journal would contradict the new journal.
    removeHead(file)
    const setAside = old === 'damaged' ? replaceDamaged(file, draft) : null
    if (setAside === null) replaceSound(file, draft)
    setHead(file, contents.head)
    return { ...contents, setAside }
  } finally {
    removeStore(draft)
  }
}

async function adaptCopy(adapt: NonNullable<RestoreOptions['adapt']>, options: SqliteStoreOptions, draft: string) {
  const copy = openSqliteStore({ ...options, file: draft })
  const replaced = openSqliteStore(options)
  try {
    await adapt(copy, replaced)
    await copy.scrub()
  } finally {
    await Promise.all([copy.close(), replaced.close()])
  }
}

function requireBackup(from: string, file: string): void {
  const found = statSync(from, { throwIfNoEntry: false })
  if (found === undefined)
    throw new MemoryError('not_found', `There is no file ${from}.`, {
      hint: 'Name a file that `credence backup` has written.',
    })
  const store = statSync(file, { throwIfNoEntry: false })
  if (store !== undefined && store.ino === found.ino && store.dev === found.dev)
    throw new MemoryError('invalid', `${from} is the store itself.`, {
      hint: 'Name a file that `credence backup` has written.',
    })
  if (!found.isFile() || found.size === 0) throw notABackup(from, found.isFile() ? 'it is empty' : 'it is not a file')
  // A copy of the file would lack the changes that are only in the log.
  if (existsSync(`${from}-wal`)) throw notABackup(from, 'it is a store in use, with a write-ahead log next to it')
}

const notABackup = (from: string, problem: string, cause?: unknown): MemoryError =>
  new MemoryError('invalid', `${from} is not a backup: ${problem}. Nothing was changed.`, {
    hint: 'Name a file that `credence backup` has written.',
    cause,
  })

/** Checks the copy, brings its schema and index up to date, and leaves one file without a log. */
async function prepareCopy(options: SqliteStoreOptions, from: string): Promise<StoreContents> {
  const { file } = options
  try {
    if (readContents(file) === null)
      throw new MemoryError('invalid', 'it is a database without a memory', { hint: 'Name another file.' })
    await openSqliteStore(options).close()
    verifyCopy(file)
    return readContents(file) as StoreContents
  } catch (error) {
    const known = translateSqliteError(error, from)
    if (!(known instanceof MemoryError)) throw error
    throw notABackup(from, known.message.replaceAll(file, from).replace(/\.$/u, ''), error)
  }
}

/** The contents of the store that is to be replaced; null if there is none. */
async function readContentsAt({ file }: SqliteStoreOptions): Promise<StoreContents | 'damaged' | null> {
  if (!existsSync(file)) return null
  try {
    return readContents(file)
  } catch (error) {
    const cause = error instanceof MemoryError ? error.cause : error
    if (/^SQLITE_(?:CORRUPT|NOTADB|ERROR)/u.test(sqliteCode(cause) ?? '')) return 'damaged'
    if (error instanceof MemoryError && error.code === 'invalid') return 'damaged'
    throw error
  }
}

/** Reads the contents of a store; null for an empty database. */
function readContents(file: string): StoreContents | null {
  const db = new DatabaseSync(file, { timeout: defaultBusyTimeoutMs })
  try {
    if (schemaState(db, file) === 'new') return null
    const count = (sql: string): number => Number(firstValue(db, sql))
    const head = db.prepare('SELECT number, hash, at FROM events ORDER BY number DESC LIMIT 1').get() as
      | { readonly number: number; readonly hash: Uint8Array; readonly at: string }
      | undefined
    const hasTurns = count(`SELECT count(*) FROM sqlite_schema WHERE name = 'turn_texts'`) > 0
    return {
      beliefs: count('SELECT count(*) FROM beliefs WHERE current = 1'),
      turns: hasTurns ? count('SELECT count(*) FROM turn_texts') : 0,
      head: { number: head?.number ?? 0, hash: toHex(head?.hash ?? new Uint8Array(32)) },
      newestChange: head?.at ?? null,
    }
  } finally {
    db.close()
  }
}

/**
 * Replaces a store that can be opened, or creates one. No other process may have it open, because its log must be merged and removed:
 * SQLite would apply a remaining log to the new file. The lock is held until the new file has its name. A process that waited for the lock
 * then gets SQLite's error that its file was moved.
 */
function replaceSound(file: string, draft: string): void {
  const db = existsSync(file) ? new DatabaseSync(file, { timeout: inUseTimeoutMs }) : null
  try {
    if (db !== null && firstValue(db, 'PRAGMA journal_mode = delete') !== 'delete') throw inUse(file)
    db?.exec('BEGIN EXCLUSIVE')
    renameSync(draft, file)
    syncDirectoryNow(dirname(file))
  } catch (error) {
    throw sqliteCode(error)?.startsWith('SQLITE_BUSY') ? inUse(file, error) : translateSqliteError(error, file)
  } finally {
    db?.close()
  }
}

const inUseTimeoutMs = 2_000

const inUse = (file: string, cause?: unknown): MemoryError =>
  new MemoryError('unavailable', `The store ${file} is in use by another process. Nothing was changed.`, {
    hint: 'Stop `credence serve`, `credence mcp` and the agents that use the memory, and try again.',
    cause,
  })

/**
 * Replaces a damaged store. The store is kept, with its log, under a different name. No process may have it open. If the file system
 * supports hard links, a file has the store's name at every moment, even during the replacement.
 */
function replaceDamaged(file: string, draft: string): string {
  const aside = `${file}.corrupt-${new Date().toISOString().replace(/[:.]/g, '-')}`
  try {
    linkSync(file, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw error
    renameSync(file, aside)
  }
  for (const suffix of ['-wal', '-shm', '-journal'].filter((suffix) => existsSync(file + suffix)))
    renameSync(file + suffix, aside + suffix)
  renameSync(draft, file)
  syncDirectoryNow(dirname(file))
  return aside
}

/** Whether a file is a store or a backup of one, by its first bytes. This process must not have it open. */
export function isStoreFile(file: string): boolean {
  const start = Buffer.alloc(100)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, start, 0, start.length, 0)
  } finally {
    closeSync(descriptor)
  }
  return start.toString('latin1', 0, 16) === 'SQLite format 3\0' && start.readInt32BE(68) === applicationId
}

export type CopyErasure = Pick<Commit, 'user' | 'actor' | 'origin' | 'at'> & {
  readonly beliefIds: readonly string[]
  readonly turnIds: readonly string[]
}

/** Forgets beliefs and turns in a backup too. Returns whether the backup contained any of them. */
export async function forgetInBackup(
  options: SqliteStoreOptions,
  { beliefIds, turnIds, user, actor, origin, at }: CopyErasure,
): Promise<boolean> {
  const store = openSqliteStore(options)
  try {
    const changes: BeliefChange[] = []
    for (const beliefId of beliefIds) {
      const newest = (await store.history(user, beliefId)).at(-1)
      if (newest && newest.outcome !== 'erased')
        changes.push({ beliefId, expectedVersion: newest.version, outcome: 'erased', after: null })
    }
    const forgottenTurns: string[] = []
    for (const id of turnIds) if ((await store.getTurn(user, id)) !== null) forgottenTurns.push(id)
    if (changes.length + forgottenTurns.length === 0) return false
    const event = { user, kind: 'forget', actor, origin, at, key: null, undoes: null } as const
    await store.commit({ ...event, changes, forgottenTurns })
    await store.scrub()
    return true
  } finally {
    await store.close()
  }
}
