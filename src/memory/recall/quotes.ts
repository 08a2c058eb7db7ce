import { isSameStatement } from '../../beliefs/identity.ts'
import { type Push, type PushedQuote, pushQuotes } from '../../search/turns/push.ts'
import type { Store } from '../store.ts'
import type { Context, Quote, QuoteDecision } from './context.ts'

type Shown = Pick<Context, 'prelude' | 'pinned' | 'relevant' | 'questions'>

/** What was said that belongs in the context of a message, unless a belief that is shown says it already. */
export async function quotesFor(
  store: Store,
  {
    message,
    user,
    scopes,
    until,
    shown,
    maxQuotes,
  }: {
    readonly message: string
    readonly user: string
    readonly scopes: readonly string[]
    readonly until?: number
    readonly shown: Shown
    readonly maxQuotes: number
  },
): Promise<{ readonly quotes: readonly Quote[]; readonly decision: QuoteDecision }> {
  const nothing = { quotes: [], decision: { asked: [], threshold: 0, best: null } }
  if (maxQuotes === 0 || message.trim() === '') return nothing
  const push = await pushQuotes(store, { user, scopes, ...(until === undefined ? {} : { until }) }, message)
  return {
    quotes: push.quotes
      .filter((quote) => !isSaid(quote, shown))
      .slice(0, maxQuotes)
      .map(quoteOf),
    decision: decisionOf(push),
  }
}

/** Whether a belief that is shown says the same, or holds the quote whole. */
function isSaid({ text }: PushedQuote, { prelude, pinned, relevant, questions }: Shown): boolean {
  const said = [...pinned, ...relevant.map(({ belief }) => belief), ...questions].map(({ content }) => content)
  const lines = prelude === null ? [] : prelude.text.split('\n')
  const holds = (statement: string): boolean => {
    const [one, other] = [plain(text), plain(statement)]
    return isSameStatement(text, statement) || one.includes(other) || other.includes(one)
  }
  return [...said, ...lines].some(holds)
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const quoteOf = ({ turn, text, isEarlier, score, explanation, shared, nearby }: PushedQuote): Quote => ({
  text,
  turn: turn.id,
  session: turn.session,
  speaker: turn.speaker,
  role: turn.role,
  at: turn.at,
  earlier: isEarlier,
  score,
  explanation,
  shared,
  nearby,
})

const decisionOf = ({ asked, threshold, best }: Push): QuoteDecision => ({
  asked,
  threshold,
  best: best === null ? null : quoteOf(best),
})
