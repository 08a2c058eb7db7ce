import type { AccessControl } from '../beliefs/access-store.ts'
import type { BeliefStore } from '../beliefs/belief-store.ts'
import type { Commit } from '../beliefs/journal.ts'
import type { RecallCounts } from '../beliefs/recall-counts.ts'
import type { StoreCare } from '../beliefs/store-care.ts'
import type { TurnStore } from '../beliefs/turn-store.ts'
import type { FormIndex, FullText } from './form-index.ts'
import type { MeaningIndex, TurnIndex } from './turns/turn-index.ts'

/** Everything the use cases need of a store. */
export type Store = BeliefStore &
  FormIndex &
  FullText &
  TurnStore &
  TurnIndex &
  MeaningIndex & {
    /**
     * Runs `work` on the store as it would be after a commit, which is rolled back at the end. No other caller sees it, and
     * other changes wait. Throws a conflict if the store would refuse the commit as stale. `work` must not write.
     */
    tryOut<Result>(commit: Commit, work: (tried: Store) => Promise<Result>): Promise<Result>
  }

/** A store with its maintenance, its counts, and the people who may use it. */
export type CaredStore = Store & StoreCare & RecallCounts & AccessControl
