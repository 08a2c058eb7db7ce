import type { AccessControl } from '../beliefs/access-store.ts'
import type { BeliefStore } from '../beliefs/belief-store.ts'
import type { Commit } from '../beliefs/journal.ts'
import type { RecallCounts } from '../beliefs/recall-counts.ts'
import type { StoreCare } from '../beliefs/store-care.ts'
import type { TurnStore } from '../beliefs/turn-store.ts'
import type { FormIndex, FullText } from './form-index.ts'
import type { MeaningIndex, TurnIndex } from './turns/turn-index.ts'

/** The part of a store that the use cases need. */
export type Store = BeliefStore &
  FormIndex &
  FullText &
  TurnStore &
  TurnIndex &
  MeaningIndex & {
    /**
     * Runs `work` on the store with a commit applied, and then rolls it back. Other callers do not see the commit, and other
     * writes wait. Throws a conflict if the commit is stale. `work` must not write.
     */
    tryOut<Result>(commit: Commit, work: (tried: Store) => Promise<Result>): Promise<Result>
  }

/** A store with maintenance, recall statistics and access control. */
export type CaredStore = Store & StoreCare & RecallCounts & AccessControl
