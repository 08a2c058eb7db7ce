import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSnapshot } from '../../src/eval/gate/baselines.ts'
import { gateStores, reportAgainstBaseline } from '../../src/eval/gate/ci-gate.ts'
import { deltaMarkdown } from '../../src/eval/report/delta-report.ts'
import { runPath, shadowPath } from '../../src/eval/store/documents.ts'
import { checkArtifact } from '../../src/eval/store/parse-artifact.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { aBaseline, aManifest, aRun, plant } from './eval-store.ts'
import { caseExample } from './example-documents.ts'

// Each test describes a way in which an earlier harness let a bad change pass.

const benchmark = { benchmarkId: 'ama-memory', runId: 'run-000', passRate: 0.75 }

/** A base with a snapshot of one benchmark, and a candidate with the given documents. */
async function gated(
  baseline: object,
  candidate: Readonly<Record<string, unknown>>,
  options: { readonly snapshotId?: string; readonly bootstrap?: boolean } = {},
) {
  using place = temporaryDirectory()
  const base = join(place.path, 'base')
  const other = join(place.path, 'candidate')
  plant(base, { 'baselines/required-main.json': aBaseline({ benchmarks: [{ ...benchmark, ...baseline }] }) })
  plant(other, candidate)
  return await gateStores({ base, candidate: other, ...options })
}

