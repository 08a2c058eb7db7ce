import type { ActorKind } from '../beliefs/belief.ts'
import type { BeliefStore } from '../beliefs/belief-store.ts'
import type { TurnStore } from '../beliefs/turn-store.ts'
import type { Embedder } from '../search/embedder.ts'
import type { FormIndex, FullText } from '../search/form-index.ts'
import type { MeaningIndex, TurnIndex } from '../search/turns/turn-index.ts'

/** Everything the use cases need of a store. */
export type Store = BeliefStore & FormIndex & FullText & TurnStore & TurnIndex & MeaningIndex

/** What every use case works with. No use case reads the clock, the disk or a random number by itself. */
export type Ports = {
  readonly store: Store
  readonly now: () => Date
  readonly newId: () => string
  /** Makes an empty in-memory store, which holds the memory as it was at an earlier time. */
  readonly emptyStore?: () => Promise<Store>
  /** Loads the embedding model, where vectors are used. */
  readonly embedder?: () => Promise<Embedder>
}

/** Who is changing the memory. Set by the channel the request came through, never by the text of the request. */
export type Author = { readonly actor: ActorKind; readonly origin: string }
