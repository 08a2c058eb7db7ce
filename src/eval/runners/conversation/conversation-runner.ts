import { basename, join } from 'node:path'
import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { invalid, MemoryError } from '../../../errors.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { fileHashOf } from '../../pack/file-hash.ts'
import type { CaseOutcome, ExecutionRequest } from '../../run/run.ts'
import { manifestName } from '../../store/documents.ts'
import { emptyAnswer, type HearingSystem, type SystemAnswer } from '../../system/system.ts'
import { brokenOutcome, defineRunner, type PackPlace, type Runner } from '../runner.ts'
import { amaBench } from './ama-bench.ts'
import { beam } from './beam.ts'
import { factConsolidation } from './factconsolidation.ts'
import { life } from './life.ts'
import { loCoMo } from './locomo.ts'
import { longMemEval, pooledLongMemEval } from './longmemeval.ts'
import { rankingOf, rankingsFile, readRankings } from './rankings.ts'
import {
  type FoundTurn,
  idOf,
  type ReadProgress,
  type Scores,
  type Suite,
  type SuiteAnswer,
  type SuiteConversation,
  type SuiteQuestion,
} from './suite.ts'

const suites: readonly Suite[] = [longMemEval, pooledLongMemEval, loCoMo, beam, amaBench, factConsolidation, life]

export type ConversationOptions = {
  readonly open: (system: string) => Promise<HearingSystem>
  /** The path of the published data. By default the sample in the pack is used. */
  readonly data: string | undefined
  readonly clock: () => number
  readonly onProgress?: ReadProgress
}

/** The runner for packs that ask about conversations and agents' trajectories. */
export function conversationRunner({ open, data, clock, onProgress = () => {} }: ConversationOptions): Runner {
  // Cached, because the data may be large and is the same for every system.
  const contents = new Map<string, ReturnType<typeof readContent>>()
  return defineRunner({
    name: 'conversation',
    defaultSystem: 'credence',
    read: (place) => {
      const content = contents.get(place.directory) ?? readContent(place, data, onProgress)
      contents.set(place.directory, content)
      return content
    },
    open: async (system, { hashed, suite, path }) => {
      const file = rankingsFile(system)
      const ranked = file === null ? null : await readRankings(file, () => suite.read(path))
      const memory = await open(file === null ? system : 'none')
      const { name, version } = ranked ?? memory
      const answers = ranked?.answers ?? null
      return { memory, answers, name, version, ...(hashed && { hashed }), close: () => memory.close() }
    },
    ablate: {
      'search off': (tested) => ({
        ...tested,
        answers: null,
        memory: { ...tested.memory, recall: async () => ({ ...emptyAnswer, quotes: [] }) },
      }),
    },
    execute: ({ suite, path }, { memory, answers }, request, { onIngested }) =>
      executeSuite(suite, path, { memory, answers, request, clock, onIngested, onProgress }),
  })
}

/** The path of the published data, else of the sample in the pack. A pack of the suite `life` contains the data itself. */
const dataPath = ({ directory, manifest }: PackPlace, data: string | undefined): string =>
  data ?? join(directory, manifest.files?.data ?? (manifest.suite === life.name ? '.' : 'sample'))

export function conversationsOf(place: PackPlace, data: string | undefined): Iterable<SuiteConversation> {
  const suite = suites.find(({ name }) => name === place.manifest.suite)
  return suite?.read(dataPath(place, data)) ?? []
}

/** A question of a pack and its conversation; null if the pack or the data has no such question. */
export function questionOf(place: PackPlace, data: string | undefined, caseId: string) {
  for (const conversation of conversationsOf(place, data)) {
    const question = conversation.questions.find(({ id }) => id === caseId)
    if (question !== undefined) return { conversation, question }
  }
  return null
}

