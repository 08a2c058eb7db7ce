import { createReadStream } from 'node:fs'
import { Unzip, UnzipInflate, UnzipPassThrough } from 'fflate'

/** A piece of a file in an archive. `read` is how many bytes of the archive have been read. */
type ZipPiece = { readonly name: string; readonly bytes: Buffer; readonly read: number }

/** An archive that unpacks to more than this many times its size is refused. Texts are packed to a fifth or a tenth. */
const maxRatio = 100
/** Archives of any ratio are read up to this size. */
const minRefusedBytes = 16 * 1024 * 1024

/**
 * The files of an archive whose names are wanted, piece by piece and in their order. Throws if the archive is damaged, or
 * unpacks to so much that reading it would take all memory or time.
 */
export async function* zipEntries(file: string, isWanted: (name: string) => boolean): AsyncGenerator<ZipPiece> {
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
