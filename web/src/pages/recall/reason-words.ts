import type { NearMissReason, Quote } from '../../../../src/http/api/contract.ts'
import { counted } from '../../format/numbers.ts'

const limits = {
  maxBeliefs: 'the context has no room for more beliefs',
  maxPinned: 'too many beliefs are pinned',
  maxQuestions: 'too many questions are open',
  maxCharacters: 'the context has no room for so many words',
} as const

/** Why a belief that the message mentions was left out, in a sentence. */
export function reasonWords(reason: NearMissReason): string {
  switch (reason.kind) {
    case 'other-scope':
      return `It holds in ${reason.scopes.join(', ')}, which is not in view.`
    case 'superseded':
      return 'A newer belief has replaced it.'
    case 'resolved':
      return 'The question is settled.'
    case 'pinned-already':
      return 'It is pinned, so it is there already.'
    case 'open-question':
      return 'Open questions are shown only when they are pinned.'
    case 'expertise':
      return 'Expertise is told in the prelude, not by mention.'
    case 'over-budget':
      return `It ranked too low: ${limits[reason.limit]}.`
    case 'other-agent':
      return `It belongs to the agent ${reason.agent}.`
    case 'proposed':
      return 'It is only proposed; nobody has accepted it yet.'
    case 'candidate':
      return 'It is a candidate; nobody has confirmed it yet.'
  }
}

/** Why something that was said is shown for a message, in a sentence. */
export function quoteWords({ shared, nearby }: Quote, asked: readonly string[]): string {
  const listed = (words: readonly string[]): string => words.map((word) => `“${word}”`).join(', ')
  const question = asked.length === 0 ? '' : `The message asks with ${counted(asked.length, 'telling word')}. `
  const held = shared.length === 0 ? 'It holds none of them itself' : `It holds ${listed(shared)}`
  const beside = nearby.length === 0 ? '' : `; said right beside it: ${listed(nearby)}`
  return `${question}${held}${beside}.`
}
