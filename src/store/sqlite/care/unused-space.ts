import { closeSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { MemoryError } from '../../../errors.ts'
import { codeOf } from '../../../files/leftovers.ts'

/**
 * Overwrites with zeros the space between the cell pointers and the cells of B-tree pages. SQLite zeroes what it deletes,
 * but not the copies of cells that it left in that space when it moved the cells to another page. `pages` are page numbers;
 * null stands for every page. The log must be empty, and the caller must hold the write lock: then no process writes to the
 * file, and readers do not look at this space. On a power cut a sector has its old or its new bytes, and the cells are the
 * same in both. Says whether there was something to overwrite. https://sqlite.org/fileformat2.html#b_tree_pages
 */
export function clearUnusedSpace(file: string, pages: ReadonlySet<number> | null): boolean {
  try {
    return clear(file, pages)
  } catch (cause) {
    if (cause instanceof MemoryError || codeOf(cause) === undefined) throw cause
    throw new MemoryError('unavailable', `The disk failed to overwrite what was forgotten in ${file}.`, {
      hint: 'No command returns the text any more. Check the disk, and run `credence doctor --rebuild`.',
      cause,
    })
  }
}

function clear(file: string, pages: ReadonlySet<number> | null): boolean {
  const descriptor = descriptorOf(file, 'r+')
  const header = Buffer.alloc(100)
  readSync(descriptor, header, 0, header.length, 0)
  const size = header.readUInt16BE(16) === 1 ? 2 ** 16 : header.readUInt16BE(16)
  const layout = { descriptor, size, usable: size - header.readUInt8(20) }
  const count = Math.floor(fstatSync(descriptor).size / size)
  // In a larger file a page that continues a long row could begin with the byte that marks a B-tree page.
  if (count >= 2 ** 25)
    throw new MemoryError('unavailable', `${file} has ${count} pages, too many to overwrite unused space in place.`, {
      hint: 'No command returns the forgotten text any more. Make the store again with `credence backup` and `credence restore`.',
    })
  let hasWritten = false
  const bytes = Buffer.allocUnsafe((pages === null ? pagesAtOnce : 1) * size)
  for (const { first, length } of pages === null ? everyPage(count) : singlePages(pages, count))
    if (clearPages(layout, first, bytes.subarray(0, length * size))) hasWritten = true
  if (hasWritten) fsyncSync(descriptor)
  return hasWritten
}

type Run = { readonly first: number; readonly length: number }

const pagesAtOnce = 256

const everyPage = (count: number): readonly Run[] =>
  Array.from({ length: Math.ceil(count / pagesAtOnce) }, (_, index) => {
    const first = 1 + index * pagesAtOnce
    return { first, length: Math.min(pagesAtOnce, count + 1 - first) }
  })

const singlePages = (pages: ReadonlySet<number>, count: number): readonly Run[] =>
  [...pages].filter((first) => first >= 1 && first <= count).map((first) => ({ first, length: 1 }))

type Layout = { readonly descriptor: number; readonly size: number; readonly usable: number }

/** Reads as many pages as fit into `bytes`. Whether something was overwritten. */
function clearPages({ descriptor, size, usable }: Layout, first: number, bytes: Buffer): boolean {
  readSync(descriptor, bytes, 0, bytes.length, (first - 1) * size)
  let hasWritten = false
  for (let index = 0; index * size < bytes.length; index += 1) {
    const number = first + index
    const page = bytes.subarray(index * size, (index + 1) * size)
    const { from, until } = unusedSpace(page, number === 1 ? 100 : 0, usable)
    const text = afterPointers(page, from, until)
    if (text >= until || page.compare(zeros, 0, until - text, text, until) === 0) continue
    writeSync(descriptor, zeros, 0, until - from, (number - 1) * size + from)
    hasWritten = true
  }
  return hasWritten
}

const zeros = Buffer.alloc(2 ** 16)
const interiorPages = new Set([2, 5])
const leafPages = new Set([10, 13])

function unusedSpace(page: Buffer, header: number, usable: number) {
  const kind = page.readUInt8(header)
  const isInterior = interiorPages.has(kind)
  const cells = page.readUInt16BE(header + 5) || 2 ** 16
  if ((!isInterior && !leafPages.has(kind)) || cells > usable) return { from: 0, until: 0 }
  return { from: header + (isInterior ? 12 : 8) + 2 * page.readUInt16BE(header + 3), until: cells }
}

/**
 * The end of the pointers of deleted cells at the beginning of the unused space. Nearly every deletion leaves one there, and
 * none of the text: of each pointer the first byte is less than 32, the first printable character.
 */
function afterPointers(page: Buffer, from: number, until: number): number {
  let at = from
  while (at + 2 <= until && page.readUInt16BE(at) > 0 && page.readUInt16BE(at) < 2 ** 13) at += 2
  return at
}

/** Whether SQLite may only read the file, since it takes it for one of a newer version. No setting of SQLite shows this. */
export function forbidsWriting(file: string): boolean {
  const header = Buffer.alloc(100)
  readSync(descriptorOf(file, 'r'), header, 0, header.length, 0)
  return header.readUInt8(18) > newestFormat
}

/** The format of a file with a write-ahead log. */
const newestFormat = 2

/** By mode, device and inode. */
const descriptors = new Map<string, number>()

/**
 * A descriptor of a database file. It stays open as long as the file exists: closing it would drop
 * every lock that this process holds on the file, also those of connections in other threads.
 */
function descriptorOf(file: string, mode: 'r' | 'r+'): number {
  const { dev, ino } = statSync(file)
  const key = `${mode} ${dev} ${ino}`
  for (const [other, descriptor] of descriptors) {
    if (other === key || fstatSync(descriptor).nlink > 0) continue
    closeSync(descriptor)
    descriptors.delete(other)
  }
  const descriptor = descriptors.get(key) ?? openSync(file, mode)
  descriptors.set(key, descriptor)
  return descriptor
}

/**
 * Follows the pages that a connection writes, so that only their unused space has to be cleared. To be asked after each
 * write of the connection. Reads the headers of the frames in the log: https://sqlite.org/fileformat2.html#walformat
 */
export class WrittenPages {
  readonly #log: string
  readonly #pages = new Set<number>()
  #salts = 0n
  #end = 0
  #isKnown = true

  constructor(file: string) {
    this.#log = `${file}-wal`
  }

  /** The pages written since `restart`; null when they are not known. */
  get pages(): ReadonlySet<number> | null {
    return this.#isKnown ? this.#pages : null
  }

  /** After every page has been cleared. */
  restart(): void {
    this.#pages.clear()
    this.#isKnown = true
  }

  /** After another process wrote to the store. */
  giveUp(): void {
    this.#isKnown = false
  }

  follow(): void {
    if (!this.#isKnown) return
    try {
      const log = openSync(this.#log, 'r')
      try {
        this.#isKnown = this.#readFrames(log)
      } finally {
        // SQLite locks the database file and its shared memory, not the log.
        closeSync(log)
      }
    } catch (error) {
      if (codeOf(error) === undefined) throw error
      this.#isKnown = false
    }
  }

  #readFrames(log: number): boolean {
    const header = Buffer.alloc(logHeader)
    if (readSync(log, header, 0, logHeader, 0) < logHeader) return false
    const salts = header.readBigUInt64BE(16)
    // Other salts: the log was begun again.
    let at = salts === this.#salts ? this.#end : logHeader
    const frame = Buffer.alloc(frameHeader)
    const pageSize = header.readUInt32BE(8)
    while (readSync(log, frame, 0, frameHeader, at) === frameHeader && frame.readBigUInt64BE(8) === salts) {
      this.#pages.add(frame.readUInt32BE(0))
      at += frameHeader + pageSize
    }
    if (salts !== this.#salts && at === logHeader) return false
    this.#salts = salts
    this.#end = at
    return this.#pages.size <= mostPages
  }
}

const logHeader = 32
const frameHeader = 24
const mostPages = 100_000
