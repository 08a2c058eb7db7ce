import { inverseDocFreq } from '../bm25.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import type { Question } from './question.ts'
import { countTerms, termsOf } from './terms.ts'

/**
 * What ranks the steps of an agent's work: what was done counts as much as what was new in the result, and a result that
 * repeats the one before it tells nothing. Chosen on development data (docs/conversations.md).
 */
export const stepConstants = {
  k1: 1.2,
  /** How much the length of an action and of a result counts against it. */
  actionLength: 0.3,
  resultLength: 0.75,
  /** Two words of the question side by side. */
  pair: 0.5,
  /** A share of the steps right before and after. */
  neighbour: 0.1,
  /** For the last or the first steps, where the question asks for them. */
  order: 0.25,
  /** For a step that changes something, where the question asks for changes. */
  change: 0.25,
  /** For the step that is named, falling with the distance from it. */
  named: 1,
  distance: 2,
  /** Against a step outside the range that is asked for. */
  outside: 1,
} as const

/** A step of a trajectory: what was done, and what came of it. */
export type Step = { readonly place: number; readonly action: string; readonly result: string }

/** A tool's turn is what was done, an empty line, and what came of it. */
export function stepOf(text: string, place: number): Step {
  const gap = /\n[^\S\n]*\n/u.exec(text)
  if (gap === null) return { place, action: text, result: '' }
  return { place, action: text.slice(0, gap.index), result: text.slice(gap.index + gap[0].length) }
}

/** An action names what it does in its first characters. */
const actionHead = 80

type Fields = { readonly action: Field; readonly result: Field; readonly changes: boolean }
type Field = { readonly counts: ReadonlyMap<string, number>; readonly length: number }

/** How well each step of one trajectory answers a question, 1 for the best by its words. In the order of their places. */
export function scoreSteps(steps: readonly Step[], question: Question): readonly Explanation[] {
  const fields = steps.map(({ place, action, result }, at): Fields => {
    const before = steps[at - 1]
    const known = before?.place === place - 1 ? before.result : ''
    return {
      action: fieldOf(action),
      result: fieldOf(newLines(result, known)),
      changes: changeWords.test(action.slice(0, actionHead)),
    }
  })
  const words = wordScores(fields, question)
  const best = Math.max(...words, Number.MIN_VALUE)
  const share = words.map((score) => score / best)
  const places = new Map(steps.map(({ place }, at) => [place, at]))
  const length = (steps.at(-1)?.place ?? 0) + 1
  return steps.map(({ place }, at) => {
    const beside = [place - 1, place + 1].reduce((total, other) => total + (share[places.get(other) ?? -1] ?? 0), 0)
    const parts = [
      leaf('words of the step', share[at] as number),
      ...(beside > 0
        ? [product('steps beside it', [leaf('their words', beside), leaf('share', stepConstants.neighbour)])]
        : []),
      ...(question.asksLast ? [leaf('late', (stepConstants.order * place) / length)] : []),
      ...(question.asksFirst && !question.asksLast ? [leaf('early', stepConstants.order * (1 - place / length))] : []),
      ...(question.asksChange && fields[at]?.changes && (share[at] as number) > 0
        ? [leaf('changes something', stepConstants.change)]
        : []),
      ...addressed(question, place),
    ]
    return sum('step', parts)
  })
}

function addressed({ steps: { named, range } }: Question, place: number): readonly Explanation[] {
  if (named.length === 0) return []
  const distance = Math.min(...named.map((step) => Math.abs(step - place)))
  const near = stepConstants.named * Math.exp(-distance / stepConstants.distance)
  const isOutside = range !== null && (place < range.from || place > range.to)
  return [
    leaf(distance === 0 ? 'the step that is named' : `${distance} from the step that is named`, near),
    ...(isOutside ? [leaf('not among the steps asked for', -stepConstants.outside)] : []),
  ]
}

/** BM25 over the actions plus BM25 over what was new in the results, each with the statistics of its own field. */
function wordScores(fields: readonly Fields[], { terms, steps }: Question): readonly number[] {
  const asked = [...terms].filter(([term]) => !steps.terms.has(term))
  const pairs = pairsOf(asked.map(([term]) => term)).map((pair) => [pair, stepConstants.pair] as const)
  const { actionLength, resultLength } = stepConstants
  const scores = [
    bm25(
      fields.map(({ action }) => action),
      [...asked, ...pairs],
      actionLength,
    ),
    bm25(
      fields.map(({ result }) => result),
      [...asked, ...pairs],
      resultLength,
    ),
  ]
  return fields.map((_, at) => scores.reduce((total, one) => total + (one[at] as number), 0))
}

function bm25(
  fields: readonly Field[],
  asked: readonly (readonly [term: string, weight: number])[],
  b: number,
): readonly number[] {
  const { k1 } = stepConstants
  const average = Math.max(1, fields.reduce((total, { length }) => total + length, 0) / Math.max(1, fields.length))
  const scores = fields.map(() => 0)
  for (const [term, weight] of asked) {
    const docFreq = fields.filter(({ counts }) => counts.has(term)).length
    if (docFreq === 0) continue
    const idf = inverseDocFreq({ docFreq, docCount: fields.length })
    for (const [at, { counts, length }] of fields.entries()) {
      const frequency = counts.get(term) ?? 0
      const norm = frequency + k1 * (1 - b + (b * length) / average)
      if (frequency > 0) scores[at] = (scores[at] as number) + (weight * idf * frequency * (k1 + 1)) / norm
    }
  }
  return scores
}

const pairsOf = (terms: readonly string[]): readonly string[] =>
  terms.slice(1).map((term, at) => `${terms[at]} ${term}`)

/** Terms, and pairs of neighbouring terms. */
function fieldOf(text: string): Field {
  const { counts, length } = countTerms(text)
  const all = new Map(counts)
  for (const pair of pairsOf(termsOf(text).map(({ term }) => term))) all.set(pair, (all.get(pair) ?? 0) + 1)
  return { counts: all, length }
}

/** The lines and sentences of a result that the result before it did not have. */
function newLines(result: string, before: string): string {
  const known = new Set(linesOf(before))
  return linesOf(result)
    .filter((line) => !known.has(line))
    .join('\n')
}

const linesOf = (text: string): readonly string[] =>
  text
    .split(/\n|(?<=[.;!?])\s+/u)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Words of actions that change something, as commands, tools and people name them. */
const changeWords =
  /\b(?:add|append|apply|build|change|commit|copy|create|delete|drop|edit|fill|fix|insert|install|make|merge|modify|move|patch|pick|place|put|push|remove|rename|replace|save|select|set|submit|take|type|update|upload|write)\b|[a-z]_(?:replace|write|edit|save|insert|create|update|delete)/iu
