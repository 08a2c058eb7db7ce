import type { Belief } from '../../beliefs/belief.ts'
import { analyse } from '../../search/analyse.ts'
import { cutMessage } from '../../search/message.ts'
import { singular } from '../../search/singular.ts'
import { findBelief } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import type { NearMissReason, RelevantBelief } from '../recall/context.ts'
import { assemble, type RecallRequest } from '../recall/recall.ts'

export type WhyRequest = RecallRequest & { readonly reference: string }

/** The result of recall for one belief and one message. */
export type Verdict =
  | { readonly kind: 'relevant'; readonly rank: number; readonly relevant: RelevantBelief }
  | { readonly kind: 'pinned'; readonly rank: number }
  | { readonly kind: 'question'; readonly rank: number }
  | { readonly kind: 'left-out'; readonly reason: NearMissReason; readonly inPrelude: boolean }
  | {
      readonly kind: 'not-mentioned'
      /** Everything it can be found by, each with the words of it that the message has. */
      readonly forms: readonly {
        readonly form: string
        readonly present: readonly string[]
        readonly missing: readonly string[]
      }[]
      readonly inPrelude: boolean
    }

export type Why = { readonly belief: Belief; readonly verdict: Verdict }

/** Answers for one belief why it surfaced for a message, or why it did not. */
export async function why(ports: Ports, request: WhyRequest): Promise<Why> {
  const belief = await findBelief(ports, request)
  const { context, misses } = await assemble(ports, request)
  const place = context.relevant.findIndex((relevant) => relevant.belief.id === belief.id)
  const relevant = context.relevant[place]
  if (relevant !== undefined) return { belief, verdict: { kind: 'relevant', rank: place + 1, relevant } }
  const pinned = context.pinned.findIndex(({ id }) => id === belief.id)
  if (pinned >= 0) return { belief, verdict: { kind: 'pinned', rank: pinned + 1 } }
  const question = context.questions.findIndex(({ id }) => id === belief.id)
  if (question >= 0) return { belief, verdict: { kind: 'question', rank: question + 1 } }
  const miss = (await misses()).find((near) => near.belief.id === belief.id)
  const inPrelude = context.prelude?.beliefIds.includes(belief.id) ?? false
  if (miss !== undefined) return { belief, verdict: { kind: 'left-out', reason: miss.reason, inPrelude } }
  return { belief, verdict: { kind: 'not-mentioned', forms: formsAgainst(belief, request.message), inPrelude } }
}

function formsAgainst(belief: Belief, message: string) {
  const said = new Set(analyse(cutMessage(message)).flatMap(({ word }) => [word, singular(word)]))
  return [belief.name, ...belief.aliases].map((form) => {
    const words = analyse(form).map(({ word }) => word)
    const isSaid = (word: string) => said.has(word) || said.has(singular(word))
    return { form, present: words.filter(isSaid), missing: words.filter((word) => !isSaid(word)) }
  })
}
