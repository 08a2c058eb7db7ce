import type {
  ApiExplanation,
  ApiMatchedForm,
  ApiNearMissReason,
  ApiPerhapsBelief,
  ApiQuote,
  ApiRelevantBelief,
} from '../../../../src/http/api/contract.ts'
import { count, figure, pluralize } from '../../format/numbers.ts'
import { Badge } from '../../ui/elements.tsx'

const limits = {
  maxBeliefs: 'the maximum number of beliefs is reached',
  maxPinned: 'the maximum number of pinned beliefs is reached',
  maxFromAgents: 'the maximum number of beliefs from agents is reached',
  maxQuestions: 'the maximum number of questions is reached',
  maxCharacters: 'the maximum number of characters is reached',
} as const

/** Why a belief that the message mentions was left out. */
export function reasonWords(reason: ApiNearMissReason): string {
  switch (reason.kind) {
    case 'other-scope':
      return `Its scope ${reason.scopes.join(', ')} is not in view.`
    case 'superseded':
      return 'A newer belief has replaced it.'
    case 'resolved':
      return 'The question is settled.'
    case 'open-question':
      return 'Open questions are shown only when they are pinned.'
    case 'expertise':
      return 'Expertise is part of “Preferences and standing instructions”, in every context.'
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

/** "You wrote 'Redis', which is its name. 1 of 11 beliefs has that name." */
export function matchWords({ field, form, words, holders, population }: ApiMatchedForm): string {
  const [first] = words
  const written = first === undefined ? form : first.text
  const typo = words.find((one) => one.typo !== null)?.typo
  const noun = field === 'name' ? 'its name' : 'one of its aliases'
  const meant =
    typo == null
      ? written.toLowerCase() === form.toLowerCase()
        ? `which is ${noun}`
        : `which means “${form}”, ${noun}`
      : `taken for a typo of “${form}”, ${noun}`
  const times = words.length > 1 ? ` ${words.length} times` : ''
  const share =
    holders === 1
      ? `1 of ${pluralize(population, 'belief')} in view has that name.`
      : `${count(holders)} of ${pluralize(population, 'belief')} in view have that name.`
  return `You wrote “${written}”${times}, ${meant}. ${population < 2 ? '' : share}`.trim()
}

export type Strength = 'strong' | 'possible'

/** A match is strong if the message contains the name without a typo, and at most three beliefs have this name. */
export const strengthOf = ({ matches }: Pick<ApiRelevantBelief, 'matches'>): Strength =>
  matches.some(({ words, holders }) => holders <= 3 && words.some(({ typo }) => typo === null)) ? 'strong' : 'possible'

const listWords = (words: readonly string[]): string => words.map((word) => `“${word}”`).join(', ')

const shareWords = (held: number, of: number): string =>
  held < of
    ? `${count(held)} of the ${pluralize(of, 'word')}`
    : of === 1
      ? 'the one word'
      : `all ${pluralize(of, 'word')}`

/** Why a quote is shown for a message. */
export function quoteWords({ shared, nearby }: ApiQuote, asked: readonly string[]): string {
  const held =
    asked.length === 0
      ? `It contains the words ${listWords(shared)}.`
      : `It contains ${shareWords(shared.length, asked.length)} that you asked about${shared.length === 0 ? '' : `: ${listWords(shared)}`}.`
  return nearby.length === 0 ? held : `${held} The messages next to it contain ${listWords(nearby)}.`
}

/** Why a belief that the message does not name may be relevant. */
export const meaningWords = ({ cosine, minCosine }: Omit<ApiPerhapsBelief, 'belief'>): string =>
  `Its meaning is close to the message: similarity ${cosine.toFixed(2)}, at least ${minCosine.toFixed(2)} is needed.`

export const StrengthChip = ({ strength }: { readonly strength: Strength | 'exact' }) => (
  <Badge tone={strength === 'possible' ? 'plain' : 'good'}>{strength}</Badge>
)

const signs: Readonly<Record<ApiExplanation['op'], string>> = { leaf: '', sum: 'sum of', product: 'product of' }

export const ExplanationTree = ({ explanation }: { readonly explanation: ApiExplanation }) => (
  <ul class="tree">
    <Node explanation={explanation} />
  </ul>
)

const Node = ({ explanation: { value, label, op, parts } }: { readonly explanation: ApiExplanation }) => (
  <li>
    <span class="row">
      <b class="number">{figure(value)}</b> <span>{label}</span>
      {parts.length === 0 ? null : <span class="soft small">{signs[op]}</span>}
    </span>
    {parts.length === 0 ? null : (
      <ul>
        {parts.map((part, index) => (
          <Node key={`${part.label}-${index}`} explanation={part} />
        ))}
      </ul>
    )}
  </li>
)
