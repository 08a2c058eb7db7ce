import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { z } from 'zod'
import { invalid, type MemoryError } from '../../../errors.ts'
import { JsonObjects } from '../../../files/json-objects.ts'
import { readChunks } from '../../pack/file-hash.ts'
import { parseJsonAs } from '../../pack/manifest.ts'
import type { ReadProgress } from './suite.ts'

/** Streams the objects of JSON Lines or of one JSON array, because files may have several hundred megabytes. */
export function* readObjects<Shape extends z.ZodType>(
  file: string,
  shape: Shape,
  onProgress?: ReadProgress,
): Generator<z.infer<Shape>> {
  const megabytes = (bytes: number): number => Math.round(bytes / 1e6)
  let number = 0
  for (const { text, end, size } of objectTexts(file)) {
    number += 1
    onProgress?.(`MB of ${basename(file)} read`, megabytes(end), megabytes(size))
    yield parseJsonAs(`${file}: object ${number}`, text, shape, asPublished)
  }
  if (number === 0) throw unpublishedFile(`${file}: contains no objects.`)
}

/** Reads a file with one JSON value. */
export const readValue = <Shape extends z.ZodType>(file: string, shape: Shape): z.infer<Shape> =>
  parseJsonAs(file, readBytes(file).toString('utf8'), shape, asPublished)

/** The file itself, or the only file in a folder with a matching name. `example` is a matching name, shown in the error message. */
export function fileIn(path: string, name: RegExp, example: string): string {
  if (!existsSync(path)) throw invalid(`${path}: no such file or directory.`, 'Give the path of the data with --data.')
  if (statSync(path).isFile()) return path
  const fitting = readdirSync(path).filter((file) => name.test(file))
  if (fitting.length === 1) return join(path, fitting[0] as string)
  const there = fitting.length === 0 ? 'no file' : `several files (${fitting.join(', ')})`
  throw invalid(`${path}: ${there} such as ${example} in this folder.`, 'Give the path of one file with --data.')
}

const asPublished =
  'Give the file as it was published; docs/conversations.md says where. docs/evaluation.md describes the files of a life.'

/** An error for a file that differs from the published format. */
export const unpublishedFile = (message: string): MemoryError => invalid(message, asPublished)

function readBytes(file: string): Buffer {
  const bytes = readFileSync(file)
  if (!file.endsWith('.gz')) return bytes
  try {
    return gunzipSync(bytes)
  } catch (cause) {
    throw invalid(`${file}: cannot be unpacked (${(cause as Error).message}).`, 'Download the file again.')
  }
}

/** Yields each object at the top level or in a top-level array: its text, the byte offset of its end, and the size of the data. */
function* objectTexts(file: string): Generator<{ readonly text: string; readonly end: number; readonly size: number }> {
  const objects = new JsonObjects()
  const unpacked = file.endsWith('.gz') ? readBytes(file) : null
  for (const { chunk, size } of unpacked === null ? readChunks(file) : [{ chunk: unpacked, size: unpacked.length }])
    for (const { text, end } of objects.take(chunk)) if (text !== null) yield { text, end, size }
  const { unfinished } = objects
  if (unfinished !== null)
    throw invalid(
      `${basename(file)}: ends in the middle of ${unfinished.part === 'object' ? 'an object' : 'the array'}.`,
      'The file is cut off. Download it again.',
    )
}
