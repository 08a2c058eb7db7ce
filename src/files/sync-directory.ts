import { closeSync, fsyncSync, openSync } from 'node:fs'

/**
 * Makes new names in a directory survive a power cut, before anything else happens in this process. Windows cannot open
 * directories, and journals its names by itself.
 */
export function syncDirectoryNow(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
