import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { plant } from '../../../../test/harness/eval-store.ts'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { inMemory } from '../../../store/sqlite/database.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { gateStores } from '../../gate/ci-gate.ts'
import { type CaseOutcome, caseOrder, type RunContext, resumeRun, startRun } from '../../run/run.ts'
import { readCaseLog } from '../../store/case-log.ts'
import { bm25System } from '../../system/bm25.ts'
import { noneSystem } from '../../system/controls.ts'
import { type SystemUnderTest, underTest } from '../../system/under-test.ts'
import { openPackFolder } from '../runner.ts'
import { findPacks, loadPack, type Pack } from './pack.ts'
import { executeRecall, recallRunners } from './retrieval-runner.ts'
import { runPack } from './run-pack.ts'

const packs = findPacks(fileURLToPath(new URL('../../../../packs', import.meta.url)))
const directoryOf = (id: string): string => packs.find((path) => path.endsWith(id)) ?? ''

const ours = () =>
  bm25System({ openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }), version: '1' })
const clock = () => 0
const aSubject = (): SystemUnderTest => underTest(ours(), { ours, clock })
const signal = new AbortController().signal

async function outcomes(
  pack: Pack,
  tested: SystemUnderTest,
  wanted: ReadonlySet<string>,
  seed = 1,
  jobs = 1,
): Promise<CaseOutcome[]> {
  const found: CaseOutcome[] = []
  const order = new Set(caseOrder([...wanted], { isShuffled: pack.kind === 'retrieval', seed }))
  const request = { repeat: 0, seed, wanted: order, jobs, signal, folder: null }
  for await (const one of executeRecall(pack, tested, request, { explain: false, onIngested: () => {} })) {
    found.push(one)
  }
  return found
}

const opened = (directory: string, tested: SystemUnderTest) =>
  openPackFolder(
    directory,
    recallRunners(async () => tested),
  )

const idsOf = ({ cases }: Pack): ReadonlySet<string> => new Set(cases.map(({ id }) => id))

const byId = (a: { readonly caseId: string }, b: { readonly caseId: string }): number => (a.caseId < b.caseId ? -1 : 1)

describe('executing a pack case by case', () => {
  it.each(['retrieval-precision', 'session-drift', 'retrieval-hard'])(
    'gives the same outcomes for %s as running it as a whole',
    async (id) => {
      const { pack } = loadPack(directoryOf(id))
      const whole = await runPack(pack, aSubject())

      const found = await outcomes(pack, aSubject(), idsOf(pack))

      expect(found.sort(byId)).toEqual([...whole.outcomes].sort(byId))
    },
  )

  it('does not depend on the seed, which determines order and ids', async () => {
    const { pack } = loadPack(directoryOf('retrieval-precision'))

    const one = await outcomes(pack, aSubject(), idsOf(pack), 1)
    const other = await outcomes(pack, aSubject(), idsOf(pack), 2)

    expect(one.map(({ caseId }) => caseId)).not.toEqual(other.map(({ caseId }) => caseId))
    expect(one.sort(byId)).toEqual(other.sort(byId))
  })

  it('applies the changes of turns that are not asked again', async () => {
    const { pack } = loadPack(directoryOf('session-drift'))
    const all = await outcomes(pack, aSubject(), idsOf(pack))
    const later = new Set([...idsOf(pack)].slice(6))

    const resumed = await outcomes(pack, aSubject(), later)

    expect(resumed.sort(byId)).toEqual(all.filter(({ caseId }) => later.has(caseId)).sort(byId))
  })

  it.each(['retrieval-precision', 'session-drift'])(
    'gives the same outcomes for %s with any number of jobs',
    async (id) => {
      const { pack } = loadPack(directoryOf(id))

      expect(await outcomes(pack, aSubject(), idsOf(pack), 3, 7)).toEqual(
        await outcomes(pack, aSubject(), idsOf(pack), 3),
      )
    },
  )

  it('stores the corpus once for all cases of a repeat', async () => {
    const { pack } = loadPack(directoryOf('retrieval-precision'))
    const tested = aSubject()
    let begun = 0

    await outcomes(
      pack,
      {
        ...tested,
        begin: (corpus) => {
          begun += 1
          return tested.begin(corpus)
        },
      },
      idsOf(pack),
    )

    expect(begun).toBe(1)
  })

  it('reports an error for every case if the corpus cannot be stored', async () => {
    const { pack } = loadPack(directoryOf('session-drift'))
    const broken: SystemUnderTest = { ...aSubject(), begin: () => Promise.reject(new Error('no room')) }

    const found = await outcomes(pack, broken, idsOf(pack))

    expect(new Set(found.map(({ verdict }) => verdict))).toEqual(new Set(['error']))
    expect(found[0]?.error?.message).toContain('no room')
  })

  it('reports an error for every later turn if the store could not be changed', async () => {
    const { pack } = loadPack(directoryOf('session-drift'))
    const broken: SystemUnderTest = { ...aSubject(), change: () => Promise.reject(new Error('read-only')) }

    const found = await outcomes(pack, broken, idsOf(pack))
    const firstError = found.findIndex(({ verdict }) => verdict === 'error')

    expect(firstError).toBeGreaterThan(0)
    expect(found.slice(firstError).every(({ verdict }) => verdict === 'error')).toBe(true)
  })
})

