import { parseScope } from '../../beliefs/scope.ts'
import {
  type NewTurn,
  type TextRange,
  type Turn,
  type TurnOrigin,
  type TurnRole,
  turnRoles,
} from '../../beliefs/turn.ts'
import { invalid } from '../../errors.ts'
import { localDay, offsetIn, parseTime, withOffset } from '../../local-time.ts'
import { forEachInSlices } from '../../search/slices.ts'
import { announcesPaste, mentionsText } from '../../search/turns/pasted.ts'
import { change } from '../change/transaction.ts'
import { findDoubtful, rangesOf } from '../learn/deliberate.ts'
import type { Extraction, Refusal } from '../learn/extraction.ts'
import type { LearnedStatement, LearningPlan, LearnResult } from '../learn/learn.ts'
import { planLearning } from '../learn/learn.ts'
import { isOffTheRecord } from '../learn/off-the-record.ts'
import { findStatements } from '../learn/rules.ts'
import { maskAnswer, maskOutput, mayBeAnswer } from '../learn/secret-answers.ts'
import { maskId, maskSecret, maskSecrets, maskSecretsInSlices, redactSecrets } from '../learn/secrets.ts'
import type { Author, Ports } from '../ports.ts'

/** A turn to be stored. Every field except the text has a default. */
export type HeardTurn = {
  readonly text: string
  /** Default `user`. */
  readonly role?: TurnRole
  /** The speaker's name, in a conversation of several people. */
  readonly speaker?: string
  /** When it was said. Default: now. A UTC offset (2026-05-08T20:15:00-04:00) is stored for display. */
  readonly at?: string
  /** The conversation. Default: one conversation per host and day. */
  readonly session?: string
  /** Its position in the conversation, from 0. Default: by its time. */
  readonly index?: number
  /** The host's id of the message. Turns with the same id are the same message. */
  readonly messageId?: string
  readonly scope?: string
  readonly host?: string
  /** `document` if the words are not the speaker's own. */
  readonly origin?: 'document'
}

export type HearRequest = {
  readonly user: string
  readonly author: Author
  readonly agent: string | null
  /** `view`: the scopes in view. `scopes`: the scopes that turns, and beliefs about the work, are written to. */
  readonly view: readonly string[]
  readonly scopes: readonly string[]
  readonly turns: readonly HeardTurn[]
  /** Whether the person's statements become beliefs, candidates for review, or nothing. Default `beliefs`. */
  readonly learn?: 'beliefs' | 'review' | 'nothing'
  /** Max characters of a turn; longer ones are refused. */
  readonly maxTurnCharacters?: number
  /** Returns the result without storing anything. */
  readonly dryRun?: boolean
  /** Called after each batch with the number of turns done. */
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
}

/**
 * `known`: it is already stored. `off the record`: it asks not to be stored. `forgotten`: it was stored, and then forgotten.
 */
export type HeardOutcome = 'kept' | 'known' | 'off the record' | 'forgotten' | 'refused'

type HeardResult = {
  readonly outcome: HeardOutcome
  /** Without the index, which the store assigns, and raises if an earlier turn of the session is stored later. */
  readonly turn: Omit<Turn, 'index'> | null
  /** Why it was refused or is off the record. */
  readonly reason?: string
}

/** The outcome of each turn, in order, and the statements learned from them. */
export type HearResult = LearnResult & { readonly turns: readonly HeardResult[] }

/** Max characters of a turn, by default. */
export const defaultMaxTurnCharacters = 200_000
/** Max turns that are written in one transaction. */
const batchSize = 500

/**
 * Stores turns word for word, with secrets masked, and learns from the person's turns in the same transaction. Turns that are
 * already stored are neither stored nor learned from again.
 */
export async function hear(ports: Ports, request: HearRequest): Promise<HearResult> {
  const { onProgress = () => {}, signal } = request
  const turns: HeardResult[] = []
  const taken: LearnedStatement[] = []
  const refused: Refusal[] = []
  const prepared: Prepared[] = []
  await forEachInSlices(request.turns, async (turn) => {
    prepared.push(await withoutAnswer(ports, request, turn, prepared))
  })
  for (const batch of batchesOf(prepared)) {
    signal?.throwIfAborted()
    const heard = await keep(ports, request, batch)
    turns.push(...heard.turns)
    taken.push(...heard.taken)
    refused.push(...heard.refused)
    onProgress(turns.length)
  }
  if (request.dryRun !== true) await judgeOldTurns(ports, request.user)
  return { turns, taken, refused }
}

