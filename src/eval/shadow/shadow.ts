import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { writeAtomically } from '../../files/atomic-write.ts'
import { nullIfMissing, sweepLeftovers } from '../../files/leftovers.ts'
import { checkPlain } from '../../files/own-files.ts'
import type { Memory } from '../../memory/memory.ts'
import { type Context, defaultBudget } from '../../memory/recall/context.ts'
import { renderContext } from '../../memory/recall/render.ts'
import { dayOf, shadowPath, treePath } from '../store/documents.ts'
import { checkArtifact, requireValid } from '../store/parse-artifact.ts'
import { opaqueKey, type ShadowRecord } from '../store/schemas/shadow-record.ts'

/** One live recall. Its texts are hashed and never stored. */
export type Observation = {
  readonly message: string
  readonly context: Context
  /** The max number of beliefs that could have been recalled. */
  readonly limit: number
  /** The conversation; stored as a hash. */
  readonly sessionKey: string | null
  readonly recordedAt: Date
  readonly durationMs: number
}

/** The secret key for a store's hashes, created on first use: without the key, a hash cannot be reversed by guessing texts. */
export async function shadowKey(root: string): Promise<Buffer> {
  const path = join(root, 'shadow.key')
  checkPlain(root, path)
  // If two processes create a key at once, both use the key of the first to finish.
  if (!existsSync(path)) await writeAtomically(path, `${randomBytes(32).toString('hex')}\n`, { existing: 'keep' })
  const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'hex')
  if (key.length >= 32) return key
  throw new Error(`${path} does not hold a key of 32 bytes in hexadecimal.`)
}

/** The record of a recall: ids, counts, lengths, durations, and hashes of texts. */
export function shadowRecordOf(observation: Observation, key: Uint8Array, traceId: string): ShadowRecord {
  const { message, context, limit, sessionKey, recordedAt, durationMs } = observation
  const hash = (purpose: string, text: string): string =>
    `hmac-sha256:${createHmac('sha256', key).update(`${purpose}\0${text}`).digest('hex')}`
  const { pinned, relevant, questions, perhaps, prelude } = context
  const ids = [...pinned, ...[...relevant, ...perhaps].map(({ belief }) => belief), ...questions].map(({ id }) => id)
  const contextChars = renderContext(context).length
  return {
    schemaVersion: 1,
    traceId,
    recordedAt: recordedAt.toISOString(),
    sessionKey: sessionKey === null ? 'none' : hash('session', sessionKey),
    promptHash: hash('text', message),
    promptLength: message.length,
    retrievalQueryHash: hash('text', message),
    retrievalQueryLength: message.length,
    recallMode: 'full',
    recallResultLimit: limit,
    source: ids.length === 0 ? 'none' : 'bm25',
    recalledMemoryCount: ids.length,
    injected: contextChars > 0,
    contextChars,
    // An imported id may be a sentence, so an id that is not one word is hashed.
    memoryIds: ids.map((id) => (opaqueKey.test(id) ? id : hash('id', id))),
    durationMs: Math.round(durationMs * 1000) / 1000,
    pinnedCount: pinned.length,
    relevantCount: relevant.length,
    questionCount: questions.length,
    quoteCount: context.quotes.length,
    preludeChars: prelude?.text.length ?? 0,
  }
}

/** Writes one record atomically but without fsync: a power failure may lose it, but no recall waits for the disk. */
export async function writeShadow(root: string, record: ShadowRecord): Promise<void> {
  const valid = requireValid(checkArtifact('shadow-record', record, `shadow/${record.traceId}.json`), 'shadow-record')
  const path = shadowPath(root, valid.recordedAt, valid.traceId)
  checkPlain(root, path)
  await writeAtomically(path, JSON.stringify(valid), { existing: 'replace', durable: false })
}

export type Retention = {
  /** The number of days before today whose records are kept. */
  readonly days: number
  readonly records: number
}

export const defaultRetention: Retention = { days: 30, records: 100_000 }

const dayName = /^\d{4}-\d{2}-\d{2}$/u
const msPerDay = 86_400_000

