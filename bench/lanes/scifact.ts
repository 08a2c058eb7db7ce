import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { stemmer } from 'stemmer'
import { analyse } from '../../src/search/analyse.ts'
import { inverseDocFreq, saturation } from '../../src/search/bm25.ts'
import type { Lane } from '../run.ts'

const cutoff = 10

/** The score of a textbook BM25 ranker on this collection. */
const anchor = 0.675

/** Ranks documents with the arithmetic that scores beliefs. It validates the formula, not the product. */
export const scifactLane: Lane = {
  name: 'scifact',
  summary: 'our BM25 arithmetic as a ranker of the SciFact abstracts (NDCG@10)',
  async run({ log }) {
    const folder = join(process.env.CREDENCE_DATA ?? globSync('../*/data')[0] ?? '../data', 'scifact')
    if (!existsSync(join(folder, 'corpus.jsonl.gz'))) {
      log(`  skipped: the SciFact collection is not in ${folder}; CREDENCE_DATA says where to look`)
      return { skipped: 'the SciFact collection is not here' }
    }
    const index = indexOf(
      jsonLines(folder, 'corpus.jsonl.gz').map(({ _id, title, text }) => ({
        id: String(_id),
        text: `${title} ${text}`,
      })),
    )
    const judged = judgements(folder)
    const queries = jsonLines(folder, 'queries.jsonl.gz').filter(({ _id }) => judged.has(String(_id)))
    const scores = queries.map(({ _id, text }) => {
      const relevant = judged.get(String(_id)) ?? new Map<string, number>()
      return ndcg(rank(index, String(text)), relevant)
    })
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
    log(`  ${queries.length} queries, ${index.lengths.length} documents: NDCG@${cutoff} ${mean.toFixed(4)}`)
    return {
      documents: index.lengths.length,
      queries: queries.length,
      ndcgAt10: mean,
      anchor,
      isReached: mean >= anchor,
    }
  },
}

/** Stemmed words (Porter, 1980), as in the rankers of the comparison. */
const wordsOf = (text: string): readonly string[] => analyse(text).map(({ word }) => stemmer(word))

type Index = {
  readonly ids: readonly string[]
  readonly lengths: readonly number[]
  readonly averageLength: number
  /** For each word, its frequency by document. */
  readonly postings: ReadonlyMap<string, ReadonlyMap<number, number>>
}

function indexOf(documents: readonly { readonly id: string; readonly text: string }[]): Index {
  const postings = new Map<string, Map<number, number>>()
  const lengths = documents.map(({ text }, document) => {
    const words = wordsOf(text)
    for (const word of words) {
      const known = postings.get(word) ?? new Map<number, number>()
      postings.set(word, known.set(document, (known.get(document) ?? 0) + 1))
    }
    return words.length
  })
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  return { ids: documents.map(({ id }) => id), lengths, averageLength, postings }
}

function rank({ ids, lengths, averageLength, postings }: Index, query: string): readonly string[] {
  const scores = new Map<number, number>()
  for (const word of wordsOf(query)) {
    const found = postings.get(word)
    if (found === undefined) continue
    const idf = inverseDocFreq({ docFreq: found.size, docCount: ids.length })
    for (const [document, termFreq] of found) {
      const gain = idf * saturation({ termFreq, length: lengths[document] as number, averageLength })
      scores.set(document, (scores.get(document) ?? 0) + gain)
    }
  }
  return [...scores]
    .sort(([, a], [, b]) => b - a)
    .slice(0, cutoff)
    .map(([document]) => ids[document] as string)
}

/** Normalised discounted cumulative gain (Järvelin and Kekäläinen, 2002), with the grade itself as gain. */
function ndcg(ranking: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const discounted = (grades: readonly number[]): number =>
    grades.reduce((sum, grade, position) => sum + grade / Math.log2(position + 2), 0)
  const ideal = [...relevant.values()].sort((a, b) => b - a).slice(0, cutoff)
  return discounted(ranking.map((id) => relevant.get(id) ?? 0)) / discounted(ideal)
}

const textOf = (folder: string, file: string): string => gunzipSync(readFileSync(join(folder, file))).toString('utf8')

const jsonLines = (folder: string, file: string): readonly Readonly<Record<string, unknown>>[] =>
  textOf(folder, file)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** For each query, the grades by document. */
function judgements(folder: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const judged = new Map<string, Map<string, number>>()
  for (const line of textOf(folder, 'test.tsv.gz').split('\n').slice(1)) {
    const [query, document, grade] = line.split('\t')
    if (query === undefined || document === undefined || !(Number(grade) > 0)) continue
    judged.set(query, (judged.get(query) ?? new Map()).set(document, Number(grade)))
  }
  return judged
}
