import { z } from 'zod'
import { invalid, MemoryError } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { type Extractor, type Finding, slots } from '../../../memory/learn/extraction.ts'
import { learn, learnOutcomes } from '../../../memory/learn/learn.ts'
import type { Ports } from '../../../memory/ports.ts'
import { sentencesOf } from '../../../search/sentences.ts'
import { caseFileOf, parseJsonAs, refuseUnlike } from '../../pack/manifest.ts'
import type { CaseOutcome } from '../../run/run.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import { brokenOutcome, defineRunner, executeInOrder, type PackPlace, type Runner } from '../runner.ts'
import { judgeLearning } from './judge-learning.ts'

export type LearningOptions = {
  readonly open: (system: string) => Promise<Extractor>
  readonly openPorts: () => Ports
  readonly version: string
  readonly clock: () => number
}

/** The runner for packs about learning from messages. Judges the content of the memory afterwards. */
export const learningRunner = (options: LearningOptions): Runner =>
  defineRunner({
    name: 'learning',
    defaultSystem: 'rules',
    read: readContent,
    open: async (system) => {
      const extractor = await options.open(system)
      return {
        extractor,
        name: `learn:${extractor.model ?? extractor.name}`,
        version: options.version,
        isDeterministic: extractor.model === undefined,
        close: async () => {},
      }
    },
    ablate: { 'extractor off': (tested) => ({ ...tested, extractor: nothingExtractor }) },
    execute: ({ learning }, { extractor }, request) => {
      const wanted = learning.filter(({ caseId }) => request.wanted.has(caseId))
      return executeInOrder(wanted, request, (one) => runCase(one, extractor, options, request.signal))
    },
  })

function readContent(place: PackPlace) {
  const learning = readLearningCases(place)
  const cases = learning.map(({ caseId, message, category, description, learn: expected }) => ({
    id: caseId,
    prompt: message,
    expectsSomething: expected.length > 0,
    words: [category, description],
  }))
  return { learning, cases, warnings: [], isShuffled: false }
}

const where = { user: 'person', agent: null, view: ['project:here'], scopes: ['project:here'] } as const
const author = { actor: 'person', origin: 'pack' } as const

async function runCase(
  learningCase: LearningCase,
  extractor: Extractor,
  { openPorts, clock }: LearningOptions,
  signal: AbortSignal,
): Promise<CaseOutcome> {
  const { caseId, category, message, earlier } = learningCase
  const ports = openPorts()
  const hear = (text: string, before: readonly string[]) =>
    learn(ports, { ...where, author, extractor, signal, text, earlier: before })
  try {
    for (const [index, text] of earlier.entries()) await hear(text, earlier.slice(0, index))
    const began = clock()
    const learned = await hear(message, earlier)
    const timings = { learn: clock() - began }
    const { items } = await ports.store.list({ user: where.user }, { limit: 1_000, offset: 0 })
    const explanation = {
      group: category,
      taken: learned.taken.map(({ outcome, belief: { name, aliases, content, scopes }, because }) => ({
        outcome,
        name,
        aliases,
        content,
        scopes,
        because,
      })),
      refused: learned.refused.map(({ text, reason }) => ({ text, reason })),
    }
    const returned = learned.taken.map(({ belief: { name } }, index) => ({ id: name, score: null, rank: index + 1 }))
    return { caseId, ...judgeLearning(learningCase, learned, items), returned, timings, explanation }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return brokenOutcome(caseId, { class: 'extractor', message: error.message })
  } finally {
    await ports.store.close()
  }
}

/** A control and ablation that learns nothing. It must fail every pack. */
export const nothingExtractor: Extractor = {
  name: 'none',
  extract: async () => ({ findings: [], refused: [] }),
}

/** A control that learns every sentence as if it had been requested. It must fail every pack. */
export const everythingExtractor: Extractor = {
  name: 'everything',
  extract: async ({ text }) => ({
    findings: sentencesOf(text).map(({ text: content, start, end }): Finding => {
      const kept = { type: 'entity', subtype: null, about: 'work' } as const
      return { kind: 'request', content, span: { start, end }, ...kept }
    }),
    refused: [],
  }),
}

const texts = z.array(z.string().min(1))

const ExpectedFact = z.strictObject({
  /** Texts that the stored statement contains verbatim. */
  says: texts.min(1),
  outcome: z.enum(learnOutcomes),
  /** Whether the statement is stored for the person everywhere or for the current work. */
  about: z.enum(['person', 'work']),
  /** The name of the single-value slot that the statement fills. */
  slot: z.enum(slots).optional(),
  /** Whether the statement is part of every context of its scope. */
  standing: z.boolean().default(false),
  /** For a correction: words of the belief that it replaces. */
  replaces: z.string().min(1).optional(),
  /** Messages that must recall the belief by name, and messages that must not. */
  askedWith: texts.default([]),
  notAskedWith: texts.default([]),
})

const LearningCase = z.strictObject({
  caseId: SafeId,
  category: z.string().min(1),
  description: z.string().min(1),
  /** Whether the case was written before or after the rule that it tests. */
  written: z.enum(['before', 'after']),
  message: z.string().min(1),
  /** Earlier messages to learn from, in order. */
  earlier: texts.default([]),
  /** All facts that must be learned. Nothing else may be. */
  learn: z.array(ExpectedFact),
  /** Words of beliefs that must still be current afterwards. */
  keeps: texts.default([]),
  /** Refusals that must be reported: each with this reason and these words. */
  refuse: z.array(z.strictObject({ words: z.string().min(1), reason: z.string().min(1) })).default([]),
})

export type ExpectedFact = z.infer<typeof ExpectedFact>
export type LearningCase = z.infer<typeof LearningCase>

/** Reads messages with the facts that must and must not be learned from them. */
export function readLearningCases(place: PackPlace): readonly LearningCase[] {
  const file = caseFileOf(place)
  const cases = parseJsonAs(file, readTextFile(file), z.array(LearningCase).min(1), seeFormat)
  const listed = cases.map(({ caseId, message }) => ({ id: caseId, prompt: message }))
  refuseUnlike(place, listed)
  for (const { caseId, message, learn: expected } of cases) {
    // Text that is expected verbatim must be in the message.
    const said = [message, message.replace(/\s+/gu, ' ')]
    const unsaid = expected.flatMap(({ says }) => says).find((words) => !said.some((text) => text.includes(words)))
    if (unsaid !== undefined) throw invalid(`${file}: ${caseId}: the message does not say "${unsaid}".`, seeFormat)
  }
  return cases
}

const seeFormat = 'See docs/learning.md for the format.'
