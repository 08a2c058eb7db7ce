import type { ApiRelevantBelief } from '../../../../src/http/api/contract.ts'
import { score as scoreWords } from '../../format/numbers.ts'
import { fixed } from '../../plots/scale.ts'

/** As many as there are colours; later ones share the last. */
const mostColours = 5

export const clauseClass = (index: number): string => `clause-${Math.min(index + 1, mostColours)}`

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
