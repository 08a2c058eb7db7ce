import type { ActorKind } from './belief.ts'

/** The count of one recall: ids, a time and numbers, never a word of the message. */
export type RecallTally = {
  readonly at: string
  readonly beliefIds: readonly string[]
  /** Whether the message brought nothing. */
  readonly isSilent: boolean
  readonly durationMs: number
}

export type RecallCount = { readonly count: number; readonly lastAt: string }
export type RecallDay = {
  readonly day: string
  readonly recalls: number
  readonly silent: number
  /** The mean duration of a recall. */
  readonly meanMs: number
}

/** How many beliefs of one author and scope were first remembered on a day. */
export type GrowthDay = {
  readonly day: string
  readonly actor: ActorKind
  readonly origin: string
  /** Null if the text was forgotten since. */
  readonly scope: string | null
  readonly beliefs: number
}

export const feedbackVerdicts = ['useful', 'not-useful'] as const
export type FeedbackVerdict = (typeof feedbackVerdicts)[number]

/** How often the person called a recalled belief or turn useful, and how often not; by its id. */
export type FeedbackCount = {
  readonly id: string
  readonly useful: number
  readonly notUseful: number
  readonly lastAt: string
}

/** Where recalls are counted. Nothing that is recalled depends on it. */
export type RecallCounts = {
  countRecalls(user: string, tallies: readonly RecallTally[]): Promise<void>
  /** By id of the belief; those that were never recalled are missing. */
  recallCounts(user: string, beliefIds: readonly string[]): Promise<ReadonlyMap<string, RecallCount>>
  countFeedback(
    user: string,
    feedback: { readonly id: string; readonly verdict: FeedbackVerdict; readonly at: string },
  ): Promise<void>
  /** Of these beliefs and turns, or of all if null; the latest first. Forgetting one removes its feedback. */
  feedback(user: string, ids: readonly string[] | null): Promise<readonly FeedbackCount[]>
  /** Oldest first. */
  recallDays(user: string): Promise<readonly RecallDay[]>
  /** Read from the journal; oldest first. */
  growth(user: string): Promise<readonly GrowthDay[]>
}
