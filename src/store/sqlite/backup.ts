import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { MemoryError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { openDatabase } from './database.ts'

/**
 * Copies one state of the store to a new file. The copy is checked and on the disk before it gets its name, so that a
 * backup that was interrupted never looks like a finished one.
 */
export function backUp(connection: Connection, file: string): void {
  const draft = `${file}.partial`
  create(draft)
  try {
    if (existsSync(file)) throw alreadyThere(file)
    connection.outsideTransaction(() => connection.run('VACUUM INTO ?', [draft]))
    check(draft)
    synchronise(draft)
    // Other backups of this name have failed to create the draft, so only another program could be overwritten.
    if (existsSync(file)) throw alreadyThere(file)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  synchronise(dirname(file))
}

/** Creates an empty file that only the user may read, into which SQLite writes. */
function create(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw alreadyThere(file)
    throw new MemoryError('unavailable', `The backup ${file} cannot be created.`, {
      hint: 'Check that its directory exists and may be written to.',
      cause: error,
    })
  }
}

function check(file: string): void {
  const db = openDatabase({ file, readonly: true })
  try {
    const result = db.pragma('integrity_check(1)', { simple: true })
    if (result !== 'ok')
      throw new MemoryError('unavailable', `The backup came out damaged: ${result}.`, { hint: 'Check the disk.' })
  } finally {
    db.close()
  }
}

function synchronise(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const alreadyThere = (file: string): MemoryError =>
  new MemoryError('conflict', `${file} is there already.`, { hint: 'Name a new file for the backup.' })
