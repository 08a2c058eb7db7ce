import type { Belief } from '../../beliefs/belief.ts'
import type { Edits } from '../change/edit.ts'
import type { Ports } from '../change/transaction.ts'
import type { BeliefReference } from '../find-belief.ts'
import type { Budget, Context } from '../recall/context.ts'
import type { RecallRequest } from '../recall/recall.ts'

/** What somebody wants of a belief that they see, or do not see, for a message. */
export type Wish = 'absent' | 'present'

export type RemedyRequest = RecallRequest &
  BeliefReference & {
    readonly wish: Wish
    /** Further aliases to try, in somebody's own words. */
    readonly aliases?: readonly string[]
  }

/** Something that may fulfil a wish, before it was tried. */
export type Candidate = {
  readonly kind: 'add-alias' | 'drop-alias' | 'scopes' | 'pin' | 'unpin' | 'accept' | 'correct' | 'ask' | 'see'
  /** One sentence for a person. */
  readonly summary: string
  /** What would be changed about the belief. */
  readonly change?: Edits
  /** What would have to be asked instead. */
  readonly ask?: { readonly scopes?: readonly string[]; readonly budget?: Partial<Budget> }
  /** The belief to look at. */
  readonly see?: string
  /** The belief as it would read, where that is more than an edit can do. */
  readonly supposed?: Belief
  readonly caution?: string
}

/** Everything a candidate is found from. */
export type Situation = {
  readonly ports: Ports
  readonly request: RemedyRequest
  readonly belief: Belief
  readonly context: Context
  /** The context there would be after a change of the belief. */
  readonly after: (change: Edits) => Promise<Context>
}

/** Whether a belief is anywhere in a context. */
export const isShown = ({ prelude, pinned, relevant, questions }: Context, id: string): boolean =>
  relevant.some(({ belief }) => belief.id === id) ||
  [...pinned, ...questions].some((belief) => belief.id === id) ||
  (prelude?.beliefIds.includes(id) ?? false)
