import { parseScope } from '../../../beliefs/scope.ts'
import { turnRoles } from '../../../beliefs/turn.ts'
import { findNearestName } from '../../../did-you-mean.ts'
import { invalid, type MemoryError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import type { HeardTurn } from '../../conversation/hear.ts'

const maxNameLength = 200
const isName = (given: unknown): boolean => typeof given === 'string' && given.length <= maxNameLength
const name = { isValid: isName, allowed: `a text of at most ${maxNameLength} characters` }

/** The fields of a line besides `text`; null means an absent field. */
const fields: Readonly<Record<string, { isValid: (given: unknown) => boolean; allowed: string }>> = {
  session: name,
  speaker: name,
  messageId: name,
  host: name,
  role: { isValid: (given) => turnRoles.some((known) => known === given), allowed: turnRoles.join(', ') },
  at: {
    isValid: (given) => typeof given === 'string' && !Number.isNaN(Date.parse(given)),
    allowed: 'a time such as 2026-05-03T10:00:00Z',
  },
  index: { isValid: (given) => Number.isSafeInteger(given) && Number(given) >= 0, allowed: 'a whole number from 0' },
  scope: { isValid: (given) => typeof given === 'string', allowed: 'a scope such as project:ledger' },
}

/** The names of fields that are ignored. */
export const unknownFields = (value: JsonObject): readonly string[] =>
  Object.keys(value).filter((field) => field !== 'text' && field !== 'origin' && !Object.hasOwn(fields, field))

/** The turn of a line in the format of this project. Throws a MemoryError `invalid` that names the wrong field. */
export function turnOfLine(value: JsonObject): HeardTurn {
  const { text, origin } = value
  if (typeof text !== 'string' || text.trim() === '') throw wrongField('text', text, 'a text that is not empty')
  const turn: Record<string, unknown> = { text }
  for (const [field, { isValid, allowed }] of Object.entries(fields)) {
    const given = value[field] ?? undefined
    if (given === undefined) continue
    if (!isValid(given)) throw wrongField(field, given, allowed)
    turn[field] = field === 'scope' ? parseScope(String(given)) : given
  }
  // A line must not present the words of a document or a tool as the person's.
  if ((origin ?? 'person') !== 'person') turn.origin = 'document'
  // Each field has been checked above.
  return turn as HeardTurn
}

const wrongField = (field: string, given: unknown, allowed: string): MemoryError =>
  invalid(
    given === undefined
      ? `The field ${field} is missing.`
      : `The field ${field} is ${JSON.stringify(given).slice(0, 80)}; it must be ${allowed}.`,
  )

export function unknownFieldWarning(field: string, line: number): string {
  const meant = findNearestName(field, ['text', 'origin', ...Object.keys(fields)])
  return `line ${line}: ignored unknown field "${field.slice(0, 80)}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`
}
