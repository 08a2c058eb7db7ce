import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { tracing } from './tracer.ts'

type Change = { readonly at: number; readonly bytes: Buffer } | { readonly length: number }
type Content = { durable: Buffer; unsynced: Change[] }
type Naming = { readonly directory: string; readonly apply: (names: Map<string, Content>) => void }

const calls = 'openat,write,pwrite64,ftruncate,rename,unlink,link,fsync,fdatasync'

/** A tracer that runs a program and records every file change with its bytes, for `ReplayedDisk`. */
export const recordingChanges = (record: string): readonly string[] => [
  ...tracing(calls, record),
  '-xx',
  '-s',
  String(2 ** 22),
]

/** The lines of a record. A call that another thread interrupted is recorded in two halves; it takes effect at the second. */
function* wholeCalls(record: string): Generator<string> {
  const begun = new Map<string, string>()
  for (const line of record.split('\n')) {
    const thread = line.slice(0, line.indexOf(' '))
    const end = line.indexOf(' <unfinished ...>')
    const resumed = / <\.\.\. \w+ resumed>/u.exec(line)
    if (end >= 0) begun.set(thread, line.slice(0, end))
    else if (resumed === null) yield line
    else yield (begun.get(thread) ?? '') + line.slice(resumed.index + resumed[0].length)
  }
}

/**
 * The files below a directory, replayed from a recorded program call by call. Bytes are durable once their file was synced, names once
 * their directory was; a power cut may lose everything else.
 */
export class ReplayedDisk {
  readonly #root: string
  /** The names as the program sees them, and the names that are durable on the disk. */
  readonly #names = new Map<string, Content>()
  readonly #durableNames = new Map<string, Content>()
  #unsyncedNames: Naming[] = []
  readonly #directories = new Set<string>()
  readonly #positions = new Map<string, number>()

  /** The directory must be empty when the program starts. */
  constructor(root: string) {
    this.#root = root
  }

  /** Replays a record, with one step for every changing call and every printed line. */
  *replay(record: string): Generator<{ readonly printed: string | null }> {
    for (const line of wholeCalls(readFileSync(record, 'latin1'))) {
      const call = /^\d+ +(\w+)\((.*)\) += (\d+)(<.*>)?$/u.exec(line)
      if (call === null) continue
      const [, name = '', values = '', result, opened] = call
      const texts = [...values.matchAll(/"((?:\\x[0-9a-f]{2})*)"/gu)].map((match) => unhex(match[1] as string))
      const descriptor = /^(\d+)<([^>]*)>/u.exec(values)
      if (name === 'write' && descriptor?.[1] === '1') {
        for (const printed of String(texts[0]).trimEnd().split('\n')) yield { printed }
      } else if (this.#apply({ name, values, texts, descriptor, result: Number(result), opened }))
        yield { printed: null }
    }
  }

  /** Writes the files to a directory as a power cut may leave them: `keeps` returns the share of an unsynced change that survives. */
  writeTo(target: string, keeps: () => number): void {
    const names = new Map(this.#durableNames)
    for (const { apply } of this.#unsyncedNames) if (keeps() > 0) apply(names)
    const contents = new Map<Content, Buffer>()
    for (const [path, content] of names) {
      const bytes = contents.get(content) ?? after(content, keeps)
      contents.set(content, bytes)
      const copy = join(target, relative(this.#root, path))
      mkdirSync(dirname(copy), { recursive: true })
      writeFileSync(copy, bytes)
    }
  }

  /** False for a call that changes nothing below the directory. */
  #apply({ name, values, texts, descriptor, result, opened }: Call): boolean {
    const [first = '', second = ''] = texts.map(String)
    const path = String(unhex(opened?.slice(1, -1) ?? descriptor?.[2] ?? '')) || first
    const isDirectory = path === this.#root || this.#directories.has(path)
    if (name.endsWith('sync') && isDirectory) return this.#syncNames(path)
    if (!path.startsWith(`${this.#root}/`) || path.endsWith('-shm')) return false
    if (name === 'openat') {
      if (!/O_(?:WRONLY|RDWR)/u.test(values)) return false
      this.#positions.set(String(result), 0)
      if (!this.#names.has(path)) this.#setName(path, { durable: Buffer.alloc(0), unsynced: [] })
      if (values.includes('O_TRUNC')) this.#content(path).unsynced.push({ length: 0 })
    } else if (name === 'rename' || name === 'link') {
      const content = this.#content(first)
      this.#setName(second, content)
      if (name === 'rename') this.#setName(first, null)
    } else if (name === 'unlink') this.#setName(path, null)
    // A power cut loses a file without a name, so its changes are not recorded.
    else if (!this.#names.has(path)) return false
    else if (name.endsWith('sync')) sync(this.#content(path))
    else if (name === 'ftruncate') this.#content(path).unsynced.push({ length: lastNumber(values) })
    else {
      const position = this.#positions.get(descriptor?.[1] ?? '') ?? 0
      const at = name === 'pwrite64' ? lastNumber(values) : position
      if (name === 'write') this.#positions.set(descriptor?.[1] ?? '', position + result)
      this.#content(path).unsynced.push({ at, bytes: (texts[0] as Buffer).subarray(0, result) })
    }
    return true
  }

  #content(path: string): Content {
    const content = this.#names.get(path)
    if (content === undefined) throw new Error(`${path} was never created.`)
    return content
  }

  #setName(path: string, content: Content | null): void {
    const apply = (names: Map<string, Content>): void => {
      if (content === null) names.delete(path)
      else names.set(path, content)
    }
    apply(this.#names)
    this.#directories.add(dirname(path))
    this.#unsyncedNames.push({ directory: dirname(path), apply })
  }

  #syncNames(directory: string): boolean {
    for (const naming of this.#unsyncedNames) if (naming.directory === directory) naming.apply(this.#durableNames)
    this.#unsyncedNames = this.#unsyncedNames.filter((naming) => naming.directory !== directory)
    return true
  }
}

type Call = {
  readonly name: string
  readonly values: string
  readonly texts: readonly Buffer[]
  /** The file descriptor of the call, and its path. */
  readonly descriptor: RegExpExecArray | null
  readonly result: number
  readonly opened: string | undefined
}

const unhex = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex')
const lastNumber = (values: string): number => Number(values.slice(values.lastIndexOf(', ') + 2))

function sync(content: Content): void {
  content.durable = after(content, () => 1)
  content.unsynced = []
}

/** The bytes of a file if only this share of each unsynced change was written. */
const after = ({ durable, unsynced }: Content, share: () => number): Buffer =>
  unsynced.reduce<Buffer>((bytes, change) => changed(bytes, change, share()), durable)

/** Sector size: a disk writes each sector completely or not at all. */
const sector = 512

/** The bytes of a file if the disk wrote only this share of a change, rounded down to whole sectors. */
function changed(bytes: Buffer, change: Change, share: number): Buffer {
  if (share === 0) return bytes
  if ('length' in change) {
    return Buffer.concat([bytes.subarray(0, change.length)], change.length)
  }
  const part =
    share === 1 ? change.bytes : change.bytes.subarray(0, Math.floor((share * change.bytes.length) / sector) * sector)
  const result = Buffer.concat([bytes], Math.max(bytes.length, change.at + part.length))
  part.copy(result, change.at)
  return result
}
