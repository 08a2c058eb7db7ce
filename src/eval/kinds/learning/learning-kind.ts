import { MemoryError } from '../../../errors.ts'
import type { Extractor } from '../../../memory/learn/candidate.ts'
import { gate } from '../../../memory/learn/gate.ts'
import type { CaseOutcome } from '../../run/run.ts'
import { carriedOut, defineKind, type Kind, type PackContent, type PackPlace, type Tested } from '../kind.ts'
import { deafExtractor } from './control-extractors.ts'
import { judgeLearning } from './judge-learning.ts'
import { type LearningCase, readLearningCases } from './learning-pack.ts'

export type LearningOptions = {
  /** What listens, by name. */
  readonly open: (system: string) => Promise<Extractor>
  readonly version: string
  /** Milliseconds, for timing. */
  readonly clock: () => number
}

type LearningContent = PackContent & { readonly learning: readonly LearningCase[] }
type Listener = Tested & { readonly extractor: Extractor }

/** The kind of pack that asks what is learned from messages. What is judged is what gets through the gate. */
export const learningKind = ({ open, version, clock }: LearningOptions): Kind =>
  defineKind({
    name: 'learning',
    defaultSystem: 'rules',
    read: readContent,
    open: async (system) => listenerOf(await open(system), version),
    ablate: { 'learning off': (listener) => ({ ...listener, extractor: deafExtractor }) },
    carryOut: ({ learning }, { extractor }, request) =>
      carriedOut(
        learning.filter(({ caseId }) => request.wanted.has(caseId)),
        request,
        (one) => outcomeOf(one, extractor, clock, request.signal),
      ),
  })

function readContent(place: PackPlace): LearningContent {
  const learning = readLearningCases(place)
  const cases = learning.map(({ caseId, message, category, description, learn }) => ({
    id: caseId,
    prompt: message,
    expectsSomething: learn.length > 0,
    words: [category, description],
  }))
  return { learning, cases, warnings: [], isShuffled: false }
}

const listenerOf = (extractor: Extractor, version: string): Listener => ({
  extractor,
  name: `learn:${extractor.model ?? extractor.name}`,
  version,
  isDeterministic: extractor.model === undefined,
  close: async () => {},
})

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
