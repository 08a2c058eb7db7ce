import { MemoryError } from '../../../errors.ts'
import type { Ports } from '../../../memory/change/transaction.ts'
import type { Extractor } from '../../../memory/learn/extraction.ts'
import { learn } from '../../../memory/learn/learn.ts'
import type { CaseOutcome } from '../../run/run.ts'
import {
  brokenOutcome,
  carriedOut,
  defineKind,
  type Kind,
  type PackContent,
  type PackPlace,
  type Tested,
} from '../kind.ts'
import { nothingExtractor } from './control-extractors.ts'
import { judgeLearning } from './judge-learning.ts'
import { type LearningCase, readLearningCases } from './learning-pack.ts'

export type LearningOptions = {
  /** An extractor, by name. */
  readonly open: (system: string) => Promise<Extractor>
  /** An empty memory for each case. */
  readonly openPorts: () => Ports
  readonly version: string
  /** Milliseconds, for timing. */
  readonly clock: () => number
}

type LearningContent = PackContent & { readonly learning: readonly LearningCase[] }
type TestedExtractor = Tested & { readonly extractor: Extractor }

/** The kind of pack that asks what is learned from messages. What is judged is what the memory holds afterwards. */
export const learningKind = (options: LearningOptions): Kind =>
  defineKind({
    name: 'learning',
    defaultSystem: 'rules',
    read: readContent,
    open: async (system) => testedOf(await options.open(system), options.version),
    ablate: { 'extractor off': (tested) => ({ ...tested, extractor: nothingExtractor }) },
    carryOut: ({ learning }, { extractor }, request) =>
      carriedOut(
        learning.filter(({ caseId }) => request.wanted.has(caseId)),
        request,
        (one) => outcomeOf(one, extractor, options, request.signal),
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

const testedOf = (extractor: Extractor, version: string): TestedExtractor => ({
  extractor,
  name: `learn:${extractor.model ?? extractor.name}`,
  version,
  isDeterministic: extractor.model === undefined,
  close: async () => {},
})

const place = { user: 'person', agent: null, view: ['project:here'], scopes: ['project:here'] } as const
const author = { actor: 'person', origin: 'pack' } as const

async function outcomeOf(
  one: LearningCase,
  extractor: Extractor,
  { openPorts, clock }: LearningOptions,
  signal: AbortSignal,
): Promise<CaseOutcome> {
  const { caseId, category, message, earlier } = one
  const ports = openPorts()
  try {
    for (const [index, text] of earlier.entries())
      await learn(ports, { ...place, author, extractor, signal, text, earlier: earlier.slice(0, index) })
    const began = clock()
    const learned = await learn(ports, { ...place, author, extractor, signal, text: message, earlier })
    const timings = { learn: clock() - began }
    const { items } = await ports.store.list({ user: place.user }, { limit: 1_000, offset: 0 })
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
    return brokenOutcome(caseId, { class: 'extractor', message: error.message })
  } finally {
    await ports.store.close()
  }
}
