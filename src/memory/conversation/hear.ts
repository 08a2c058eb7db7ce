import { parseScope } from '../../beliefs/scope.ts'
import { type NewTurn, type Turn, type TurnOrigin, type TurnRole, turnRoles } from '../../beliefs/turn.ts'
import { MemoryError } from '../../errors.ts'
import { type Author, change, type Ports } from '../change/transaction.ts'
import type { Extraction } from '../learn/extraction.ts'
import type { Learned } from '../learn/learn.ts'
import { findStatements, offTheRecord } from '../learn/rules.ts'
import { masked } from '../learn/secrets.ts'

/** A turn as it is told to the memory. Everything but the text has a default. */
export type HeardTurn = {
  readonly text: string
  /** Default `user`. */
  readonly role?: TurnRole
  /** The speaker's name, in a conversation of several people. */
  readonly speaker?: string
  /** When it was said. Default now. */
  readonly at?: string
  /** The conversation. Default one for each host and day. */
  readonly session?: string
  /** Its place in the conversation, from 0. Default by its time. */
  readonly index?: number
  /** The host's own id of the message: the same id is the same message. */
  readonly messageId?: string
  readonly scope?: string
  readonly host?: string
  /** `document`: the words are not the speaker's own. */
  readonly origin?: 'document'
}

export type HearRequest = {
  readonly user: string
  readonly author: Author
  readonly agent: string | null
  /** The scopes in view, and where turns and beliefs about the work are written to. */
  readonly view: readonly string[]
  readonly scopes: readonly string[]
  readonly turns: readonly HeardTurn[]
  /** What becomes of statements in what the person says: beliefs, candidates for review, or nothing. Default `beliefs`. */
  readonly learn?: 'beliefs' | 'review' | 'nothing'
  /** A turn with more characters is refused. */
  readonly maxTurnCharacters?: number
  /** Says what would become of the turns, and keeps nothing. */
  readonly dryRun?: boolean
  /** Told after each part of a long list. */
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
}

/** `known`: it was kept before. `off the record`: it asks not to be kept. `forgotten`: it was kept once and forgotten. */
export type HeardOutcome = 'kept' | 'known' | 'off the record' | 'forgotten' | 'refused'

export type Heard = Learned & {
  /** What became of each turn, in order. */
  readonly turns: readonly {
    readonly outcome: HeardOutcome
    /** Without its place, which is settled as it is kept and moves when an earlier turn becomes known. */
    readonly turn: Omit<Turn, 'index'> | null
    /** Why it was refused. */
    readonly reason?: string
  }[]
}

/** Longest turn that is kept, in characters. */
export const defaultMaxTurnCharacters = 200_000
/** So many turns are written together. */
const batchSize = 500

/**
 * Keeps what was said, word for word but for secrets, and learns from what the person says in the same change. A turn that
 * is known already is not kept again, and nothing is learned from it a second time.
 */
export async function hear(ports: Ports, request: HearRequest): Promise<Heard> {
  const { onProgress = () => {}, signal } = request
  let result: Heard = { turns: [], taken: [], refused: [] }
  const prepared = request.turns.map((turn) => prepare(ports, request, turn))
  for (const batch of batchesOf(prepared)) {
    signal?.throwIfAborted()
    const heard = await keep(ports, request, batch)
    result = {
      turns: [...result.turns, ...heard.turns],
      taken: [...result.taken, ...heard.taken],
      refused: [...result.refused, ...heard.refused],
    }
    onProgress(result.turns.length)
  }
  return result
}

/** `found`: what is to be learned from it; null where nothing may be. */
type Prepared =
  | { readonly turn: NewTurn; readonly found: Extraction | null }
  | { readonly outcome: 'off the record' | 'refused'; readonly reason: string }

/** Masks secrets before anything else sees the text, and fills in what was not said. */
function prepare(ports: Ports, request: HearRequest, heard: HeardTurn): Prepared {
  const { maxTurnCharacters = defaultMaxTurnCharacters, author, user } = request
  const { text, role = 'user', speaker, index, messageId, session } = heard
  if (typeof text !== 'string' || !/\S/u.test(text)) return { outcome: 'refused', reason: 'The turn has no text.' }
  if (text.length > maxTurnCharacters) {
    const reason = `The turn has ${text.length} characters; at most ${maxTurnCharacters} are kept. Raise maxTurnCharacters, or split it.`
    return { outcome: 'refused', reason }
  }
  if (!turnRoles.includes(role))
    throw new MemoryError('invalid', `Unknown role "${role}".`, { hint: `Use ${turnRoles.join(', ')}.` })
  if (offTheRecord(text)) return { outcome: 'off the record', reason: 'It asks not to be kept.' }
  const at = timeOf(heard.at, ports)
  const host = heard.host ?? author.origin
  const turn: NewTurn = {
    id: `t-${ports.newId().replace(/^b-/u, '')}`,
    user,
    session: nameOf('session', session) ?? `${host}-${at.slice(0, 10)}`,
    index: index ?? null,
    role,
    speaker: nameOf('speaker', speaker),
    at,
    scope: parseScope(heard.scope ?? request.scopes[0] ?? ''),
    host,
    origin: heard.origin ?? originOf(role, author),
    messageId: nameOf('message id', messageId),
    text: masked(text.toWellFormed()),
  }
  return { turn, found: lessonIn(turn, request) }
}

