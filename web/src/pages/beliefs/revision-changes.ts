import type { Belief } from '../../../../src/beliefs/belief.ts'
import { counted } from '../../format/numbers.ts'

/** What one revision did to one field, in words. */
export type FieldChange = { readonly field: string; readonly before: string; readonly after: string }

const fields: readonly (readonly [string, (belief: Belief) => string])[] = [
  ['name', ({ name }) => name],
  ['content', ({ content }) => content],
  ['why', ({ why }) => why],
  ['aliases', ({ aliases }) => aliases.join(', ')],
  ['scopes', ({ scopes }) => scopes.join(', ')],
  ['type', ({ type, subtype }) => (subtype === null ? type : `${type}, ${subtype}`)],
  ['status', ({ status }) => status],
  ['pinned', ({ pinned }) => (pinned ? 'yes' : 'no')],
  ['confidence', ({ confidence }) => String(confidence)],
  ['replaced by', ({ supersededBy }) => supersededBy ?? ''],
  ['settled by', ({ resolvedBy }) => resolvedBy ?? ''],
  ['confirmed', ({ reinforcement }) => counted(reinforcement.count, 'time')],
]

/** The fields that differ. A belief that was not there before has changed in nothing: it began. */
export function changesBetween(before: Belief | null, after: Belief | null): readonly FieldChange[] {
  if (before === null || after === null) return []
  return fields.flatMap(([field, read]) => {
    const [was, is] = [read(before), read(after)]
    return was === is ? [] : [{ field, before: was, after: is }]
  })
}
