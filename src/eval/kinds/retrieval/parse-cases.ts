import type { z } from 'zod'
import { MemoryError } from '../../../errors.ts'

type CaseSchema = z.ZodType<{ readonly caseId: string }>

/** Values that do not fit are errors; keys nobody knows are warnings, and what stands under them is not looked at. */
export function parseCases<Schema extends CaseSchema>(
  file: string,
  value: unknown,
  schema: Schema,
  mark: 'query' | 'turns',
): { readonly items: readonly z.infer<Schema>[]; readonly warnings: readonly string[] } {
  if (!Array.isArray(value))
    throw invalid(`${file}: holds ${kindOf(value)}, not a list of cases.`, 'A case file is a JSON array.')
  if (value.length === 0) throw invalid(`${file}: holds no cases.`, 'Nothing was checked, so nothing can pass.')
  const warnings: string[] = []
  const items = value.map((item: unknown, index) => {
    refuseOtherKind(file, item, mark)
    const stripped = withoutNotes(item)
    const place = placeOf(file, stripped, index)
    const first = schema.safeParse(stripped)
    if (first.success) return first.data
    const errors = first.error.issues.filter((issue) => issue.code !== 'unrecognized_keys')
    if (errors.length > 0)
      throw invalid(
        errors.map((issue) => `${place(issue.path)}: ${issue.message}.`).join('\n'),
        'See docs/evaluation.md for the format.',
      )
    for (const issue of first.error.issues) {
      if (issue.code !== 'unrecognized_keys') continue
      for (const key of issue.keys) {
        warnings.push(`${place([...issue.path, key])}: ${adviceFor(key, issue.path)}; it was not checked.`)
        remove(stripped, issue.path, key)
      }
    }
    return schema.parse(stripped)
  })
  refuseRepeats(file, items)
  return { items, warnings }
}

const tiers = new Set(['personaPrelude', 'pinnedFacts', 'relevantBeliefs', 'openQuestions', 'noiseCheck'])

function adviceFor(key: string, path: readonly PropertyKey[]): string {
  if (tiers.has(key) && path.at(-1) !== 'expect') return `${key} belongs directly under expect, not here`
  return path.includes('expect') ? 'no such expectation' : 'no such field'
}

function refuseOtherKind(file: string, item: unknown, mark: 'query' | 'turns'): void {
  const other = mark === 'query' ? 'turns' : 'query'
  if (!isObject(item) || mark in item || !(other in item)) return
  throw invalid(
    `${file}: its cases have ${other}, not ${mark}.`,
    other === 'turns'
      ? 'These are sessions; use `credence eval session`.'
      : 'These are single questions; use `credence eval retrieval`.',
  )
}

function refuseRepeats(file: string, items: readonly { readonly caseId: string }[]): void {
  const seen = new Set<string>()
  for (const { caseId } of items) {
    if (seen.has(caseId))
      throw invalid(`${file}: the caseId "${caseId}" is used more than once.`, 'Every case needs an id of its own.')
    seen.add(caseId)
  }
}

/** Keys that begin with `_` are notes. Beliefs are left alone: there such a key can be the id. */
function withoutNotes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNotes)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !key.startsWith('_'))
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, key === 'createBeliefAtTurn' ? inner : withoutNotes(inner)]),
  )
}

/** `cases.json: case "x", turns[10].expect`, or the number of a case that has no id. */
function placeOf(file: string, item: unknown, index: number): (path: readonly PropertyKey[]) => string {
  const caseId =
    isObject(item) && typeof item.caseId === 'string' && item.caseId !== '' ? `"${item.caseId}"` : `${index + 1}`
  return (path) => {
    const trail = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
    return `${file}: case ${caseId}${trail === '' ? '' : `, ${trail.replace(/^\./u, '')}`}`
  }
}

function remove(value: unknown, path: readonly PropertyKey[], key: string): void {
  let at = value
  for (const step of path) at = isObject(at) || Array.isArray(at) ? Reflect.get(at, step) : undefined
  if (isObject(at)) Reflect.deleteProperty(at, key)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string =>
  value === null ? 'null' : isObject(value) ? 'one object' : `a ${typeof value}`

/** A file that cannot be used as it stands. */
export const invalid = (message: string, hint: string): MemoryError => new MemoryError('invalid', message, { hint })
