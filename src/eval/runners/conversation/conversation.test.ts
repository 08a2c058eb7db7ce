import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { MemoryError } from '../../../errors.ts'
import type { Embedder } from '../../../search/embedder.ts'
import { packVectors } from '../../../search/turns/cosines.ts'
import { inMemory } from '../../../store/sqlite/database.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { summariseCases } from '../../score/figures.ts'
import { describeHearing } from '../../system/system.contract.ts'
import {
  emptyAnswer,
  type HearingSystem,
  type SystemQuery,
  type SystemTurn,
  turnSystemNames,
} from '../../system/system.ts'
import { openPackFolder, type Runner } from '../runner.ts'
import { conversationRunner } from './conversation-runner.ts'
import { readObjects } from './data-file.ts'
import { openTurnSystem } from './turn-systems.ts'

const packs = fileURLToPath(new URL('../../../../packs', import.meta.url))
const suites = ['longmemeval', 'longmemeval-pooled', 'locomo', 'beam', 'ama-bench', 'factconsolidation']
const lexical = turnSystemNames.filter((name) => !name.includes('vectors'))

const noModel = (): Promise<Embedder> => Promise.reject(new Error('No test needs a model.'))
const open = (name: string, openEmbedder = noModel): Promise<HearingSystem> => {
  let last = 0
  return openTurnSystem(name, {
    open: async () => ({
      store: openSqliteStore({ file: inMemory, random: randomBytes }),
      newId: () => `b-${++last}`,
      dispose: async () => {},
    }),
    openEmbedder,
    version: 'test',
  })
}
const kindWith = (openSystem: (name: string) => Promise<HearingSystem>, data?: string): Runner =>
  conversationRunner({ open: openSystem, data, clock: () => 0 })

async function outcomesOf(
  suite: string,
  { system = 'credence', kind = kindWith(open), ablation = undefined as string | undefined } = {},
) {
  const benchmark = await openPackFolder(join(packs, suite), [kind], { system, ablation })
  const request = { repeat: 0, seed: 1, jobs: 1, signal: new AbortController().signal, folder: null }
  const outcomes = []
  for await (const outcome of benchmark.execute({ ...request, wanted: new Set(benchmark.cases.map(({ id }) => id)) }))
    outcomes.push(outcome)
  await benchmark.close()
  return { outcomes, benchmark }
}

for (const name of lexical) describeHearing(name, () => open(name))

it('waits for vectors however long they take, so that results do not depend on the load of a machine', async () => {
  const texts = ['My physician moved the practice to Bergen.', 'The tyres of the van were changed in May.']
  const topics = [/physician|doctor/iu, /practice|work/iu, /tyres|van/iu]
  const vectorOf = (text: string) => Float32Array.from([...topics.map((topic) => Number(topic.test(text))), 0.1])
  const answerAfter = async (ms: number) => {
    const embedder: Embedder = {
      model: 'topics',
      dimensions: topics.length + 1,
      embed: (asked) => setTimeout(ms).then(() => asked.map(vectorOf)),
      words: (asked) =>
        setTimeout(ms).then(() =>
          asked.map((text) => {
            const words = text
              .toLowerCase()
              .split(/[^a-z]+/u)
              .filter((word) => word !== '')
            const vectors = packVectors(words.map(vectorOf), topics.length + 1)
            return { words, vectors }
          }),
        ),
    }
    const memory = await open('credence-vectors', async () => embedder)
    const scope = 'user:universal'
    await memory.hear(
      texts.map((text, place) => ({
        user: 'ann',
        scope,
        id: `t${place}`,
        session: `s${place}`,
        index: place,
        text,
        role: 'user',
        at: `2026-03-0${place + 1}T12:00:00Z`,
      })),
    )
    const asked = { user: 'ann', scopes: [scope], message: 'Where does my doctor work now?' }
    const { confidence, quotes } = await memory.recall({ ...asked, recall: {}, budget: {} })
    await memory.close()
    return { confidence, quotes }
  }
  const prompt = await answerAfter(0)

  expect(prompt.confidence).toBeGreaterThan(0)
  expect(await answerAfter(400)).toEqual(prompt)
})

