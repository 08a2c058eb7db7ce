import { createReadStream } from 'node:fs'
import { Unzip, UnzipInflate, UnzipPassThrough } from 'fflate'

/** A piece of a file in an archive. `read` is the number of archive bytes read so far. */
type ZipPiece = { readonly name: string; readonly bytes: Buffer; readonly read: number }

/** Max ratio of unpacked to packed size; an archive above it is rejected. Text usually compresses 5 to 10 times. */
const maxRatio = 100
/** Min unpacked bytes before the ratio is checked. */
const minRefusedBytes = 16 * 1024 * 1024

/**
 * Yields the pieces of the files with wanted names, in the order of the archive. Throws if the archive is damaged, or unpacks to so much
 * text that reading it would exhaust memory or time.
 */
export async function* readZipEntries(file: string, isWanted: (name: string) => boolean): AsyncGenerator<ZipPiece> {
  let pieces: { name: string; bytes: Buffer }[] = []
  let damage: Error | null = null
  let isOpen = false
  let read = 0
  let unpacked = 0
  const archive = new Unzip((entry) => {
    if (!isWanted(entry.name)) return
    isOpen = true
    entry.ondata = (error, bytes, isLast) => {
      if (error !== null) damage ??= error
      else pieces.push({ name: entry.name, bytes: Buffer.from(bytes) })
      unpacked += bytes?.length ?? 0
      if (unpacked > minRefusedBytes && unpacked > maxRatio * read)
        damage ??= new Error(`it unpacks to more than ${maxRatio} times its size`)
      if (isLast) isOpen = false
    }
    entry.start()
  })
  archive.register(UnzipInflate)
  archive.register(UnzipPassThrough)
  for await (const chunk of createReadStream(file)) {
    read += chunk.length
    archive.push(chunk)
    if (damage !== null) throw damage
    for (const piece of pieces) yield { ...piece, read }
    pieces = []
  }
  archive.push(new Uint8Array(0), true)
  if (damage !== null) throw damage
  for (const piece of pieces) yield { ...piece, read }
  if (isOpen) throw new Error('the archive is cut off')
}
