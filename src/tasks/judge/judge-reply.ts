import { z } from 'zod'
import type { JudgedCriterion } from './rubric.ts'

/** Scores in the order of the rubric's criteria, every one of them. */
export type Vote = {
  readonly criteria: readonly { readonly id: string; readonly score: number; readonly reason: string }[]
  readonly notes: string
}

/** The form of a judge's reply, for endpoints that can hold a model to it. */
export function judgeSchema(criteria: readonly JudgedCriterion[]): Readonly<Record<string, unknown>> {
  const score = z.strictObject({ score: z.number(), reason: z.string() })
  const scores = z.strictObject(Object.fromEntries(criteria.map(({ id }) => [id, score])))
  const { $schema: _, ...schema } = z.toJSONSchema(z.strictObject({ scores, notes: z.string() }))
  return schema
}

type ParsedReply = { readonly ok: true; readonly vote: Vote } | { readonly ok: false; readonly reason: string }

const refuse = (reason: string): ParsedReply => ({ ok: false, reason })

/**
 * Reads a judge's reply. Talk around the JSON and other names for its parts are accepted. A score that is missing or out of
 * range is not, because any number in its place would be ours.
 */
export function parseReply(text: string, criteria: readonly JudgedCriterion[]): ParsedReply {
  const document = documentIn(text)
  if (document === null) return refuse('The answer holds no JSON object.')
  const scores = scoresIn(document)
  if (scores === null) return refuse('The JSON has no "scores".')
  const votes: Vote['criteria'][number][] = []
  for (const { id, name } of criteria) {
    const given = scores.get(id.toLowerCase()) ?? scores.get(name.trim().toLowerCase())
    if (given === undefined) return refuse(`There is no score for ${id} (${name}).`)
    const score = scoreFrom(given.value)
    if (score === null) {
      return refuse(`The score of ${id} is ${JSON.stringify(given.value)}; it must be a number from 0 to 1.`)
    }
    votes.push({ id, score, reason: given.reason })
  }
  const notes = typeof document.notes === 'string' ? document.notes.slice(0, 2_000) : ''
  return { ok: true, vote: { criteria: votes, notes } }
}

/** Rounding may carry a score over the edge. Anything further is another scale, and which one is not guessed. */
const slack = 0.02

function scoreFrom(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(number >= -slack && number <= 1 + slack)) return null
  return Math.min(1, Math.max(0, number))
}

type JsonObject = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Given = { readonly value: unknown; readonly reason: string }

/** By id or name, in lower case. */
function scoresIn(document: JsonObject): ReadonlyMap<string, Given> | null {
  const scores = document.scores ?? document.criteria_scores ?? document.criterion_scores ?? document.criteria
  const entries = Array.isArray(scores)
    ? scores
        .filter(isObject)
        .flatMap((entry) => [entry.id, entry.name, entry.criterion, entry.label].map((key) => [key, entry] as const))
    : isObject(scores)
      ? Object.entries(scores)
      : null
  if (entries === null) return null
  return new Map(
    entries.flatMap(([key, value]) =>
      typeof key === 'string' ? [[key.trim().toLowerCase(), givenIn(value)] as const] : [],
    ),
  )
}

function givenIn(value: unknown): Given {
  if (!isObject(value)) return { value, reason: '' }
  const reason = [value.reason, value.justification, value.notes].find((text) => typeof text === 'string')
  const score = value.score === undefined ? value.value : value.score
  return { value: score ?? null, reason: String(reason ?? '').slice(0, 1_000) }
}

/** The whole text, a fenced block or an object in the text: the last one that has scores, else the last. */
function documentIn(text: string): JsonObject | null {
  const fenced = [...text.matchAll(/```(?:json)?\s*\n(.*?)```/gsu)].map(([, inner = '']) => inner)
  const objects = [...outermostObjects(text), ...fenced, text].flatMap((part) => {
    try {
      const value: unknown = JSON.parse(part)
      return isObject(value) ? [value] : []
    } catch {
      return []
    }
  })
  return objects.findLast((value) => scoresIn(value) !== null) ?? objects.at(-1) ?? null
}

/** The outermost `{…}` of a text; braces in strings do not count. */
function outermostObjects(text: string): readonly string[] {
  const found: string[] = []
  let [depth, start, inString] = [0, 0, false]
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (inString) {
      if (sign === '\\') at += 1
      else if (sign === '"') inString = false
    } else if (sign === '"' && depth > 0) inString = true
    else if (sign === '{') {
      if (depth === 0) start = at
      depth += 1
    } else if (sign === '}' && depth > 0) {
      depth -= 1
      if (depth === 0) found.push(text.slice(start, at + 1))
    }
  }
  return found
}
