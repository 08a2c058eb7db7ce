import { crc32 } from 'node:zlib'
import {
  type Belief,
  type BeliefType,
  beliefTypes,
  type Status,
  type Subtype,
  statuses,
  subtypes,
} from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'

/** What it takes to read a belief and trust it. */
export type StoredBody = { readonly id: string; readonly body: string; readonly crc: number }

export const checksumOf = (body: string): number => crc32(body)

/** The belief, if its text is the one that was written. A flipped bit is an error, never a different belief. */
export function readBody({ id, body, crc }: StoredBody): Belief {
  if (checksumOf(body) !== crc) throw damagedBelief(id)
  const belief = parseBody(body)
  if (belief.id !== id) throw damagedBelief(id)
  return belief
}

/**
 * The belief in a text of the store. A checksum or hash has vouched for the text, and only a whole Belief was ever
 * written; the first schema knew no candidates.
 */
export function parseBody(body: string): Belief {
  const belief = JSON.parse(body) as Omit<Belief, 'candidate'> & Partial<Pick<Belief, 'candidate'>>
  // What has the field keeps its order of fields: the journal hashes texts.
  return belief.candidate === undefined ? { ...belief, candidate: false } : (belief as Belief)
}

const damagedBelief = (id: string): MemoryError =>
  new MemoryError('unavailable', `The stored text of belief ${id} is damaged.`, {
    hint: 'Run `credence doctor`; the journal may hold it whole.',
  })

/** Numbers the derived tables keep in place of names. */
export const typeCode = (type: BeliefType): number => beliefTypes.indexOf(type)
export const statusCode = (status: Status): number => statuses.indexOf(status)

/** How private beliefs are keyed: '' is shared, anything else belongs to one agent. */
export const agentKey = (agent: string | null): string => (agent === null ? '' : `@${agent}`)

/** Type, subtype and pin of a belief in one number. */
export const packFlags = ({ type, subtype, pinned }: Pick<Belief, 'type' | 'subtype' | 'pinned'>): number =>
  typeCode(type) * 8 + (subtype === null ? 0 : subtypes.indexOf(subtype) + 1) * 2 + Number(pinned)

export function unpackFlags(flags: number): { type: BeliefType; subtype: Subtype | null; pinned: boolean } {
  const type = beliefTypes[flags >> 3]
  if (type === undefined)
    throw new MemoryError('unavailable', `The index holds an unknown kind of belief (${flags}).`, {
      hint: 'Run `credence doctor`.',
    })
  return { type, subtype: subtypes[((flags >> 1) & 3) - 1] ?? null, pinned: (flags & 1) === 1 }
}
