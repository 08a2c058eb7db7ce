import type { BeliefType, Subtype } from '../../beliefs/belief.ts'

/** A statement found in a message, as it would be remembered. */
export type Candidate = {
  readonly type: BeliefType
  readonly subtype: Subtype | null
  readonly name: string
  /** Other words people would use to ask for it. */
  readonly aliases: readonly string[]
  /** In the speaker's own words. */
  readonly content: string
  readonly why: string
  /** Where in the message it was said. */
  readonly span: { readonly start: number; readonly end: number }
  /** The rule that found it, or the model that did. */
  readonly foundBy: string
  /** `said`: stated plainly. `inferred`: follows from what was said. */
  readonly certainty: 'said' | 'inferred'
  /** `statement`: new or said again. `correction`: takes the place of what it names. `retraction`: no longer so, and nothing instead. */
  readonly kind: 'statement' | 'correction' | 'retraction'
  /** What it says no longer holds, in the speaker's words: the X of "not X but Y". Tells a correction what it is about. */
  readonly replaces?: readonly string[]
  /** Holds one value at a time ("my X is Y"), so that another value takes the place of the one before. */
  readonly isSlot?: boolean
  /** A pronoun in the content that stands for something said before, and that something where the message tells it. */
  readonly pronoun?: string
  /** For relations: who or what is connected, and how. */
  readonly participants?: readonly string[]
  readonly relation?: string
}

/** A part of a message that gives no belief, and why. */
export type Refusal = {
  readonly text: string
  readonly span: { readonly start: number; readonly end: number }
  readonly reason:
    | 'question'
    | 'small_talk'
    | 'hypothetical'
    | 'quotation'
    | 'do_not_store'
    | 'forget_request'
    | 'instruction'
    | 'secret'
    | 'taken_back'
    | 'about_nobody'
    | 'too_long'
    | 'unfounded'
  /** One sentence for a person. */
  readonly explanation: string
}

export type Extraction = { readonly candidates: readonly Candidate[]; readonly refused: readonly Refusal[] }

/** Who or what was heard. Earlier messages of the same conversation, oldest first, tell what "it" is. */
export type Heard = { readonly text: string; readonly earlier?: readonly string[] }

/** Finds statements in what a person said. */
export type Extractor = {
  readonly name: string
  /** The model that finds them, where one does. What it finds is never trusted as the person's own word. */
  readonly model?: string
  extract(heard: Heard, signal?: AbortSignal): Promise<Extraction>
}