/** Max steps in which one call of `hear` judges turns that earlier versions stored. Short steps do not block a server. */
const oldTurnSteps = 25
const oldTurnsPerStep = 20

/** Finds the doubtful statements in turns that earlier versions of Credence stored. */
async function judgeOldTurns({ store }: Ports, user: string): Promise<void> {
  const judge = (text: string): readonly TextRange[] => findDoubtful(text, findStatements(text).findings)
  for (let step = 0; step < oldTurnSteps; step += 1) {
    if (!(await store.judgeOldTurns(user, oldTurnsPerStep, judge))) return
    await new Promise(setImmediate)
  }
}

/** A turn with its learnable statements (null for none), or the reason why it is not stored. */
type Prepared =
  | { readonly turn: NewTurn; readonly found: Extraction | null }
  | { readonly outcome: 'off the record' | 'refused'; readonly reason: string }

/** Masks secrets before anything else sees the text, and fills in the defaults. */
async function prepare(ports: Ports, request: HearRequest, heard: HeardTurn): Promise<Prepared> {
  const { maxTurnCharacters = defaultMaxTurnCharacters, author, user } = request
  const { text, role = 'user', speaker, index, messageId, session } = heard
  if (typeof text !== 'string' || !/\S/u.test(text)) return { outcome: 'refused', reason: 'The turn has no text.' }
  if (text.length > maxTurnCharacters) {
    const reason = `The turn has ${text.length} characters; at most ${maxTurnCharacters} are kept. Raise maxTurnCharacters, or split it.`
    return { outcome: 'refused', reason }
  }
  if (!turnRoles.includes(role)) throw invalid(`Unknown role "${role}".`, `Use ${turnRoles.join(', ')}.`)
  if (isOffTheRecord(text)) return { outcome: 'off the record', reason: 'It asks not to be kept.' }
  const at = (heard.at === undefined ? ports.now() : new Date(parseTime('since', heard.at))).toISOString()
  const utcOffset = heard.at === undefined ? null : offsetIn(heard.at)
  const host = givenNameOf('host', heard.host) ?? author.origin
  const masked = await maskSecretsInSlices(text.toWellFormed())
  const kept = role === 'tool' ? maskOutput(masked, maskSecret) : masked
  const by = originOf(role, author)
  const origin = by === 'person' ? (heard.origin ?? by) : by
  const found = role === 'user' && origin === 'person' ? findStatements(kept) : null
  const turn: NewTurn = {
    id: `t-${ports.newId().replace(/^b-/u, '')}`,
    user,
    session: givenNameOf('session', session, maskId) ?? `${host}-${localDay(at, utcOffset)}`,
    index: index ?? null,
    role,
    speaker: givenNameOf('speaker', speaker),
    at,
    utcOffset,
    scope: parseScope(heard.scope ?? request.scopes[0] ?? ''),
    host,
    origin,
    messageId: givenNameOf('message id', messageId, maskId),
    text: kept,
    doubtful: found === null ? [] : findDoubtful(kept, found.findings),
  }
  return { turn, found: found === null ? null : learnable(found, turn, request, ports.now()) }
}

/** Prepares a turn. If the previous message of the conversation asks for a secret, masks the secret in the turn. */
async function withoutAnswer(
  ports: Ports,
  request: HearRequest,
  heard: HeardTurn,
  before: readonly Prepared[],
): Promise<Prepared> {
  const prepared = await prepare(ports, request, heard)
  if (!('turn' in prepared) || prepared.turn.role !== 'user' || !mayBeAnswer(heard.text)) return prepared
  const { session, text } = prepared.turn
  const last = before
    .slice(-maxTurnsBefore)
    .findLast((one) => 'turn' in one && one.turn.session === session && one.turn.role !== 'tool')
  const asked =
    last !== undefined && 'turn' in last
      ? last.turn
      : (await saidBefore(ports, prepared.turn)).find((one) => one.session === session)
  const masked = asked === undefined ? text : maskAnswer(text, asked.text, maskSecret)
  return masked === text ? prepared : prepare(ports, request, { ...heard, text: masked })
}

