import type { Belief } from '../../beliefs/belief.ts'
import type { TurnRole } from '../../beliefs/turn.ts'
import { localDay } from '../../local-time.ts'
import type { Explanation } from '../../search/explanation.ts'
import type { Clause } from '../../search/score.ts'
import type { Levels } from '../../search/turns/model.ts'
import type { QuoteLevel } from '../../search/turns/quotes.ts'

/** The max size of a context. Pinned beliefs come first, then relevant ones by score. */
export type Budget = {
  /** Max pinned and relevant beliefs together. Default 20. */
  readonly maxBeliefs: number
  /** Max pinned beliefs. Default 10. */
  readonly maxPinned: number
  /**
   * Max pinned and relevant beliefs that an agent, a tool or a model wrote. Default a quarter of `maxBeliefs`, so that planted
   * beliefs cannot crowd out the person's statements, while a memory that only agents write still gives results.
   */
  readonly maxFromAgents: number
  /** Max open questions, which do not count as beliefs. Default 15. */
  readonly maxQuestions: number
  /** Max characters of name, content and why, in all beliefs and questions together. Default 16000. */
  readonly maxCharacters: number
  /** Max characters of the prelude. Default 2000. */
  readonly maxPrelude: number
  /** Max sure quotes, 0 to 3; 0 also turns off quotes that may help. Default 3. */
  readonly maxQuotes: number
}

export const defaultBudget: Budget = {
  maxBeliefs: 20,
  maxPinned: 10,
  maxFromAgents: 5,
  maxQuestions: 15,
  maxCharacters: 16_000,
  maxPrelude: 2_000,
  maxQuotes: 3,
}

/** The limits that can keep out a single belief. */
export type BudgetLimit = Exclude<keyof Budget, 'maxPrelude' | 'maxQuotes'>

/** Words of the message that match a form. Offsets count the characters of the message. */
export type MatchedWords = {
  readonly text: string
  readonly start: number
  readonly end: number
  /** A word of the message that was read as a typo of a known word. */
  readonly typo: { readonly written: string; readonly meant: string } | null
}

/** One surface form of a belief that the message mentions, and its share of the score. */
export type MatchedForm = {
  readonly field: Clause['field']
  readonly form: string
  readonly words: readonly MatchedWords[]
  /** The number of beliefs in view that these words can mean, out of `population`. */
  readonly holders: number
  readonly population: number
  readonly explanation: Explanation
}

/** A belief the message is about. */
export type RelevantBelief = {
  readonly belief: Belief
  readonly score: number
  readonly explanation: Explanation
  readonly matches: readonly MatchedForm[]
  /**
   * Id of the belief through which it was found: a relation that the message names and that it takes part in, or a predecessor
   * that a quote states. Null if the message names the belief itself.
   */
  readonly through: string | null
}

/** A belief that the message does not name, but whose content is near to it in meaning. The agent may ignore it. */
export type PerhapsBelief = {
  readonly belief: Belief
  /** `cosine`: that of its content and the message. `minCosine`: the minimum for a belief to be shown. */
  readonly cosine: number
  readonly minCosine: number
}

/** A sentence of a turn that is shown because it probably helps with the message. */
export type Quote = {
  readonly text: string
  /** `sure`: very likely an answer, in the person's own words. `perhaps`: background that the agent may ignore. */
  readonly level: QuoteLevel
  /** The probability that the turn helps with the message. */
  readonly probability: number
  /** Id of the turn. */
  readonly turn: string
  readonly session: string
  readonly speaker: string | null
  readonly role: TurnRole
  readonly at: string
  /** The UTC offset of the turn. */
  readonly utcOffset: number | null
  /** Whether the person may have pasted it: it was far down in a message or after much other text. */
  readonly perhapsPasted: boolean
  /** Whether a newer quote about the same thing comes before this one. */
  readonly earlier: boolean
  /** When the person corrected it; the correction is among the beliefs of the context. */
  readonly correctedAt: string | null
  /** `score` is the log odds of the probability; `explanation` is the sum that gives it. */
  readonly score: number
  readonly explanation: Explanation
  /** Words of the message: `shared` are in the quote, `nearby` elsewhere in its turn or in the turns next to it. */
  readonly shared: readonly string[]
  readonly nearby: readonly string[]
}

