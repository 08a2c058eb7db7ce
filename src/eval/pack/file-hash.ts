import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The hash of the content of a file, or of all files in a folder. */
export function fileHashOf(path: string): string {
  const hash = createHash('sha256')
  const add = (path: string): void => {
    if (!statSync(path).isDirectory()) for (const { chunk } of readChunks(path)) hash.update(chunk)
    else for (const name of readdirSync(path).sort()) add(join(path, name))
  }
  add(path)
  return `sha256:${hash.digest('hex')}`
}

/** The chunks of a file, and its size. Each chunk is valid only until the next is read. */
export function* readChunks(file: string): Generator<{ readonly chunk: Buffer; readonly size: number }> {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(1 << 20)
    const { size } = fstatSync(descriptor)
    for (let length = readSync(descriptor, buffer); length > 0; length = readSync(descriptor, buffer))
      yield { chunk: buffer.subarray(0, length), size }
  } finally {
    closeSync(descriptor)
  }
}
