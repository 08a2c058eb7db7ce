import type { BeliefStore } from '../beliefs/belief-store.ts'
import type { TurnStore } from '../beliefs/turn-store.ts'
import type { FormIndex, FullText } from '../search/form-index.ts'
import type { MeaningIndex, TurnIndex } from '../search/turns/turn-index.ts'

/** Everything the use cases need of a store. */
export type EveryPort = BeliefStore & FormIndex & FullText & TurnStore & TurnIndex & MeaningIndex
