import type { FeedbackCount } from '../../beliefs/recall-counts.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { isOnlyQuestion } from '../../search/turns/question.ts'
import { termsOf } from '../../search/turns/terms.ts'
import { findTurn } from '../conversation/turns.ts'
import type { Ports } from '../ports.ts'
import type { Quote, QuoteDecision } from '../recall/context.ts'
import { feedbackOn } from '../recall/feedback.ts'
import { assemble, quoteOf, type RecallRequest } from '../recall/recall.ts'

/** Whether and why one turn is quoted for one message. */
export type WhyTurn = Pick<QuoteDecision, 'asked' | 'unknown' | 'probability' | 'levels' | 'meaning'> & {
  readonly turn: Turn
  /** Whether the turn was said in a scope in view. If not, the other fields are computed as if its scope were active. */
  readonly isInView: boolean
  /** The quote as it is in the context; null if the turn is not quoted. */
  readonly quote: Quote | null
  /** The best sentence of the turn with its probability, quoted or not; null if the turn is not among the best. */
  readonly best: Quote | null
  /**
   * The condition for a quote that the turn does not meet; null if it is quoted. `a shared word`: it has no word of the
   * message, and no similar meaning. `the person's own words`: it is not the person's, or may be pasted in part. `a statement`:
   * it only asks something. `better turns`: other turns fit the message better. `probability`: no turn fits well enough. `other
   * quotes` and `a belief`: those are shown instead. `the newest word`: newer turns that are not shown may have changed it.
   */
  readonly unmet:
    | 'a shared word'
    | "the person's own words"
    | 'a statement'
    | 'better turns'
    | 'probability'
    | 'other quotes'
    | 'a belief'
    | 'the newest word'
    | null
  /** How often the person marked it as useful or not useful; null without feedback. */
  readonly feedback: FeedbackCount | null
  /** The number of text units and words in the turns of the scopes. A long turn is several units. */
  readonly saidInAll: { readonly units: number; readonly words: number }
}

export type WhyTurnRequest = RecallRequest & { readonly turn: string }

/** Explains why recall quotes a turn or not. Runs recall itself, so that the explanation cannot differ from it. */
export async function whyTurn(ports: Ports, request: WhyTurnRequest): Promise<WhyTurn> {
  const { user } = request
  const turn = await findTurn(ports, user, request.turn)
  const isInView = visibleScopes(request.scopes).includes(turn.scope)
  const scopes = isInView ? request.scopes : [turn.scope]
  const { context, push } = await assemble(ports, { ...request, scopes, nearMisses: true })
  const { asked, unknown, probability, levels, meaning, considered, quotes, unclear } = push
  const quote = context.quotes.find((shown) => shown.turn === turn.id) ?? null
  const found = considered.find((one) => one.turn.id === turn.id)
  const unmet = (): WhyTurn['unmet'] => {
    if (found === undefined) {
      const terms = new Set(termsOf(turn.text).map(({ term }) => term))
      if (!termsOf(asked.join(' ')).some(({ term }) => terms.has(term))) return 'a shared word'
      if (sentencesOf(turn.text).every(({ text }) => isOnlyQuestion(text))) return 'a statement'
      const isPersons = turn.role === 'user' && turn.origin === 'person'
      return isPersons && turn.doubtful?.length === 0 ? 'better turns' : "the person's own words"
    }
    if (probability < levels.perhaps) return 'probability'
    if (unclear.includes(turn.id)) return 'the newest word'
    return quotes.some((one) => one.turn.id === turn.id) ? 'a belief' : 'other quotes'
  }
  const { units, humanWords: words } = await ports.store.turnPostings({ user, scopes: visibleScopes(scopes) }, [])
  return {
    turn,
    isInView,
    quote,
    asked,
    unknown,
    probability,
    levels,
    meaning,
    best: found === undefined ? null : quoteOf(found),
    unmet: quote === null ? unmet() : null,
    feedback: await feedbackOn(ports, user, turn.id),
    saidInAll: { units, words },
  }
}
