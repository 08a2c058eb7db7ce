import type { BeliefType, Subtype } from '../../beliefs/belief.ts'

/** Facts about a person that have one value at a time. Each is the name of a belief. */
export const slots = ['my name', 'my pronouns', 'my language', 'my time zone'] as const
export type Slot = (typeof slots)[number]

/**
 * `request`: the person asks to remember it. `instruction`: applies until further notice. `identity`: gives the value of a slot.
 * `preference`: a stated liking. `correction`: names the value it replaces. `model`: found by a model. `statement`: a plain
 * sentence, used only if it gives a different value than a known belief.
 */
export type FindingKind = 'request' | 'instruction' | 'identity' | 'preference' | 'correction' | 'model' | 'statement'

/** A statement found in a message. */
export type Finding = {
  readonly kind: FindingKind
  /** The person's sentence, word for word. */
  readonly content: string
  /** Its position in the message. */
  readonly span: { readonly start: number; readonly end: number }
  readonly type: BeliefType
  readonly subtype: Subtype | null
  /** `person`: it is about the person, so it applies in every scope. `work`: it applies in the scopes of the message. */
  readonly about: 'person' | 'work'
  readonly slot?: Slot
  /** Whether a person has to confirm it, even if the message contains nothing else. */
  readonly isDoubtful?: boolean
  /** Whether the person asks to remember it, whatever its kind is: "Remember: always …". */
  readonly isAsked?: boolean
  /**
   * The beginning of a correction. If it has a verb of change, the words before the verb: "the demo" in "the demo moved from …".
   * Otherwise the words before the old value. These include the new value, so `hasValue` is true.
   */
  readonly lead?: { readonly text: string; readonly hasValue: boolean }
  /** For a correction: the outdated value in the person's words. Null if the sentence does not name it. */
  readonly replaces?: string | null
  /** The name that a model chose. Findings of the rules have none, so their name is derived from the sentence. */
  readonly name?: string
  readonly aliases?: readonly string[]
}

/** A part of a message that looks like a statement but does not become a belief, and the reason. */
export type Refusal = {
  readonly text: string
  readonly span: { readonly start: number; readonly end: number }
  readonly reason:
    | 'off_the_record'
    | 'not_own_words'
    | 'question'
    | 'role_play'
    | 'unnamed'
    | 'unclear_correction'
    | 'secret'
    | 'too_long'
    | 'too_many'
    | 'unreadable'
    | 'unfounded'
  /** One sentence for a person. */
  readonly explanation: string
}

export type Extraction = {
  readonly findings: readonly Finding[]
  readonly refused: readonly Refusal[]
  /** Plain sentences of the person that may give a different value than a known belief. */
  readonly statements?: readonly Finding[]
}

/** A message, and earlier messages of the same conversation, oldest first. */
export type HeardMessage = { readonly text: string; readonly earlier?: readonly string[] }

/** Finds statements in a person's message. */
export type Extractor = {
  readonly name: string
  /** The model that finds them, if one is used. Its findings are always candidates. */
  readonly model?: string
  extract(heard: HeardMessage, signal?: AbortSignal): Promise<Extraction>
}
