import { z } from 'zod'
import { type Belief, isCurrent, isStanding } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'
import { invalid, MemoryError } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { type Extractor, type Finding, slots } from '../../../memory/learn/extraction.ts'
import { type LearnedStatement, type LearnResult, learn, learnOutcomes } from '../../../memory/learn/learn.ts'
import type { Ports } from '../../../memory/ports.ts'
import { analyse } from '../../../search/analyse.ts'
import { formKeys, singularOf } from '../../../search/forms.ts'
import { sentencesOf } from '../../../search/sentences.ts'
import { caseFileOf, parseJsonAs, refuseUnlike } from '../../pack/manifest.ts'
import type { CaseOutcome } from '../../run/run.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import { brokenOutcome, defineRunner, executeInOrder, type PackPlace, type Runner } from '../runner.ts'

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

/** Passes if exactly the expected facts were learned, in the right form, beliefs to keep are current, and refusals were reported. */
export function judgeLearning(
  { learn, keeps, refuse }: LearningCase,
  { taken, refused }: LearnResult,
  beliefs: readonly Belief[],
): Pick<CaseOutcome, 'verdict' | 'scores' | 'failures'> {
  const pairs = pairUp(learn, taken)
  const used = new Set(pairs.values())
  const current = beliefs.filter(isCurrent)
  const lost = keeps.filter((words) => !current.some(({ content }) => flatten(content).includes(words)))
  const failures = [
    ...taken
      .filter((statement) => !used.has(statement))
      .map(({ belief }) => `"${belief.content}" was taken and should not have been.`),
    ...learn.flatMap((fact, index) => {
      const statement = pairs.get(index)
      return statement === undefined ? [`${quoteWords(fact.says)} was not taken.`] : faultsOf(fact, statement)
    }),
    ...lost.map((words) => `No current belief contains "${words}" any more.`),
    ...refuse
      .filter(({ words, reason }) => !refused.some((one) => one.reason === reason && flatten(one.text).includes(words)))
      .map(({ words, reason }) => `Nothing with "${words}" was refused for the reason ${reason}.`),
  ]
  return {
    verdict: failures.length === 0 ? 'pass' : 'fail',
    scores: {
      learnPrecision: taken.length === 0 ? null : used.size / taken.length,
      learnRecall: learn.length === 0 ? null : pairs.size / learn.length,
      silence: learn.length > 0 ? null : taken.length === 0 ? 1 : 0,
      kept: keeps.length === 0 ? null : 1 - lost.length / keeps.length,
    },
    failures,
  }
}

/** Pairs each expected fact with one statement that contains it, starting with the facts that have the fewest candidates. */
function pairUp(
  facts: readonly ExpectedFact[],
  taken: readonly LearnedStatement[],
): ReadonlyMap<number, LearnedStatement> {
  const fitting = facts.map((fact, index) => ({ index, options: taken.filter((one) => statesFact(fact, one)) }))
  const pairs = new Map<number, LearnedStatement>()
  const used = new Set<LearnedStatement>()
  for (const { index, options } of fitting.sort((a, b) => a.options.length - b.options.length)) {
    const free = options.find((statement) => !used.has(statement))
    if (free === undefined) continue
    pairs.set(index, free)
    used.add(free)
  }
  return pairs
}

const statesFact = ({ says }: ExpectedFact, { belief }: LearnedStatement): boolean =>
  says.every((words) => flatten(belief.content).includes(words))

function faultsOf(fact: ExpectedFact, { belief, outcome, replaced }: LearnedStatement): readonly string[] {
  const subject = `"${belief.content}"`
  const about = belief.scopes.includes(universalScope) ? 'person' : 'work'
  const stands = belief.subtype === 'instruction' && belief.scopes.every((scope) => isStanding(belief, scope))
  const faults: readonly (readonly [isFault: boolean, words: string])[] = [
    [outcome !== fact.outcome, `was ${outcome}, not ${fact.outcome}.`],
    [about !== fact.about, `is kept for the ${about}, not for the ${fact.about}.`],
    [fact.slot !== undefined && belief.name !== fact.slot, `has the name "${belief.name}", not "${fact.slot}".`],
    [fact.standing !== stands, fact.standing ? 'is no standing instruction.' : 'is a standing instruction.'],
    [
      fact.replaces === undefined
        ? replaced.length > 0
        : !replaced.some(({ content }) => content.includes(fact.replaces ?? '')),
      `replaces ${replaced.length === 0 ? 'nothing' : quoteWords(replaced.map(({ content }) => content))}.`,
    ],
    ...fact.askedWith.map(
      (question) => [!isFoundByName(question, belief), `is not brought up by "${question}".`] as const,
    ),
    ...fact.notAskedWith.map(
      (question) => [isFoundByName(question, belief), `is brought up by "${question}".`] as const,
    ),
  ]
  return faults.filter(([isFault]) => isFault).map(([, words]) => `${subject} ${words}`)
}

/** Whether recall would find a belief by its name: the message contains one of its names as whole words. */
export function isFoundByName(question: string, { name, aliases }: Pick<Belief, 'name' | 'aliases'>): boolean {
  const tokens = analyse(question)
  const spellings = [tokens.map(({ word }) => word), tokens.map(singularOf)].map((words) => ` ${words.join(' ')} `)
  return [name, ...aliases]
    .flatMap((form) => formKeys(form))
    .some(({ key }) => spellings.some((spelling) => spelling.includes(` ${key} `)))
}

const flatten = (text: string): string => text.replace(/\s+/gu, ' ')
const quoteWords = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' with ')
