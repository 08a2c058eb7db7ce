import type { ApiBelief, ApiExplanation, ApiQuote, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { dayOf } from '../../format/time.ts'
import { matchWords, meaningWords, quoteWords, type Strength, strengthOf } from './reasons.tsx'

/** The parts of a context in order. */
export const tiers = {
  always: { title: 'Preferences and standing instructions', note: 'In every context' },
  pinned: { title: 'Pinned', note: 'In every context of these scopes' },
  relevant: { title: 'Relevant to this message', note: 'Named by the message, best first' },
  questions: { title: 'Still open', note: 'Pinned questions' },
  said: { title: 'Said earlier', note: 'Quotes, word for word' },
  perhaps: { title: 'Perhaps relevant', note: 'Less certain: the agent may ignore these' },
} as const
export type TierName = keyof typeof tiers

/** A line of a context with its reasons: a belief, a quote, or a preference. */
export type ContextLine = {
  /** The id of the belief or of the quoted turn; for a preference whose belief is unknown, its text. */
  readonly id: string
  readonly tier: TierName
  readonly text: string
  /** Null for preferences. */
  readonly of: { readonly belief: ApiBelief } | { readonly quote: ApiQuote } | null
  readonly reasons: readonly string[]
  /** Whether the line is there because of the message. The other lines are in every context. */
  readonly isNamed: boolean
  readonly strength?: Strength
  readonly explanation?: ApiExplanation
}

/** The distinct lines of a context, in order. */
export function contextLines({ context, namedAnyway, quoteDecision }: RouteAnswer<'recall'>): readonly ContextLine[] {
  const { prelude, pinned, relevant, questions, quotes, perhaps } = context
  const told = prelude?.beliefIds ?? []
  const lineOf = (belief: ApiBelief) => ({
    id: belief.id,
    text: `${belief.name}: ${belief.content}`,
    of: { belief },
    isNamed: true,
  })
  const standing = (tier: TierName, beliefs: readonly ApiBelief[]) =>
    beliefs.map((belief) => {
      const matches = namedAnyway.find(({ beliefId }) => beliefId === belief.id)?.matches ?? []
      const reasons = [...matches.map(matchWords), 'It is pinned, so it is in every context of its scopes.']
      return { ...lineOf(belief), tier, reasons, isNamed: matches.length > 0 }
    })
  const nameOf = (id: string): string => relevant.find(({ belief }) => belief.id === id)?.belief.name ?? 'a relation'
  return [
    ...(prelude?.text.split('\n') ?? []).map((text, index) => {
      return { id: told[index] ?? text, tier: 'always', text, of: null, reasons: [], isNamed: false } as const
    }),
    ...standing(
      'pinned',
      pinned.filter(({ id }) => !told.includes(id)),
    ),
    ...relevant.map(({ belief, through, matches, explanation }) =>
      through === null
        ? {
            ...lineOf(belief),
            tier: 'relevant' as const,
            reasons: matches.map(matchWords),
            strength: strengthOf({ matches }),
            explanation,
          }
        : {
            ...lineOf(belief),
            tier: 'relevant' as const,
            reasons: [`The message names “${nameOf(through)}”, which it is part of.`],
            strength: 'possible' as const,
          },
    ),
    ...standing('questions', questions),
    ...quotes.map((quote) => ({
      id: quote.turn,
      tier: quote.level === 'sure' ? ('said' as const) : ('perhaps' as const),
      text: `“${quote.text}”, said on ${dayOf(quote.at, quote.utcOffset)}`,
      of: { quote },
      reasons: [quoteWords(quote, quoteDecision?.asked ?? [])],
      isNamed: true,
      explanation: quote.explanation,
    })),
    ...perhaps.map(({ belief, ...near }) => {
      return { ...lineOf(belief), tier: 'perhaps' as const, reasons: [meaningWords(near)] }
    }),
  ]
}
