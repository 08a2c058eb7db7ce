import { z } from 'zod'
import { parseScope } from '../../../beliefs/scope.ts'
import type { Budget } from '../../../memory/recall/context.ts'
import { invalid } from '../../pack/manifest.ts'
import { Expectations } from './expectations.ts'

/** `warnings` name unknown fields, which are not checked. */
type CaseFile<Case> = { readonly cases: readonly Case[]; readonly warnings: readonly string[] }

const texts = z.array(z.string().min(1))
const count = z.int().min(0)

const budget = z
  .strictObject({
    maxBeliefs: count.optional(),
    maxPinnedFacts: count.optional(),
    maxQuestions: count.optional(),
    maxCharacters: count.optional(),
    maxPrelude: count.optional(),
  })
  .default({})
  .transform(({ maxPinnedFacts, ...rest }): Partial<Budget> => {
    // The published name of one limit differs from ours.
    const given = { ...rest, maxPinned: maxPinnedFacts }
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  })

const scope = z.array(z.string().refine(isScope, 'must be a scope such as domain:code')).min(1)

/** One question with one answer to check. */
const RetrievalCase = z
  .strictObject({
    caseId: z.string().min(1),
    category: z.string().optional(),
    description: z.string().default(''),
    userId: z.string().min(1).optional(),
    scope,
    query: z.string(),
    budget,
    notes: z.unknown().optional(),
    expect: Expectations,
  })
  .transform(({ category, userId, scope: scopes, query: message, notes: _, ...rest }) => ({
    ...rest,
    category: category ?? null,
    /** Null for the pack's default user. */
    user: userId ?? null,
    scopes,
    message,
  }))
export type RetrievalCase = z.infer<typeof RetrievalCase>

/** One message of a session. The store is changed after the turn has been scored. */
const SessionTurn = z
  .strictObject({
    turnIndex: count,
    label: z.string(),
    scope,
    userMessage: z.string(),
    // The rest of the conversation is not used: every message is looked up on its own.
    assistantMessage: z.unknown().optional(),
    turnSignal: z.unknown().optional(),
    topics: z.unknown().optional(),
    notes: z.unknown().optional(),
    budget,
    /** A whole belief, in either spelling; read together with the corpus. */
    createBeliefAtTurn: z.unknown().optional(),
    updateBeliefAtTurn: z
      .strictObject({
        beliefId: z.string().min(1),
        addAliases: texts.optional(),
        setContent: z.string().min(1).optional(),
        setCanonicalName: z.string().min(1).optional(),
      })
      .optional(),
    expect: Expectations,
  })
  .transform((turn) => ({
    turnIndex: turn.turnIndex,
    label: turn.label,
    scopes: turn.scope,
    message: turn.userMessage,
    budget: turn.budget,
    expect: turn.expect,
    createBelief: turn.createBeliefAtTurn ?? null,
    updateBelief: turn.updateBeliefAtTurn ?? null,
  }))
export type SessionTurn = z.infer<typeof SessionTurn>

const SessionCase = z
  .strictObject({
    caseId: z.string().min(1),
    description: z.string().default(''),
    category: z.string().optional(),
    userId: z.string().min(1).optional(),
    notes: z.unknown().optional(),
    turns: z.array(SessionTurn).min(1),
  })
  .transform(({ caseId, description, userId, turns }) => ({ caseId, description, user: userId ?? null, turns }))
export type SessionCase = z.infer<typeof SessionCase>

function isScope(text: string): boolean {
  try {
    return parseScope(text) !== ''
  } catch {
    return false
  }
}

/** Reads a file of single questions. */
export const readRetrievalCases = (file: string, value: unknown): CaseFile<RetrievalCase> =>
  parseCases(file, value, RetrievalCase, 'query')

/** Reads a file of sessions. */
export function readSessionCases(file: string, value: unknown): CaseFile<SessionCase> {
  const read = parseCases(file, value, SessionCase, 'turns')
  for (const one of read.cases) refuseDisorder(file, one)
  return read
}

function refuseDisorder(file: string, { caseId, turns }: SessionCase): void {
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1]
    if (before !== undefined && turn.turnIndex <= before.turnIndex) {
      throw invalid(
        `${file}: case "${caseId}", turns[${index}]: turn ${turn.turnIndex} follows turn ${before.turnIndex}.`,
        'Turns stand in the order in which they happen.',
      )
    }
  }
}

type CaseSchema = z.ZodType<{ readonly caseId: string }>

/** A wrong value is an error; an unknown key is a warning, and its value is not checked. */
function parseCases<Schema extends CaseSchema>(
  file: string,
  value: unknown,
  schema: Schema,
  mark: 'query' | 'turns',
): CaseFile<z.infer<Schema>> {
  if (!Array.isArray(value))
    throw invalid(`${file}: holds ${kindOf(value)}, not a list of cases.`, 'A case file is a JSON array.')
  if (value.length === 0) throw invalid(`${file}: holds no cases.`, 'Nothing was checked, so nothing can pass.')
  const warnings: string[] = []
  const cases = value.map((item: unknown, index) => {
    refuseOtherKind(file, item, mark)
    const stripped = withoutNotes(item)
    const place = placeOf(file, stripped, index)
    const first = schema.safeParse(stripped)
    if (first.success) return first.data
    const errors = first.error.issues.filter((issue) => issue.code !== 'unrecognized_keys')
    const lines = errors.map((issue) => `${place(issue.path)}: ${issue.message}.`)
    if (lines.length > 0) throw invalid(lines.join('\n'), 'See docs/evaluation.md for the format.')
    for (const issue of first.error.issues) {
      if (issue.code !== 'unrecognized_keys') continue
      for (const key of issue.keys) {
        warnings.push(`${place([...issue.path, key])}: ${adviceFor(key, issue.path)}; it was not checked.`)
        remove(stripped, issue.path, key)
      }
    }
    return schema.parse(stripped)
  })
  refuseRepeats(file, cases)
  return { cases, warnings }
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
