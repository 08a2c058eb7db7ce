import type { Extraction, Extractor, Heard, Refusal } from './candidate.ts'
import { secretReason } from './gate.ts'
import { notToBeStored } from './rules/do-not-store.ts'
import { hearMessage } from './rules/hear-message.ts'
import type { Span } from './rules/parts.ts'
import { nothingSpoken } from './rules/referents.ts'
import type { State } from './rules/statement-in.ts'
import { unitsOf } from './rules/units.ts'
import { mask, masked, redacted, secretsIn } from './secrets.ts'

/** Earlier messages that are looked at to learn what "it" is. */
const mostEarlier = 6

/** Finds statements by the way they are worded. Needs no model, and gives the same for the same words every time. */
export const rulesExtractor: Extractor = {
  name: 'rules',
  extract: async ({ text, earlier = [] }: Heard) => extractByRules(text, earlier),
}

export function extractByRules(text: string, earlier: readonly string[] = []): Extraction {
  let state: State = { spoken: nothingSpoken, last: null }
  for (const message of earlier.slice(-mostEarlier)) state = hearMessage(masked(message), state).state
  const { candidates, refused } = hearMessage(masked(text), state).extraction
  return { candidates, refused: merged(refused.map((refusal) => withoutSecrets(text, refusal))) }
}

/** No rule sees a secret: only its mask. What holds one is refused for that, and shown without it. */
function withoutSecrets(message: string, refusal: Refusal): Refusal {
  if (!refusal.text.includes(mask)) return refusal
  const secret = secretsIn(message).find(({ start, end }) => start < refusal.span.end && end > refusal.span.start)
  return { ...refusal, text: redacted(refusal.text), ...secretReason(secret?.what ?? 'a secret') }
}

/** The parts of a message that are asked not to be kept. */
export function notStored(message: string): readonly Span[] {
  const { units, leads } = unitsOf(message)
  const unstored = notToBeStored(units, leads)
  return units.filter(
    (unit, index) => unstored.has(index) || (unit.lead.kind === 'refuse' && unit.lead.reason.reason === 'do_not_store'),
  )
}

/** Units of one sentence that were refused for the same reason are one refusal. */
function merged(refused: readonly Refusal[]): readonly Refusal[] {
  const inOrder = [...refused].sort((one, other) => one.span.start - other.span.start)
  const result: Refusal[] = []
  for (const refusal of inOrder) {
    const last = result.at(-1)
    const isNext =
      last !== undefined &&
      last.reason === refusal.reason &&
      refusal.span.start - last.span.end <= 8 &&
      last.explanation === refusal.explanation
    if (isNext)
      result[result.length - 1] = {
        ...last,
        text: `${last.text} … ${refusal.text}`,
        span: { start: last.span.start, end: refusal.span.end },
      }
    else result.push(refusal)
  }
  return result
}
