import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { MemoryError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { openDatabase } from './database.ts'

/** Copies one state of the store to a new file, checks the copy, and gives it its name only when it is safely there. */
export function backUp(connection: Connection, file: string): void {
  const draft = `${file}.partial`
  removedOnFailure(file, () =>
    removedOnFailure(draft, () => {
      connection.outsideTransaction(() => connection.run('VACUUM INTO ?', [draft]))
      check(draft)
      synchronise(draft)
      renameSync(draft, file)
    }),
  )
  synchronise(dirname(file))
}

/** Creates a file, runs `work`, and removes the file again if that fails. */
function removedOnFailure(file: string, work: () => void): void {
  reserve(file)
  try {
    work()
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

/** Creates an empty file of a new name, so that no file is ever overwritten. */
function reserve(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    if (isTaken)
      throw new MemoryError('conflict', `${file} is there already.`, { hint: 'Name a new file for the backup.' })
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
