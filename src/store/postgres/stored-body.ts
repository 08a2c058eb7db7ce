import { crc32 } from 'node:zlib'
import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { parseBody } from '../belief-row.ts'

/** The columns that a belief is read from. */
export type StoredBody = { readonly id: string; readonly body: string; readonly crc: number }

export const checksumOf = (body: string): number => crc32(body)

/** The belief of a row. A text that does not match its checksum is an error, never a different belief. */
export function readBody({ id, body, crc }: StoredBody): Belief {
  const belief = checksumOf(body) === crc ? parseBody(body) : null
  if (belief?.id === id) return belief
  throw new MemoryError('unavailable', `The stored text of belief ${id} is damaged.`, {
    hint: 'Run `credence doctor`; the journal may hold it whole.',
  })
}
