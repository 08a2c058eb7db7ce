import type { ActorKind } from './belief.ts'

/** The statistics of one recall, without any words of the message. */
export type RecallTally = {
  readonly at: string
  readonly beliefIds: readonly string[]
  /** Whether recall found nothing for the message. */
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
  /** Null if the beliefs' texts were forgotten later. */
  readonly scope: string | null
  readonly beliefs: number
}

export const feedbackVerdicts = ['useful', 'not-useful'] as const
export type FeedbackVerdict = (typeof feedbackVerdicts)[number]

/** How often the person marked a recalled belief or turn as useful, and as not useful. */
export type FeedbackCount = {
  readonly id: string
  readonly useful: number
  readonly notUseful: number
  readonly lastAt: string
}

/** Statistics about recalls. They never affect recall. */
export type RecallCounts = {
  countRecalls(user: string, tallies: readonly RecallTally[]): Promise<void>
  /** Counts by belief id. Beliefs that were never recalled are left out. */
  recallCounts(user: string, beliefIds: readonly string[]): Promise<ReadonlyMap<string, RecallCount>>
  countFeedback(
    user: string,
    feedback: { readonly id: string; readonly verdict: FeedbackVerdict; readonly at: string },
  ): Promise<void>
  /** Feedback on these beliefs and turns, or all if `ids` is null; latest first. Forgetting a belief or turn removes its feedback. */
  feedback(user: string, ids: readonly string[] | null): Promise<readonly FeedbackCount[]>
  /** Oldest first. */
  recallDays(user: string): Promise<readonly RecallDay[]>
  /** Computed from the journal; oldest first. */
  growth(user: string): Promise<readonly GrowthDay[]>
}
