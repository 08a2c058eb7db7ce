import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aBaseline, aRun, plant } from '../../../test/harness/eval-store.ts'
import { caseExample } from '../../../test/harness/example-documents.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { createSnapshot } from './baselines.ts'

const request = { snapshotId: 'main', createdAt: '2026-03-06T12:00:00.000Z', sourceRootDir: 'evals' }

describe('taking a snapshot', () => {
  it('takes the latest completed run of every benchmark, with its figures and without its texts', async () => {
    using store = temporaryDirectory()
    const record = JSON.stringify({ ...caseExample, explanation: { words: ['secret text'] } })
    plant(store.path, {
      'runs/run-001.json': aRun(),
      'runs/run-002.json': aRun({ runId: 'run-002', passed: 10, completedAt: '2026-03-06T11:00:00.000Z' }),
      'runs/b-1.json': aRun({
        runId: 'b-1',
        benchmarkId: 'another',
        passed: 1,
        total: 1,
        metrics: { recallPrecisionAtK: 1 },
        system: { name: 'bm25', version: '1' },
        seed: 7,
      }),
      'runs/b-1/cases.jsonl': `${record}\n`,
    })

    const { snapshot, targetPath, overwritten } = await createSnapshot(store.path, {
      ...request,
      notes: 'first',
      gitRef: 'abc',
    })

    expect(snapshot).toMatchObject({
      schemaVersion: 1,
      snapshotId: 'main',
      sourceRootDir: 'evals',
      benchmarkCount: 2,
      notes: 'first',
      gitRef: 'abc',
      benchmarks: [
        {
          benchmarkId: 'ama-memory',
          runId: 'run-002',
          passRate: 10 / 12,
          totalCases: 12,
          metrics: { actionOutcomeScore: 0.81 },
        },
        {
          benchmarkId: 'another',
          runId: 'b-1',
          passRate: 1,
          seed: 7,
          caseResults: [{ id: 'case-1', verdict: 'pass', scores: { recallPrecisionAtK: 1 } }],
        },
      ].sort((a, b) => (a.benchmarkId < b.benchmarkId ? -1 : 1)),
    })
    expect(overwritten).toBe(false)
    expect(readFileSync(targetPath, 'utf8')).not.toContain('secret text')
    expect(JSON.parse(readFileSync(targetPath, 'utf8'))).toEqual(snapshot)
  })

  it('uses an older completed run if a newer one is incomplete, and reports it', async () => {
    using store = temporaryDirectory()
    const broken = { status: 'partial', startedAt: '2026-03-07T10:00:00Z', completedAt: undefined }
    plant(store.path, { 'runs/run-001.json': aRun(), 'runs/run-002.json': aRun({ runId: 'run-002', ...broken }) })

    const { snapshot, notes } = await createSnapshot(store.path, request)

    expect(snapshot.benchmarks[0]?.runId).toBe('run-001')
    expect(notes).toEqual(['ama-memory: the latest run run-002 is partial; run-001 was used instead.'])
  })

  it('refuses a store with runs that cannot be read', async () => {
    using store = temporaryDirectory()
    plant(store.path, { 'runs/run-001.json': aRun(), 'runs/run-002.json': aRun({ runId: 'run-002', totalCases: 3 }) })

    await expect(createSnapshot(store.path, request)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('runs/run-002.json: totalCases is 3'),
    })
  })

  it('uses the runs of the named system', async () => {
    using store = temporaryDirectory()
    const of = (name: string, fields: object) => aRun({ ...fields, system: { name, version: '1' } })
    plant(store.path, {
      'runs/run-001.json': of('bm25', {}),
      'runs/run-002.json': of('vector', { runId: 'run-002', passed: 1, completedAt: '2026-03-07T11:00:00.000Z' }),
      'runs/run-003.json': of('vector', { runId: 'run-003', benchmarkId: 'other' }),
    })

    const { snapshot, notes } = await createSnapshot(store.path, { ...request, system: 'bm25' })

    expect(snapshot.benchmarks.map(({ runId }) => runId)).toEqual(['run-001'])
    expect(notes).toEqual(['other: bm25 has no completed run; it is left out.'])
  })

  it('uses every system except controls if none is named', async () => {
    using store = temporaryDirectory()
    const of = (name: string, fields: object = {}) => aRun({ ...fields, system: { name, version: '1' } })
    plant(store.path, {
      'runs/run-001.json': of('bm25'),
      'runs/run-002.json': of('vector', { runId: 'run-002', passed: 1 }),
      'runs/run-003.json': of('none', { runId: 'run-003' }),
    })

    const { snapshot } = await createSnapshot(store.path, request)

    expect(snapshot.benchmarks.map(({ system, passedCases }) => [system?.name, passedCases])).toEqual([
      ['bm25', 9],
      ['vector', 1],
    ])
  })

  it('refuses an unsafe id', async () => {
    using store = temporaryDirectory()
    plant(store.path, { 'runs/run-001.json': aRun() })

    await expect(createSnapshot(store.path, { ...request, snapshotId: '../main' })).rejects.toThrow('not a safe id')
  })
})

