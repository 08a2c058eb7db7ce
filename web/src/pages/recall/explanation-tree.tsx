import type { ApiExplanation } from '../../../../src/http/api/contract.ts'
import { figure } from '../../format/numbers.ts'

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
