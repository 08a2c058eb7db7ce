import type { Embedder } from '../../search/embedder.ts'
import { expectedRelevant } from '../runners/retrieval/expectations.ts'
import type { Pack } from '../runners/retrieval/pack.ts'
import { mean } from '../score/statistics.ts'
import { Corpus } from './corpus.ts'
import type { System } from './system.ts'
import { vectorSystem } from './vector.ts'

/** The chosen k and threshold, their mean F1, and the calibration pack. */
export type Calibration = Awaited<ReturnType<typeof calibrate>>

/** The settings of the paper that the comparison is taken from. */
export const paperProtocol = { k: 20, threshold: null } as const

const kTried = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20]
const thresholdsTried = Array.from({ length: 101 }, (_, step) => step / 100)

/** Chooses the k and threshold with the highest mean F1; among ties, the smallest k and the middle threshold. */
export async function calibrate(pack: Pack, embedder: Embedder) {
  const system = vectorSystem({ name: 'ranking', description: '', embedder, ...everything, notes: [] })
  const rankings = await rankingsOf(pack, system)
  return { ...bestCut(rankings, thresholdsTried), pack: pack.id, cases: rankings.length }
}

/** Options with which a system returns everything in view. */
export const everything = { k: Number.POSITIVE_INFINITY, threshold: null } as const

type Ranking = {
  readonly expected: readonly string[]
  readonly hits: readonly { readonly id: string; readonly score: number }[]
}

const meanF1Of = (rankings: readonly Ranking[], k: number, threshold: number): number =>
  mean(rankings.map((ranking) => f1(ranking, k, threshold))) ?? 0

export function bestCut(
  rankings: readonly Ranking[],
  thresholds: readonly number[],
): { readonly k: number; readonly threshold: number; readonly meanF1: number } {
  const tried = kTried.flatMap((k) =>
    thresholds.map((threshold) => ({ k, threshold, meanF1: meanF1Of(rankings, k, threshold) })),
  )
  const best = Math.max(...tried.map(({ meanF1 }) => meanF1))
  const equals = tried.filter(({ meanF1 }) => meanF1 === best)
  const k = Math.min(...equals.map((choice) => choice.k))
  const plateau = equals.filter((choice) => choice.k === k)
  return plateau[Math.floor(plateau.length / 2)] as (typeof plateau)[number]
}

/** The rankings of a system that returns everything in view, for every case that declares the relevant beliefs. */
export async function rankingsOf(pack: Pack, system: System): Promise<readonly Ranking[]> {
  const corpus = new Corpus(pack.beliefs)
  await system.ingest(pack.beliefs)
  const rankings: Ranking[] = []
  for (const asked of pack.cases) {
    const query = { ...asked, recall: pack.recall }
    const expected = expectedRelevant(asked.expect, corpus.pinnedIds(query))
    if (expected === null) continue
    const { relevant } = await system.recall(query)
    rankings.push({ expected, hits: relevant.map(({ id, score }) => ({ id, score: score ?? 0 })) })
  }
  return rankings
}

/** The harmonic mean of precision and recall; 1 if an empty result was expected and returned. */
function f1({ expected, hits }: Ranking, k: number, threshold: number): number {
  const returned = hits.filter(({ score }) => score >= threshold).slice(0, k)
  if (expected.length === 0 && returned.length === 0) return 1
  const right = returned.filter(({ id }) => expected.includes(id)).length
  return (2 * right) / (expected.length + returned.length)
}
