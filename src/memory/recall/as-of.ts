import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { created, type Ports } from '../change/transaction.ts'
import type { Store } from '../store.ts'
import { parseTime } from './parse-time.ts'

const everyEvent = { limit: Number.MAX_SAFE_INTEGER }

/**
 * The memory of a user as it was at a time: beliefs as the journal has them then, and what had been said by then. What was
 * forgotten since is gone from it too. For reading only; takes time in proportion to the journal.
 */
export async function asOf(ports: Ports, user: string, time: string): Promise<Ports> {
  const until = parseTime('until', time)
  const beliefs = await beliefsAt(ports.store, user, until)
  if (ports.emptyStore === undefined)
    throw new MemoryError('invalid', 'This memory can only be read as it is now.', { hint: 'Leave out the time.' })
  const past = await ports.emptyStore()
  if (beliefs.length > 0) {
    await past.commit({
      user,
      kind: 'import',
      actor: 'person',
      origin: 'journal',
      at: new Date(until).toISOString(),
      key: null,
      undoes: null,
      changes: beliefs.map((belief) => created(belief)),
    })
  }
  const refuse = (): never => {
    throw new MemoryError('invalid', 'The memory as it was at an earlier time cannot be changed.', {
      hint: 'Leave out the time to change what holds now.',
    })
  }
  const { knownTurns, getTurn, listTurns, listSessions, turnPostings, turnSpeakers, unitsAround, turnsAt } = ports.store
  const said = { knownTurns, getTurn, listTurns, listSessions, turnPostings, turnSpeakers, unitsAround, turnsAt }
  return { ...ports, store: { ...past, ...said, commit: refuse }, now: () => new Date(until) }
}

async function beliefsAt(store: Store, user: string, until: number): Promise<readonly Belief[]> {
  const events = (await store.events(user, everyEvent)).filter(({ at }) => Date.parse(at) <= until)
  const beliefs = new Map<string, Belief>()
  for (const { number } of [...events].reverse()) {
    for (const { beliefId, belief } of await store.revisions(user, number)) {
      if (belief === null) beliefs.delete(beliefId)
      else beliefs.set(beliefId, belief)
    }
  }
  return [...beliefs.values()]
}
