import { MemoryError } from '../../errors.ts'
import type { Extractor } from '../../memory/learn/extraction.ts'
import { learn } from '../../memory/learn/learn.ts'
import type { Workshop } from '../../memory/workshop.ts'
import { packHashOf } from '../harness/pack-hash.ts'
import type { CaseOutcome, ExecutionRequest, RunnableBenchmark } from '../harness/runner.ts'
import { judgeLearning } from './judge-learning.ts'
import { type LearningCase, loadLearningPack } from './learning-pack.ts'

export type LearningOptions = {
  readonly extractor: Extractor
  readonly version: string
  /** An empty memory for each case. */
  readonly openWorkshop: () => Workshop
  /** Milliseconds, for timing. */
  readonly clock: () => number
}

/** A pack of messages and an extractor, ready to be run. What is judged is what the memory holds afterwards. */
export async function learningBenchmark(
  directory: string,
  options: LearningOptions,
): Promise<RunnableBenchmark & { readonly warnings: readonly string[] }> {
  const { extractor, version } = options
  const { manifest, cases } = loadLearningPack(directory)
  const isModel = extractor.model !== undefined
  return {
    manifest: isModel ? { ...manifest, deterministic: false } : manifest,
    ...(await packHashOf(directory, manifest)),
    system: { name: isModel ? `learn:${extractor.model}` : `learn:${extractor.name}`, version },
    warnings: [],
    execute: async function* ({ wanted, signal }: ExecutionRequest) {
      for (const one of cases) {
        if (signal.aborted) return
        if (wanted.has(one.caseId)) yield await outcomeOf(one, options, signal)
      }
    },
  }
}

const place = { user: 'person', agent: null, view: ['project:here'], scopes: ['project:here'] } as const
const author = { actor: 'person', origin: 'pack' } as const

async function outcomeOf(
  one: LearningCase,
  { extractor, openWorkshop, clock }: LearningOptions,
  signal: AbortSignal,
): Promise<CaseOutcome> {
  const { caseId, category, message, earlier } = one
  const workshop = openWorkshop()
  try {
    for (const [index, text] of earlier.entries())
      await learn(workshop, { ...place, author, extractor, signal, text, earlier: earlier.slice(0, index) })
    const began = clock()
    const learned = await learn(workshop, { ...place, author, extractor, signal, text: message, earlier })
    const timings = { learn: clock() - began }
    const { items } = await workshop.store.list({ user: place.user }, { limit: 1_000, offset: 0 })
    const explanation = {
      group: category,
      taken: learned.taken.map(({ outcome, belief: { name, aliases, content, scopes }, because }) => ({
        ...{ outcome, name, aliases, content, scopes, because },
      })),
      refused: learned.refused.map(({ text, reason }) => ({ text, reason })),
    }
    const returned = learned.taken.map(({ belief: { name } }, index) => ({ id: name, score: null, rank: index + 1 }))
    return { caseId, ...judgeLearning(one, learned, items), returned, timings, explanation }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return {
      caseId,
      verdict: 'error',
      scores: {},
      returned: [],
      failures: [],
      timings: {},
      error: { class: 'extractor', message: error.message },
    }
  } finally {
    await workshop.store.close()
  }
}
