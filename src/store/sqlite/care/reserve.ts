import { randomFillSync } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import type { Connection } from '../connection.ts'
import { freeBytes, reserveBytes, reserveOf, sizeOf } from '../store-file.ts'

/**
 * Keeps a file beside the store whose only purpose is its space: a deletion needs room for its log, so on a full disk
 * nothing could be forgotten. Does nothing when the file is there, or the disk is nearly full.
 */
export function keepReserve(file: string): void {
  if (sizeOf(reserveOf(file)) === reserveBytes || freeBytes(file) < 2 * reserveBytes) return
  try {
    // Random, so that no file system compresses it.
    writeFileSync(reserveOf(file), randomFillSync(Buffer.allocUnsafe(reserveBytes)), { mode: 0o600 })
  } catch {
    // A directory that may not be written to is no reason not to open the store.
  }
}

/** Before something is forgotten: on a disk that is nearly full the reserve and the log make room. */
export function releaseReserve(connection: Connection): void {
  if (freeBytes(connection.file) >= reserveBytes) return
  rmSync(reserveOf(connection.file), { force: true })
  connection.emptyLog()
}