/** Only what the person says is learned from, and only from what they have to say for themselves. */
function lessonIn(
  { role, origin, speaker, text }: NewTurn,
  { learn = 'beliefs', user }: HearRequest,
): Extraction | null {
  if (learn === 'nothing' || role !== 'user' || origin !== 'person') return null
  if (speaker !== null && speaker !== user) return null
  const { findings, refused } = findStatements(text)
  if (findings.length + refused.length === 0) return null
  if (learn === 'beliefs') return { findings, refused }
  const candidates = findings.filter(({ kind }) => kind !== 'correction').map((one) => ({ ...one, isDoubtful: true }))
  return { findings: candidates, refused }
}

/** Nobody gains a person's voice by the way a text came in. */
function originOf(role: TurnRole, { actor }: Author): TurnOrigin {
  if (role === 'tool') return 'tool'
  if (role === 'assistant') return 'agent'
  return actor === 'agent' || actor === 'tool' ? actor : 'person'
}

function timeOf(given: string | undefined, { now }: Ports): string {
  if (given === undefined) return now().toISOString()
  const time = Date.parse(given)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new MemoryError('invalid', `"${given.slice(0, 80)}" is not a time.`, {
    hint: 'Write it like 2026-05-03T10:00:00Z.',
  })
}

const longestName = 200

function nameOf(what: string, given: string | undefined): string | null {
  if (given === undefined || given.trim() === '') return null
  if (given.length > longestName)
    throw new MemoryError('invalid', `The ${what} has ${given.length} characters; at most ${longestName} are allowed.`)
  return masked(given.trim().toWellFormed())
}

/** Turns that nothing is learned from are written together; one that something is learned from, alone with that. */
function* batchesOf(prepared: readonly Prepared[]): Generator<readonly Prepared[]> {
  let batch: Prepared[] = []
  for (const one of prepared) {
    const isLesson = 'turn' in one && one.found !== null
    if (isLesson || batch.length >= batchSize) {
      if (batch.length > 0) yield batch
      batch = []
    }
    if (isLesson) yield [one]
    else batch.push(one)
  }
  if (batch.length > 0) yield batch
}

async function keep(ports: Ports, request: HearRequest, batch: readonly Prepared[]): Promise<Heard> {
  const { user, author } = request
  return change<Heard>(
    ports,
    { user, author, operation: 'hear' },
    async (at) => {
      const outcomes = await outcomesOf(ports, user, batch)
      const fresh = batch.flatMap((one, place) => ('turn' in one && outcomes[place]?.outcome === 'kept' ? [one] : []))
      const [lesson] = fresh.filter(({ found }) => found !== null)
      const plan = lesson === undefined ? nothingLearned : await planFor(ports, request, lesson, at)
      const { changes, taken, refused } = plan
      const result = { turns: outcomes, taken, refused }
      if (fresh.length === 0 || request.dryRun === true) return { kind: 'nothing', result }
      const kind = changes.length === 0 ? 'hear' : 'learn'
      return { kind, changes, turns: fresh.map(({ turn }) => turn), result: () => result }
    },
    () => Promise.reject(new Error('Hearing has no idempotency key to replay.')),
  )
}

/** What becomes of each turn, as things stand. */
async function outcomesOf({ store }: Ports, user: string, batch: readonly Prepared[]): Promise<Heard['turns']> {
  const turns = batch.flatMap((one) => ('turn' in one ? [one.turn] : []))
  const known = await store.knownTurns(user, turns)
  const messages = new Set<string>()
  return batch.map((one) => {
    if (!('turn' in one)) return { outcome: one.outcome, turn: null, reason: one.reason }
    const before = known[turns.indexOf(one.turn)] ?? null
    if (before === 'forgotten') return { outcome: 'forgotten', turn: null }
    if (before !== null) return { outcome: 'known', turn: before }
    const { messageId, index: _index, ...turn } = one.turn
    // The same message twice in one list.
    if (messageId !== null && messages.has(messageId)) return { outcome: 'known', turn: null }
    if (messageId !== null) messages.add(messageId)
    return { outcome: 'kept', turn }
  })
}

const nothingLearned = { changes: [], taken: [], refused: [] } as const

async function planFor(
  ports: Ports,
  { user, author, agent, view, scopes }: HearRequest,
  { turn, found }: { readonly turn: NewTurn; readonly found: Extraction | null },
  at: string,
) {
  const { planLearning } = await import('../learn/learn.ts')
  const said = { text: turn.text, saidAt: turn.at, sourceId: turn.id }
  return planLearning(ports, { user, author, agent, view, scopes, ...said, ...(found === null ? {} : { found }) }, at)
}