describe.each(suites)('the sample of %s', (suite) => {
  it('is answered by Credence, and not if search is off', async () => {
    const { outcomes, benchmark } = await outcomesOf(suite)
    const { outcomes: silent } = await outcomesOf(suite, { ablation: 'search off' })

    const expecting = new Set(benchmark.cases.filter((one) => one.expectsSomething).map(({ id }) => id))
    const passed = (all: typeof outcomes) =>
      all.filter(({ caseId, verdict }) => expecting.has(caseId) && verdict === 'pass')
    expect(outcomes).toHaveLength(benchmark.cases.length)
    expect(passed(outcomes).length).toBeGreaterThan(expecting.size / 2)
    expect(passed(silent)).toEqual([])
  })

  it('runs on every memory that can be compared', async () => {
    for (const system of lexical) {
      const { outcomes } = await outcomesOf(suite, { system })
      expect(outcomes.filter(({ verdict }) => verdict === 'error')).toEqual([])
    }
  })

  it('passes no label of the suite to the memory', async () => {
    const seen: unknown[] = []
    const spy = async (name: string): Promise<HearingSystem> => {
      const memory = await open(name)
      const noted = <Value>(value: Value): Value => {
        seen.push(value)
        return value
      }
      return {
        ...memory,
        hear: (turns: readonly SystemTurn[]) => memory.hear(noted(turns)),
        recall: (query: SystemQuery) => memory.recall(noted(query)),
      }
    }
    await outcomesOf(suite, { kind: kindWith(spy) })

    const labels =
      /has_answer|answer_|question_type|adversarial|rubric|source_chat|time_anchor|->->|qa_pair|"answer|knowledge.update|_abs\b|"state"/u
    expect(seen.length).toBeGreaterThan(1)
    expect(JSON.stringify(seen)).not.toMatch(labels)
  })
})

/** Everything that a memory is given and asked while it runs a suite on some data. */
async function seenOn(suite: string, data: string): Promise<string> {
  const seen: unknown[] = []
  const spy = async (name: string): Promise<HearingSystem> => {
    const memory = await open(name)
    return {
      ...memory,
      hear: (turns: readonly SystemTurn[]) => {
        seen.push(turns)
        return memory.hear(turns)
      },
      recall: (query: SystemQuery) => {
        seen.push(query)
        return memory.recall(query)
      },
    }
  }
  const { outcomes } = await outcomesOf(suite, { kind: kindWith(spy, data) })
  expect(outcomes.length).toBeGreaterThan(0)
  return JSON.stringify(seen)
}

