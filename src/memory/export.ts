import type { Belief } from '../beliefs/belief.ts'
import type { BeliefFilter } from '../beliefs/belief-store.ts'
import type { Workshop } from './workshop.ts'

const pageSize = 500

/** Every belief that passes the filter, in a fixed order: superseded and resolved ones too, so that nothing is lost. */
export async function* exportBeliefs({ store }: Workshop, filter: BeliefFilter): AsyncGenerator<Belief> {
  for (let offset = 0; ; offset += pageSize) {
    const { items } = await store.list(filter, { limit: pageSize, offset })
    yield* items
    if (items.length < pageSize) return
  }
}
