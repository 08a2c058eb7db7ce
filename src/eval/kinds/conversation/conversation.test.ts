import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { openMemoryStore } from '../../../store/memory-store.ts'
import { summariseCases } from '../../score/figures.ts'
import { turnSystemNames } from '../../system/system.ts'
import { type Kind, openBenchmark } from '../kind.ts'
import { conversationKind } from './conversation-kind.ts'
import { readObjects } from './data-file.ts'
import { openTurnSystem, type TurnSystem } from './turn-systems.ts'

const packs = fileURLToPath(new URL('../../../../packs', import.meta.url))
const suites = ['longmemeval', 'longmemeval-pooled', 'locomo', 'beam', 'ama-bench', 'factconsolidation']
const lexical = turnSystemNames.filter((name) => !name.includes('vectors'))

const open = (name: string): TurnSystem => {
  let last = 0
  return openTurnSystem(name, {
    open: async () => ({
      store: openMemoryStore({ random: randomBytes }),
      newId: () => `b-${++last}`,
      dispose: async () => {},
    }),
    openEmbedder: () => Promise.reject(new Error('No test needs a model.')),
  })
}
const kindWith = (openSystem: (name: string) => TurnSystem, data?: string): Kind =>
  conversationKind({ open: async (name) => openSystem(name), data, version: 'test', clock: () => 0 })

async function outcomesOf(
  suite: string,
  { system = 'credence', kind = kindWith(open), ablation = undefined as string | undefined } = {},
) {
  const benchmark = await openBenchmark(join(packs, suite), [kind], { system, ablation })
  const request = { repeat: 0, seed: 1, jobs: 1, signal: new AbortController().signal, folder: null }
  const outcomes = []
  for await (const outcome of benchmark.execute({ ...request, wanted: new Set(benchmark.cases.map(({ id }) => id)) }))
    outcomes.push(outcome)
  await benchmark.close()
  return { outcomes, benchmark }
}

describe.each(suites)('the sample of %s', (suite) => {
  it('is answered by Credence, and by nothing when search is off', async () => {
    const { outcomes, benchmark } = await outcomesOf(suite)
    const { outcomes: silent } = await outcomesOf(suite, { ablation: 'search off' })

    const expecting = new Set(benchmark.cases.filter((one) => one.expectsSomething).map(({ id }) => id))
    const passed = (all: typeof outcomes) =>
      all.filter(({ caseId, verdict }) => expecting.has(caseId) && verdict === 'pass')
    expect(outcomes).toHaveLength(benchmark.cases.length)
    expect(passed(outcomes).length).toBeGreaterThan(expecting.size / 2)
    expect(passed(silent)).toEqual([])
  })

  it('runs on every memory it can be compared with', async () => {
    for (const system of lexical) {
      const { outcomes } = await outcomesOf(suite, { system })
      expect(outcomes.filter(({ verdict }) => verdict === 'error')).toEqual([])
    }
  })

  it('shows a memory no label of the suite', async () => {
    const seen: unknown[] = []
    const spy = (name: string): TurnSystem => {
      const memory = open(name)
      const noted = <Value>(value: Value): Value => {
        seen.push(value)
        return value
      }
      return {
        ...memory,
        ingest: (turns) => memory.ingest(noted(turns)),
        ask: (question) => memory.ask(noted(question)),
      }
    }
    await outcomesOf(suite, { kind: kindWith(spy) })

    const labels =
      /has_answer|answer_|question_type|adversarial|rubric|source_chat|time_anchor|->->|qa_pair|"answer|knowledge.update|_abs\b|"state"/u
    expect(seen.length).toBeGreaterThan(1)
    expect(JSON.stringify(seen)).not.toMatch(labels)
  })
})

describe('conversation packs', () => {
  it('take their cases from the data that is given, and tell runs on other data apart', async () => {
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

    const own = await openBenchmark(join(packs, 'locomo'), [kindWith(open)])
    const given = await openBenchmark(join(packs, 'locomo'), [kindWith(open, other)])
    const same = await openBenchmark(join(packs, 'locomo'), [kindWith(open, sample)])

    expect(given.manifest.cases).toEqual([{ id: 'x-1', prompt: 'Which colour has the boat of Ann?' }])
    expect(new Set([own.packHash, given.packHash, same.packHash]).size).toBe(3)
  })

  it('know less about a mean when the questions come from few conversations', () => {
    const records = (clusters: number) =>
      Array.from({ length: 40 }, (_, at) => ({
        ...{ schemaVersion: 1 as const, caseId: `c${at}`, repeat: 0, seed: 1, verdict: 'pass' as const },
        ...{
          returned: [],
          failures: [],
          timings: {},
          scores: { any: (at % clusters) % 2 },
          cluster: `k${at % clusters}`,
        },
      }))
    const width = (clusters: number): number => {
      const { low, high } = summariseCases(records(clusters)).intervals.any ?? { low: 0, high: 0 }
      return high - low
    }

    expect(width(4)).toBeGreaterThan(width(40))
  })
})

describe('a file of a suite', () => {
  const shape = z.object({ id: z.number(), text: z.string().optional() })

  it('is read alike as an array, as lines and packed, in any pieces', () => {
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
    ['empty.json', '[]', 'holds no objects'],
    ['wrong.json', '[{"id": "one"}]', 'object 1: id'],
    ['broken.json', '[{"id": 1,}]', 'object 1 is not JSON'],
    ['not.json.gz', 'no gzip', 'not a gzip file'],
  ])('%s is refused with the reason', (name, text, reason) => {
    using directory = temporaryDirectory()
    const file = join(directory.path, name)
    writeFileSync(file, text)

    expect(() => [...readObjects(file, shape)]).toThrow(reason)
  })
})