describe('labels', () => {
  const secret = 'zzlabelzz'
  // Every field of the published formats that reveals an answer, a type or a source contains `secret`.
  const files: Readonly<Record<string, (directory: string) => string>> = {
    longmemeval: (directory) => write(directory, 'longmemeval_s.json', [longMemEvalRow]),
    'longmemeval-pooled': (directory) => write(directory, 'longmemeval_s.json', [longMemEvalRow]),
    locomo: (directory) =>
      write(directory, 'locomo10.json', [
        {
          sample_id: secret,
          event_summary: secret,
          observation: secret,
          session_summary: secret,
          conversation: {
            session_1_date_time: '1:00 pm on 8 May, 2023',
            session_1: [
              { speaker: 'Ann', dia_id: 'D1:1', text: 'My boat is green.', query: secret, img_url: [secret] },
            ],
          },
          qa: [
            { question: 'Which boat?', category: 4, evidence: ['D1:1', secret], answer: secret },
            { question: 'Which car?', category: 5, evidence: ['D1:1'], adversarial_answer: secret },
          ],
        },
      ]),
    beam: (directory) => {
      const message = { index: secret, question_type: secret, time_anchor: 'March-15-2024' }
      const turns = [[{ ...message, role: 'user', id: 1, content: 'My boat is green. ->-> 1,22' }]]
      write(directory, 'chat.json', [{ batch_number: secret, turns }])
      const asked = { question: 'Which boat?', answer: secret, rubric: [secret], source_chat_ids: [1] }
      const tested = { instruction_being_tested: secret, preference_being_tested: secret, difficulty: secret }
      write(directory, 'probing_questions.json', {
        [secret]: [{ ...asked, ...tested, conversation_references: [secret] }],
      })
      return directory
    },
    'ama-bench': (directory) =>
      write(directory, 'episodes.json', [
        {
          episode_id: secret,
          task: secret,
          task_type: secret,
          success: secret,
          state: secret,
          trajectory: [{ turn_idx: 0, action: 'ls', observation: 'main.py', state: secret, reward: secret }],
          qa_pairs: [{ question: 'When was main.py listed?', answer: `In step 0, ${secret}.`, type: secret }],
        },
      ]),
    factconsolidation: (directory) =>
      write(directory, 'Conflict_Resolution.json', [
        {
          context: `${secret}\n0. The boat of Ann is green.\n1. The boat of Ann is red.`,
          questions: ['Which boat does Ann have?'],
          answers: [[secret]],
          metadata: { source: secret, qa_pair_ids: [secret], keypoints: secret },
        },
      ]),
  }
  const longMemEvalRow = {
    question_id: secret,
    question_type: secret,
    question: 'Which boat?',
    question_date: '2024/06/01 (Sat) 12:00',
    answer: secret,
    answer_session_ids: [secret],
    haystack_dates: ['2024/02/03 (Sat) 10:00'],
    haystack_session_ids: [secret],
    haystack_sessions: [[{ role: 'user', content: 'My boat is green.', has_answer: true, label: secret }]],
  }
  const write = (directory: string, name: string, value: unknown): string => {
    const file = join(directory, name)
    writeFileSync(file, JSON.stringify(value))
    return file
  }

  it.each(suites)('of %s never reach the memory', async (suite) => {
    using directory = temporaryDirectory()
    const data = files[suite]?.(directory.path) ?? ''

    const seen = await seenOn(suite, data)

    expect(seen).toMatch(/boat|main\.py/u)
    expect(seen).not.toContain(secret)
    expect(seen).not.toMatch(/has_answer|->->/u)
  })

  it.each(suites)('of %s need its data, and missing or wrong files are named', async (suite) => {
    using directory = temporaryDirectory()
    const opening = (data: string) => openPackFolder(join(packs, suite), [kindWith(open, data)])

    await expect(opening(join(directory.path, 'nowhere'))).rejects.toThrow(/no such|no file/u)
    await expect(opening(directory.path)).rejects.toThrow(/no file such as \S+\.json|no folder/u)
    // A file of another suite, or a file instead of a folder.
    const other = write(directory.path, 'other.json', [{ title: 'A list of something else' }])
    await expect(opening(other)).rejects.toThrow(/other\.json: (?:object 1: \w+: |not a folder)/u)
  })
})

describe('leaks that would make a figure too good', () => {
  const ranking = (ids: readonly string[], pinned: readonly string[] = []) => ({
    ...emptyAnswer,
    relevant: ids.map((id) => ({ id, score: null })),
    pinned,
  })
  const scoresOn = async (suite: string, data: string, answer: ReturnType<typeof ranking>) => {
    const system = async (): Promise<HearingSystem> => ({ ...(await open('none')), recall: async () => answer })
    const { outcomes } = await outcomesOf(suite, { kind: kindWith(system, data) })
    return Object.fromEntries(outcomes.map(({ caseId, scores }) => [caseId, scores]))
  }

  it('AMA-Bench: the steps that a question names are removed from the ranking and are not scored', async () => {
    using directory = temporaryDirectory()
    const data = join(directory.path, 'episodes.json')
    const trajectory = Array.from({ length: 30 }, (_, at) => ({ turn_idx: at, action: 'ls', observation: `${at}` }))
    const question = 'What led to steps 1, 2, 3, 4 and 5?'
    const qa = [{ question, answer: 'Step 9, seen again in step 5.' }]
    writeFileSync(data, JSON.stringify([{ episode_id: 'e', trajectory, qa_pairs: qa }]))

    const named = await scoresOn('ama-bench', data, ranking([1, 2, 3, 4, 5].map((step) => `run-${step}`)))
    const found = await scoresOn('ama-bench', data, ranking([1, 2, 3, 4, 5, 9].map((step) => `run-${step}`)))

    expect(named['e-1-t2']).toMatchObject({ 't2-r@5': 0, 't2-chance@5': 5 / 25 })
    expect(found['e-1-t2']).toMatchObject({ 't2-r@5': 1 })
  })

  it('BEAM: a block of instructions is compared with as many turns, and a duplicate message counts once', async () => {
    using directory = temporaryDirectory()
    const messages = Array.from({ length: 20 }, (_, id) => ({ role: 'user', id, content: `Fact ${id}. ->-> 1,${id}` }))
    const turns = [[...messages, { role: 'user', id: 3, content: 'Fact 3 again. ->-> 1,3' }]]
    writeFileSync(join(directory.path, 'chat.json'), JSON.stringify([{ turns }]))
    const asked = { question: 'Which fact?', source_chat_ids: [3, 11, 15] }
    writeFileSync(join(directory.path, 'probing_questions.json'), JSON.stringify({ summarization: [asked] }))
    const inOrder = Array.from({ length: 20 }, (_, place) => `s1-${place}`)

    const [scores] = Object.values(await scoresOn('beam', directory.path, ranking(inOrder, ['s1-15', 's1-16'])))

    expect(scores).toMatchObject({ 'r@10': 1 / 3, 'r@10+block': 2 / 3, 'r@same-size': 2 / 3, 'block-size': 2 })
  })

  it('FactConsolidation: with the times of the facts reversed, the oldest comes first', async () => {
    const share = async (system: string): Promise<number> => {
      const { outcomes } = await outcomesOf('factconsolidation', { system })
      const first = outcomes.map(({ scores }) => scores?.['current@1'] ?? 0)
      return first.reduce((sum, one) => sum + one, 0) / first.length
    }

    expect(await share('credence-reversed-times')).toBeLessThan(await share('credence'))
  })
})

