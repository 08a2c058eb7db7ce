import type { Belief } from '../../beliefs/belief.ts'
import type { FeedbackCount } from '../../beliefs/recall-counts.ts'
import { analyse } from '../../search/analyse.ts'
import { cutMessage } from '../../search/message.ts'
import { singular } from '../../search/singular.ts'
import { findBelief } from '../find-belief.ts'
import type { NearBelief } from '../meaning/belief-meaning.ts'
import type { Ports } from '../ports.ts'
import type { NearMissReason, PerhapsBelief, RelevantBelief } from '../recall/context.ts'
import { feedbackOn } from '../recall/feedback.ts'
import { assemble, type RecallRequest } from '../recall/recall.ts'

export type WhyRequest = RecallRequest & { readonly reference: string }

/** The result of recall for one belief and one message. */
export type Verdict =
  | { readonly kind: 'relevant'; readonly rank: number; readonly relevant: RelevantBelief }
  | { readonly kind: 'pinned'; readonly rank: number }
  | { readonly kind: 'question'; readonly rank: number }
  | ({ readonly kind: 'perhaps'; readonly rank: number } & Nearness)
  | { readonly kind: 'left-out'; readonly reason: NearMissReason; readonly inPrelude: boolean }
  | {
      readonly kind: 'not-mentioned'
      /** Each form of the belief, with the words that the message contains and those that it does not. */
      readonly forms: readonly {
        readonly form: string
        readonly present: readonly string[]
        readonly missing: readonly string[]
      }[]
      readonly inPrelude: boolean
      /** Null if recall compares words alone, or if the belief is not among the nearest in meaning. */
      readonly meaning: Nearness | null
    }

/** How near the content of a belief is to a message in meaning. */
type Nearness = Pick<PerhapsBelief, 'cosine' | 'minCosine'>

export type Why = {
  readonly belief: Belief
  readonly verdict: Verdict
  /** How often the person marked it as useful or not useful; null without feedback. */
  readonly feedback: FeedbackCount | null
}

/** Explains why a belief surfaced for a message, or why it did not. */
export async function why(ports: Ports, request: WhyRequest): Promise<Why> {
  const belief = await findBelief(ports, request)
  return {
    belief,
    verdict: await verdictOn(ports, belief, request),
    feedback: await feedbackOn(ports, request.user, belief.id),
  }
}

async function verdictOn(ports: Ports, belief: Belief, request: RecallRequest): Promise<Verdict> {
  const { context, misses, near } = await assemble(ports, request)
  const place = context.relevant.findIndex((relevant) => relevant.belief.id === belief.id)
  const relevant = context.relevant[place]
  if (relevant !== undefined) return { kind: 'relevant', rank: place + 1, relevant }
  const pinned = context.pinned.findIndex(({ id }) => id === belief.id)
  if (pinned >= 0) return { kind: 'pinned', rank: pinned + 1 }
  const question = context.questions.findIndex(({ id }) => id === belief.id)
  if (question >= 0) return { kind: 'question', rank: question + 1 }
  const nearest = context.perhaps.findIndex((one) => one.belief.id === belief.id)
  const { cosine, minCosine } = context.perhaps[nearest] ?? {}
  if (cosine !== undefined && minCosine !== undefined) return { kind: 'perhaps', rank: nearest + 1, cosine, minCosine }
  const miss = (await misses()).find((near) => near.belief.id === belief.id)
  const inPrelude = context.prelude?.beliefIds.includes(belief.id) ?? false
  if (miss !== undefined) return { kind: 'left-out', reason: miss.reason, inPrelude }
  const meaning = await nearnessOf(belief, near)
  const forms = compareForms(belief, request.message)
  return { kind: 'not-mentioned', forms, inPrelude, meaning }
}

async function nearnessOf({ id }: Belief, near: readonly NearBelief[]): Promise<Nearness | null> {
  const found = near.find(({ beliefId }) => beliefId === id)
  if (found === undefined) return null
  const { minCosine } = await import('../meaning/belief-meaning.ts')
  return { cosine: found.cosine, minCosine }
}

function compareForms(belief: Belief, message: string) {
  const said = new Set(analyse(cutMessage(message)).flatMap(({ word }) => [word, singular(word)]))
  return [belief.name, ...belief.aliases].map((form) => {
    const words = analyse(form).map(({ word }) => word)
    const isSaid = (word: string) => said.has(word) || said.has(singular(word))
    return { form, present: words.filter(isSaid), missing: words.filter((word) => !isSaid(word)) }
  })
}
