import { createHash } from 'node:crypto'
import type { Belief } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import type { Memory } from '../../../memory/memory.ts'
import type { Context } from '../../../memory/recall/context.ts'
import type { BeliefRecord } from '../../../memory/transfer/belief-record.ts'

/** More than this is no longer a case that somebody can read. */
const mostBeliefs = 500

/**
 * Every belief that has a part in an answer: what was recalled, what was mentioned but left out, what the case names, and
 * what these point at. A store with only these answers the message as the whole store does.
 */
export async function neededBeliefs(
  memory: Memory,
  context: Context,
  named: readonly Belief[],
): Promise<readonly Belief[]> {
  const needed = new Map<string, Belief>()
  const waiting: Belief[] = [
    ...named,
    ...context.pinned,
    ...context.relevant.map(({ belief }) => belief),
    ...context.questions,
    ...(context.nearMisses ?? []).map(({ belief }) => belief),
    ...(await found(memory, context.prelude?.beliefIds ?? [])),
  ]
  for (let belief = waiting.pop(); belief !== undefined; belief = waiting.pop()) {
    if (needed.has(belief.id)) continue
    needed.set(belief.id, belief)
    if (needed.size > mostBeliefs) {
      throw new MemoryError('invalid', `The case would need more than ${mostBeliefs} beliefs.`, {
        hint: 'Narrow it down to fewer scopes, or to a message that mentions less.',
      })
    }
    const links = [belief.supersededBy, belief.resolvedBy, belief.proposedFor, ...belief.participants]
    waiting.push(...(await found(memory, links.filter((link) => link !== null && !needed.has(link)) as string[])))
  }
  return [...needed.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** What a link points at may be gone, or be a name that several have; then nothing depends on it. */
async function found(memory: Memory, references: readonly string[]): Promise<readonly Belief[]> {
  const beliefs: Belief[] = []
  for (const reference of references) {
    try {
      beliefs.push(await memory.get(reference))
    } catch (error) {
      if (!(error instanceof MemoryError) || (error.code !== 'not_found' && error.code !== 'conflict')) throw error
    }
  }
  return beliefs
}

/**
 * Copies beliefs into a case as they are now, under ids and a user that only this case has: a later case about the same
 * belief, by then corrected, changes nothing here.
 */
export function copiedBeliefs(beliefs: readonly Belief[], caseId: string): readonly BeliefRecord[] {
  const ids = new Set(beliefs.map(({ id }) => id))
  const copied = (id: string): string => (ids.has(id) ? copiedId(caseId, id) : id)
  const orNull = (id: string | null): string | null => (id === null ? null : copied(id))
  return beliefs.map(({ version: _, ...belief }) => ({
    ...belief,
    id: copied(belief.id),
    user: caseId,
    // Whoever captured it could see it; the cases of a pack are asked by nobody in particular.
    agent: null,
    supersededBy: orNull(belief.supersededBy),
    resolvedBy: orNull(belief.resolvedBy),
    proposedFor: orNull(belief.proposedFor),
    participants: belief.participants.map(copied),
  }))
}

const longestBeliefId = 128

/** Readable where there is room, and unique in any case. */
export function copiedId(caseId: string, beliefId: string): string {
  const id = `${caseId}.${beliefId}`
  if (id.length <= longestBeliefId) return id
  return `${caseId}.${createHash('sha256').update(beliefId).digest('hex').slice(0, 16)}`
}