function readContent({ directory, manifest }: PackPlace, data: string | undefined, onProgress: ReadProgress) {
  const suite = suites.find(({ name }) => name === manifest.suite)
  if (suite === undefined) {
    const hint = `Use one of ${suites.map(({ name }) => name).join(', ')}.`
    throw invalid(`${join(directory, manifestName)}: suite is "${manifest.suite}".`, hint)
  }
  const path = dataPath({ directory, manifest }, data)
  const cases = []
  let conversations = 0
  for (const { questions } of suite.read(path, onProgress)) {
    conversations += 1
    for (const { id, text, group, expectsSilence } of questions)
      cases.push({ id, prompt: text, expectsSomething: !expectsSilence, words: [group] })
  }
  const hashed = data === undefined ? undefined : { [`data/${basename(path)}`]: fileHashOf(path) }
  const { unit = 'questions', counts = [] } = suite.published ?? {}
  const read = unit === 'questions' ? cases.length : conversations
  const isPart = data !== undefined && counts.length > 0 && !counts.includes(read)
  const warnings = isPart ? [`${suite.name}: ${read} ${unit} of ${counts.join(' or ')} that are published.`] : []
  const places = data === undefined ? [] : [path]
  return { suite, path, places, hashed, cases, replacesCases: true, warnings, isShuffled: false }
}

const user = 'person'
const scope = 'project:suite'
/** Max turns per call of `hear`. An in-process memory may never yield, so Ctrl-C takes effect only between calls. */
const batchSize = 1_000

type Work = Required<Pick<ConversationOptions, 'clock' | 'onProgress'>> & {
  readonly memory: HearingSystem
  /** The answers of a rankings file, by question; null if a memory is asked. */
  readonly answers: ReadonlyMap<string, SystemAnswer> | null
  readonly request: ExecutionRequest
  readonly onIngested: (ms: number) => void
}

/** Runs conversations, and the cases of each, one at a time, because the memory contains only one conversation. */
async function* executeSuite(suite: Suite, path: string, work: Work): AsyncGenerator<CaseOutcome> {
  const { request, clock } = work
  const { wanted, signal } = request
  let ingestMs = 0
  for (const conversation of suite.read(path)) {
    const questions = conversation.questions.filter(({ id }) => wanted.has(id))
    if (questions.length === 0) continue
    const began = clock()
    const problem = work.answers === null ? await storeConversation(conversation, work) : null
    if (signal.aborted) return
    ingestMs += clock() - began
    work.onIngested(ingestMs)
    const resolve = makeResolver(conversation)
    for (const question of questions) {
      await yieldToEvents()
      if (signal.aborted) return
      yield problem === null
        ? await runQuestion(suite, conversation, question, { ...work, resolve })
        : brokenOutcome(question.id, { class: 'system', message: problem })
    }
  }
}

/** Stores a conversation in an empty memory. Returns the error, if any: a partly stored conversation would measure nothing. */
async function storeConversation(
  { turns }: SuiteConversation,
  { memory, request: { signal }, onProgress }: Work,
): Promise<string | null> {
  try {
    await memory.reset()
    for (let from = 0; from < turns.length && !signal.aborted; from += batchSize) {
      if (turns.length > batchSize) onProgress(`turns told to ${memory.name}`, from, turns.length)
      await memory.hear(turns.slice(from, from + batchSize).map((turn) => ({ ...turn, user, scope })))
      await yieldToEvents()
    }
    return null
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return `The conversation could not be stored: ${error.message}`
  }
}

/**
 * Maps the ids of an answer to turns. A session id means all turns of the session; the first of them gets the length of the passage. An
 * unknown id counts as a wrong turn.
 */
function makeResolver({ turns }: SuiteConversation): (answer: SystemAnswer) => SuiteAnswer {
  const sized = turns.map(({ id, session, text }): FoundTurn => ({ id, session, characters: text.length }))
  const byId = new Map<string, readonly FoundTurn[]>([
    ...Map.groupBy(sized, ({ session }) => session),
    ...sized.map((turn) => [turn.id, [turn]] as const),
  ])
  const turnsOf = (id: string): readonly FoundTurn[] =>
    byId.get(id) ?? [{ id: `unknown:${id}`, session: `unknown:${id}`, characters: 0 }]
  const withoutRepeats = (found: readonly FoundTurn[]): readonly FoundTurn[] => [
    ...new Map(found.map((turn) => [turn.id, turn])).values(),
  ]
  return ({ relevant, pinned, quotes }) => ({
    found: withoutRepeats(
      relevant.flatMap(({ id, characters }) =>
        turnsOf(id).map((turn, at) =>
          characters === undefined ? turn : { ...turn, characters: at === 0 ? characters : 0 },
        ),
      ),
    ),
    standing: withoutRepeats(pinned.flatMap(turnsOf)).map(idOf),
    shown:
      quotes?.flatMap(({ turn, text, isEarlier = false }) =>
        turnsOf(turn).map((turn) => ({ ...turn, characters: text.length, text, isEarlier })),
      ) ?? null,
  })
}

