import { inverseDocFreq, mentionGain } from './bm25.ts'
import { type Explanation, leaf, product, sum } from './explanation.ts'
import type { Link, Mention } from './link.ts'
import { forEachInSlices } from './slices.ts'
import { editFactor } from './typo.ts'

/** A name counts more than an alias, because it identifies a belief more reliably. */
const NAME_BOOST = 2
const ALIAS_BOOST = 1

/** What one surface form contributes to the score of a belief. */
export type Clause = {
  readonly field: 'name' | 'alias'
  /** 0 is the name, i the alias at position i - 1. */
  readonly ordinal: number
  /** The mentions that were counted. */
  readonly mentions: readonly Mention[]
  readonly explanation: Explanation
}

export type Score = { readonly value: number; readonly clauses: readonly Clause[]; readonly explanation: Explanation }

type Weighted = { readonly mention: Mention; readonly nth: number; readonly gain: number; readonly weight: number }

/**
 * BM25 over the forms of one belief that the message mentions. Each word of the message counts for at most one mention; the
 * mentions with the highest total are chosen, so another alias never lowers a score.
 */
export function scoreLink(link: Link, population: number): Score {
  const chosen = selectWithoutOverlap(weighMentions(link.mentions, population))
  const clauses = clausesOf(chosen, population)
  const explanation = sum(
    'score',
    clauses.map((clause) => clause.explanation),
  )
  return { value: explanation.value, clauses, explanation }
}

/** The score of each link. Neighbouring links with the same mentions share one score. */
export async function scoreLinks(links: readonly Link[], population: number): Promise<readonly Score[]> {
  const scores: Score[] = []
  await forEachInSlices(links.entries(), ([at, link]) => {
    const { mentions } = link
    const before = links[at - 1]?.mentions ?? []
    const isSame = mentions.length === before.length && mentions.every((mention, nth) => mention === before[nth])
    scores.push(isSame ? (scores[at - 1] as Score) : scoreLink(link, population))
  })
  return scores
}

const fieldOf = (ordinal: number): Clause['field'] => (ordinal === 0 ? 'name' : 'alias')
const boostOf = (ordinal: number): number => (ordinal === 0 ? NAME_BOOST : ALIAS_BOOST)
const editOf = ({ typo }: Mention): number => (typo === null ? 1 : editFactor(typo.written, typo.meant))

/** Weighs mentions. Each mention of a form weighs less than the previous one, even if the previous one is not chosen. */
function weighMentions(mentions: readonly Mention[], population: number): readonly Weighted[] {
  const seen = new Map<number, number>()
  return [...mentions]
    .sort((a, b) => a.first - b.first || a.last - b.last || a.ordinal - b.ordinal)
    .map((mention) => {
      const nth = (seen.get(mention.ordinal) ?? 0) + 1
      seen.set(mention.ordinal, nth)
      const gain = mentionGain(nth)
      const idf = inverseDocFreq({ docFreq: mention.docFreq, docCount: population })
      return { mention, nth, gain, weight: boostOf(mention.ordinal) * idf * gain * editOf(mention) }
    })
}

/** Weighted interval scheduling: the set of mentions with the highest weight in which no two share a word. */
function selectWithoutOverlap(weighted: readonly Weighted[]): readonly Weighted[] {
  const byEnd = [...weighted].sort((a, b) => a.mention.last - b.mention.last)
  // totals[i]: the best total of the first i candidates. takenAfter[i]: if candidate i - 1 is taken, how many of the first
  // candidates do not overlap with it; else -1.
  const totals = [0]
  const takenAfter = [-1]
  for (const [index, { mention, weight }] of byEnd.entries()) {
    let before = index
    while (before > 0 && (byEnd[before - 1] as Weighted).mention.last >= mention.first) before -= 1
    const taken = (totals[before] as number) + weight
    const left = totals[index] as number
    totals.push(Math.max(taken, left))
    takenAfter.push(taken > left ? before : -1)
  }
  const chosen: Weighted[] = []
  for (let at = byEnd.length; at > 0; ) {
    const before = takenAfter[at] as number
    if (before >= 0) chosen.push(byEnd[at - 1] as Weighted)
    at = before >= 0 ? before : at - 1
  }
  return chosen.reverse()
}

function clausesOf(chosen: readonly Weighted[], population: number): readonly Clause[] {
  const groups = Map.groupBy(chosen, ({ mention: { ordinal, typo, docFreq } }) =>
    [ordinal, docFreq, typo?.written, typo?.meant].join('-'),
  )
  return [...groups.values()].map((group) => {
    const { ordinal, docFreq } = (group[0] as Weighted).mention
    const field = fieldOf(ordinal)
    return {
      field,
      ordinal,
      mentions: group.map(({ mention }) => mention),
      explanation: product(field, [
        leaf(`idf of ${docFreq} in ${population}`, inverseDocFreq({ docFreq, docCount: population })),
        leaf(
          tfLabel(group),
          group.reduce((total, { gain }) => total + gain, 0),
        ),
        leaf(`${field} boost`, boostOf(ordinal)),
        leaf('edit', editOf((group[0] as Weighted).mention)),
      ]),
    }
  })
}

const tfLabel = (group: readonly Weighted[]): string =>
  group.length === 1 ? `tf of mention ${(group[0] as Weighted).nth}` : `tf of ${group.length} mentions`