/** The reasons why these quotes, or none, were chosen. */
export type QuoteDecision = {
  /** `asked` are the words of the message that count; `unknown` are those of them that no turn contains. */
  readonly asked: readonly string[]
  readonly unknown: readonly string[]
  /** `probability`: how likely it is that one of the five best-ranked turns helps. `levels`: the threshold of each level. */
  readonly probability: number
  readonly levels: Levels
  /** `words`: there are no vectors of the turns, or those of the message took too long. */
  readonly meaning: 'vectors' | 'words'
  /** The best quote, shown or not; null if there is none. */
  readonly best: Quote | null
  /** Ids of turns that are left out because newer turns that are not shown may have changed them. */
  readonly unclear: readonly string[]
}

/** A confidence below this is shown to the agent. */
export const lowConfidence = 0.65

/** Standing instructions and preferences, as one text. */
export type Prelude = { readonly text: string; readonly beliefIds: readonly string[] }

/** Why a belief whose form occurs in the message is not among the relevant ones. */
export type NearMissReason =
  | { readonly kind: 'other-scope'; readonly scopes: readonly string[] }
  | { readonly kind: 'superseded'; readonly by: string | null }
  | { readonly kind: 'resolved'; readonly at: string }
  | { readonly kind: 'open-question' }
  | { readonly kind: 'expertise' }
  | { readonly kind: 'over-budget'; readonly limit: BudgetLimit }
  | { readonly kind: 'other-agent'; readonly agent: string }
  | { readonly kind: 'proposed'; readonly for: string }
  | { readonly kind: 'candidate' }

/** A belief that is in the context anyway, such as a pinned one, and that the message also names. */
export type NamedAnyway = { readonly beliefId: string; readonly matches: readonly MatchedForm[] }

export type NearMiss = { readonly belief: Belief; readonly reason: NearMissReason; readonly score: number | null }

/** The result of recall: everything that belongs in an agent's context for one message, and nothing else. */
export type Context = {
  readonly user: string
  readonly agent: string | null
  /** The active scopes; beliefs of their ancestors are in view too. */
  readonly scopes: readonly string[]
  readonly prelude: Prelude | null
  readonly pinned: readonly Belief[]
  readonly relevant: readonly RelevantBelief[]
  readonly questions: readonly Belief[]
  /** Quotes from turns that help with the message, the sure ones first; usually empty. */
  readonly quotes: readonly Quote[]
  /** Beliefs near in meaning, nearest first. Together with the quotes, at most three for a question and five for a request. */
  readonly perhaps: readonly PerhapsBelief[]
  /** Whether the message has more than 32,000 characters, so that only its first and last 16,000 were read. */
  readonly isMessageCut: boolean
  /** Only if requested. */
  readonly nearMisses?: readonly NearMiss[]
  /** Only if near misses are requested. */
  readonly namedAnyway?: readonly NamedAnyway[]
  readonly quoteDecision?: QuoteDecision
}

/** The mark after the speaker of an outdated quote; empty for other quotes. */
export const correctionMark = (correctedAt: string | null): string =>
  correctedAt === null ? '' : ` (corrected on ${localDay(correctedAt)})`

/** The mark of a belief that a newer quote may have changed. */
export const olderThanQuote = 'older than a quote above'

/** Whether the quotes are shown before the beliefs, because one of them may have changed a belief. */
export const hasOlderThanQuote = (ages: ReadonlyMap<string, readonly string[]>): boolean =>
  [...ages.values()].some((marks) => marks.includes(olderThanQuote))

/** Ids of the beliefs in a context, without those of the prelude and those that are only perhaps relevant. */
export const idsIn = ({ pinned, relevant, questions }: Context): ReadonlySet<string> =>
  new Set([...pinned, ...questions, ...relevant.map(({ belief }) => belief)].map(({ id }) => id))

export const isShown = (context: Context, id: string): boolean =>
  idsIn(context).has(id) || (context.prelude?.beliefIds.includes(id) ?? false)
