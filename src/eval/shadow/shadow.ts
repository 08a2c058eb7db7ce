import { createHmac, randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { writeAtomically } from '../../files/atomic-write.ts'
import { codeOf, leftoverName, sweepLeftovers } from '../../files/leftovers.ts'
import type { Context } from '../../memory/recall/context.ts'
import { renderContext } from '../../memory/recall/render.ts'
import { dayOf, shadowPath, treePath } from '../store/layout.ts'
import { checkArtifact, required } from '../store/parse-artifact.ts'
import { opaqueKey, type recallSources, type ShadowRecord } from '../store/schemas/shadow-record.ts'

/** One live recall, as the place where it happened saw it. Its texts go no further than the record's hashes. */
export type Observation = {
  readonly message: string
  /** The text that was really searched for, when it is not the message. */
  readonly query?: string
  readonly context: Context
  /** Most beliefs that could have been recalled. */
  readonly limit: number
  readonly source: (typeof recallSources)[number]
  /** Tells recalls of one conversation from those of another; kept as a hash. */
  readonly sessionKey: string | null
  readonly recordedAt: Date
  readonly durationMs: number
}

/**
 * The secret that the hashes of a store are keyed with, made on first use. Without it nobody can find out by trying
 * which text a hash came from; each store has its own, so records of two stores cannot be joined.
 */
export async function shadowKey(root: string): Promise<Buffer> {
  const path = join(root, keyFile)
  const existing = await readKey(path)
  if (existing !== null) return existing
  // Of two processes that make one at once, the first to finish decides for both.
  await writeAtomically(path, `${randomBytes(32).toString('hex')}\n`, { existing: 'keep' })
  const made = await readKey(path)
  if (made === null) throw new Error(`${path} vanished while it was being made.`)
  return made
}

const keyFile = 'shadow.key'

async function readKey(path: string): Promise<Buffer | null> {
  try {
    const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'hex')
    if (key.length >= 32) return key
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  throw new Error(`${path} does not hold a key of 32 bytes in hexadecimal.`)
}

/** What is kept of a recall: ids, counts, lengths, durations, and hashes of texts. */
export function shadowRecordOf(observation: Observation, key: Uint8Array, traceId: string): ShadowRecord {
  const { message, query = message, context, limit, source, sessionKey, recordedAt, durationMs } = observation
  const hash = (purpose: string, text: string): string =>
    `hmac-sha256:${createHmac('sha256', key).update(`${purpose}\0${text}`).digest('hex')}`
  const ids = [...context.pinned, ...context.relevant.map(({ belief }) => belief), ...context.questions].map(
    ({ id }) => id,
  )
  const contextChars = renderContext(context).length
  return {
    schemaVersion: 1,
    traceId,
    recordedAt: recordedAt.toISOString(),
    sessionKey: sessionKey === null ? 'none' : hash('session', sessionKey),
    promptHash: hash('text', message),
    promptLength: message.length,
    retrievalQueryHash: hash('text', query),
    retrievalQueryLength: query.length,
    recallMode: 'full',
    recallResultLimit: limit,
    source: ids.length === 0 ? 'none' : source,
    recalledMemoryCount: ids.length,
    injected: contextChars > 0,
    contextChars,
    // An id that somebody imported may be a sentence.
    memoryIds: ids.map((id) => (opaqueKey.test(id) ? id : hash('id', id))),
    durationMs: Math.round(durationMs * 1000) / 1000,
    pinnedCount: context.pinned.length,
    relevantCount: context.relevant.length,
    questionCount: context.questions.length,
    preludeChars: context.prelude?.text.length ?? 0,
  }
}

/**
 * Keeps one record. It is whole or not there, but it may be lost in a power cut: nobody should wait for a disk because
 * of it.
 */
export async function writeShadow(root: string, record: ShadowRecord): Promise<void> {
  const valid = required(checkArtifact('shadow-record', record, `shadow/${record.traceId}.json`), 'shadow-record')
  const path = shadowPath(root, valid.recordedAt, valid.traceId)
  const temporary = join(dirname(path), leftoverName('tmp', basename(path)))
  const write = (): Promise<void> => writeFile(temporary, JSON.stringify(valid), { flag: 'wx', mode: 0o600 })
  try {
    await write()
  } catch (error) {
    // The first record of a day makes its folder; the others need not ask.
    if (codeOf(error) !== 'ENOENT') throw error
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await write()
  }
  await rename(temporary, path)
}

export const newTraceId = (): string => randomBytes(8).toString('hex')

export type Retention = {
  /** Days before today that are kept. */
  readonly days: number
  readonly records: number
}

export const defaultRetention: Retention = { days: 30, records: 100_000 }

const dayName = /^\d{4}-\d{2}-\d{2}$/u
const msPerDay = 86_400_000

/** Removes records that are too old, and then the oldest ones beyond the number to keep. Says how many. */
export async function pruneShadows(root: string, now: Date, retention: Retention = defaultRetention): Promise<number> {
  const tree = treePath(root, 'shadow')
  const days = (await entriesOf(tree)).filter((entry) => entry.isDirectory() && dayName.test(entry.name))
  const oldest = dayOf(new Date(now.getTime() - retention.days * msPerDay).toISOString())
  let room = retention.records
  let removed = 0
  for (const day of days
    .map(({ name }) => name)
    .sort()
    .reverse()) {
    const folder = join(tree, day)
    await sweepLeftovers(folder)
    const names = (await entriesOf(folder)).filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    const files = names.map(({ name }) => join(folder, name))
    const kept = day < oldest ? 0 : Math.min(room, files.length)
    room -= kept
    const surplus = kept === 0 ? files : (await newestFirst(files, kept)).slice(kept)
    for (const file of surplus) await rm(file, { force: true })
    removed += surplus.length
    if (kept === 0) await removeIfEmpty(folder)
  }
  return removed
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Only looked at when some have to go: it asks the disk about every file. */
async function newestFirst(files: readonly string[], kept: number): Promise<readonly string[]> {
  if (files.length <= kept) return files
  const dated: { readonly file: string; readonly at: number }[] = []
  for (const file of files) dated.push({ file, at: (await statsOf(file))?.mtimeMs ?? 0 })
  return dated.sort((one, other) => other.at - one.at || (one.file < other.file ? 1 : -1)).map(({ file }) => file)
}

async function statsOf(file: string): Promise<Stats | null> {
  try {
    return await lstat(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  if ((await entriesOf(folder)).length === 0) await rm(folder, { recursive: true, force: true })
}