describe('the gate', () => {
  it('passes a candidate that is equally good', async () => {
    const report = await gated({}, { 'runs/run-001.json': aRun() })

    expect(report).toMatchObject({ passed: true, verdict: 'pass', exitCode: 0, comparedBenchmarks: 1, reasons: [] })
  })

  it('unknown-metric loss: an unknown metric is kept and compared', async () => {
    const report = await gated(
      { metrics: { homeMade: 0.9 } },
      { 'runs/run-001.json': aRun({ metrics: { homeMade: 0.8 } }) },
    )

    expect(report).toMatchObject({ exitCode: 1, regressions: ['ama-memory: homeMade fell from 0.9 to 0.8.'] })
  })

  it('empty-compare pass: comparing nothing is not a pass', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    mkdirSync(base)
    mkdirSync(candidate)

    const empty = await gateStores({ base, candidate })
    plant(base, { 'baselines/required-main.json': aBaseline({ benchmarks: [], benchmarkCount: 0 }) })
    const emptySnapshot = await gateStores({ base, candidate })

    expect(empty).toMatchObject({ passed: false, exitCode: 4 })
    expect(emptySnapshot).toMatchObject({ exitCode: 4, reasons: [{ line: 'Nothing was compared.' }] })
  })

  it('empty-compare pass: missing directories are not a pass', async () => {
    using place = temporaryDirectory()
    const nowhere = join(place.path, 'nowhere')

    expect(await gateStores({ base: nowhere, candidate: nowhere })).toMatchObject({
      passed: false,
      exitCode: 3,
      reasons: [{ line: `The candidate has no eval store at ${nowhere}.`, next: expect.stringContaining('path') }],
    })
    expect(await gateStores({ base: nowhere, candidate: place.path })).toMatchObject({ passed: false, exitCode: 4 })
  })

  it('nothing judged: a base whose cases were all skipped, unjudged or errors cannot be compared', async () => {
    for (const counts of [{ skippedCases: 12 }, { unjudgedCases: 12 }, { errorCases: 12 }]) {
      using place = temporaryDirectory()
      const base = join(place.path, 'base')
      const candidate = join(place.path, 'candidate')
      const run = aRun({ passed: 0, failedCases: 0, ...counts, metrics: undefined })
      plant(base, { 'runs/run-001.json': run })
      plant(candidate, { 'runs/run-001.json': run })

      const runs = await gateStores({ base, candidate })
      const about = { createdAt: '2026-03-07T10:00:00.000Z', sourceRootDir: 'base' }
      await createSnapshot(base, { snapshotId: 'required-main', ...about })
      const snapshot = await gateStores({ base, candidate })

      for (const report of [runs, snapshot]) {
        expect(report).toMatchObject({ exitCode: 4, comparedBenchmarks: 0 })
        expect(report.reasons[0]?.line).toContain('No case of the base passed or failed.')
      }
    }
  })

  it('silent skip: a case that is no longer judged is reported even without case records', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    plant(base, { 'runs/run-001.json': aRun() })
    plant(candidate, { 'runs/run-001.json': aRun({ failedCases: 2, skippedCases: 1 }) })

    const runs = await gateStores({ base, candidate })
    const about = { createdAt: '2026-03-07T10:00:00.000Z', sourceRootDir: 'base' }
    await createSnapshot(base, { snapshotId: 'required-main', ...about })
    const snapshot = await gateStores({ base, candidate })

    for (const { exitCode, reasons } of [runs, snapshot]) {
      expect(exitCode).toBe(4)
      expect(reasons[0]?.line).toBe('ama-memory: The base judged 12 cases, the candidate only 11.')
    }
  })

  it('impossible figure: a metric outside of its declared range is invalid, not better', async () => {
    const metricDeclarations = [{ name: 'f1', direction: 'higher', range: [0, 1] }]
    const report = await gated(
      { metrics: { f1: 0.5 }, metricDeclarations },
      { 'runs/run-001.json': aRun({ metrics: { f1: 1.5 } }) },
    )

    expect(report).toMatchObject({ exitCode: 3, comparedBenchmarks: 0 })
    expect(report.reasons[0]?.line).toBe(
      'ama-memory: f1 of the run run-001 is 1.5, but the pack declares a range from 0 to 1.',
    )
  })

  it('exact inequality: a rounding error is not a regression', async () => {
    const report = await gated(
      { metrics: { f1: 0.3 } },
      { 'runs/run-001.json': aRun({ metrics: { f1: 0.3 - 1e-10 } }) },
    )

    expect(report.exitCode).toBe(0)
  })

  it('dropped metric: a metric of the base must be measured again', async () => {
    const report = await gated({ metrics: { f1: 0.3 } }, { 'runs/run-001.json': aRun({ metrics: undefined }) })

    expect(report).toMatchObject({ exitCode: 1, regressions: ['ama-memory: f1 was dropped; it was 0.3.'] })
  })

  it('case-count shrink: one case instead of a hundred is not comparable', async () => {
    const report = await gated(
      { passRate: 0.5, totalCases: 100, passedCases: 50 },
      { 'runs/run-001.json': aRun({ passed: 1, total: 1 }) },
    )

    expect(report).toMatchObject({ exitCode: 4, comparedBenchmarks: 0 })
    expect(report.reasons[0]?.line).toBe('ama-memory: not comparable. The number of cases shrank from 100 to 1.')
  })

  it('no manifest-run binding: a run of another pack than the one in the store does not pass', async () => {
    const otherContent = aRun({ total: 1, passed: 1, packHash: `sha256:${'0'.repeat(64)}` })
    const manifest = { 'benchmarks/ama-memory/manifest.json': aManifest() }

    const moreCases = await gated({}, { ...manifest, 'runs/run-001.json': aRun() })
    const otherHash = await gated({ passRate: 1 }, { ...manifest, 'runs/run-001.json': otherContent })

    expect(moreCases).toMatchObject({ exitCode: 3 })
    expect(moreCases.reasons[0]?.line).toContain('totalCases is 12, but the pack in the store has 1 cases')
    expect(otherHash).toMatchObject({ exitCode: 4 })
    expect(otherHash.reasons[0]?.line).toContain('run-001 was made before the pack in the store was changed')
  })

  it('hand-written results: a summary that its own cases contradict is invalid', async () => {
    const failed = JSON.stringify({ ...caseExample, verdict: 'fail', scores: {} })
    const report = await gated(
      { passRate: 1 },
      { 'runs/run-001.json': aRun({ passed: 1, total: 1 }), 'runs/run-001/cases.jsonl': `${failed}\n` },
    )

    expect(report.exitCode).toBe(3)
    expect(report.reasons[0]?.line).toContain('passedCases is 1, but the case records add up to 0')
  })

  it('hidden failure: a newer run that failed is not hidden by an older one that passed', async () => {
    const candidate = {
      'runs/run-001.json': aRun(),
      'runs/run-002.json': aRun({
        runId: 'run-002',
        status: 'failed',
        startedAt: '2026-03-07T10:00:00Z',
        completedAt: undefined,
      }),
    }

    const report = await gated({}, candidate)

    expect(report).toMatchObject({
      exitCode: 1,
      verdicts: [{ candidate: { runId: 'run-002', status: 'failed', why: 'the latest of 2 finished runs' } }],
    })
    expect(report.reasons.map(({ line }) => line)).toEqual([
      'ama-memory: the base completed, but the run run-002 of the candidate is failed.',
    ])
  })

  it('vanished benchmark: the candidate must have every benchmark of the base', async () => {
    const report = await gated({}, { 'runs/run-001.json': aRun({ benchmarkId: 'other' }) })

    expect(report).toMatchObject({ exitCode: 1, missingCandidateBenchmarks: ['ama-memory'], newBenchmarks: ['other'] })
  })

  it('corrupt-base bootstrap: a base snapshot that cannot be read is invalid, not absent', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    plant(base, { 'baselines/required-main.json': '{"schemaVersion": 1' })
    plant(candidate, { 'baselines/required-main.json': aBaseline(), 'runs/run-001.json': aRun() })

    const report = await gateStores({ base, candidate, snapshotId: 'required-main' })

    expect(report).toMatchObject({ passed: false, exitCode: 3, baselineResolvedFrom: null })
    expect(report.reasons[0]?.line).toContain('Invalid in the base: baselines/required-main.json')
  })

  it('bootstrap: starts with the candidate only if the base never had a baseline', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    plant(candidate, {
      'baselines/required-main.json': aBaseline({ benchmarks: [benchmark] }),
      'runs/run-001.json': aRun(),
    })

    const mistyped = await gateStores({ base, candidate, snapshotId: 'required-main' })
    const said = await gateStores({ base, candidate, bootstrap: true })
    mkdirSync(join(base, 'runs'), { recursive: true })
    const withoutBaseline = await gateStores({ base, candidate, snapshotId: 'required-main' })

    expect(mistyped).toMatchObject({ passed: false, exitCode: 4 })
    expect(said).toMatchObject({ passed: true, baselineResolvedFrom: 'candidate' })
    expect(withoutBaseline).toMatchObject({ passed: true, baselineResolvedFrom: 'candidate' })
  })

  it('one exit code: regression, invalid and not comparable have different codes', async () => {
    const worse = await gated({}, { 'runs/run-001.json': aRun({ passed: 8 }) })
    const invalid = await gated({}, { 'runs/run-001.json': '{' })
    const shrunken = await gated({ passRate: 1, totalCases: 20, passedCases: 20 }, { 'runs/run-001.json': aRun() })

    expect([worse, invalid, shrunken].map(({ exitCode }) => exitCode)).toEqual([1, 3, 4])
  })

  it('invalid artifacts: one broken file of any kind is enough', async () => {
    const good = { 'runs/run-001.json': aRun() }

    for (const file of ['benchmarks/x/manifest.json', 'runs/x.json', 'shadow/2026-03-06/x.json', 'baselines/x.json']) {
      expect((await gated({}, { ...good, [file]: '{}' })).exitCode).toBe(3)
    }
  })

  it('store against store: a base whose latest run is incomplete is not a base', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    plant(base, { 'runs/run-001.json': aRun({ status: 'partial', completedAt: undefined }) })
    plant(candidate, { 'runs/run-001.json': aRun() })

    expect(await gateStores({ base, candidate })).toMatchObject({ passed: false, exitCode: 4 })
  })

  it('other system: a later run of another system does not replace the accepted one', async () => {
    const of = (name: string, fields: object) => aRun({ ...fields, system: { name, version: '1' } })
    const candidate = {
      'runs/run-001.json': of('bm25', {}),
      'runs/run-002.json': of('hybrid', { runId: 'run-002', passed: 1, completedAt: '2026-03-07T11:00:00.000Z' }),
    }

    const same = await gated({ system: { name: 'bm25', version: '1' } }, candidate)
    const none = await gated({ system: { name: 'vector', version: '1' } }, candidate)

    expect(same).toMatchObject({ exitCode: 0, deltas: [{ system: 'bm25', candidateRunId: 'run-001' }] })
    expect(none).toMatchObject({
      exitCode: 1,
      reasons: [{ line: expect.stringContaining('ama-memory, vector: missing') }],
    })
  })

  it('control run: a control neither fails a pack nor replaces its run', async () => {
    const of = (name: string, fields: object) => aRun({ ...fields, system: { name, version: '1' } })
    const later = { completedAt: '2026-03-07T11:00:00.000Z' }
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    plant(base, {
      'runs/a.json': of('bm25', { runId: 'a' }),
      'runs/b.json': of('everything', { runId: 'b', passed: 6 }),
    })
    plant(candidate, {
      'runs/own.json': of('bm25', { runId: 'own' }),
      'runs/b.json': of('everything', { runId: 'b', passed: 1, ...later }),
      'runs/c.json': of('bm25 without recall', { runId: 'c', passed: 0, role: 'ablation', ...later }),
    })

    const report = await gateStores({ base, candidate })

    expect(report).toMatchObject({ exitCode: 0, verdicts: [{ system: 'bm25', candidate: { runId: 'own' } }] })
    expect(report.verdicts).toHaveLength(1)
    const benchmarks = ['bm25', 'none'].map((name) => ({ ...benchmark, system: { name, version: '1' } }))
    plant(base, { 'baselines/required-main.json': aBaseline({ benchmarks, benchmarkCount: 2 }) })
    expect(await gateStores({ base, candidate })).toMatchObject({ exitCode: 0, verdicts: [{ system: 'bm25' }] })
  })

  it('left out: a filtered or edited run does not count, with the reason', async () => {
    for (const [fields, why] of [
      [{ filter: 'alias' }, 'filtered'],
      [{ editedAt: '2026-03-08T10:00:00Z' }, 'forgotten texts were erased from it'],
    ] as const) {
      const { exitCode, reasons } = await gated({}, { 'runs/run-001.json': aRun(fields) })

      expect(exitCode).toBe(1)
      expect(reasons[0]?.line).toBe(`ama-memory: missing; the candidate has no whole run of it, only run-001 (${why}).`)
      expect(reasons[0]?.next).toContain('Run it again')
    }
    const other = aRun({ filter: 'alias', benchmarkId: 'other' })
    expect((await gated({}, { 'runs/run-001.json': other })).reasons[0]?.line).toBe(
      'ama-memory: missing; the candidate has no run of it.',
    )
  })

  it('fail open: 6 of 6 that become 0 of 6 never pass if results vary', async () => {
    const noisy = { deterministic: false, totalCases: 6, passedCases: 6, passRate: 1 }
    const fallen = aRun({ passed: 0, total: 6, deterministic: false, metrics: undefined })

    const report = await gated(noisy, { 'runs/run-001.json': fallen })

    expect(report).toMatchObject({ verdict: 'cannot tell', exitCode: 4 })
    expect(report.verdicts[0]?.next).toContain('Add cases')
  })

  it('own baseline: a baseline of the candidate hides no fall compared with the run of the base', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    const own = { ...benchmark, passRate: 0.25 }
    plant(base, { 'runs/run-001.json': aRun({ passed: 11 }) })
    plant(candidate, {
      'baselines/required-main.json': aBaseline({ benchmarks: [own] }),
      'runs/run-001.json': aRun({ passed: 3 }),
    })

    const named = await gateStores({ base, candidate, snapshotId: 'required-main' })
    const unnamed = await gateStores({ base, candidate })

    expect(named).toMatchObject({ verdict: 'regression', exitCode: 1, baselineResolvedFrom: 'candidate' })
    expect(named.reasons[0]?.line).toContain('passRate fell from 0.916667 to 0.25')
    expect(unnamed).toMatchObject({ verdict: 'regression', exitCode: 1 })
  })

  it('running: an unfinished run is used only if there is no other, and then decides nothing', async () => {
    const going = aRun({
      runId: 'run-002',
      passed: 0,
      status: 'running',
      startedAt: '2026-03-09T10:00:00Z',
      completedAt: undefined,
    })

    const beside = await gated({}, { 'runs/run-001.json': aRun(), 'runs/run-002.json': going })
    const alone = await gated({}, { 'runs/run-002.json': going })

    expect(beside).toMatchObject({ exitCode: 0 })
    expect(beside.verdicts[0]?.candidate).toEqual({
      runId: 'run-001',
      status: 'completed',
      why: 'the only finished run; run-002 is still running and was left out',
    })
    expect(alone).toMatchObject({ exitCode: 4, reasons: [{ kind: 'cannot tell' }] })
  })

  it('sealed: the report prints how many runs used the sealed set', async () => {
    const sealed = { hash: `sha256:${'a'.repeat(64)}`, sealedAt: '2026-03-01T10:00:00.000Z', look: 2, maxRuns: 3 }

    const report = await gated({}, { 'runs/run-002.json': aRun({ runId: 'run-002', sealed }) })

    expect(deltaMarkdown(report)).toContain('run-002 (the only finished run; sealed 2026-03-01, look 2 of 3)')
  })

  it('unfinished: a completed base whose counterpart failed or is partial is a regression', async () => {
    for (const status of ['failed', 'partial']) {
      const report = await gated({}, { 'runs/run-001.json': aRun({ status, completedAt: undefined }) })

      expect(report).toMatchObject({ verdict: 'regression', exitCode: 1 })
      expect(report.reasons[0]?.line).toContain(`the run run-001 of the candidate is ${status}`)
    }
  })

  it('two baselines of one benchmark: each system is compared with its own', async () => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const candidate = join(place.path, 'candidate')
    const of = (name: string) => ({ name, version: '1' })
    const benchmarks = [
      { ...benchmark, system: of('bm25') },
      { ...benchmark, passRate: 0.25, system: of('vector') },
    ]
    plant(base, { 'baselines/required-main.json': aBaseline({ benchmarks, benchmarkCount: 2 }) })
    plant(candidate, {
      'runs/a.json': aRun({ runId: 'a', system: of('bm25') }),
      'runs/b.json': aRun({ runId: 'b', passed: 2, system: of('vector') }),
    })

    const report = await gateStores({ base, candidate })

    expect(report.verdicts.map(({ system, verdict }) => [system, verdict])).toEqual([
      ['bm25', 'pass'],
      ['vector', 'regression'],
    ])
  })

  it('filtered run: a run of some cases neither counts nor hides one that does', async () => {
    const filtered = aRun({
      runId: 'run-002',
      passed: 1,
      total: 1,
      filter: 'case-1',
      completedAt: '2026-03-08T10:00:00Z',
    })

    const report = await gated({}, { 'runs/run-001.json': aRun(), 'runs/run-002.json': filtered })

    expect(report).toMatchObject({ exitCode: 0, deltas: [{ candidateRunId: 'run-001' }] })
  })
})

