import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plant } from '../../../test/harness/eval-store.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { mergeShards } from './merge-shards.ts'
import {
  type CaseOutcome,
  caseOrder,
  type RunContext,
  type RunnableBenchmark,
  runBenchmark,
  type Shard,
} from './run.ts'

type Git = RunContext['environment']['git']

const ids = Array.from({ length: 11 }, (_, index) => `case-${index}`)

/** Every third case fails, and the second repeat of one of them does not. */
function aBenchmark(fields: Partial<RunnableBenchmark> = {}): RunnableBenchmark {
  return {
    manifest: { benchmarkId: 'pack', cases: ids.map((id) => ({ id, prompt: `prompt of ${id}` })) },
    packHash: `sha256:${'a'.repeat(64)}`,
    packFiles: {},
    system: { name: 'bm25', version: '1' },
    isShuffled: true,
    async *execute({ wanted, repeat }) {
      for (const caseId of wanted) {
        const isFail = Number(caseId.slice(5)) % 3 === 0 && !(caseId === 'case-3' && repeat === 1)
        const outcome: CaseOutcome = {
          caseId,
          verdict: isFail ? 'fail' : 'pass',
          scores: { f1: isFail ? 0.25 : 1 },
          returned: [],
          failures: isFail ? ['wrong'] : [],
          timings: { recall: 1 },
        }
        yield outcome
      }
    },
    ...fields,
  }
}

const context = (root: string, git: Git = null): RunContext => ({
  root,
  now: () => new Date('2026-03-06T10:00:00Z'),
  signal: new AbortController().signal,
  environment: {
    given: {},
    settings: {},
    git,
    node: 'v24',
    os: { platform: 'linux', release: '6', arch: 'x64' },
  },
})

const run = (root: string, shard?: Shard, benchmark = aBenchmark(), repeats = 1, git: Git = null) =>
  runBenchmark(benchmark, 'nightly', { repeats, seed: 7, shard }, context(root, git))

const merged = (directories: readonly string[], root: string) =>
  mergeShards(directories, { root, runId: (_, first) => first.runId })

const filesOf = (root: string): readonly string[] =>
  ['runs/nightly.json', 'runs/nightly/cases.jsonl', 'runs/nightly/environment.json'].map((file) =>
    readFileSync(join(root, file), 'utf8'),
  )

