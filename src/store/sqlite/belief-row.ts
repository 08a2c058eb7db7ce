import { crc32 } from 'node:zlib'
import {
  type Belief,
  type BeliefType,
  beliefTypes,
  isCurrent,
  isStanding,
  reinforcedAt,
  type Status,
  type Subtype,
  statuses,
  subtypes,
} from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { type IndexEntries, indexEntries } from '../../search/forms.ts'
import { heldName } from '../order.ts'
import { countTerms, textFields, textTerms } from '../text-terms.ts'

/** The columns that a belief is read from. */
export type StoredBody = { readonly id: string; readonly body: string; readonly crc: number }

export const checksumOf = (body: string): number => crc32(body)

/** The belief of a row. A text that does not match its checksum is an error, never a different belief. */
export function readBody({ id, body, crc }: StoredBody): Belief {
  if (checksumOf(body) !== crc) throw damagedBelief(id)
  const belief = parseBody(body)
  if (belief.id !== id) throw damagedBelief(id)
  return belief
}

/** Parses a text whose checksum or hash was verified. Beliefs of the first schema have no `candidate`. */
export function parseBody(body: string): Belief {
  const belief = JSON.parse(body) as Omit<Belief, 'candidate'> & Partial<Pick<Belief, 'candidate'>>
  // A belief that has the field keeps its order of fields, since the journal hashes the text.
  return belief.candidate === undefined ? { ...belief, candidate: false } : (belief as Belief)
}

const damagedBelief = (id: string): MemoryError =>
  new MemoryError('unavailable', `The stored text of belief ${id} is damaged.`, {
    hint: 'Run `credence doctor`; the journal may hold it whole.',
  })

/** Derived tables store these numbers in place of names. */
export const typeCode = (type: BeliefType): number => beliefTypes.indexOf(type)
export const statusCode = (status: Status): number => statuses.indexOf(status)

/** The key of the agent that a belief belongs to; '' for a belief that every agent sees. */
export const agentKey = (agent: string | null): string => (agent === null ? '' : `@${agent}`)

/** Type, subtype and pin of a belief in one number. */
const packFlags = ({ type, subtype, pinned }: Belief): number =>
  typeCode(type) * 8 + (subtype === null ? 0 : subtypes.indexOf(subtype) + 1) * 2 + Number(pinned)

export function unpackFlags(flags: number): { type: BeliefType; subtype: Subtype | null; pinned: boolean } {
  const type = beliefTypes[flags >> 3]
  if (type === undefined)
    throw new MemoryError('unavailable', `The index holds an unknown kind of belief (${flags}).`, {
      hint: 'Run `credence doctor`.',
    })
  return { type, subtype: subtypes[((flags >> 1) & 3) - 1] ?? null, pinned: (flags & 1) === 1 }
}

/** Everything the derived tables hold about one belief, derived from the belief alone. */
export type DerivedBelief = IndexEntries & {
  readonly belief: Belief
  readonly current: boolean
  readonly nameKey: string
  readonly scopes: readonly string[]
  readonly agent: string
  readonly audience: string
  readonly isPinned: boolean
  readonly flags: number
  readonly reinforced: number
  /** The words of each searchable field. */
  readonly texts: readonly (readonly string[])[]
  readonly words: number
}

export function deriveBelief(belief: Belief): DerivedBelief {
  const current = isCurrent(belief)
  const scopes = [...new Set(belief.scopes)].sort()
  const terms = textTerms(belief)
  return {
    belief,
    current,
    nameKey: heldName(belief.name),
    scopes,
    agent: agentKey(belief.agent),
    audience: JSON.stringify([belief.agent, ...scopes]),
    isPinned: belief.pinned && current,
    flags: packFlags(belief),
    reinforced: reinforcedAt(belief),
    ...indexEntries(belief),
    texts: textFields.map((field) => terms[field]),
    words: countTerms(terms),
  }
}

/** The rank of a standing belief in a scope: 0 for an instruction, 1 for another preference. Null for other beliefs. */
export const shelfIn = (scope: string, belief: Belief): number | null =>
  isStanding(belief, scope) ? Number(belief.subtype !== 'instruction') : null

/** One user's words are other terms than another's, so that no search passes over rows of other users. */
export const indexedTerm = (userId: number, word: string): string => `${userId}:${word}`

/**
 * A text as a number that fits a database key: two 32-bit FNV-1a hashes with different offsets, cut to the 53 bits of a
 * number. Collisions are harmless, since whoever looks a word up by its hash compares the words.
 */
export function textHash(text: string): number {
  let high = 0x811c9dc5
  let low = 0x9747b28c
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x85ebca6b)
  }
  return (high & 0x1fffff) * 0x100000000 + (low >>> 0)
}
