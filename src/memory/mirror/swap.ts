import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MemoryError } from '../../errors.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { codeOf, leftoverName } from '../../files/leftovers.ts'
import { bytesHash, decode, signatureOf } from './live-file.ts'
import type { MirrorPlaces } from './places.ts'
import { parseSegments, renderSegments } from './segments.ts'

/**
 * A file that we took out of its place. Whoever had it open may still be writing to it, and whoever saved it between
 * our reading and our writing did so here: it is looked at again before it goes.
 */
export type Displaced = {
  readonly name: string
  /** The file it was. */
  readonly file: string
  readonly at: number
  /** What of it had been taken into account when it was displaced. */
  readonly seen: Seen
  /** Whether what replaced it is in place. */
  readonly isDone: boolean
}

/** What has been read of a file, without its text. */
export type Seen = {
  readonly hash: string
  readonly bytes: number
  /** Everything but the items. */
  readonly skeleton: string
  readonly lines: readonly string[]
}

/** Nobody who opened a file before it was displaced should need longer to write to it. */
export const settleMs = 60

export function seenOf(key: string, bytes: Uint8Array): Seen {
  const text = decode(bytes) ?? ''
  return {
    hash: bytesHash(key, bytes),
    bytes: bytes.length,
    skeleton: skeletonOf(key, text),
    lines: linesSeen(key, text),
  }
}

/** Stands for all that is not ours in a text. */
export const skeletonOf = (key: string, text: string): string =>
  bytesHash(key, Buffer.from(renderSegments(parseSegments(text).filter(({ kind }) => kind === 'text'))))

export const linesSeen = (key: string, text: string): readonly string[] =>
  text.split(/\r\n|\n|\r/u).map((line) => lineHash(key, line))

export const lineHash = (key: string, line: string): string =>
  hash('sha256', `${key} ${line}`, 'base64url').slice(0, 11)

/** Endings of the records, before and after the replacement is in place. */
const pending = '.pending.json'
const done = '.done.json'

type Swap = {
  readonly key: string
  readonly file: string
  /** What was read; null when there was nothing. */
  readonly expected: Buffer | null
  /** The new version, on the disk already, and how long it is. */
  readonly draft: string
  readonly bytes: number
  readonly now: () => Date
}

/** Where the new version of a file is written, beside the old one. */
export const draftName = ({ dir }: MirrorPlaces, file: string): string => join(dir, leftoverName('tmp', file))

/** Returns when the bytes are on the disk. Several at once take hardly longer than one. */
export async function writeDraft(
  draft: string,
  { content, mode }: { readonly content: string; readonly mode: number },
): Promise<void> {
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    if (mode !== 0o600) fchmodSync(descriptor, mode)
    await toDisk(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const toDisk = promisify(fsync)

/**
 * Puts a new version of a file in its place and loses nothing of the old one. The old file is moved aside by name, so
 * whatever stands there at that instant is kept; the new one is linked in only where nothing stands, so whatever was
 * put there meanwhile is moved aside too. A rename over the old file would be shorter and would lose what an editor
 * saved a moment before. Between the two steps the file is missing, for as long as one system call takes. All of it is
 * done without giving way to anything else in this process: that keeps the moment short, and is quicker. The new name
 * survives a power cut once the directory is synced, which is left to the caller.
 */
export function swapIn(
  places: MirrorPlaces,
  { key, file, expected, draft, bytes, now }: Swap,
): { readonly signature: string } {
  const path = join(places.dir, file)
  let seen = seenOf(key, expected ?? Buffer.alloc(0))
  for (let attempt = 0; ; attempt += 1) {
    const aside = prepare(places, { file, seen, now })
    const isAside = moveAside(path, aside)
    const isInPlace = putInPlace(draft, path)
    if (isAside) renameSync(`${aside}${pending}`, `${aside}${done}`)
    else rmSync(`${aside}${pending}`, { force: true })
    if (isInPlace) return { signature: ownSignature(path, bytes) }
    if (attempt >= 20) throw busy(path)
    // Made from nothing in between: all of it is new.
    seen = seenOf(key, Buffer.alloc(0))
  }
}

const busy = (path: string): MemoryError =>
  new MemoryError('unavailable', `${path} is created again and again by another program.`, {
    hint: 'Stop the other program.',
  })

/** How the file just put in place can be told from what others make of it; empty when somebody already has. */
function ownSignature(path: string, bytes: number): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats?.isFile() && stats.size === BigInt(bytes) ? signatureOf(stats) : ''
}

/** Writes down what is about to be displaced before it is, so that a crash in between loses nothing. */
function prepare(
  { displaced }: MirrorPlaces,
  { file, seen, now }: Pick<Swap, 'file' | 'now'> & { readonly seen: Seen },
): string {
  const name = leftoverName('replaced', file).slice('.replaced-'.length)
  const record = { name, file, at: now().getTime(), seen }
  writeFileSync(join(displaced, name + pending), JSON.stringify(record), { flag: 'wx', mode: 0o600 })
  return join(displaced, name)
}

function moveAside(path: string, aside: string): boolean {
  try {
    renameSync(path, aside)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** False when something stands there. */
function putInPlace(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path)
    rmSync(temporary)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error) ?? '')) throw error
    return copyInPlace(temporary, path)
  }
}

/** For file systems without hard links. */
function copyInPlace(temporary: string, path: string): boolean {
  try {
    copyFileSync(temporary, path, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Everything that was displaced and not looked at for the last time, oldest first. */
export function displacedFiles({ displaced }: MirrorPlaces): readonly Displaced[] {
  const found: Displaced[] = []
  for (const name of namesIn(displaced).filter((one) => one.endsWith('.json') && !one.startsWith('.'))) {
    try {
      const record = JSON.parse(readFileSync(join(displaced, name), 'utf8'))
      found.push({ ...record, isDone: name.endsWith(done) })
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' && !(error instanceof SyntaxError)) throw error
    }
  }
  return found.sort((one, other) => one.at - other.at)
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Null when it never got so far as to be displaced. */
export function displacedBytes({ displaced }: MirrorPlaces, { name }: Displaced): Buffer | null {
  try {
    return readFileSync(join(displaced, name))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

export function removeDisplaced({ displaced }: MirrorPlaces, { name }: Displaced): void {
  for (const ending of ['', pending, done]) rmSync(join(displaced, name + ending), { force: true })
}

export async function updateDisplaced({ displaced }: MirrorPlaces, { isDone, ...record }: Displaced): Promise<void> {
  const path = join(displaced, record.name + (isDone ? done : pending))
  await writeAtomically(path, JSON.stringify(record), { existing: 'replace', durable: false })
}

/** Brings back a file whose replacement never came because the process died between the two steps. */
export function restoreMissing({ dir, displaced }: MirrorPlaces, { name, file }: Displaced): void {
  try {
    linkSync(join(displaced, name), join(dir, file))
    rmSync(join(displaced, name))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') throw error
  }
}