/** Removes records that are too old, then the oldest records above the limit. Returns the number removed. */
export async function pruneShadows(root: string, now: Date, retention: Retention = defaultRetention): Promise<number> {
  const tree = treePath(root, 'shadow')
  const days = shadowEntriesOf(tree).filter((entry) => entry.isDirectory() && dayName.test(entry.name))
  const newestFirst = days.map(({ name }) => name).sort((a, b) => (a < b ? 1 : -1))
  const oldest = dayOf(new Date(now.getTime() - retention.days * msPerDay).toISOString())
  let room = retention.records
  let removed = 0
  for (const day of newestFirst) {
    const folder = join(tree, day)
    await sweepLeftovers(folder)
    const entries = shadowEntriesOf(folder).filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    const files = entries.map(({ name }) => join(folder, name))
    const kept = day < oldest ? 0 : Math.min(room, files.length)
    room -= kept
    const surplus = kept === 0 ? files : kept === files.length ? [] : sortByAge(files).slice(kept)
    for (const file of surplus) await rm(file, { force: true })
    removed += surplus.length
    if (kept === 0 && shadowEntriesOf(folder).length === 0) await rm(folder, { recursive: true, force: true })
  }
  return removed
}

const shadowEntriesOf = (directory: string) =>
  nullIfMissing(() => readdirSync(directory, { withFileTypes: true })) ?? []

const sortByAge = (files: readonly string[]): readonly string[] =>
  files
    .map((file) => ({ file, at: lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at || (a.file < b.file ? 1 : -1))
    .map(({ file }) => file)

export type ShadowOptions = {
  readonly root: string
  readonly sessionKey?: string | null
  readonly now: () => Date
  readonly clock: () => number
  /** Called if a record could not be stored. Recall itself never fails because of that. */
  readonly onProblem: (error: unknown) => void
}

/** A recall waits for the queue only if `maxWaiting` records are pending, for at most `maxWaitMs`. Then its record is dropped. */
const maxWaiting = 100
const maxWaitMs = 50

/** Wraps a memory to write a shadow record of every recall. `close` waits until all records are written. */
export function withShadow(memory: Memory, options: ShadowOptions): Memory {
  const { clock, now, sessionKey = null } = options
  const queue = openRecordQueue(options)
  return {
    ...memory,
    recall: async (message, request = {}) => {
      const start = clock()
      const context = await memory.recall(message, request)
      // Recalls with near misses (`why`) and recalls of the past do not count as use of the memory.
      if (request.nearMisses === true || request.asOf !== undefined) return context
      const durationMs = clock() - start
      const limit = request.budget?.maxBeliefs ?? defaultBudget.maxBeliefs
      await queue.add({ message, context, limit, sessionKey, recordedAt: now(), durationMs })
      return context
    },
    close: async () => {
      await queue.drained()
      await memory.close()
    },
  }
}

/** Writes records one after the other. Consecutive dropped records are reported once. */
function openRecordQueue({ root, now, onProblem }: ShadowOptions) {
  let key: Promise<Uint8Array> | null = null
  let tail: Promise<void> = Promise.resolve()
  let waiting = 0
  let isDropping = false

  const write = async (observation: Observation): Promise<void> => {
    key ??= shadowKey(root)
    const traceId = randomBytes(8).toString('hex')
    await writeShadow(root, shadowRecordOf(observation, await key, traceId))
    // Pruning is slower than writing, so only one record in 256 prunes. Random, so that one-shot commands prune too.
    if (traceId.startsWith('00')) await pruneShadows(root, now())
  }

  return {
    add: async (observation: Observation): Promise<void> => {
      if (waiting >= maxWaiting) await Promise.race([tail, setTimeout(maxWaitMs, undefined, { ref: false })])
      if (waiting >= maxWaiting) {
        if (!isDropping) onProblem(new Error('The disk is too slow for shadow records; some are dropped.'))
        isDropping = true
        return
      }
      isDropping = false
      waiting += 1
      tail = tail
        .then(() => write(observation))
        .catch(onProblem)
        .then(() => {
          waiting -= 1
        })
    },
    drained: (): Promise<void> => tail,
  }
}
