import type { Belief } from '../../../../src/beliefs/belief.ts'
import type { ApiBelief } from '../../../../src/http/api/contract.ts'
import { pluralize } from '../../format/numbers.ts'
import type { Tone } from '../../ui/elements.tsx'

/** The label of a belief's state; null for an ordinary current belief. */
export function stateOf(belief: ApiBelief): { readonly word: string; readonly tone: Tone } | null {
  if (belief.proposedFor !== null && belief.resolvedAt !== null) return { word: 'proposed removal', tone: 'odd' }
  if (belief.proposedFor !== null) return { word: 'proposed', tone: 'odd' }
  if (belief.candidate) return { word: 'candidate', tone: 'odd' }
  if (belief.supersededBy !== null || belief.status === 'superseded') return { word: 'superseded', tone: 'plain' }
  if (belief.resolvedAt !== null) return { word: 'settled', tone: 'plain' }
  if (belief.status === 'inferred') return { word: 'inferred', tone: 'odd' }
  if (belief.status === 'exploratory') return { word: 'exploratory', tone: 'odd' }
  return null
}

/** Whether no person has confirmed the belief yet. */
export const isUnconfirmed = ({ status, editedByPerson }: ApiBelief): boolean => status !== 'active' || !editedByPerson

/** Whether a belief can be changed: it is not replaced, settled, proposed or a candidate. */
export const isOpenToChange = (belief: ApiBelief): boolean =>
  belief.supersededBy === null &&
  belief.status !== 'superseded' &&
  belief.resolvedAt === null &&
  belief.proposedFor === null &&
  !belief.candidate

/** A field that a revision changed, with both values as text. */
export type FieldChange = { readonly field: string; readonly before: string; readonly after: string }

type Known = readonly Belief[]

const fields: readonly (readonly [string, (belief: Belief, known: Known) => string])[] = [
  ['name', ({ name }) => name],
  ['content', ({ content }) => content],
  ['why', ({ why }) => why],
  ['aliases', ({ aliases }) => aliases.join(', ')],
  ['scopes', ({ scopes }) => scopes.join(', ')],
  ['type', ({ type, subtype }) => (subtype === null ? type : `${type}, ${subtype}`)],
  ['status', ({ status }) => status],
  ['pinned', ({ pinned }) => (pinned ? 'yes' : 'no')],
  ['confidence', ({ confidence }) => String(confidence)],
  ['replaced by', (belief, known) => textOf(belief.supersededBy, belief, known)],
  ['settled by', (belief, known) => textOf(belief.resolvedBy, belief, known)],
  ['repeated', ({ reinforcement }) => pluralize(reinforcement.count, 'time')],
]

/** The name of another belief, or its text if both have the same name; the id of an unknown belief. */
function textOf(id: string | null, { name }: Belief, known: Known): string {
  if (id === null) return ''
  const other = known.find((one) => one.id === id)
  return other === undefined ? id : other.name === name ? other.content : other.name
}

/** The fields that differ; none for a new belief. `known`: beliefs that a field may refer to. */
export function changesBetween(before: Belief | null, after: Belief | null, known: Known = []): readonly FieldChange[] {
  if (before === null || after === null) return []
  return fields.flatMap(([field, read]) => {
    const was = read(before, known)
    const is = read(after, known)
    return was === is ? [] : [{ field, before: was, after: is }]
  })
}