describe('packs, runs and the gate together', () => {
  const context = (root: string, fields: Partial<RunContext> = {}): RunContext => ({
    root,
    now: () => new Date('2026-03-06T10:00:00Z'),
    signal,
    environment: { given: {}, settings: {}, git: null, node: 'v', os: { platform: 'p', release: 'r', arch: 'a' } },
    ...fields,
  })
  const options = { repeats: 1, seed: 1 }

  it('two runs of the same build are identical', async () => {
    using base = temporaryDirectory()
    using candidate = temporaryDirectory()
    for (const [store, seed] of [
      [base, 1],
      [candidate, 99],
    ] as const) {
      for (const id of ['retrieval-precision', 'session-drift', 'retrieval-hard']) {
        await startRun(
          await opened(directoryOf(id), aSubject()),
          `run-${id}-${seed}`,
          { repeats: 1, seed },
          context(store.path),
        )
      }
    }

    const report = await gateStores({ base: base.path, candidate: candidate.path })

    expect(report).toMatchObject({ passed: true, comparedBenchmarks: 3, improvements: [], reasons: [] })
    expect(
      report.deltas.flatMap(({ figures }) => figures.map(({ verdict }) => verdict)).every((one) => one === 'same'),
    ).toBe(true)
    expect(report.deltas.map(({ cases }) => cases)).toEqual(Array(3).fill({ broken: [], fixed: [] }))
  })

  it('a planted regression fails the gate', async () => {
    using base = temporaryDirectory()
    using candidate = temporaryDirectory()
    const directory = directoryOf('retrieval-precision')
    // The system drops its best hit, but its name and version are unchanged.
    const system = ours()
    const forgetful = {
      ...system,
      recall: async (query: Parameters<typeof system.recall>[0]) => {
        const answer = await system.recall(query)
        return { ...answer, relevant: answer.relevant.slice(1) }
      },
    }
    await startRun(await opened(directory, aSubject()), 'run-1', options, context(base.path))
    const worse = underTest(forgetful, { ours, clock })
    await startRun(await opened(directory, worse), 'run-1', options, context(candidate.path))

    const report = await gateStores({ base: base.path, candidate: candidate.path })

    expect(report).toMatchObject({ passed: false, verdict: 'regression', exitCode: 1 })
    expect(report.regressions[0]).toMatch(/^retrieval-precision, bm25: passRate fell from 1 to 0\./u)
  })

  it('another system does not replace a missing one', async () => {
    using base = temporaryDirectory()
    using candidate = temporaryDirectory()
    const directory = directoryOf('retrieval-precision')
    const none = underTest(noneSystem(), { ours, clock })
    await startRun(await opened(directory, aSubject()), 'run-1', options, context(base.path))
    await startRun(await opened(directory, none), 'run-1', options, context(candidate.path))

    expect(await gateStores({ base: base.path, candidate: candidate.path })).toMatchObject({ exitCode: 1 })
  })

  it('an interrupted run of sessions is completed with the same result', async () => {
    using store = temporaryDirectory()
    const directory = directoryOf('session-drift')
    const interrupt = new AbortController()
    const stopAfter = (done: number): void => {
      if (done === 5) interrupt.abort()
    }

    const partial = await startRun(
      await opened(directory, aSubject()),
      'run-1',
      options,
      context(store.path, { signal: interrupt.signal, onProgress: stopAfter }),
    )
    const resumed = await resumeRun(await opened(directory, aSubject()), 'run-1', context(store.path))
    const whole = await startRun(await opened(directory, aSubject()), 'run-2', options, context(store.path))

    expect(partial).toMatchObject({ status: 'partial', passedCases: 5 })
    // The seal includes the run id, so it differs too.
    expect({ ...resumed, runId: '', seal: '' }).toEqual({ ...whole, runId: '', seal: '' })
    const one = await readCaseLog(store.path, 'run-1')
    const other = await readCaseLog(store.path, 'run-2')
    expect(one.records).toEqual(other.records)
  })
})

