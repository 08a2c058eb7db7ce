import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { counted } from '../../format/numbers.ts'
import { dayOf } from '../../format/time.ts'
import { Link } from '../../navigation/link.tsx'
import { matchWords, quoteWords, type Strength, strengthOf } from '../recall/reason-words.ts'
import { StrengthChip } from '../recall/strength-chip.tsx'

type Line = {
  readonly key: string
  readonly text: string
  readonly reason: string
  /** Null for quotes, which are shown or not, and for what is in every context. */
  readonly strength: Strength | null
}

/** Lines that every message gets; the page of recall has all. */
const mostAlways = 6

/** In few lines, what an agent would be given for a message, each with its reason; last, what it gets with any message. */
export function Given({ answer, isAsked }: { readonly answer: RouteAnswer<'recall'>; readonly isAsked: boolean }) {
  const { named, always } = linesOf(answer)
  return (
    <>
      {!isAsked || named.length > 0 ? null : (
        <p class="soft">
          This message adds nothing{always.length === 0 ? '' : ' to what your agent always gets'}. Recall stays silent
          rather than guess.
        </p>
      )}
      {named.length === 0 ? null : (
        <ol class="given">
          {named.map(({ key, text, reason, strength }) => (
            <li key={key}>
              <p class="prose" dir="auto">
                {text} {strength === null ? null : <StrengthChip strength={strength} />}
              </p>
              <p class="soft small">{reason}</p>
            </li>
          ))}
        </ol>
      )}
      {always.length === 0 ? null : (
        <section class="always" aria-label="Always given">
          <h3>With every message</h3>
          <ul>
            {always.slice(0, mostAlways).map((text, index) => (
              <li key={index} class="break" dir="auto">
                {text}
              </li>
            ))}
          </ul>
          {always.length > mostAlways ? (
            <p>
              and {counted(always.length - mostAlways, 'more line')} (<Link href="/recall">see all</Link>)
            </p>
          ) : null}
        </section>
      )}
    </>
  )
}

/** Each line once: what the message brings, and what is there without it. */
function linesOf({ context, namedAnyway, quoteDecision }: RouteAnswer<'recall'>) {
  const { prelude, pinned, relevant, questions, quotes } = context
  const told = new Set(prelude?.beliefIds ?? [])
  const standing = [...pinned.filter(({ id }) => !told.has(id)), ...questions].map((belief) => ({
    belief,
    match: namedAnyway.find(({ beliefId }) => beliefId === belief.id)?.matches[0],
  }))
  const named: readonly Line[] = [
    ...relevant.map((one) => ({
      key: one.belief.id,
      text: `${one.belief.name}: ${one.belief.content}`,
      reason: one.matches[0] === undefined ? 'Part of a relation that the message names.' : matchWords(one.matches[0]),
      strength: one.through === null ? strengthOf(one) : ('possible' as const),
    })),
    ...standing.flatMap(({ belief, match }) =>
      match === undefined
        ? []
        : [
            {
              key: belief.id,
              text: `${belief.name}: ${belief.content}`,
              reason: `${matchWords(match)} It is pinned, so every message gets it.`,
              strength: null,
            },
          ],
    ),
    ...quotes.map((quote) => ({
      key: `${quote.turn}-${quote.text}`,
      text: `“${quote.text}”`,
      reason: `Said on ${dayOf(quote.at, quote.utcOffset)}. ${quoteWords(quote, quoteDecision?.asked ?? [])}`,
      strength: null,
    })),
  ]
  const always = [
    ...(prelude?.text.split('\n') ?? []),
    ...standing.flatMap(({ belief, match }) => (match === undefined ? [`${belief.name}: ${belief.content}`] : [])),
  ]
  return { named, always }
}
