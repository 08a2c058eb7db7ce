import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import type { CaseOutcome, ExecutionRequest } from '../../run/run.ts'
import { manifestName } from '../../store/documents.ts'
import { brokenOutcome, defineKind, type Kind, type PackContent, type PackPlace, type Tested } from '../kind.ts'
import { amaBench } from './ama-bench.ts'
import { beam } from './beam.ts'
import { factConsolidation } from './factconsolidation.ts'
import { loCoMo } from './locomo.ts'
import { longMemEval, pooledLongMemEval } from './longmemeval.ts'
import { type Conversation, keyOf, type Suite, type SuiteQuestion } from './suite.ts'
import { type TurnSystem, withoutSearch } from './turn-systems.ts'

const suites: readonly Suite[] = [longMemEval, pooledLongMemEval, loCoMo, beam, amaBench, factConsolidation]

export type ConversationOptions = {
  /** A memory of conversations, by name. */
  readonly open: (system: string) => Promise<TurnSystem>
  /** Where the published data is. Without it the sample of the pack is run. */
  readonly data: string | undefined
  readonly version: string
  /** Milliseconds, for timing. */
  readonly clock: () => number
}

type Content = PackContent & { readonly suite: Suite; readonly path: string; readonly isOwnData: boolean }
type TestedMemory = Tested & { readonly memory: TurnSystem }

/** The kind of pack that asks what was said in conversations and done in trajectories. */
export const conversationKind = (options: ConversationOptions): Kind =>
  defineKind({
    name: 'conversation',
    defaultSystem: 'credence',
    read: (place) => readContent(place, options.data),
    open: async (system, { path, isOwnData }): Promise<TestedMemory> => {
      const memory = await options.open(system)
      const hashed = isOwnData ? {} : { hashed: { [`data/${basename(path)}`]: hashOf(path) } }
      return { memory, name: memory.name, version: options.version, ...hashed, close: () => memory.close() }
    },
    ablate: { 'search off': (tested) => ({ ...tested, memory: withoutSearch(tested.memory) }) },
    carryOut: ({ suite, path }, { memory }, request, { onIngested }) =>
      carryOut(suite, path, { memory, request, clock: options.clock, onIngested }),
  })

function readContent({ directory, manifest }: PackPlace, data: string | undefined): Content {
  const suite = suites.find(({ name }) => name === manifest.suite)
  if (suite === undefined) {
    throw new MemoryError('invalid', `${join(directory, manifestName)}: suite is "${manifest.suite}".`, {
      hint: `Use one of ${suites.map(({ name }) => name).join(', ')}.`,
    })
  }
  const sample = join(directory, manifest.files?.data ?? 'sample')
  const path = data ?? sample
  const cases = []
  for (const { questions } of suite.read(path)) {
    for (const { id, text, group, expectsSilence } of questions)
      cases.push({ id, prompt: text, expectsSomething: !expectsSilence, words: [group] })
  }
  return { suite, path, isOwnData: data === undefined, cases, replacesCases: true, warnings: [], isShuffled: false }
}

/** One conversation after the other. The memory holds one at a time, so cases of different ones cannot run at once. */
async function* carryOut(
  suite: Suite,
  path: string,
  {
    memory,
    request: { wanted, signal },
    clock,
    onIngested,
  }: {
    readonly memory: TurnSystem
    readonly request: ExecutionRequest
    readonly clock: () => number
    readonly onIngested: (ms: number) => void
  },
): AsyncGenerator<CaseOutcome> {
  let ingestMs = 0
  for (const conversation of suite.read(path)) {
    const questions = conversation.questions.filter(({ id }) => wanted.has(id))
    if (questions.length === 0) continue
    if (signal.aborted) return
    const began = clock()
    await memory.ingest(conversation.turns)
    ingestMs += clock() - began
    onIngested(ingestMs)
    for (const question of questions) {
      if (signal.aborted) return
      yield await outcomeOf(suite, conversation, question, { memory, clock })
    }
  }
}

/** So many turns of a ranking are kept with a case. */
const mostKept = 10

async function outcomeOf(
  suite: Suite,
  conversation: Conversation,
  question: SuiteQuestion,
  { memory, clock }: { readonly memory: TurnSystem; readonly clock: () => number },
): Promise<CaseOutcome> {
  const { id: caseId, text, askedAt, group, gold, expectsSilence } = question
  const cluster = conversation.id
  try {
    const began = clock()
    const answer = await memory.ask({ text, askedAt })
    const timings = { search: clock() - began }
    const scores = suite.score(question, answer, conversation)
    const decisive = scores[expectsSilence ? 'silence' : suite.decisive]
    const verdict = decisive === null || decisive === undefined ? 'unjudged' : decisive === 1 ? 'pass' : 'fail'
    const found = answer.found.slice(0, mostKept).map(keyOf)
    const missing = [...gold.turns].filter((key) => !found.includes(key))
    const failures =
      verdict !== 'fail'
        ? []
        : expectsSilence
          ? ['Something was pushed, although nothing that was said answers it.']
          : [`Not among the first ${mostKept}: ${missing.slice(0, mostKept).join(', ') || 'the current fact'}.`]
    const returned = found.map((key, place) => ({ id: key, score: null, rank: place + 1 }))
    return { caseId, cluster, verdict, scores, returned, failures, timings, explanation: { group } }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return brokenOutcome(caseId, { class: 'system', message: error.message })
  }
}

/** The digest of a file, or of every file below a folder. */
function hashOf(path: string): string {
  const hash = createHash('sha256')
  const add = (one: string): void => {
    if (statSync(one).isDirectory()) for (const name of readdirSync(one).sort()) add(join(one, name))
    else hash.update(readFileSync(one))
  }
  add(path)
  return `sha256:${hash.digest('hex')}`
}