const maxAgeOfStatementMs = 3_600_000

/** The statements of a turn that may be learned; null if there are none, or if they are not the person's own words. */
function learnable(
  { findings, statements = [], ...found }: Extraction,
  turn: NewTurn,
  { learn = 'beliefs', user }: HearRequest,
  now: Date,
): Extraction | null {
  if (learn === 'nothing' || (turn.speaker !== null && turn.speaker !== user)) return null
  // Plain statements count only in recent messages: one in an old message, such as an imported one, is no newer than the known value.
  const fresh = Date.parse(turn.at) > now.getTime() - maxAgeOfStatementMs ? statements : []
  if (findings.length + found.refused.length + fresh.length === 0) return null
  const isDoubtful = learn === 'review'
  return {
    refused: found.refused,
    findings: isDoubtful ? findings.map((one) => ({ ...one, isDoubtful })) : findings,
    statements: fresh,
  }
}

/** A user turn that an agent or a tool submits does not count as a person's words. */
function originOf(role: TurnRole, { actor }: Author): TurnOrigin {
  if (role === 'tool') return 'tool'
  if (role === 'assistant') return 'agent'
  return actor === 'agent' || actor === 'tool' ? actor : 'person'
}

const maxNameLength = 200

function givenNameOf(what: string, given: string | undefined, withoutSecrets = maskSecrets): string | null {
  if (given === undefined || given.trim() === '') return null
  if (given.length > maxNameLength)
    throw invalid(`The ${what} has ${given.length} characters; at most ${maxNameLength} are allowed.`)
  return withoutSecrets(given.trim().toWellFormed())
}

/** Turns without findings are written together; a turn with findings is written alone, with its beliefs. */
function* batchesOf(prepared: readonly Prepared[]): Generator<readonly Prepared[]> {
  let batch: Prepared[] = []
  for (const one of prepared) {
    const hasFindings = 'turn' in one && one.found !== null
    if (hasFindings || batch.length >= batchSize) {
      if (batch.length > 0) yield batch
      batch = []
    }
    if (hasFindings) yield [one]
    else batch.push(one)
  }
  if (batch.length > 0) yield batch
}

async function keep(ports: Ports, request: HearRequest, prepared: readonly Prepared[]): Promise<HearResult> {
  const { user, author } = request
  return change<HearResult>(ports, { user, author, operation: 'hear' }, async (at) => {
    const batch: Prepared[] = []
    for (const one of prepared) batch.push(await asAnnounced(ports, one))
    const outcomes = await outcomesOf(ports, user, batch)
    const fresh = batch.flatMap((one, place) => ('turn' in one && outcomes[place]?.outcome === 'kept' ? [one] : []))
    const { changes, taken, refused } = await planFor(ports, request, fresh, at)
    const result = { turns: outcomes, taken, refused }
    if (fresh.length === 0 || request.dryRun === true) return { kind: 'nothing', result }
    const kind = changes.length === 0 ? 'hear' : 'learn'
    return { kind, changes, turns: fresh.map(({ turn }) => turn), result: () => result }
  })
}

/** The learning plan for the one turn of a batch that has findings. */
async function planFor(
  ports: Ports,
  { user, author, agent, view, scopes }: HearRequest,
  kept: readonly { readonly turn: NewTurn; readonly found: Extraction | null }[],
  at: string,
): Promise<LearningPlan> {
  for (const { turn, found } of kept) {
    if (found === null) continue
    const said = { text: turn.text, saidAt: withOffset(turn.at, turn.utcOffset), sourceId: turn.id, found }
    return planLearning(ports, { user, author, agent, view, scopes, ...said }, at)
  }
  return { changes: [], taken: [], refused: [] }
}

/**
 * A turn with those statements that may be learned, given the messages before it. Nothing is learned from a message that the
 * person announced as quoted material ("here is the article"). If a message shortly before mentioned such material, this
 * message may be that material, so all its statements wait for the person, except those that ask to be remembered. Even
 * these wait if an answer has just asked for a text, or if the person announced a text and has pasted only one line of it so far.
 */
