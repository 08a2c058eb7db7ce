import type {
  ApiExplanation,
  ApiMatchedForm,
  ApiNearMissReason,
  ApiQuote,
  ApiRelevantBelief,
} from '../../../../src/http/api/contract.ts'
import { count, figure, pluralize, score as scoreWords } from '../../format/numbers.ts'
import { fixed } from '../../plots/scale.ts'
import { Badge } from '../../ui/elements.tsx'

const limits = {
  maxBeliefs: 'the context has no room for more beliefs',
  maxPinned: 'too many beliefs are pinned',
  maxFromAgents: 'agents wrote as many of its beliefs as allowed',
  maxQuestions: 'too many questions are open',
  maxCharacters: 'the context has no room for so many words',
} as const

/** Why a belief that the message mentions was left out, in a sentence. */
export function reasonWords(reason: ApiNearMissReason): string {
  switch (reason.kind) {
    case 'other-scope':
      return `It holds in ${reason.scopes.join(', ')}, which is not in view.`
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

/** A name that stands in the message as it is, and that few others have, is surely meant. */
export const strengthOf = ({ matches }: Pick<ApiRelevantBelief, 'matches'>): Strength =>
  matches.some(({ words, holders }) => holders <= 3 && words.some(({ typo }) => typo === null)) ? 'strong' : 'possible'

const listed = (words: readonly string[]): string => words.map((word) => `“${word}”`).join(', ')

const shareWords = (held: number, of: number): string =>
  held < of
    ? `${count(held)} of the ${pluralize(of, 'word')}`
    : of === 1
      ? 'the one word'
      : `all ${pluralize(of, 'word')}`

/** Why something that was said is shown for a message, in a sentence. */
export function quoteWords({ shared, nearby }: ApiQuote, asked: readonly string[]): string {
  const held =
    asked.length === 0
      ? `It has the words ${listed(shared)}.`
      : `It has ${shareWords(shared.length, asked.length)} you asked with${shared.length === 0 ? '' : `: ${listed(shared)}`}.`
  return nearby.length === 0 ? held : `${held} The messages beside it have ${listed(nearby)}.`
}

/** How sure it is that something belongs to the message. */
export const StrengthChip = ({ strength }: { readonly strength: Strength | 'exact' }) => (
  <Badge tone={strength === 'possible' ? 'plain' : 'good'}>{strength}</Badge>
)

/** As many as there are colours; later ones share the last. */
const maxColours = 5

export const clauseClass = (index: number): string => `clause-${Math.min(index + 1, maxColours)}`

type Clause = { readonly label: string; readonly value: number; readonly key: string }

const clausesOf = ({ matches, score }: ApiRelevantBelief): readonly Clause[] =>
  matches.length === 0 && score > 0
    ? [{ key: 'score', label: 'score', value: score }]
    : matches.map(({ field, form, explanation, words }, index) => ({
        key: `${field}-${form}-${index}`,
        label: `${field} “${form}”${words.some(({ typo }) => typo !== null) ? ', with a typo' : ''}`,
        value: explanation.value,
      }))

/** A score as a bar, one piece for each name or alias that was found, against the best score of this recall. */
export function ScoreBar({ relevant, best }: { readonly relevant: ApiRelevantBelief; readonly best: number }) {
  const clauses = clausesOf(relevant)
  const total = scoreWords(relevant.score)
  let at = 0
  return (
    <div class="score">
      <div class="score-line">
        <svg
          class="score-bar"
          viewBox="0 0 100 10"
          preserveAspectRatio="none"
          role="img"
          aria-label={`Score ${total}: ${clauses.map(({ label, value }) => `${label} ${scoreWords(value)}`).join(', ')}`}
        >
          <rect class="score-ground" x="0" y="0" width="100" height="10" />
          {clauses.map(({ key, label, value }, index) => {
            const width = best > 0 ? (value / best) * 100 : 0
            const x = at
            at += width
            return (
              <rect
                key={key}
                class={clauseClass(index)}
                x={fixed(x)}
                y="0"
                width={fixed(Math.max(0, width - 0.4))}
                height="10"
              >
                <title>{`${label}: ${scoreWords(value)}`}</title>
              </rect>
            )
          })}
        </svg>
        <span class="number score-total">{total}</span>
      </div>
      <ul class="clauses">
        {clauses.map(({ key, label, value }, index) => (
          <li key={key}>
            <span class={`clause-dot ${clauseClass(index)}`} aria-hidden="true" />
            <span class="break">{label}</span> <span class="number soft">{scoreWords(value)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

const signs: Readonly<Record<ApiExplanation['op'], string>> = { leaf: '', sum: 'sum of', product: 'product of' }

/** The numbers behind a score, down to the last one. */
export function ExplanationTree({ explanation }: { readonly explanation: ApiExplanation }) {
  return (
    <ul class="tree">
      <Node explanation={explanation} />
    </ul>
  )
}

function Node({ explanation: { value, label, op, parts } }: { readonly explanation: ApiExplanation }) {
  return (
    <li>
      <span class="tree-line">
        <span class="number tree-value">{figure(value)}</span> <span>{label}</span>
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
}
