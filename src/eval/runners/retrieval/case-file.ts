import { z } from 'zod'
import { parseScope } from '../../../beliefs/scope.ts'
import { turnRoles } from '../../../beliefs/turn.ts'
import { invalid } from '../../../errors.ts'
import { isObject } from '../../../json.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { parseJsonAs } from '../../pack/manifest.ts'
import { fieldAt } from '../../store/parse-artifact.ts'
import type { SystemTurn } from '../../system/system.ts'
import { Expectations } from './expectations.ts'

/** `warnings` name unknown fields, which are not validated. */
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
  // The published format calls `maxPinned` `maxPinnedFacts`.
  .transform(({ maxPinnedFacts, ...rest }) => omitUndefined({ ...rest, maxPinned: maxPinnedFacts }))

const scope = z.array(z.string().refine(isScope, 'must be a scope such as domain:code')).min(1)

const RetrievalCase = z
  .strictObject({
    caseId: z.string().min(1),
    category: z.string().optional(),
    description: z.string().default(''),
    userId: z.string().min(1).optional(),
    scope,
    query: z.string(),
    budget,
    saidInAll: z.strictObject({ units: count, words: count }).optional(),
    notes: z.unknown().optional(),
    expect: Expectations,
  })
  .transform(({ caseId, category = null, userId: user = null, scope: scopes, query: message, notes: _, ...rest }) => ({
    ...rest,
    id: caseId,
    caseId,
    turnIndex: null,
    group: category,
    scopes,
    message,
    updates: [],
    /** Null for the pack's default user. */
    user,
  }))