describe('a report against a baseline', () => {
  it('agrees with the gate on the same figures', async () => {
    using store = temporaryDirectory()
    plant(store.path, {
      'baselines/main.json': aBaseline({ snapshotId: 'main', benchmarks: [benchmark] }),
      'runs/run-001.json': aRun({ passed: 8 }),
    })

    const report = await reportAgainstBaseline(store.path, 'main')

    expect(report).toMatchObject({
      passed: false,
      exitCode: 1,
      baselineSnapshotId: 'main',
      regressions: ['ama-memory: passRate fell from 0.75 to 0.666667.'],
    })
  })

  it('is refused for a missing baseline, and invalid for a broken one', async () => {
    using store = temporaryDirectory()
    plant(store.path, { 'baselines/main.json': '[]', 'runs/run-001.json': aRun() })

    await expect(reportAgainstBaseline(store.path, 'other')).rejects.toMatchObject({ code: 'not_found' })
    expect(await reportAgainstBaseline(store.path, 'main')).toMatchObject({ passed: false, exitCode: 3 })
  })
})

describe('documents', () => {
  it('runId and traceId traversal: no id leads out of the store', () => {
    for (const id of ['../x', 'a/../../x', '..', 'a\\b', '', 'x\u0000']) {
      expect(() => runPath('/store', id)).toThrow('not a safe id')
      expect(() => shadowPath('/store', '2026-03-06T00:00:00Z', id)).toThrow('not a safe id')
    }
  })

  it('coerced counts: null, text, true and fractions are not counts', () => {
    for (const passedCases of [null, '', true, 8.5, '9']) {
      expect(checkArtifact('run-summary', { ...aRun(), passedCases }, 'f').ok).toBe(false)
    }
  })

  it('overwritten snapshot: an existing one remains unless forced', async () => {
    using store = temporaryDirectory()
    plant(store.path, { 'runs/run-001.json': aRun() })
    const request = { snapshotId: 'main', createdAt: '2026-03-06T12:00:00.000Z', sourceRootDir: 'evals' }
    await createSnapshot(store.path, request)

    await expect(createSnapshot(store.path, request)).rejects.toMatchObject({ code: 'conflict' })
    await expect(createSnapshot(store.path, { ...request, force: true })).resolves.toMatchObject({ overwritten: true })
  })

  it('empty snapshot: an empty list is not a baseline', async () => {
    using store = temporaryDirectory()
    const request = { snapshotId: 'main', createdAt: '2026-03-06T12:00:00.000Z', sourceRootDir: 'evals' }

    await expect(createSnapshot(store.path, request)).rejects.toMatchObject({ code: 'not_found' })
    expect(existsSync(join(store.path, 'baselines'))).toBe(false)
  })
})
