import type { Belief } from '../../beliefs/belief.ts'
import { invalid } from '../../errors.ts'
import { parseTime } from '../../local-time.ts'
import { splitIntoParts } from '../../search/slices.ts'
import type { Ports, Store } from '../ports.ts'

/** Max beliefs per commit, so that other work of the process can run between two commits. */
const beliefsAtOnce = 100

/**
 * The memory of a user as it was at a time: the beliefs of the journal and the turns up to then, without forgotten texts. It is
 * read-only, and building it takes time in proportion to the journal. Closing its store frees the memory, and leaves the store
 * of `ports` open.
 */
export async function asOf(ports: Ports, user: string, time: string): Promise<Ports> {
  const until = parseTime('until', time)
  const beliefs = await beliefsAt(ports.store, user, until)
  if (ports.emptyStore === undefined)
    throw invalid('This memory cannot be read as of an earlier time.', 'Leave out the time.')
  const past = ports.emptyStore()
  for (const part of splitIntoParts(beliefs, beliefsAtOnce)) {
    await past.commit({
      user,
      kind: 'import',
      actor: 'person',
      origin: 'journal',
      at: new Date(until).toISOString(),
      key: null,
      undoes: null,
      changes: part.map((after) => ({ beliefId: after.id, expectedVersion: 0, outcome: 'present', after })),
    })
  }
  const refuse = (): never => {
    throw invalid(
      'The memory as it was at an earlier time cannot be changed.',
      'Leave out the time to change the current memory.',
    )
  }
  const said = Object.fromEntries(turnReads.map((call) => [call, ports.store[call]])) as unknown as TurnReads
  return { ...ports, store: { ...past, ...said, commit: refuse }, now: () => new Date(until) }
}

/** Turns never change, so they are read from the store itself. */
const turnReads = [
  'knownTurns',
  'getTurn',
  'listTurns',
  'listSessions',
  'turnPostings',
  'turnSpeakers',
  'lastStep',
  'unitsAround',
  'turnsAt',
  'turnCosines',
  'vectorsAt',
  'hasVectors',
] as const
type TurnReads = Pick<Store, (typeof turnReads)[number]>

async function beliefsAt(store: Store, user: string, until: number): Promise<readonly Belief[]> {
  const events = (await store.events(user, { limit: Number.MAX_SAFE_INTEGER })).filter(
    ({ at }) => Date.parse(at) <= until,
  )
  const beliefs = new Map<string, Belief>()
  for (const { number } of [...events].reverse()) {
    for (const { beliefId, belief } of await store.revisions(user, number)) {
      if (belief === null) beliefs.delete(beliefId)
      else beliefs.set(beliefId, belief)
    }
  }
  return [...beliefs.values()]
}