describe('merging shards', () => {
  it('gives the run that one machine would have made, byte for byte, in any order and number of shards', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: ids.length }),
        fc.boolean(),
        fc.integer({ min: 1, max: 3 }),
        async (count, isShuffled, repeats) => {
          using place = temporaryDirectory()
          const at = (name: string): string => join(place.path, name)
          const benchmark = aBenchmark({ isShuffled })
          await run(at('whole'), undefined, benchmark, repeats)
          const shards = Array.from({ length: count }, (_, index) => index + 1)
          for (const index of shards) await run(at(`shard-${index}`), { index, count }, benchmark, repeats)

          const result = await merged(
            shards.toReversed().map((index) => at(`shard-${index}`)),
            at('merged'),
          )

          expect(result).toMatchObject({ ok: true, shards: count, run: { totalCases: ids.length } })
          expect(filesOf(at('merged'))).toEqual(filesOf(at('whole')))
        },
      ),
      { numRuns: 12 },
    )
  })

  it.each<readonly [string, (at: (name: string) => string) => Promise<readonly string[]>, string]>([
    ['is missing', async (at) => [at('one')], 'Shard 2/2 is missing.'],
    ['is there twice', async (at) => [at('one'), at('two'), at('two')], 'nightly in'],
    [
      'is of another pack',
      async (at) => {
        await run(at('other'), { index: 2, count: 2 }, aBenchmark({ packHash: `sha256:${'b'.repeat(64)}` }))
        return [at('one'), at('other')]
      },
      'is of another run: its pack hash is',
    ],
    [
      'is of another system',
      async (at) => {
        await run(at('other'), { index: 2, count: 2 }, aBenchmark({ system: { name: 'vector', version: '1' } }))
        return [at('one'), at('other')]
      },
      'its system is vector, not bm25',
    ],
    [
      'is of another number of shards',
      async (at) => {
        await run(at('other'), { index: 2, count: 3 })
        return [at('one'), at('other')]
      },
      'its number of shards is 3, not 2',
    ],
    [
      'is not in the folder',
      async (at) => {
        await run(at('whole'))
        return [at('one'), at('two'), at('whole')]
      },
      'whole holds no shard.',
    ],
    [
      'has a broken record',
      async (at) => {
        plant(at('two'), { 'runs/nightly/cases.jsonl': '{"schemaVersion": 1}\n' })
        return [at('one'), at('two')]
      },
      'cases.jsonl:1',
    ],
    [
      'has lost a record',
      async (at) => {
        const [first] = readFileSync(join(at('two'), 'runs/nightly/cases.jsonl'), 'utf8').split('\n')
        plant(at('two'), { 'runs/nightly/cases.jsonl': `${first}\n` })
        return [at('one'), at('two')]
      },
      'has lost records of its cases.',
    ],
    [
      'did not complete',
      async (at) => {
        const file = join(at('two'), 'runs/nightly.json')
        const { completedAt: _, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
        plant(at('two'), { 'runs/nightly.json': { ...rest, status: 'failed' } })
        return [at('one'), at('two')]
      },
      'is failed, not completed.',
    ],
    [
      'was edited',
      async (at) => {
        const file = join(at('two'), 'runs/nightly/cases.jsonl')
        plant(at('two'), { 'runs/nightly/cases.jsonl': readFileSync(file, 'utf8').replace('"f1":1', '"f1":0.5') })
        return [at('one'), at('two')]
      },
      '(2/2) was changed after the run: its seal does not fit.',
    ],
  ])('refuses a shard that %s, and writes nothing', async (_what, prepare, problem) => {
    using place = temporaryDirectory()
    const at = (name: string): string => join(place.path, name)
    await run(at('one'), { index: 1, count: 2 })
    await run(at('two'), { index: 2, count: 2 })

    const result = await merged(await prepare(at), at('merged'))

    expect(result.ok).toBe(false)
    expect(result.ok ? '' : result.problems.join('\n')).toContain(problem)
    expect(() => filesOf(at('merged'))).toThrow('ENOENT')
  })

  it('refuses shards of different commits, and is as unclean as any of its shards', async () => {
    using place = temporaryDirectory()
    const at = (name: string): string => join(place.path, name)
    const [clean, dirty] = [false, true].map((isDirty) => ({ commit: 'a1', dirty: isDirty }))
    await run(at('one'), { index: 1, count: 2 }, aBenchmark(), 1, clean)
    await run(at('two'), { index: 2, count: 2 }, aBenchmark(), 1, dirty)
    await run(at('other'), { index: 2, count: 2 }, aBenchmark(), 1, { commit: 'b2', dirty: false })

    const foreign = await merged([at('one'), at('other')], at('refused'))
    await merged([at('one'), at('two')], at('merged'))

    expect(foreign.ok ? '' : foreign.problems.join()).toContain('its commit is b2, not a1')
    expect(JSON.parse(filesOf(at('merged'))[2] ?? '')).toMatchObject({ git: { commit: 'a1', dirty: true } })
  })

  it('needs a shard at all', async () => {
    using place = temporaryDirectory()

    expect(await merged([], place.path)).toEqual({ ok: false, problems: ['There are no shards to merge.'] })
  })
})

describe('the order of cases', () => {
  it('is that of the whole in every part', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), fc.nat(), fc.nat(), (all, seed, chosen) => {
        const part = all.filter((_, index) => (chosen >> (index % 20)) & 1)
        const options = { isShuffled: true, seed }

        const order = caseOrder(all, options)

        expect(order.toSorted()).toEqual(all.toSorted())
        expect(caseOrder(part, options)).toEqual(order.filter((id) => part.includes(id)))
      }),
    )
    expect(caseOrder(ids, { isShuffled: true, seed: 1 })).not.toEqual(caseOrder(ids, { isShuffled: true, seed: 2 }))
    expect(caseOrder(ids, { isShuffled: false, seed: 1 })).toEqual(ids)
  })
})
