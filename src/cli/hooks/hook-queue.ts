import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TurnRole } from '../../beliefs/turn.ts'
import { codeOf } from '../../files/leftovers.ts'
import { checkOwn, prepareOwnPath, writePrivate } from '../../files/own-files.ts'

/** A queued message of a hook, with secrets masked. */
export type QueuedTurn = {
  readonly role: TurnRole
  /** Null if the text must be read from the transcript: its last answer before `at` and, if `after` is given, after that time. */
  readonly text: string | null
  readonly at: string
  readonly after?: string
  readonly host: string
  readonly session: string | null
  readonly user: string
  /** `scopes` are active in its directory; its turns and beliefs go to `homeScopes`. */
  readonly scopes: readonly string[]
  readonly homeScopes: readonly string[]
  /** The file of the host's transcript, in which the message has an id. */
  readonly transcript: string | null
  readonly directory?: string | null
}

export const queueIn = (dir: string): string => join(dir, 'state', 'hook-queue')
const failedIn = (dir: string): string => join(queueIn(dir), 'failed')

let lastQueuedMs = 0

/** Adds a message to the queue: a private file, written under a temporary name and renamed when it is complete. */
export function enqueue(dir: string, turn: QueuedTurn): void {
  // Always increases, so that two messages of one hook keep their order.
  lastQueuedMs = Math.max(Date.now(), lastQueuedMs + 1)
  const name = `${lastQueuedMs}-${process.pid}-${randomBytes(4).toString('hex')}.json`
  const draft = prepareOwnPath(dir, join(queueIn(dir), `.${name}`))
  writeFileSync(draft, JSON.stringify(turn), { mode: 0o600, flag: 'wx' })
  renameSync(draft, join(queueIn(dir), name))
}

/** Names of the waiting messages, oldest first. */
export const queuedNames = (dir: string): readonly string[] => messagesIn(queueIn(dir))

/** Names of the messages that were set aside because of a bug. */
export const failedNames = (dir: string): readonly string[] => messagesIn(failedIn(dir))

function messagesIn(directory: string, pattern = /^\d+-\d+-[0-9a-f]+\.json$/): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => pattern.test(name))
      .sort()
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw error
  }
}

/** Reads a message by its name; `gone` if another process has removed it, null if it cannot be parsed. */
export const readQueued = (dir: string, name: string): QueuedTurn | 'gone' | null =>
  readMessage(join(queueIn(dir), name))

function readMessage(file: string): QueuedTurn | 'gone' | null {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8'))
    const texts = [value.role, value.at, value.host, value.user]
    return texts.every((text) => typeof text === 'string') && Array.isArray(value.scopes) ? value : null
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'gone' : null
  }
}

export const dequeue = (dir: string, name: string): void => rmSync(join(queueIn(dir), name), { force: true })

/** Moves a message to `failed/`. */
export function setAside(dir: string, name: string): void {
  const failed = prepareOwnPath(dir, join(failedIn(dir), name))
  try {
    renameSync(join(queueIn(dir), name), failed)
  } catch (error) {
    // ENOENT: the message was forgotten in the meantime.
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** Removes waiting and failed messages that are to be forgotten, and returns their number. */
export function forgetQueued(dir: string, isMeant: (turn: QueuedTurn) => boolean): number {
  let removed = 0
  for (const directory of [queueIn(dir), failedIn(dir)]) {
    checkOwn(dir, directory)
    for (const name of messagesIn(directory, /^(?:answer-|\d+-\d+-)/)) {
      const turn = readMessage(join(directory, name))
      if (turn === 'gone' || (turn !== null && !isMeant(turn))) continue
      rmSync(join(directory, name), { force: true })
      removed += 1
    }
  }
  return removed
}

/**
 * A mark of a session. `unkept`: its last prompt was not stored, so the answer is not stored either. `started`: it has received
 * the lines for its start. `told`: it has already received this line about a tool use. `answer`: the answer to its last prompt
 * will be in the transcript; the mark contains the message to queue.
 */
export type SessionMark = { readonly kind: 'unkept' | 'started' | 'told' | 'answer'; readonly of: string }

export const markFor = (dir: string, { kind, of }: SessionMark): string =>
  join(queueIn(dir), `${kind}-${createHash('sha256').update(of).digest('hex').slice(0, 16)}`)

/** Sets or removes a mark. */
export function markSession(dir: string, mark: SessionMark, isSet: boolean, text = ''): void {
  const file = markFor(dir, mark)
  if (isSet) writePrivate(prepareOwnPath(dir, file), text, 'replace')
  else rmSync(file, { force: true })
}

export const isMarked = (dir: string, mark: SessionMark): boolean =>
  statSync(markFor(dir, mark), { throwIfNoEntry: false }) !== undefined

/** The maximum difference between the times of a host's transcript and of its hooks. */
export const clockSlackMs = 2_000

/** A host that has written nothing to a transcript for this long has probably finished its turn, or was stopped. */
const minQuietMs = 10_000

/**
 * Queues awaited answers, and returns whether there are any. `isMeant` selects them; without it, these are the answers whose
 * transcripts have changed since they were last queued, and are quiet now. If `isEnded`, only answers that the transcript
 * contains now count, because a later one may answer a different prompt; the mark is renamed to `unkept`. Otherwise the turn
 * may continue, so the mark stays.
 */
export function queueAwaited(
  dir: string,
  isMeant?: (turn: QueuedTurn, mark: string) => boolean,
  isEnded = false,
): boolean {
  let isQueued = false
  for (const file of messagesIn(queueIn(dir), /^answer-/).map((name) => join(queueIn(dir), name))) {
    const turn = readMessage(file)
    if (turn === null || turn === 'gone') continue
    const changedMs = changeTimeOf(turn.transcript ?? '')
    const isQuiet = Date.now() - changedMs > minQuietMs && changeTimeOf(file) - changedMs < minQuietMs
    if (!(isMeant?.(turn, file) ?? isQuiet)) continue
    enqueue(dir, { ...turn, at: new Date(Date.now() - (isEnded ? clockSlackMs : 0)).toISOString() })
    if (isEnded) renameSync(file, join(queueIn(dir), basename(file).replace('answer', 'unkept')))
    else utimesSync(file, new Date(), new Date())
    isQueued = true
  }
  return isQueued
}

const changeTimeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

const eventPrefix = 'event-'
/** Hosts start all hooks of an event at once, and nobody sends the same prompt again within this time. */
const maxEventMs = 2_000

/**
 * Whether this process is the first to answer an event. If hooks are configured for both the user and the project, the host
 * starts two processes with the same input.
 */
export function isFirstToAnswer(dir: string, event: string): boolean {
  const mark = join(queueIn(dir), `${eventPrefix}${event}`)
  try {
    prepareOwnPath(dir, mark)
  } catch {
    // The queue is unusable, so no hook can store a message, but all can answer.
    return true
  }
  try {
    writeFileSync(mark, '', { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return true
  }
  if (Date.now() - changeTimeOf(mark) < maxEventMs) return false
  utimesSync(mark, new Date(), new Date())
  return true
}

const maxMarkMs = 30 * 86_400_000

/** Removes the marks of old events and conversations. */
export function sweepMarks(dir: string, now: number): void {
  const queue = queueIn(dir)
  for (const name of readdirSync(queue)) {
    const maxAgeMs = name.startsWith(eventPrefix) ? maxEventMs : maxMarkMs
    if (!/^(?:event|unkept|started|told|answer)-/.test(name)) continue
    const mark = join(queue, name)
    if (now - (statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? now) > maxAgeMs) rmSync(mark, { force: true })
  }
}
