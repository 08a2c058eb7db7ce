import { visibleScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { endsOf } from '../../search/message.ts'
import { judgeTurn, reach, type TurnJudgement } from '../../search/turns/push.ts'
import { findTurn } from '../conversation/turns.ts'
import type { Ports } from '../ports.ts'
import { defaultBudget, type Quote } from '../recall/context.ts'
import { assemble, quoteOf, type RecallRequest } from '../recall/recall.ts'

/** Whether and why one turn is quoted for one message. */
export type WhyTurn = {
  readonly turn: Turn
  /** Whether the turn was said in one of the active scopes. If not, the rest is judged as if its scope were active. */
  readonly isInView: boolean
  /** The quote as the context has it; null if the turn is not quoted. */
  readonly quote: Quote | null
  /** The best sentence of the turn with its score, quoted or not; null if no sentence of it can be quoted. */
  readonly best: Quote | null
  readonly threshold: number
  /**
   * `other quotes` and `a belief`: it passes, but the context has better quotes or the same quote of another turn, or a belief
   * in it has the same words.
   */
  readonly unmet: TurnJudgement['unmet'] | 'other quotes' | 'a belief'
  readonly saidInAll: TurnJudgement['saidInAll']
  /** The telling words of the message, and those of them that are too common to tell a topic. */
  readonly asked: readonly string[]
  readonly common: readonly string[]
}

export type WhyTurnRequest = RecallRequest & { readonly turn: string }

/** Explains the choice of quotes for one turn: recall decides whether it is quoted, and the scorer of recall why. */
export async function whyTurn(ports: Ports, request: WhyTurnRequest): Promise<WhyTurn> {
  const { user, message } = request
  const turn = await findTurn(ports, user, request.turn)
  const isInView = visibleScopes(request.scopes).includes(turn.scope)
  const scopes = isInView ? request.scopes : [turn.scope]
  const { context, quoteDecision } = await assemble(ports, { ...request, scopes })
  const { quotes } = context
  const quote = quotes.find((shown) => shown.turn === turn.id) ?? null
  const view = { user, scopes: visibleScopes(scopes) }
  const first = Math.max(0, turn.index - reach)
  const page = { offset: first, limit: turn.index - first + reach + 1 }
  const { items: around } = await ports.store.listTurns({ user, session: turn.session }, page)
  const { best, ...judged } = await judgeTurn(ports.store, view, endsOf(message), { turn, around })
  const { maxQuotes } = { ...defaultBudget, ...request.budget }
  const isCrowdedOut = quotes.length >= maxQuotes || quotes.some(({ text }) => text === best?.text)
  const keptBack = quoteDecision.unmet === 'the newest word' ? quoteDecision.unmet : null
  const unmet = quote === null ? (judged.unmet ?? keptBack ?? (isCrowdedOut ? 'other quotes' : 'a belief')) : null
  return { turn, isInView, quote, ...judged, best: best && quoteOf(best), unmet }
}
