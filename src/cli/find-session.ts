import { MemoryError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import { harmless } from './output.ts'

const pageSize = 1_000

/** The id of a conversation, which may be shortened to a beginning that only one has. */
export async function findSession(memory: Memory, given: string): Promise<string> {
  if ((await memory.turns({ session: given, limit: 1 })).total > 0) return given
  const found: string[] = []
  for (let offset = 0; ; offset += pageSize) {
    const { items, total } = await memory.conversations({ limit: pageSize, offset })
    found.push(...items.map(({ session }) => session).filter((session) => session.startsWith(given)))
    if (offset + items.length >= total || items.length === 0) break
  }
  const [only, another] = found
  if (only === undefined || given.trim() === '')
    throw new MemoryError('not_found', `There is no conversation "${harmless(given.slice(0, 80))}".`, {
      hint: 'List conversations with `credence conversations`.',
    })
  if (another === undefined) return only
  throw new MemoryError('invalid', `${found.length} conversations begin with "${harmless(given.slice(0, 80))}".`, {
    hint: `Give more of the id, such as ${harmless(only)} or ${harmless(another)}.`,
  })
}
