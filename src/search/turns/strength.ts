import { termsOf } from './terms.ts'
import { pointsOf } from './word-points.ts'

/** `exact`: contains the words of the question. `strong`: contains most of its informative words. `possible`: the best available. */
export const strengths = ['exact', 'strong', 'possible'] as const
export type Strength = (typeof strengths)[number]

/** Min share of the question's points for a strong hit. A single word, however rare, is never enough. */
const strongShare = 0.46
/** Added to the total points, so that one rare word alone does not make a hit strong. */
const unknownPoints = 12

/** The strength of a hit whose text contains these terms of a question. */
export function strengthOf(terms: Iterable<string>, held: ReadonlySet<string>): Exclude<Strength, 'exact'> {
  let total = unknownPoints
  let found = 0
  for (const term of terms) {
    const points = pointsOf(term)
    total += points
    if (held.has(term)) found += points
  }
  return found / total >= strongShare ? 'strong' : 'possible'
}

export const termsIn = (text: string): ReadonlySet<string> => new Set(termsOf(text).map(({ term }) => term))