describe('replacing a snapshot', () => {
  const anEarlier = (figures: object) =>
    aBaseline({
      snapshotId: 'main',
      benchmarks: [{ benchmarkId: 'ama-memory', runId: 'r', passRate: 0.75, ...figures }],
    })

  it.each([
    ['a lower pass rate', { passRate: 0.8 }, 'ama-memory passRate goes from 0.8 to 0.75'],
    ['a lower metric', { metrics: { actionOutcomeScore: 0.9 } }, 'ama-memory actionOutcomeScore goes from 0.9 to 0.81'],
    ['a lost metric', { metrics: { gone: 0.9 } }, 'ama-memory loses gone'],
    ['a lost benchmark', { benchmarkId: 'gone' }, 'gone loses passRate'],
    ['fewer cases', { totalCases: 13 }, 'ama-memory totalCases goes from 13 to 12'],
    ['cases that end in an error', { errorCases: 0 }, 'ama-memory errorCases goes from 0 to 1'],
  ])('refuses %s without a reason, and keeps the reason', async (_name, figures, message) => {
    using store = temporaryDirectory()
    plant(store.path, {
      'runs/run-001.json': aRun({ errorCases: 1, failedCases: 2 }),
      'baselines/main.json': anEarlier(figures),
    })

    await expect(createSnapshot(store.path, { ...request, force: true })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(message),
    })
    const { snapshot } = await createSnapshot(store.path, { ...request, force: true, acceptLower: 'harder cases' })

    expect(snapshot.acceptedLower?.[0]).toMatchObject({ reason: 'harder cases' })
  })

  it('needs no reason for improvements, including falls of metrics for which lower is better', async () => {
    using store = temporaryDirectory()
    plant(store.path, {
      'runs/run-001.json': aRun({ metrics: { trustViolationRate: 0.01 } }),
      'baselines/main.json': anEarlier({ passRate: 0.5, metrics: { trustViolationRate: 0.03 } }),
    })

    const { snapshot } = await createSnapshot(store.path, { ...request, force: true })

    expect(snapshot.acceptedLower).toBeUndefined()
  })

  it('needs a reason if the replaced snapshot is unreadable', async () => {
    using store = temporaryDirectory()
    plant(store.path, { 'runs/run-001.json': aRun(), 'baselines/main.json': '{' })

    await expect(createSnapshot(store.path, { ...request, force: true })).rejects.toMatchObject({ code: 'invalid' })
    await createSnapshot(store.path, { ...request, force: true, acceptLower: 'it was damaged' })

    expect(JSON.parse(readFileSync(join(store.path, 'baselines/main.json'), 'utf8'))).toMatchObject({
      benchmarkCount: 1,
    })
  })
})