/** One message of a session. The updates are applied to the store after the turn is scored. */
const SessionTurn = z
  .strictObject({
    turnIndex: count,
    label: z.string(),
    scope,
    userMessage: z.string(),
    // The rest of the conversation is ignored: every message is looked up separately.
    assistantMessage: z.unknown().optional(),
    turnSignal: z.unknown().optional(),
    topics: z.unknown().optional(),
    notes: z.unknown().optional(),
    budget,
    /** A whole belief, in any format of the corpus; parsed like the corpus. */
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
  .transform(({ turnIndex, label, scope: scopes, userMessage: message, budget: limits, expect, ...turn }) => ({
    turnIndex,
    label,
    scopes,
    message,
    budget: limits,
    expect,
    createBelief: turn.createBeliefAtTurn ?? null,
    updateBelief: turn.updateBeliefAtTurn ?? null,
  }))

const SessionCase = z
  .strictObject({
    caseId: z.string().min(1),
    description: z.string().default(''),
    category: z.string().optional(),
    userId: z.string().min(1).optional(),
    notes: z.unknown().optional(),
    turns: z.array(SessionTurn).min(1),
  })
  .superRefine(({ turns }, context) => {
    for (const [index, { turnIndex }] of turns.entries()) {
      const before = turns[index - 1]?.turnIndex ?? -1
      const message = `turn ${turnIndex} follows turn ${before}, but turns must be in the order in which they happen`
      if (turnIndex <= before) context.addIssue({ code: 'custom', path: ['turns', index], message })
    }
  })
  .transform(({ caseId, description, userId: user = null, turns }) => ({ caseId, description, user, turns }))

function isScope(text: string): boolean {
  try {
    return parseScope(text) !== ''
  } catch {
    return false
  }
}

export const readRetrievalCases = (file: string, value: unknown): CaseFile<z.infer<typeof RetrievalCase>> =>
  parseCases(file, value, RetrievalCase, 'query')

export const readSessionCases = (file: string, value: unknown): CaseFile<z.infer<typeof SessionCase>> =>
  parseCases(file, value, SessionCase, 'turns')

const PackTurn = z.strictObject({
  id: z.string().min(1),
  user: z.string().min(1),
  scope: z.string().refine(isScope, 'must be a scope such as domain:code'),
  session: z.string().min(1),
  index: count,
  role: z.enum(turnRoles),
  speaker: z.string().optional(),
  at: z.iso.datetime(),
  origin: z.literal('document').optional(),
  text: z.string().min(1),
})

/** Reads a file of turns that cases expect to be quoted. */
export function readTurns(file: string, text: string): readonly SystemTurn[] {
  const turns = parseJsonAs(file, text, z.array(PackTurn), 'See docs/retrieval.md for the format.')
  const ids = turns.map(({ id }) => id)
  const repeated = ids.find((id, place) => ids.indexOf(id) !== place)
  if (repeated === undefined) return turns.map(omitUndefined)
  throw invalid(`${file}: the id "${repeated}" is used more than once.`, 'Every turn needs a unique id.')
}

/** An invalid value is an error; an unknown key is a warning, and its value is not validated. */
function parseCases<Schema extends z.ZodType<{ readonly caseId: string }>>(
  file: string,
  value: unknown,
  schema: Schema,
  mark: 'query' | 'turns',
): CaseFile<z.infer<Schema>> {
  if (!Array.isArray(value)) {
    const kind = value === null ? 'null' : isObject(value) ? 'one object' : `a ${typeof value}`
    throw invalid(`${file}: contains ${kind}, not a list of cases.`, 'A case file is a JSON array.')
  }
  if (value.length === 0) throw invalid(`${file}: contains no cases.`, 'Nothing was checked, so nothing can pass.')
  const warnings: string[] = []
  const parse = (item: unknown, name: string): z.infer<Schema> => {
    const place = (path: readonly PropertyKey[]): string =>
      `${file}: case ${name}${path.length === 0 ? '' : `, ${fieldAt(path)}`}`
    const parsed = schema.safeParse(item)
    if (parsed.success) return parsed.data
    const { issues } = parsed.error
    const wrong = issues.filter(({ code }) => code !== 'unrecognized_keys')
    const lines = wrong.map(({ path, message }) => `${place(path)}: ${message}.`)
    if (lines.length > 0) throw invalid(lines.join('\n'), 'See docs/retrieval.md for the format.')
    for (const issue of issues) {
      if (issue.code !== 'unrecognized_keys') continue
      for (const key of issue.keys) {
        warnings.push(`${place([...issue.path, key])}: ${adviceFor(key, issue.path)}; it was not checked.`)
        remove(item, issue.path, key)
      }
    }
    return parse(item, name)
  }
  const seen = new Set<string>()
  const cases = value.map((item: unknown, index) => {
    refuseOtherKind(file, item, mark)
    const id = isObject(item) && typeof item.caseId === 'string' ? item.caseId : ''
    if (id !== '' && seen.has(id))
      throw invalid(`${file}: the caseId "${id}" is used more than once.`, 'Every case needs a unique id.')
    seen.add(id)
    return parse(withoutNotes(item), id === '' ? String(index + 1) : `"${id}"`)
  })
  return { cases, warnings }
}

const tiers = Object.keys(Expectations.shape)

function adviceFor(key: string, path: readonly PropertyKey[]): string {
  if (tiers.includes(key) && path.at(-1) !== 'expect') return `${key} belongs directly under expect, not here`
  return path.includes('expect') ? 'no such expectation' : 'no such field'
}

function refuseOtherKind(file: string, item: unknown, mark: 'query' | 'turns'): void {
  const other = mark === 'query' ? 'turns' : 'query'
  if (!isObject(item) || mark in item || !(other in item)) return
  const command = other === 'turns' ? 'session' : 'retrieval'
  throw invalid(`${file}: its cases have ${other}, not ${mark}.`, `Use \`credence eval ${command}\` for these cases.`)
}

/** Removes keys that begin with `_`, which are notes. Beliefs are not changed, because there such a key can be the id. */
function withoutNotes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNotes)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !key.startsWith('_'))
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, key === 'createBeliefAtTurn' ? inner : withoutNotes(inner)]),
  )
}

function remove(value: unknown, path: readonly PropertyKey[], key: string): void {
  let at = value
  for (const step of path) at = isObject(at) || Array.isArray(at) ? Reflect.get(at, step) : undefined
  if (isObject(at)) Reflect.deleteProperty(at, key)
}
