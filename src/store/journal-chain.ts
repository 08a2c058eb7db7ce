import { createHmac, hash } from 'node:crypto'
import type { Belief } from '../beliefs/belief.ts'
import type { BeliefChange, Commit, IdempotencyKey } from '../beliefs/journal.ts'
import type { NewTurn } from '../beliefs/turn.ts'
import { MemoryError } from '../errors.ts'
import type { CheckedChange } from './checked-commit.ts'

/** The hash that the first event uses as that of its predecessor. */
export const beforeFirst: Uint8Array = new Uint8Array(32)

const saltBytes = 16

/** A recorded change. `bodyHash` remains when the text is erased, so that the chain still verifies. */
export type SealedChange = {
  readonly beliefId: string
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  /** Null if the change has no text. */
  readonly bodyHash: Uint8Array | null
}

export type SealedEvent = Omit<Commit, 'changes' | 'turns' | 'forgottenTurns'> & { readonly number: number }

/** What an event did to one turn: it stored the turn, with this hash, or forgot it (null). */
export type SealedTurn = { readonly id: string; readonly hash: Uint8Array | null }

/** A change with the salt and the text to store. */
export type WrittenChange = SealedChange & { readonly salt: Uint8Array | null; readonly body: string | null }

/** Hashes the text of each change. One call of `random` draws the salts of the whole commit. */
export function sealChanges(
  changes: readonly CheckedChange[],
  random: (bytes: number) => Uint8Array,
): readonly WrittenChange[] {
  const saltAt = drawSalts(changes.length, random)
  return changes.map(({ beliefId, expectedVersion, outcome, after }, index) => {
    if (after === null)
      return { beliefId, version: expectedVersion + 1, outcome, bodyHash: null, salt: null, body: null }
    const salt = saltAt(index)
    const body = writeBody(after)
    return { beliefId, version: after.version, outcome, bodyHash: hashBody(salt, body), salt, body }
  })
}

export function sealTurns(turns: readonly NewTurn[], random: (bytes: number) => Uint8Array) {
  const saltAt = drawSalts(turns.length, random)
  return turns.map((turn, index) => {
    const salt = saltAt(index)
    return { id: turn.id, turn, salt, hash: hashBody(salt, turnBody(turn)) }
  })
}

export const sealForgotten = (ids: readonly string[]): readonly SealedTurn[] => ids.map((id) => ({ id, hash: null }))

function drawSalts(count: number, random: (bytes: number) => Uint8Array): (index: number) => Uint8Array {
  const salts = random(saltBytes * count)
  return (index) => salts.subarray(index * saltBytes, (index + 1) * saltBytes)
}

/** The salt is erased together with the text, so that a forgotten text cannot be guessed from its hash. */
export function hashBody(salt: Uint8Array, body: string): Uint8Array {
  // Every read of a belief hashes its text, so a reused buffer joins the salt and a short text.
  const room = salt.length + body.length * 3
  const bytes = room <= scratch.length ? scratch : Buffer.allocUnsafe(room)
  bytes.set(salt)
  return hash('sha256', bytes.subarray(0, salt.length + bytes.write(body, salt.length)), 'buffer')
}

const scratch = Buffer.allocUnsafeSlow(16_384)

/** An idempotency key as stored in the journal, where the fingerprint of its request is salted. */
export type SealedKey = IdempotencyKey & { readonly salt: Uint8Array }

export function sealKey(key: IdempotencyKey | null, random: (bytes: number) => Uint8Array): SealedKey | null {
  if (key === null) return null
  const salt = random(saltBytes)
  return { value: key.value, fingerprint: saltedFingerprint(salt, key), salt }
}

const saltedFingerprint = (salt: Uint8Array, { fingerprint }: IdempotencyKey): string =>
  createHmac('sha256', salt).update(fingerprint).digest('hex')

/**
 * Throws if `key` was used before for a different request. If the earlier request has no salt, it was forgotten and cannot be compared, so
 * it counts as the same request.
 */
