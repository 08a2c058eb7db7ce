import { type Belief, passesFilter } from '../../beliefs/belief.ts'
import type { BeliefFilter } from '../../beliefs/belief-store.ts'
import type { ExportedTurn } from '../../beliefs/turn-store.ts'
import { yieldToEventLoop } from '../../next-turn.ts'
import type { Ports } from '../ports.ts'

const chunk = 500

/**
 * Every belief that passes the filter, by id, each once even if other processes write at the same time. Includes
 * superseded and resolved beliefs, so that nothing is lost.
 */
export async function* exportBeliefs({ store }: Pick<Ports, 'store'>, filter: BeliefFilter): AsyncGenerator<Belief> {
  const ids = await store.idsStartingWith(filter.user, '', Number.MAX_SAFE_INTEGER)
  for (let from = 0; from < ids.length; from += chunk) {
    const beliefs = await store.getMany(filter.user, ids.slice(from, from + chunk))
    yield* beliefs.filter((belief) => passesFilter(belief, filter))
    await yieldToEventLoop()
  }
}

/** Every turn of the scopes, in the order in which they were stored. */
export async function* exportTurns(
  { store }: Ports,
  { user, scopes }: { readonly user: string; readonly scopes?: readonly string[] },
): AsyncGenerator<ExportedTurn> {
  let after: number | null = null
  do {
    const page: Awaited<ReturnType<typeof store.exportTurns>> = await store.exportTurns(user, { after, limit: chunk })
    yield* page.turns.filter(({ scope }) => scopes === undefined || scopes.includes(scope))
    after = page.next
  } while (after !== null)
}
