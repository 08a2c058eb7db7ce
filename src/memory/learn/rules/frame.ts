import type { BeliefType, Subtype } from '../../../beliefs/belief.ts'

/** What a statement says, before it becomes a candidate. */
export type Frame = {
  /** How it was worded, for the one who asks why it was taken. */
  readonly rule: string
  readonly type: BeliefType
  readonly subtype?: Subtype
  readonly name: string
  readonly forms: readonly string[]
  readonly isSlot?: boolean
  readonly participants?: readonly string[]
  readonly relation?: string
  /** What "it", "she" or "there" means in the sentence after this one. */
  readonly topic: Topic | null
  /** What is said not to hold any more. */
  readonly replaces?: readonly string[]
  readonly kind?: 'correction' | 'retraction'
  /** It says something only together with the rest of its sentence. */
  readonly isWhole?: boolean
}

export type Topic = { readonly referent: string; readonly isPerson: boolean; readonly noun: string | null }
