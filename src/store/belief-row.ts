import {
  type ActorKind,
  type Belief,
  type BeliefType,
  beliefTypes,
  reinforcedAt,
  type Status,
  type Subtype,
  statuses,
  subtypes,
} from '../beliefs/belief.ts'
import { compareText, nameKey } from '../beliefs/identity.ts'
import { type MemoryError, unavailable } from '../errors.ts'
import { hashBody, readBody } from './journal-chain.ts'

/**
 * Identifies the text analysis that filled the derived tables. A store with a different version is rebuilt when it is opened, because
 * entries written by other rules could be neither found nor removed. A test fails when this must change.
 */
export const analysisVersion = 'cc41b78f7221206e'

/** The columns of the journal that contain the text of a belief. */
export type StoredText = {
  readonly outcome: string
  readonly body: string | null
  readonly salt: Uint8Array | null
  readonly body_hash: Uint8Array | null
  /** 0 if the derived row of the belief has a different version, because the newest change is unreadable on a damaged disk. */
  readonly is_newest?: number | null
}

/** Selects the newest change to a belief. Its text is the current one. */
export const newestText = `SELECT outcome, body, salt, body_hash,
  version = (SELECT version FROM beliefs WHERE user_id = changes.user_id AND id = changes.belief_id) AS is_newest FROM changes
  WHERE user_id = ? AND belief_id = ? ORDER BY event DESC LIMIT 1`

/** The belief after a change; null if the change removed it. Throws if the text does not match its hash, rather than return it altered. */
export function readText(id: string, row: StoredText): Belief | null {
  if (row.outcome !== 'present') return null
  if (row.body === null || row.is_newest === 0 || !isAsWritten(row)) throw damagedBelief(id)
  const belief = parseBody(row.body)
  if (belief.id !== id) throw damagedBelief(id)
  return belief
}

/** Whether a text of the journal matches its hash. True for an erased text, which cannot be compared. */
export const isAsWritten = ({ body, body_hash, salt }: Pick<StoredText, 'body' | 'body_hash' | 'salt'>): boolean =>
  body === null ||
  // On a damaged disk a column may contain a value of any type.
  (typeof body === 'string' &&
    salt instanceof Uint8Array &&
    body_hash instanceof Uint8Array &&
    Buffer.compare(hashBody(salt, body), body_hash) === 0)

/** Parses a text whose hash was verified. */
export function parseBody(body: string): Belief {
  const belief = readBody(body)
  const { provenance } = belief
  const actor = actorOf(provenance.actor)
  return actor === provenance.actor ? belief : { ...belief, provenance: { ...provenance, actor } }
}

/** Until schema 5, documents were called imports. Old records keep that word, because the journal hashes their bytes. */
export const actorOf = (stored: string): ActorKind => (stored === 'import' ? 'document' : (stored as ActorKind))

const damagedBelief = (id: string): MemoryError =>
  unavailable(`The stored text of belief ${id} is damaged.`, 'Run `credence doctor`, and restore a backup.')

/** Derived tables store these numbers instead of names. */
export const typeCode = (type: BeliefType): number => beliefTypes.indexOf(type)
export const statusCode = (status: Status): number => statuses.indexOf(status)

/** The agent of a belief as a key; '' if every agent sees the belief. */
export const agentKey = (agent: string | null): string => (agent === null ? '' : `@${agent}`)

/** The inverse of `packFlags`. */
export function unpackFlags(flags: number): { type: BeliefType; subtype: Subtype | null; pinned: boolean } {
  const type = beliefTypes[flags >> 3]
  if (type === undefined)
    throw unavailable(`The index contains an unknown kind of belief (${flags}).`, 'Run `credence doctor`.')
  return { type, subtype: subtypes[((flags >> 1) & 3) - 1] ?? null, pinned: (flags & 1) === 1 }
}

/** Puts the user's number in front of a term, so that no search reads the rows of other users. */
export const indexedTerm = (userId: number, word: string): string => `${userId}:${word}`

/**
 * A text as a number that fits a database key: two 32-bit FNV-1a hashes with different offsets, truncated to 47 bits, which SQLite
 * stores in six bytes. Collisions are harmless, because every lookup by hash compares the words, too.
 */
export function textHash(text: string): number {
  let high = 0x811c9dc5
  let low = 0x9747b28c
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x85ebca6b)
  }
  return (high & 0x7fff) * 0x100000000 + (low >>> 0)
}

/** The key that reserves a belief's name in a scope. Lone surrogates are replaced, because SQLite cannot store them. */
export const nameKeyInScope = (name: string): string => nameKey(name).toWellFormed()

export const compareReinforcement = (a: Belief, b: Belief): number =>
  reinforcedAt(b) - reinforcedAt(a) || compareText(a.id, b.id)

/** Most recently updated first, then by name. */
export const compareUpdate = (a: Belief, b: Belief): number =>
  compareText(b.updatedAt, a.updatedAt) ||
  compareText(nameKeyInScope(a.name), nameKeyInScope(b.name)) ||
  compareText(a.id, b.id)