describe('conversation packs', () => {
  it('read their cases from the given data, and distinguish runs on different data', async () => {
    const sample = join(packs, 'locomo', 'sample.json')
    using directory = temporaryDirectory()
    const other = join(directory.path, 'locomo10.json')
    const value = [
      {
        sample_id: 'x',
        conversation: {
          session_1_date_time: '1:00 pm on 8 May, 2023',
          session_1: [{ speaker: 'Ann', dia_id: 'D1:1', text: 'My boat is green.' }],
        },
        qa: [{ question: 'Which colour has the boat of Ann?', category: 4, evidence: ['D1:1'] }],
      },
    ]
    writeFileSync(other, JSON.stringify(value))

    const own = await openPackFolder(join(packs, 'locomo'), [kindWith(open)])
    const given = await openPackFolder(join(packs, 'locomo'), [kindWith(open, other)])
    const same = await openPackFolder(join(packs, 'locomo'), [kindWith(open, sample)])

    expect(given.manifest.cases).toEqual([{ id: 'x-1', prompt: 'Which colour has the boat of Ann?' }])
    expect(new Set([own.packHash, given.packHash, same.packHash]).size).toBe(3)
    expect(own.warnings).toEqual([])
    expect(given.warnings).toEqual(['locomo: 1 conversations of 10 that are published.'])
  })

  const answering = async (ids: readonly string[]): Promise<HearingSystem> => ({
    ...(await open('none')),
    recall: async () => ({ ...emptyAnswer, relevant: ids.map((id) => ({ id, score: null })) }),
  })

  it('replace a session by its turns in order, each once, and count an id that was never given as wrong', async () => {
    const { outcomes } = await outcomesOf('locomo', { kind: kindWith(() => answering(['s1-1', 'nobody', 's1'])) })

    expect(outcomes[0]?.returned.slice(0, 4).map(({ id }) => id)).toEqual(['s1-1', 'unknown:nobody', 's1-0', 's1-2'])
  })

  it('report an error for every question about a conversation that could not be stored', async () => {
    const broken = async (): Promise<HearingSystem> => ({
      ...(await open('none')),
      hear: () => Promise.reject(new MemoryError('unavailable', 'The disk is gone.')),
    })
    const { outcomes, benchmark } = await outcomesOf('locomo', { kind: kindWith(broken) })

    expect(outcomes).toHaveLength(benchmark.cases.length)
    expect(new Set(outcomes.map(({ error }) => error?.message))).toEqual(
      new Set(['The conversation could not be stored: The disk is gone.']),
    )
  })

  it('stop at a signal, even if the memory never yields to the event loop', async () => {
    const benchmark = await openPackFolder(join(packs, 'locomo'), [kindWith(open)], { system: 'bm25-turns' })
    const controller = new AbortController()
    const wanted = new Set(benchmark.cases.map(({ id }) => id))
    const request = { repeat: 0, seed: 1, jobs: 1, signal: controller.signal, folder: null, wanted }
    setImmediate(() => controller.abort())
    const outcomes = []
    for await (const outcome of benchmark.execute(request)) outcomes.push(outcome)

    expect(outcomes.length).toBeLessThan(wanted.size)
  })

  it('report their progress', async () => {
    const shown: unknown[] = []
    const onProgress = (...progress: readonly unknown[]): void => void shown.push(progress)
    await outcomesOf('beam', { kind: conversationRunner({ open, data: undefined, clock: () => 0, onProgress }) })
    await outcomesOf('locomo', { kind: conversationRunner({ open, data: undefined, clock: () => 0, onProgress }) })

    expect(shown).toEqual([
      ['chats read', 0, 1],
      ['MB of sample.json read', 0, 0],
    ])
  })

  it('have a wider interval if the questions come from few conversations', () => {
    const records = (clusters: number) =>
      Array.from({ length: 40 }, (_, at) => ({
        schemaVersion: 1 as const,
        caseId: `c${at}`,
        repeat: 0,
        seed: 1,
        verdict: 'pass' as const,
        returned: [],
        failures: [],
        timings: {},
        scores: { any: (at % clusters) % 2 },
        cluster: `k${at % clusters}`,
      }))
    const width = (clusters: number): number => {
      const { low, high } = summariseCases(records(clusters)).intervals.any ?? { low: 0, high: 0 }
      return high - low
    }

    expect(width(4)).toBeGreaterThan(width(40))
  })
})