async function asAnnounced(ports: Ports, prepared: Prepared): Promise<Prepared> {
  if (!('turn' in prepared) || prepared.found === null) return prepared
  const { turn, found } = prepared
  const before = await saidBefore(ports, turn)
  const [last, second] = before.filter(({ origin }) => origin === 'person')
  const { findings, statements = [] } = found
  if (last !== undefined && announcesPaste(last.text))
    return { turn: { ...turn, doubtful: rangesOf(turn.text, [...findings, ...statements]) }, found: asPasted(found) }
  if (!before.some(({ text }) => mentionsText(text))) return prepared
  const since = last === undefined ? before : before.slice(0, before.indexOf(last))
  const isBegun = second !== undefined && announcesPaste(second.text) && !/\n/u.test(last?.text.trim() ?? '')
  const isAnnounced = isBegun || since.some(({ text }) => announcesPaste(text))
  const waiting = findings.map((one) => (one.isAsked === true && !isAnnounced ? one : { ...one, isDoubtful: true }))
  return { turn: { ...turn, doubtful: findDoubtful(turn.text, waiting) }, found: { ...found, findings: waiting } }
}

/** The mention of a text counts for `announcementMs`, and for at most `maxSaidBefore` later messages of the person. */
const announcementMs = 3_600_000
const maxSaidBefore = 10
/** Max turns to read in search of a mention: many, so that turns that agents store in between cannot hide it. */
const maxTurnsBefore = 500

/** The person's last messages in all conversations, and the turns between these messages, newest first. */
async function saidBefore({ store }: Ports, { user, at }: NewTurn): Promise<readonly Turn[]> {
  const since = new Date(Date.parse(at) - announcementMs).toISOString()
  const filter = { user, since, until: at, roles: ['user', 'assistant'] as const }
  const { items } = await store.listTurns(filter, { limit: maxTurnsBefore, offset: 0 })
  const end = items.filter(({ origin }) => origin === 'person')[maxSaidBefore]
  return end === undefined ? items : items.slice(0, items.indexOf(end))
}

const asPasted = ({ findings, refused }: Extraction): Extraction => ({
  findings: [],
  refused: [
    ...refused,
    ...findings.map(({ content, span }) => ({
      text: redactSecrets(content),
      span,
      reason: 'not_own_words' as const,
      explanation: 'The message before it announces a text from elsewhere.',
    })),
  ],
})

/** The outcome of each turn, given the current state of the store. */
async function outcomesOf(ports: Ports, user: string, batch: readonly Prepared[]): Promise<HearResult['turns']> {
  const turns = batch.flatMap((one) => ('turn' in one ? [one.turn] : []))
  const known = await ports.store.knownTurns(user, turns)
  const forgotten = await forgottenAmong(ports, user, turns)
  const messages = new Set<string>()
  return batch.map((one) => {
    if (!('turn' in one)) return { outcome: one.outcome, turn: null, reason: one.reason }
    const before = known[turns.indexOf(one.turn)] ?? null
    if (before === 'forgotten' || (before === null && forgotten.has(one.turn)))
      return { outcome: 'forgotten', turn: null }
    if (before !== null) return { outcome: 'known', turn: before }
    const { messageId, index: _index, ...turn } = one.turn
    // The request contains this message twice.
    if (messageId !== null && messages.has(messageId)) return { outcome: 'known', turn: null }
    if (messageId !== null) messages.add(messageId)
    return { outcome: 'kept', turn }
  })
}

/** The turns whose words were forgotten in the same conversation, on any device of the person. */
async function forgottenAmong(
  { sync, syncDevice }: Ports,
  user: string,
  turns: readonly NewTurn[],
): Promise<ReadonlySet<NewTurn>> {
  const store = await sync?.()
  if (store === undefined || syncDevice === undefined || !(await store.hasForgottenTexts(user))) return new Set()
  const { keys } = await (await syncDevice(user)).read()
  const { fingerprintTurn } = await import('../sync/fingerprints.ts')
  const candidates = new Map(turns.map((turn) => [turn, fingerprintTurn(keys, turn)]))
  const found = await store.forgottenTexts(user, [...candidates.values()].flat())
  return new Set(turns.filter((turn) => candidates.get(turn)?.some((one) => found.has(one))))
}
