import type { BeliefStore } from '../beliefs/belief-store.ts'
import type { FormIndex, FullText } from '../search/form-index.ts'

/** Everything the use cases need of a store. */
export type Store = BeliefStore & FormIndex & FullText
