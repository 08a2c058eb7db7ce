import { join } from 'node:path'
import { z } from 'zod'
import { MemoryError } from '../../../errors.ts'
import { type Extractor, type Finding, slots } from '../../../memory/learn/extraction.ts'
import { learn, learnOutcomes } from '../../../memory/learn/learn.ts'
import type { Workshop } from '../../../memory/workshop.ts'
import { sentencesOf } from '../../../search/sentences.ts'
import { parseJsonFile, readTextFile, refuseUnlike } from '../../pack/manifest.ts'
import type { CaseOutcome } from '../../run/run.ts'
import { manifestName } from '../../store/documents.ts'
import { PackPath } from '../../store/schemas/manifest.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import {
  brokenOutcome,
  carriedOut,
  defineKind,
  type Kind,
  type PackContent,
  type PackPlace,
  type Tested,
} from '../kind.ts'
import { judgeLearning } from './judge-learning.ts'

export type LearningOptions = {
  /** An extractor, by name. */
  readonly open: (system: string) => Promise<Extractor>
  /** An empty memory for each case. */
  readonly openWorkshop: () => Workshop
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
  { openWorkshop, clock }: LearningOptions,
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
    return brokenOutcome(caseId, { class: 'extractor', message: error.message })
  } finally {
    await workshop.store.close()
  }
}

/** What shows that a pack tells good from bad: each of them must fail it. `none` is the ablation. */
export const controlExtractors = ['none', 'everything'] as const

/** Takes nothing. */
export const nothingExtractor: Extractor = {
  name: 'none',
  extract: async () => ({ findings: [], refused: [] }),
}

/** Takes every sentence as if it had been asked for. */
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

/** A statement that has to be taken. */
const ExpectedFact = z.strictObject({
  /** Stands in what is kept, letter by letter. */
  says: texts.min(1),
  outcome: z.enum(learnOutcomes),
  /** Whether it is kept for the person everywhere or for the work at hand. */
  about: z.enum(['person', 'work']),
  /** The name of the single-value slot it fills. */
  slot: z.enum(slots).optional(),
  /** Part of every context of its scope. */
  standing: z.boolean().default(false),
  /** For a correction: words of the belief that it takes the place of. */
  replaces: z.string().min(1).optional(),
  /** Messages that must bring it up by name, and messages that must not. */
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
  /** Messages that are learned before it, in order. */
  earlier: texts.default([]),
  /** All that may be taken. An empty list: nothing. */
  learn: z.array(ExpectedFact),
  /** Words of beliefs that must still hold afterwards. */
  keeps: texts.default([]),
  /** Why something is refused, where that matters: a refusal for this reason holds these words. */
  refuse: z.array(z.strictObject({ words: z.string().min(1), reason: z.string().min(1) })).default([]),
})

export type ExpectedFact = z.infer<typeof ExpectedFact>
export type LearningCase = z.infer<typeof LearningCase>

const Files = z.looseObject({ files: z.looseObject({ cases: PackPath }) })

/** Reads messages with what must and must not be learned from them. */
export function readLearningCases(place: PackPlace): readonly LearningCase[] {
  const named = Files.safeParse(place.manifest)
  if (!named.success) throw invalid(`${join(place.directory, manifestName)}: files.cases must name the case file.`)
  const file = join(place.directory, named.data.files.cases)
  const parsed = z
    .array(LearningCase)
    .min(1)
    .safeParse(parseJsonFile(file, readTextFile(file)))
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.')}: ${issue.message}.`).join('\n'))
  }
  refuseUnlike(
    place,
    parsed.data.map(({ caseId, message }) => ({ id: caseId, prompt: message })),
  )
  for (const one of parsed.data) refuseImpossible(file, one)
  return parsed.data
}

/** What is to be kept word by word must have been said. */
function refuseImpossible(file: string, { caseId, message, learn }: LearningCase): void {
  const said = message.replace(/\s+/gu, ' ')
  const words = learn
    .flatMap(({ says }) => says)
    .find((expected) => !said.includes(expected) && !message.includes(expected))
  if (words !== undefined) throw invalid(`${file}: ${caseId}: the message does not say "${words}".`)
}

const invalid = (message: string): MemoryError =>
  new MemoryError('invalid', message, { hint: 'See docs/learning.md for the format.' })
