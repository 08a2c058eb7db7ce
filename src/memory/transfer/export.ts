import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import type { BeliefFilter } from '../../beliefs/belief-store.ts'
import type { ExportedTurn } from '../../beliefs/turn-store.ts'
import type { Ports } from '../change/transaction.ts'

const chunk = 500

/**
 * Every belief that passes the filter, by id, each once even while others write: superseded and resolved ones too, so
 * that nothing is lost.
 */
export async function* exportBeliefs({ store }: Ports, filter: BeliefFilter): AsyncGenerator<Belief> {
  const ids = await store.idsStartingWith(filter.user, '', Number.MAX_SAFE_INTEGER)
  for (let from = 0; from < ids.length; from += chunk) {
    const beliefs = await store.getMany(filter.user, ids.slice(from, from + chunk))
    yield* beliefs.filter((belief) => passes(belief, filter))
  }
}

const passes = (belief: Belief, { scopes, types, statuses, pinned, current, proposals }: BeliefFilter): boolean =>
  (scopes === undefined || belief.scopes.some((scope) => scopes.includes(scope))) &&
  (types === undefined || types.includes(belief.type)) &&
  (statuses === undefined || statuses.includes(belief.status)) &&
  (pinned === undefined || belief.pinned === pinned) &&
  (current === undefined || isCurrent(belief) === current) &&
  (proposals === undefined || (belief.proposedFor !== null) === proposals)

/** Every turn of the scopes, in the order in which they were kept. */
export async function* exportTurns(
  { store }: Ports,
  { user, scopes }: { readonly user: string; readonly scopes?: readonly string[] },
): AsyncGenerator<ExportedTurn> {
  let after: number | null = null
  do {
    const { turns, next }: Awaited<ReturnType<typeof store.exportTurns>> = await store.exportTurns(user, {
      after,
      limit: chunk,
    })
    yield* turns.filter(({ scope }) => scopes === undefined || scopes.includes(scope))
    after = next
  } while (after !== null)
}