describe('a pack of a third party', () => {
  const belief = { id: 'b-1', user: 'ada', name: 'Albatross', content: 'A dinghy.', scopes: ['domain:sea'] }
  const asked = {
    caseId: 'case-1',
    scope: ['domain:sea'],
    query: 'Is the Albatross dry?',
    description: 'finds the boat',
  }
  const manifest = {
    schemaVersion: 1,
    benchmarkId: 'leaks',
    benchmarkType: 'memory-red-team',
    title: 'Leaks',
    attackClass: 'cross-scope-leak',
    targetSurface: 'recall',
    author: 'somebody',
    metrics: [{ name: 'retrievalRecall', direction: 'higher', minEffect: 0.1 }],
    runner: 'retrieval',
    files: { beliefs: 'beliefs.json', cases: 'cases.json' },
    cases: [{ id: 'case-1', prompt: asked.query }],
  }
  const files = (fields: object = {}) => ({
    'manifest.json': { ...manifest, ...fields },
    'beliefs.json': [belief],
    'cases.json': [{ ...asked, expect: { relevantBeliefs: { mustInclude: ['b-1'] } } }],
  })

  it('is run with its own fields, types and metrics', async () => {
    using place = temporaryDirectory()
    plant(place.path, files())

    const benchmark = await opened(place.path, aSubject())
    const run = await startRun(
      benchmark,
      'run-1',
      { repeats: 1, seed: 1 },
      {
        root: join(place.path, 'store'),
        now: () => new Date('2026-03-06T10:00:00Z'),
        signal,
        environment: { given: {}, settings: {}, git: null, node: 'v', os: { platform: 'p', release: 'r', arch: 'a' } },
      },
    )

    expect(run).toMatchObject({ status: 'completed', passedCases: 1, metricDeclarations: manifest.metrics })
  })

  it.each([
    ['no runner', { runner: undefined }, 'names no runner'],
    ['an unknown runner', { runner: 'magic' }, 'manifest.json: runner'],
    ['no case file', { files: { beliefs: 'beliefs.json' } }, 'manifest.json: files.cases'],
    ['a case that is not in the file', { cases: [...manifest.cases, { id: 'x', prompt: 'x' }] }, 'lists "x"'],
    ['another prompt', { cases: [{ id: 'case-1', prompt: 'other' }] }, 'the prompt of "case-1"'],
    ['another case', { cases: [{ id: 'x', prompt: 'x' }] }, 'the case "case-1"'],
  ])('is refused with %s', async (_name, fields, message) => {
    using place = temporaryDirectory()
    plant(place.path, files(fields))

    await expect(opened(place.path, aSubject())).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(message),
    })
  })
})
