import { MemoryError } from '../../../errors.ts'
import type { Extractor } from '../../../memory/learn/candidate.ts'
import { gate } from '../../../memory/learn/gate.ts'
import { packHashOf } from '../../pack/pack-hash.ts'
import type { CaseOutcome, ExecutionRequest, RunnableBenchmark } from '../../run/run.ts'
import { judgeLearning } from './judge-learning.ts'
import { type LearningCase, loadLearningPack } from './learning-pack.ts'

export type LearningOptions = {
  readonly extractor: Extractor
  readonly version: string
  /** Milliseconds, for timing. */
  readonly clock: () => number
}

/** A pack of messages and somebody who listens, ready to be run. What is judged is what gets through the gate. */
export async function learningBenchmark(
  directory: string,
  { extractor, version, clock }: LearningOptions,
): Promise<RunnableBenchmark & { readonly warnings: readonly string[] }> {
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
        if (wanted.has(one.caseId)) yield await outcomeOf(one, extractor, clock, signal)
      }
    },
  }
}

async function outcomeOf(
  one: LearningCase,
  extractor: Extractor,
  clock: () => number,
  signal: AbortSignal,
): Promise<CaseOutcome> {
  const { caseId, category, message, earlier } = one
  const began = clock()
  try {
    const heard = gate(await extractor.extract({ text: message, earlier }, signal))
    const timings = { extract: clock() - began }
    const explanation = {
      group: category,
      taken: heard.candidates.map(({ span: _span, ...candidate }) => candidate),
      refused: heard.refused.map(({ text, reason }) => ({ text, reason })),
    }
    const returned = heard.candidates.map(({ name }, index) => ({ id: name, score: null, rank: index + 1 }))
    return { caseId, ...judgeLearning(one, heard), returned, timings, explanation }
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
  }
}
