import { inverseDocFreq } from '../bm25.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import type { Question } from './question.ts'
import { termsOf } from './terms.ts'

/**
 * Constants for ranking the steps of an agent's work. The action and the new part of the result have the same weight;
 * the part that repeats the previous result has none. Chosen on development data (docs/conversations.md).
 */
export const stepConstants = {
  k1: 1.2,
  /** How much the length of an action lowers its word score, from 0 to 1. `resultLength`: that of a result. */
  actionLength: 0.3,
  resultLength: 0.75,
  /** A bonus for two adjacent words of the question. */
  pair: 0.5,
  /** This share of the scores of the two adjacent steps is added to the score of a step. */
  neighbour: 0.1,
  /** A bonus for the last or the first steps, if the question asks for them. */
  order: 0.25,
  /** A step with at least this share of the best step's word score answers equally well. */
  alike: 0.75,
  /** A bonus for a step that changes something, if the question asks for changes. */
  change: 0.25,
  /** `named`: a bonus for the step that the question names. A step d steps away from it gets `named` × exp(-d / `distance`). */
  named: 1,
  distance: 2,
  /** The penalty for a step outside the range that the question asks for. */
  outside: 1,
} as const

/** A step of a trajectory: the action and its result. */
export type TrajectoryStep = { readonly place: number; readonly action: string; readonly result: string }

/** Splits a tool's turn, which consists of an action, an empty line, and a result. */
export function stepOf(text: string, place: number): TrajectoryStep {
  const gap = /\n[^\S\n]*\n/u.exec(text)
  if (gap === null) return { place, action: text, result: '' }
  return { place, action: text.slice(0, gap.index), result: text.slice(gap.index + gap[0].length) }
}

/** The number of characters at the start of an action that contain its name. */
const actionHead = 80

type Fields = { readonly action: Field; readonly result: Field; readonly changes: boolean }
type Field = { readonly counts: ReadonlyMap<string, number>; readonly length: number }

/** Scores how well each step of a trajectory answers a question, in the order of the steps. Word scores are divided by the best one. */
export function scoreSteps(steps: readonly TrajectoryStep[], question: Question): readonly Explanation[] {
  const asked = askedOf(question)
  const fields = steps.map(({ place, action, result }, at): Fields => {
    const before = steps[at - 1]
    const known = before?.place === place - 1 ? before.result : ''
    return {
      action: fieldOf(action, asked),
      result: fieldOf(newLines(result, known), asked),
      changes: changeWords.test(separateWords(action.slice(0, actionHead))),
    }
  })
  const words = wordScores(fields, asked)
  const best = Math.max(...words, Number.MIN_VALUE)
  const share = words.map((score) => score / best)
  const places = new Map(steps.map(({ place }, at) => [place, at]))
  const length = (steps.at(-1)?.place ?? 0) + 1
  // For "the last time that …": whether a step matches the words about as well as the best one, and changes something if the
  // question asks for changes.
  const answers = (value: number, at: number): boolean =>
    value >= stepConstants.alike && (fields[at]?.changes === true || !question.asksChange)
  const lastOfBest = question.asksLast ? share.findLastIndex(answers) : -1
  return steps.map(({ place }, at) => {
    const beside = [place - 1, place + 1].reduce((total, other) => total + (share[places.get(other) ?? -1] ?? 0), 0)
    const parts = [
      leaf('words of the step', share[at] as number),
      ...(beside > 0
        ? [product('steps beside it', [leaf('their words', beside), leaf('share', stepConstants.neighbour)])]
        : []),
      ...(question.asksLast ? [leaf('late', (stepConstants.order * place) / length)] : []),
      ...(at === lastOfBest ? [leaf('the last that answers as well as any', stepConstants.order)] : []),
      ...(question.asksFirst && !question.asksLast ? [leaf('early', stepConstants.order * (1 - place / length))] : []),
      ...(question.asksChange && fields[at]?.changes ? [leaf('changes something', stepConstants.change)] : []),
      ...addressedSteps(question, place),
    ]
    return sum('step', parts)
  })
}

function addressedSteps({ steps: { named, range } }: Question, place: number): readonly Explanation[] {
  if (named.length === 0) return []
  const distance = Math.min(...named.map((step) => Math.abs(step - place)))
  const near = stepConstants.named * Math.exp(-distance / stepConstants.distance)
  const isOutside = range !== null && (place < range.from || place > range.to)
  return [
    leaf(distance === 0 ? 'the step that is named' : `${distance} from the step that is named`, near),
    ...(isOutside ? [leaf('not among the steps asked for', -stepConstants.outside)] : []),
  ]
}

/** Terms, and pairs of adjacent terms joined by a space, each with its weight. */
type Asked = ReadonlyMap<string, number>

function askedOf({ terms, steps }: Question): Asked {
  const own = [...terms].filter(([term]) => !steps.terms.has(term))
  const pairs = own.slice(1).map(([term], at) => [`${own[at]?.[0]} ${term}`, stepConstants.pair] as const)
  return new Map([...own, ...pairs])
}

/** BM25 over the actions plus BM25 over the new parts of the results, each with the statistics of its field. */
function wordScores(fields: readonly Fields[], asked: Asked): readonly number[] {
  const scoresOf = (part: 'action' | 'result', b: number) =>
    bm25(
      fields.map((one) => one[part]),
      asked,
      b,
    )
  const actions = scoresOf('action', stepConstants.actionLength)
  const results = scoresOf('result', stepConstants.resultLength)
  return actions.map((score, at) => score + (results[at] as number))
}

function bm25(fields: readonly Field[], asked: Asked, b: number): readonly number[] {
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

/** How often a text contains the wanted terms, and how many terms it has. */
function fieldOf(text: string, asked: Asked): Field {
  const counts = new Map<string, number>()
  const terms = termsOf(text)
  const count = (key: string): void => {
    if (asked.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  for (const [at, { term }] of terms.entries()) {
    if (!asked.has(term)) continue
    count(term)
    if (at > 0) count(`${terms[at - 1]?.term} ${term}`)
  }
  return { counts, length: terms.length }
}

/** The lines and sentences of a result that the previous result does not contain. */
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
  /\b(?:add|append|apply|build|change|commit|copy|create|delete|drop|edit|fill|fix|insert|install|make|merge|modify|move|patch|pick|place|put|push|remove|rename|replace|save|select|set|submit|take|type|update|upload|write)\b|[a-z] (?:replace|write|edit|save|insert|create|update|delete)/iu

/** Separates the words in names such as `edit_file` and `strReplace`. */
const separateWords = (text: string): string => text.replace(/_|(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