const maxKept = 10
/** The number of results to request from a memory. More than `maxKept`, because ten turns may come from very few sessions. */
const maxAsked = 100

async function runQuestion(
  suite: Suite,
  conversation: SuiteConversation,
  question: SuiteQuestion,
  { memory, answers, clock, resolve }: Work & { readonly resolve: (answer: SystemAnswer) => SuiteAnswer },
): Promise<CaseOutcome> {
  const { id: caseId, text, askedAt, group, gold, expectsSilence } = question
  const cluster = conversation.id
  try {
    const began = clock()
    const asked = { user, scopes: [scope], message: text, at: askedAt, budget: { maxBeliefs: maxAsked }, recall: {} }
    const given = answers === null ? await memory.recall(asked) : (answers.get(caseId) ?? emptyAnswer)
    const timings: CaseOutcome['timings'] = answers === null ? { search: clock() - began } : {}
    const answer = resolve(given)
    const scores = { ...suite.score(question, answer, conversation), ...contextScores(question, answer) }
    const decisive = suite.decisive.find((name) => (scores[name] ?? null) !== null)
    const isPassed = decisive !== undefined && scores[decisive] === (errorRates.includes(decisive) ? 0 : 1)
    const verdict = decisive === undefined ? 'unjudged' : isPassed ? 'pass' : 'fail'
    const found = answer.found.slice(0, maxKept).map(idOf)
    const missing = [...gold.turns].filter((id) => !found.includes(id))
    const failures =
      verdict !== 'fail'
        ? []
        : expectsSilence
          ? ['Something was pushed, although nothing that was said answers it.']
          : (suite.failure?.(question, answer) ?? [
              `Not among the first ${maxKept}: ${missing.slice(0, maxKept).join(', ') || 'the current fact'}.`,
            ])
    const returned = found.map((id, place) => ({ id, score: null, rank: place + 1 }))
    const explanation = { group, ...omitUndefined({ confidence: given.confidence }) }
    const isWhole = given.relevant.length <= maxAsked
    const ranking = isWhole ? { ranking: rankingOf(caseId, given) } : {}
    return { caseId, cluster, verdict, scores, returned, failures: [...failures], timings, explanation, ...ranking }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return brokenOutcome(caseId, { class: 'system', message: error.message })
  }
}

/** Scores for which 0 is best. */
const errorRates: readonly string[] = ['missed', 'falseFire', 'outdated']

/** Numbers of characters for which there is a score, such as `within@100`. */
const contextBudgets = [100, 300, 1_000, 3_000] as const

/**
 * The scores that all conversation packs share. For lines shown unasked: `missed` if memory was needed but no line is right,
 * `falseFire` if memory was not needed but a line is shown, `outdated` if outdated turns are shown without the newest. For
 * rankings: `within@N` if the first N characters contain a turn with the evidence.
 */
export function contextScores(question: SuiteQuestion, { found, shown }: Pick<SuiteAnswer, 'found' | 'shown'>): Scores {
  const { gold, expectsSilence, isTrap = false } = question
  const { also = new Set(), earlier = new Set() } = gold
  const isNeeded = !expectsSilence && !isTrap && gold.turns.size > 0
  const isNewest = ({ id }: { readonly id: string }): boolean => gold.turns.has(id) && !earlier.has(id)
  const isRight = ({ id }: { readonly id: string }): boolean => gold.turns.has(id) || also.has(id)
  const place = found.findIndex(isNewest)
  const characters = place === -1 ? null : lengthOf(found.slice(0, place + 1))
  return {
    ...(shown !== null && {
      missed: isNeeded ? Number(!shown.some(isRight)) : null,
      falseFire: expectsSilence || isTrap ? Number(shown.length > 0) : null,
      outdated:
        isNeeded && earlier.size > 0 ? Number(!shown.some(isNewest) && shown.some(({ id }) => earlier.has(id))) : null,
      lines: shown.length,
      characters: lengthOf(shown),
    }),
    ...Object.fromEntries(
      contextBudgets.map((budget) => [
        `within@${budget}`,
        isNeeded ? Number(characters !== null && characters <= budget) : null,
      ]),
    ),
  }
}

const lengthOf = (lines: readonly { readonly characters: number }[]): number =>
  lines.reduce((sum, { characters }) => sum + characters, 0)
