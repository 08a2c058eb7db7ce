import type { JudgedCriterion } from './rubric.ts'

export type CriterionVote = { readonly id: string; readonly score: number; readonly reason: string }
export type Vote = { readonly criteria: readonly CriterionVote[]; readonly notes: string }

export type ParsedReply = { readonly ok: true; readonly vote: Vote } | { readonly ok: false; readonly reason: string }

const refuse = (reason: string): ParsedReply => ({ ok: false, reason })

/**
 * Reads a judge's answer. Judges wrap JSON in talk and name things in their own way, which is forgiven; a score that is
 * missing or cannot be one is not, for any number put in its place would be ours.
 */
export function parseReply(text: string, criteria: readonly JudgedCriterion[]): ParsedReply {
  const document = documentIn(text)
  if (document === null) return refuse('The answer holds no JSON object.')
  const scores = scoresIn(document)
  if (scores === null) return refuse('The JSON has no "scores".')
  const votes: CriterionVote[] = []
  for (const criterion of criteria) {
    const given = scores.get(criterion.id.toLowerCase()) ?? scores.get(criterion.name.trim().toLowerCase())
    if (given === undefined) return refuse(`There is no score for ${criterion.id} (${criterion.name}).`)
    const score = within(given.value)
    if (score === null) {
      return refuse(`The score of ${criterion.id} is ${JSON.stringify(given.value)}; it must be a number from 0 to 1.`)
    }
    votes.push({ id: criterion.id, score, reason: given.reason })
  }
  const notes = typeof document.notes === 'string' ? document.notes : ''
  return { ok: true, vote: { criteria: votes, notes: notes.slice(0, 2_000) } }
}

/** Rounding may carry a score over the edge; anything further is another scale, and which one is not guessed. */
const slack = 0.02

function within(value: unknown): number | null {
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
  if (Array.isArray(scores)) {
    const entries = scores
      .filter(isObject)
      .flatMap((entry) =>
        [entry.id, entry.name, entry.criterion, entry.label].flatMap((key) =>
          typeof key === 'string' ? [[key.trim().toLowerCase(), givenIn(entry)] as const] : [],
        ),
      )
    return new Map(entries)
  }
  if (!isObject(scores)) return null
  return new Map(Object.entries(scores).map(([key, value]) => [key.trim().toLowerCase(), givenIn(value)]))
}

function givenIn(value: unknown): Given {
  if (!isObject(value)) return { value, reason: '' }
  const reason = [value.reason, value.justification, value.notes].find((text) => typeof text === 'string')
  return {
    value: (value.score === undefined ? value.value : value.score) ?? null,
    reason: String(reason ?? '').slice(0, 1_000),
  }
}

/** The whole text, else a fenced block, else the last object in it that has scores, else the last object. */
function documentIn(text: string): JsonObject | null {
  const fenced = [...text.matchAll(/```(?:json)?\s*\n(.*?)```/gsu)].map(([, inner = '']) => inner)
  const whole = [text, ...fenced].map(parsed).find((value) => value !== null)
  if (whole !== undefined) return whole
  const objects = balanced(text)
    .map(parsed)
    .filter((value) => value !== null)
  return objects.findLast((value) => scoresIn(value) !== null) ?? objects.at(-1) ?? null
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Outermost `{…}` of a text, braces in strings not counted. */
function balanced(text: string): readonly string[] {
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