export function requireSameRequest(
  key: IdempotencyKey,
  earlier: { readonly fingerprint: string; readonly salt: Uint8Array | null },
): void {
  if (earlier.salt === null || saltedFingerprint(earlier.salt, key) === earlier.fingerprint) return
  throw new MemoryError('conflict', `The idempotency key "${key.value}" was used before for another request.`, {
    hint: 'Use a new key for a new request.',
  })
}

/** One hash over everything that an event did, in order. */
export const hashChanges = (changes: readonly SealedChange[], turns: readonly SealedTurn[] = []): Uint8Array => {
  const hexOrNull = (bytes: Uint8Array | null): string | null => (bytes === null ? null : toHex(bytes))
  const rows = [
    ...changes.map(({ beliefId, version, outcome, bodyHash }) => [beliefId, version, outcome, hexOrNull(bodyHash)]),
    ...turns.map((turn) => [turn.id, hexOrNull(turn.hash)]),
  ]
  return hash('sha256', JSON.stringify(rows), 'buffer')
}

/**
 * The fields of a turn that its hash covers. `index` is left out, because it may change when earlier turns arrive. A null UTC offset is
 * left out too, so that turns that were stored before offsets existed keep their hashes.
 */
export const turnBody = (turn: Omit<NewTurn, 'index' | 'user' | 'doubtful'>): string => {
  const { id, session, role, speaker, at, utcOffset, scope, host, origin, messageId, text } = turn
  const offset = utcOffset === null ? [] : [utcOffset]
  return JSON.stringify([id, session, role, speaker, at, scope, host, origin, messageId, text, ...offset])
}

/** The hash of an event covers the hash of its predecessor, and so everything before it. */
export function hashEvent(event: SealedEvent, changesHash: Uint8Array, previous: Uint8Array): Uint8Array {
  const { number, user, kind, actor, origin, at, key, undoes } = event
  const fields = [number, user, kind, actor, origin, at, key?.value ?? null, key?.fingerprint ?? null, undoes]
  return hash('sha256', JSON.stringify([toHex(previous), fields, toHex(changesHash)]), 'buffer')
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/**
 * The event that undid `number`, or null. An undo that was itself undone does not count, so that a redone event can be undone again.
 * `undosOf` returns the events that undo an event, newest first. In a damaged store an event may claim to undo itself or a later event;
 * such undos are ignored.
 */
export function findUndo(number: number, undosOf: (number: number) => readonly number[]): number | null {
  return undosOf(number).find((undo) => undo > number && findUndo(undo, undosOf) === null) ?? null
}

/** The order of a belief's fields in the journal. Fields with the value in `left` are omitted, because most beliefs have it. */
const fields = [
  'id',
  'user',
  'agent',
  'type',
  'subtype',
  'name',
  'aliases',
  'content',
  'why',
  'scopes',
  'status',
  'confidence',
  'pinned',
  'editedByPerson',
  'supersededBy',
  'proposedFor',
  'candidate',
  'resolvedAt',
  'resolvedBy',
  'participants',
  'relation',
  'expertise',
  'provenance',
  'reinforcement',
  'createdAt',
  'updatedAt',
  'version',
] as const
const left = {
  agent: null,
  subtype: null,
  confidence: 1,
  pinned: false,
  editedByPerson: false,
  supersededBy: null,
  proposedFor: null,
  candidate: false,
  resolvedAt: null,
  resolvedBy: null,
  relation: null,
  expertise: null,
} satisfies Partial<Belief>
const isDefaultValue = (field: keyof Belief, value: unknown): boolean =>
  field === 'participants' ? (value as readonly string[]).length === 0 : left[field as keyof typeof left] === value

/** Writes a belief as the text that the journal stores and hashes. */
export function writeBody(belief: Belief): string {
  const text: Partial<Record<keyof Belief, unknown>> = {}
  for (const field of fields) if (!isDefaultValue(field, belief[field])) text[field] = belief[field]
  return JSON.stringify(text)
}

/** All fields of a belief in a fixed order, with the defaults of those that the journal may omit. */
const blank = { ...Object.fromEntries(fields.map((field) => [field, undefined])), ...left }

/** Parses a belief's text from the journal. (Earlier versions omitted no field.) */
export const readBody = (body: string): Belief => ({ ...blank, participants: [], ...JSON.parse(body) })