describe('nearest-steps', () => {
  it('orders steps by their distance from the named ones, and finds no steps if none is named', async () => {
    const memory = await open('nearest-steps')
    const step = (index: number): SystemTurn => ({
      id: `run-${index}`,
      user: 'ann',
      scope: 'project:x',
      session: 'run',
      index,
      role: 'tool',
      at: new Date(index).toISOString(),
      text: 'make',
    })
    await memory.hear(Array.from({ length: 8 }, (_, index) => step(index)))
    const ask = async (message: string) => {
      const { relevant } = await memory.recall({ user: 'ann', scopes: ['project:x'], message, budget: {}, recall: {} })
      return relevant.map(({ id }) => id)
    }

    expect((await ask('What led to step 5?')).slice(0, 4)).toEqual(['run-5', 'run-4', 'run-6', 'run-3'])
    expect((await ask('What happened at steps 0 and 7?')).slice(0, 4)).toEqual(['run-0', 'run-7', 'run-1', 'run-6'])
    expect(await ask('When was make run?')).toEqual([])
  })
})

describe('a file of a suite', () => {
  const shape = z.object({ id: z.number(), text: z.string().optional() })

  it('is read equally as an array, as lines and compressed, in chunks of any size', () => {
    using directory = temporaryDirectory()
    const objects = [{ id: 1, text: 'a "brace" { and \\ ü' }, { id: 2, text: 'x'.repeat(1_500_000) }, { id: 3 }]
    const array = join(directory.path, 'array.json')
    const lines = join(directory.path, 'lines.jsonl')
    writeFileSync(array, JSON.stringify(objects, null, 2))
    writeFileSync(lines, objects.map((one) => JSON.stringify(one)).join('\n'))
    writeFileSync(`${array}.gz`, gzipSync(JSON.stringify(objects)))

    for (const file of [array, lines, `${array}.gz`]) expect([...readObjects(file, shape)]).toEqual(objects)
  })

  it.each([
    ['cut.json', '[{"id": 1}, {"id": ', 'ends in the middle of an object'],
    ['cut-between.json', '[{"id": 1}, ', 'ends in the middle of the array'],
    ['empty.json', '[]', 'contains no objects'],
    ['wrong.json', '[{"id": "one"}]', 'object 1: id'],
    ['broken.json', '[{"id": 1,}]', 'object 1: not JSON'],
    ['not.json.gz', 'no gzip', 'cannot be unpacked (incorrect header check)'],
    ['cut.json.gz', gzipSync('[{"id": 1}]').subarray(0, 20), 'cannot be unpacked (unexpected end of file)'],
    ['binary.json', Buffer.of(0xff, 0xfe, 0, 1), 'contains no objects'],
  ])('with %s is refused with the reason', (name, text, reason) => {
    using directory = temporaryDirectory()
    const file = join(directory.path, name)
    writeFileSync(file, text)

    expect(() => [...readObjects(file, shape)]).toThrow(reason)
  })
})
