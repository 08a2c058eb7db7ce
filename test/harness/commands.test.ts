import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandTable } from '../../src/cli/command-table.ts'
import { createSandbox, endOf } from '../cli/sandbox.ts'
import { belief, staticCase } from '../eval/sample-corpus.ts'
import { aBaseline, aManifest, aRun, plant } from './eval-store.ts'

const shadowMode = { CREDENCE_EVAL_HARNESS_ENABLED: 'true', CREDENCE_EVAL_SHADOW_MODE_ENABLED: 'true' }

/** A working directory with an eval store, and default settings unless told otherwise. */
function harness(env: Readonly<Record<string, string>> = {}) {
  const place = createSandbox()
  const store = join(place.work, 'evals')
  const run = (...argv: readonly string[]) =>
    place.runWith({ env: { ...env, CREDENCE_EVAL_STORE_DIR: store } }, ...argv)
  const json = async (...argv: readonly string[]) => {
    const ending = await run(...argv, '--json')
    return { exitCode: ending.exitCode, document: JSON.parse(ending.stdout) }
  }
  return { ...place, store, run, json, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

describe('benchmark status', () => {
  it('reports everything, with or without a store', async () => {
    using place = harness(shadowMode)
    const empty = await place.json('benchmark', 'status')
    plant(place.store, {
      'benchmarks/ama-memory/manifest.json': aManifest(),
      'benchmarks/broken/manifest.json': '{',
      'runs/run-001.json': aRun(),
    })

    const { exitCode, document } = await place.json('benchmark-status')
    const text = await place.run('benchmark', 'status')

    expect(empty).toMatchObject({ exitCode: 0, document: { enabled: true, benchmarks: { total: 0 } } })
    expect(exitCode).toBe(0)
    expect(document).toMatchObject({
      enabled: true,
      shadowModeEnabled: true,
      rootDir: place.store,
      benchmarks: { total: 2, valid: 1, invalid: 1, totalCases: 1 },
      runs: { latestRunId: 'run-001' },
      baselines: { enabled: true, total: 0 },
      invalidBenchmarks: [{ path: 'benchmarks/broken/manifest.json', field: '(document)' }],
    })
    expect(text.stdout).toContain('benchmarks/broken/manifest.json')
  })

  it('"OK" after JSON: standard output is a single document', async () => {
    using place = harness()
    plant(place.store, { 'runs/run-001.json': aRun(), 'baselines/main.json': aBaseline({ snapshotId: 'main' }) })

    for (const argv of [
      ['benchmark-status'],
      ['benchmark', 'recall'],
      ['benchmark-baseline-report', '--snapshot-id', 'main'],
      ['benchmark-ci-gate', '--base', 'evals', '--candidate', 'evals'],
      ['benchmark-baseline-snapshot', '--snapshot-id', 'other'],
      ['shadow', 'status'],
    ]) {
      const { stdout } = await place.run(...argv, '--json')
      expect(() => JSON.parse(stdout)).not.toThrow()
    }
  })

  it('every hyphenated name runs the grouped command, and none is listed', async () => {
    using place = harness()
    const aliases = commandTable.flatMap(({ name, aliases: own = [] }) =>
      own.filter((alias) => alias.includes('-')).map((alias) => [alias, name] as const),
    )

    expect(aliases.map(([alias]) => alias).sort()).toEqual([
      'benchmark-baseline-report',
      'benchmark-baseline-snapshot',
      'benchmark-ci-gate',
      'benchmark-import',
      'benchmark-status',
      'benchmark-validate',
    ])
    for (const [alias, name] of aliases) {
      expect((await place.run(alias, '--help')).stdout).toContain(`Usage: credence ${name}`)
    }
    expect((await place.run('--help')).stdout).not.toContain('benchmark-')
  })
})

describe('--store, the address of a memory', () => {
  it.each([
    ['benchmark', 'status'],
    ['benchmark', 'run', 'session-drift'],
    ['benchmark', 'report', '--snapshot-id', 'a'],
    ['task', 'report', 'run'],
    ['shadow', 'status'],
  ])('is refused by %s %s, with --evals as the hint', async (...argv) => {
    using place = harness()

    for (const given of [
      [...argv, '--store', 'evals'],
      ['--store', 'evals', ...argv],
    ]) {
      const { exitCode, stderr } = await place.run(...given)

      expect(exitCode).toBe(2)
      expect(stderr).toBe('error: There is no option --store here.\nhint: Write --evals <directory>.\n')
    }
  })

  it('is not an eval store for a command that also reads a memory', async () => {
    using place = harness()

    const { exitCode, stderr } = await place.run('benchmark', 'capture', 'hello', '--as-is', '--store', 'evals')

    expect(exitCode).toBe(3)
    expect(stderr).toContain('An eval store is named with --evals.')
  })
})

describe('switched-off features', () => {
  it.each([
    [['benchmark', 'snapshot', '--snapshot-id', 'a'], 'benchmarkBaselineSnapshotsEnabled'],
    [['benchmark', 'report', '--snapshot-id', 'a'], 'benchmarkDeltaReporterEnabled'],
    [['benchmark', 'recall', '--snapshot-id', 'a'], 'benchmarkDeltaReporterEnabled'],
    [['benchmark', 'recall', '--snapshot-id', 'a', '--create-snapshot'], 'benchmarkBaselineSnapshotsEnabled'],
  ])('make %j name the setting', async (argv, setting) => {
    using place = harness()
    plant(place.home, { 'memory/config.json': { [setting]: false } })

    const { exitCode, stderr } = await place.run(...argv, '--dir', join(place.home, 'memory'))

    expect(exitCode).toBe(3)
    expect(stderr).toContain(`because the setting ${setting} is off.`)
    expect(stderr).toContain(`{"${setting}": false}`)
  })

  it('leave nothing on disk after a recall', async () => {
    using place = harness()
    await place.run('remember', 'A dinghy.', '--name', 'Albatross')

    await place.run('recall', 'Is the Albatross ready?')

    expect(existsSync(place.store)).toBe(false)
  })
})

describe('packs', () => {
  it('are checked, imported, and replaced with --force', async () => {
    using place = harness()
    plant(place.work, { 'mine/manifest.json': aManifest(), 'mine/extra.txt': 'kept' })

    const checked = await place.json('benchmark-validate', 'mine')
    const imported = await place.json('benchmark', 'import', 'mine')
    const again = await place.json('benchmark-import', 'mine')
    const forced = await place.json('benchmark-import', 'mine', '--force')

    expect(checked).toMatchObject({ exitCode: 0, document: { pack: { benchmarkId: 'ama-memory', totalCases: 1 } } })
    expect(imported).toMatchObject({ exitCode: 0, document: { pack: { overwritten: false } } })
    expect(again).toMatchObject({ exitCode: 3, document: { ok: false, error: { code: 'conflict' } } })
    expect(forced).toMatchObject({ exitCode: 0, document: { pack: { overwritten: true } } })
    expect(readFileSync(join(place.store, 'benchmarks/ama-memory/extra.txt'), 'utf8')).toBe('kept')
  })

  it('are refused with file and field', async () => {
    using place = harness()
    plant(place.work, { 'mine/manifest.json': aManifest({ cases: [{ id: 'a' }] }) })

    const { exitCode, stderr } = await place.run('benchmark', 'validate', 'mine')

    expect(exitCode).toBe(3)
    expect(stderr).toContain('manifest.json: cases[0].prompt is missing; it must be text')
  })

  it('are checked with --controls: an empty answer must fail them, and every case can be passed', async () => {
    using place = harness()
    const silent = staticCase('case-1', 'nothing', { relevantBeliefs: { shouldOnlyInclude: [] } })
    plant(place.work, {
      'mine/manifest.json': aManifest({
        runner: 'retrieval',
        files: { beliefs: 'beliefs.json', cases: 'cases.json' },
        cases: [{ id: 'case-1', prompt: silent.query }],
      }),
      'mine/beliefs.json': [belief('b-anchor')],
      'mine/cases.json': [silent],
      'other/manifest.json': aManifest(),
    })

    const shipped = await place.json('benchmark', 'validate', resolve('packs/session-drift'), '--controls')
    const own = await place.run('benchmark', 'validate', 'mine', '--controls')
    const other = await place.run('benchmark', 'validate', 'other', '--controls')

    expect(shipped).toMatchObject({ exitCode: 0, document: { ok: true, controls: { cases: 12, passedByOracle: 12 } } })
    expect(own).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('An empty answer passes 1 of 1 cases') })
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--controls cannot check ama-memory') })
  })

  it('that name a runner are checked by its reader', async () => {
    using place = harness()
    const runner = { runner: 'retrieval', files: { beliefs: 'beliefs.json', cases: 'cases.json' } }
    plant(place.work, {
      'mine/manifest.json': aManifest(runner),
      'mine/beliefs.json': '[]',
      'mine/cases.json': '[{"caseId": "case-1"}]',
    })

    expect(await place.run('benchmark', 'import', 'mine')).toMatchObject({ exitCode: 3 })
    expect(existsSync(join(place.store, 'benchmarks'))).toBe(false)
  })
})

describe('runs', () => {
  it('are created, accepted, compared and gated', async () => {
    using place = harness()

    const ran = await place.json('benchmark', 'run', 'retrieval-precision', 'session-drift', '--seed', '7')
    const snapshot = await place.json('benchmark', 'snapshot', '--snapshot-id', 'required-main', '--notes', 'first')
    const unmeasured = await place.json('benchmark-baseline-report', '--snapshot-id', 'required-main')
    await place.json('benchmark', 'run', 'retrieval-precision', 'session-drift', '--seed', '7')
    const report = await place.json('benchmark-baseline-report', '--snapshot-id', 'required-main')
    const gate = await place.json('benchmark', 'gate', '--base', 'evals', '--candidate', 'evals')

    expect(ran).toMatchObject({
      exitCode: 0,
      document: { ok: true, runs: [{ passedCases: 60, totalCases: 60, seed: 7 }, { benchmarkId: 'session-drift' }] },
    })
    expect(snapshot).toMatchObject({
      exitCode: 0,
      document: { snapshot: { sourceRootDir: 'evals', benchmarkCount: 2 } },
    })
    expect(unmeasured).toMatchObject({ exitCode: 4, document: { passed: false, comparedBenchmarks: 0 } })
    expect(report).toMatchObject({ exitCode: 0, document: { passed: true, comparedBenchmarks: 2 } })
    expect(gate).toMatchObject({ exitCode: 0, document: { passed: true, baselineSnapshotId: 'required-main' } })
    const [runId] = readdirSync(join(place.store, 'runs')).filter((name) => !name.endsWith('.json'))
    expect(readdirSync(join(place.store, 'runs', runId ?? '')).sort()).toEqual([
      'cases.jsonl',
      'environment.json',
      'lock',
    ])
  })

  it('on a system that fails cases exit with 1 and list the cases', async () => {
    using place = harness()

    const { exitCode, stdout } = await place.run('benchmark', 'run', 'retrieval-precision', '--system', 'none')

    expect(exitCode).toBe(1)
    expect(stdout).toContain('alias-one-word')
  })

  it('are compared case by case', async () => {
    using place = harness()
    await place.run('benchmark', 'run', 'retrieval-precision', '--run-id', 'good')
    await place.run('benchmark', 'run', 'retrieval-precision', '--run-id', 'bad', '--system', 'none')

    const worse = await place.run('benchmark', 'diff', 'good', 'bad')
    const same = await place.json('benchmark', 'diff', 'good', 'good')

    expect(worse.exitCode).toBe(1)
    expect(worse.stdout).toContain('alias-one-word (match differs)')
    expect(worse.stdout).toContain('- kit-starter relevant 1')
    expect(worse.stderr).toContain('Different systems: bm25 and none.')
    expect(same).toMatchObject({ exitCode: 0, document: { broken: [], unchanged: 60 } })
  })

  it('of some cases only are stored but not compared', async () => {
    using place = harness()

    const ran = await place.json('benchmark', 'run', 'retrieval-precision', '--filter', 'alias-')
    const snapshot = await place.run('benchmark', 'snapshot', '--snapshot-id', 'a')

    expect(ran.document.runs[0].totalCases).toBeLessThan(60)
    expect(snapshot).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no completed run') })
  })

  it('are partial after an interrupt, and completed by --resume without repeating a case', async () => {
    using place = harness()
    // A system that pauses in the middle of a run until the interrupt has arrived.
    const env = { CREDENCE_EVAL_STORE_DIR: place.store }
    const server = await stallingServer()
    try {
      const child = place.start(
        ['benchmark', 'run', 'session-drift', '--system', `http:${server.url}`, '--run-id', 'r', '--json'],
        { env },
      )
      await server.stalled
      child.kill('SIGINT')
      server.letGo()
      const ending = await endOf(child)

      expect(ending.exitCode).toBe(130)
      expect(JSON.parse(ending.stdout)).toMatchObject({ ok: false, runs: [{ runId: 'r', status: 'partial' }] })
      expect(ending.stderr).toContain('credence benchmark run --resume r')
      const before = recordsOf(place.store, 'r')
      const resumed = await endOf(place.start(['benchmark', 'run', '--resume', 'r', '--json'], { env }))
      expect(JSON.parse(resumed.stdout)).toMatchObject({ runs: [{ status: 'completed', totalCases: 12 }] })
      expect(recordsOf(place.store, 'r').slice(0, before.length)).toEqual(before)
      expect(recordsOf(place.store, 'r')).toHaveLength(12)
    } finally {
      await server.close()
    }
  })

  it('have the same cases in sequence or in parallel', async () => {
    using place = harness()
    const kept = (runId: string) =>
      recordsOf(place.store, runId).map((line) => ({ ...JSON.parse(line), timings: null }))

    await place.run('benchmark', 'run', 'retrieval-precision', '--run-id', 'alone')
    await place.run('benchmark', 'run', 'retrieval-precision', '--run-id', 'parallel', '--jobs', '4')

    expect(kept('parallel')).toEqual(kept('alone'))
  })

  it('show with --ablations that a pack fails without the part that it measures', async () => {
    using place = harness()

    const { exitCode, document } = await place.json('benchmark', 'run', 'session-drift', '--ablations')
    const text = await place.run('benchmark', 'run', 'session-drift', '--ablations')

    expect(exitCode).toBe(0)
    expect(document.ablations).toMatchObject([
      { ablation: 'recall off', whole: { passed: 12, total: 12 }, without: { passed: 0 }, problem: null },
      { ablation: 'search off', without: { passed: 1 }, problem: null },
    ])
    expect(document.runs.map(({ role }: { role?: string }) => role)).toEqual([undefined, 'ablation', 'ablation'])
    expect(text.stdout).toContain('regression suite (saturated)')
  })

  it('fail with --ablations if a pack measures something else, or declares none', async () => {
    using place = harness()
    const belief = {
      id: 'b-1',
      user: 'ada',
      name: 'Albatross',
      content: 'A dinghy.',
      scopes: ['domain:sea'],
      pinned: true,
    }
    const asked = {
      caseId: 'case-1',
      scope: ['domain:sea'],
      query: 'Hello',
      expect: { pinnedFacts: { mustInclude: ['b-1'] } },
    }
    const manifest = (fields: object) =>
      aManifest({
        runner: 'retrieval',
        files: { beliefs: 'beliefs.json', cases: 'cases.json' },
        cases: [{ id: 'case-1', prompt: 'Hello' }],
        ...fields,
      })
    const files = { 'beliefs.json': [belief], 'cases.json': [asked] }
    plant(join(place.work, 'pins'), { 'manifest.json': manifest({ ablations: ['search off'] }), ...files })
    plant(join(place.work, 'none'), { 'manifest.json': manifest({}), ...files })
    plant(join(place.work, 'odd'), { 'manifest.json': manifest({ ablations: ['gravity off'] }), ...files })

    const measured = await place.run('benchmark', 'run', './pins', '--ablations')

    expect(measured.exitCode).toBe(1)
    expect(measured.stdout).toContain('With search off, 1/1 of the cases that expect something pass, against 1/1')
    expect(await place.run('benchmark', 'run', './none', '--ablations')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('declares no ablations'),
    })
    expect(await place.run('benchmark', 'run', './odd', '--ablations')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('have no ablation "gravity off"'),
    })
  })

  it.each([
    [['benchmark', 'run'], 'No pack is given.'],
    [['benchmark', 'run', 'nowhere'], 'There is no pack "nowhere".'],
    [['benchmark', 'run', 'retrieval-precision', '--resume', 'x'], '--resume takes no packs'],
    [['benchmark', 'run', '--resume', 'x', '--seed', '7'], '--seed cannot be given with --resume'],
    [['benchmark', 'run', '--resume', 'x', '--explain'], '--explain cannot be given with --resume'],
    [['benchmark', 'run', 'retrieval-precision', '--repeats', '0'], '--repeats: "0" is not a whole number'],
    [['benchmark', 'run', 'a', 'b', '--run-id', 'x'], '--run-id can be given with one pack and one system only.'],
    [['benchmark', 'snapshot'], '--snapshot-id is missing.'],
    [['benchmark', 'snapshot', '--snapshot-id', '../x'], '"../x" is not a safe id.'],
    [['benchmark', 'gate', '--base', 'x'], '--candidate is missing.'],
    [['benchmark', 'gate', '--base', 'x', '--candidate', 'y', '--accept-changed', 'no reason'], 'gives no reason'],
    [['benchmark', 'capture', 'hello'], 'No expectation is given.'],
  ])('%j is wrong usage', async (argv, message) => {
    using place = harness()

    const { exitCode, stderr } = await place.run(...argv)

    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) })
  })
})

describe('benchmark recall', () => {
  it('silent flag fall-through: an incomplete combination of options is wrong usage, not another command', async () => {
    using place = harness()

    for (const argv of [
      ['--base', 'evals'],
      ['--candidate', 'evals'],
      ['--create-snapshot'],
      ['--snapshot-id', 'a', '--force'],
      ['--validate', 'x', '--snapshot-id', 'a'],
    ]) {
      expect((await place.run('benchmark', 'recall', ...argv)).exitCode).toBe(2)
    }
  })

  it('follows its options, and reports the actions it took', async () => {
    using place = harness()
    plant(place.store, { 'runs/run-001.json': aRun() })
    plant(place.work, { 'mine/manifest.json': aManifest() })
    const mode = async (...argv: readonly string[]) => (await place.json('benchmark', 'recall', ...argv)).document

    expect(await mode()).toMatchObject({ schemaVersion: 1, mode: 'status', status: { runs: { total: 1 } } })
    expect(await mode('--validate', 'mine')).toMatchObject({
      mode: 'validate',
      validate: { benchmarkId: 'ama-memory' },
    })
    expect(await mode('--snapshot-id', 'a', '--create-snapshot')).toMatchObject({
      mode: 'snapshot',
      snapshot: { snapshot: { snapshotId: 'a' } },
    })
    plant(place.store, { 'runs/run-002.json': aRun({ runId: 'run-002' }) })
    expect(await mode('--snapshot-id', 'a')).toMatchObject({
      mode: 'baseline-report',
      baselineReport: { passed: true },
    })
    plant(join(place.work, 'base'), { 'runs/run-000.json': aRun({ runId: 'run-000' }) })
    expect(await mode('--base', 'base', '--candidate', 'evals')).toMatchObject({
      mode: 'ci-gate',
      ciGate: { passed: true },
    })
  })
})

describe('the gate', () => {
  it('prints a report for each reader', async () => {
    using place = harness()
    plant(join(place.work, 'base'), { 'runs/run-001.json': aRun() })
    plant(join(place.work, 'candidate'), { 'runs/run-001.json': aRun({ passed: 8 }) })
    const gate = (...argv: readonly string[]) =>
      place.run('benchmark', 'gate', '--base', 'base', '--candidate', 'candidate', ...argv)

    const text = await gate()
    const md = await gate('--format', 'md')
    const junit = await gate('--format', 'junit')
    const github = await gate('--format', 'github')

    expect([text, md, junit, github].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1])
    expect(text.stdout).toContain('ama-memory: passRate fell from 0.75 to 0.666667.')
    expect(md.stdout).toContain('# Benchmark comparison: regression')
    expect(junit.stdout).toContain('<failure message="ama-memory: passRate fell')
    expect(github.stdout).toBe(md.stdout)
    expect(github.stderr).toContain('::error title=Benchmark regression::ama-memory')
  })

  it('names benchmarks that only the candidate has', async () => {
    using place = harness()
    plant(join(place.work, 'base'), { 'runs/run-000.json': aRun({ runId: 'run-000' }) })
    plant(join(place.work, 'candidate'), {
      'runs/run-001.json': aRun(),
      'runs/run-002.json': aRun({ runId: 'run-002', benchmarkId: 'newcomer' }),
    })

    const gate = await place.run('benchmark', 'gate', '--base', 'base', '--candidate', 'candidate')

    expect(gate).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('new in the candidate\n  newcomer') })
  })

  it('refuses to accept a change of a benchmark that the base does not have', async () => {
    using place = harness()
    for (const store of ['base', 'candidate'])
      plant(join(place.work, store), { [`runs/${store}.json`]: aRun({ runId: store }) })
    const gate = (accepted: string) =>
      place.run('benchmark', 'gate', '--base', 'base', '--candidate', 'candidate', '--accept-changed', accepted)

    expect(await gate('ama-memory: two cases added')).toMatchObject({ exitCode: 0 })
    expect(await gate('ama-memori: two cases added')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/the base has no benchmark "ama-memori".*ama-memory/su),
    })
  })

  it('exits with 0, 1, 3 and 4', async () => {
    using place = harness()
    plant(join(place.work, 'base'), { 'runs/run-000.json': aRun({ runId: 'run-000' }) })
    plant(join(place.work, 'same'), { 'runs/run-001.json': aRun() })
    plant(join(place.work, 'worse'), { 'runs/run-001.json': aRun({ passed: 1 }) })
    plant(join(place.work, 'broken'), { 'runs/run-001.json': '{' })
    plant(join(place.work, 'fewer'), { 'runs/run-001.json': aRun({ passed: 1, total: 1 }) })

    const codes: (number | null)[] = []
    for (const candidate of ['same', 'worse', 'broken', 'fewer']) {
      codes.push((await place.run('benchmark', 'gate', '--base', 'base', '--candidate', candidate)).exitCode)
    }

    expect(codes).toEqual([0, 1, 3, 4])
  })
})

describe('shadow recall', () => {
  it('records recalls without their text', async () => {
    using place = harness(shadowMode)
    await place.run('remember', 'A dinghy.', '--name', 'Albatross', '--scope', 'domain:sea')
    await place.run('recall', 'Is the Albatross ready?', '--scope', 'domain:sea')
    await place.run('recall', 'Is the Albatross dry?', '--scope', 'domain:sea')

    const status = await place.json('shadow', 'status')

    expect(status).toMatchObject({ exitCode: 0, document: { recording: true, records: 2, bySource: { bm25: 2 } } })
    const shadows = readdirSync(join(place.store, 'shadow'), { recursive: true, encoding: 'utf8' })
    const texts = shadows
      .filter((file) => file.endsWith('.json'))
      .map((file) => readFileSync(join(place.store, 'shadow', file), 'utf8'))
    expect(texts).toHaveLength(2)
    expect(texts.join()).not.toMatch(/albatross|dinghy|ready|dry/iu)
  })

  it('does not break recall if the store is broken', async () => {
    using place = harness(shadowMode)
    writeFileSync(place.store, 'a file where the store should be')
    await place.run('remember', 'A dinghy.', '--name', 'Albatross', '--scope', 'domain:sea')

    const { exitCode, stdout } = await place.run('recall', 'Is the Albatross ready?', '--scope', 'domain:sea')

    expect(exitCode).toBe(0)
    expect(stdout).toContain('A dinghy.')
  })
})

describe('benchmark capture', () => {
  it('turns a wrong recall into a case that fails until it is corrected', async () => {
    using place = harness()
    const at = ['--scope', 'domain:sea']
    await place.run('remember', 'A dinghy.', '--name', 'Albatross', ...at)
    await place.run('remember', 'At nine.', '--name', 'Sunday race', '--alias', 'Sunday', ...at)
    const message = 'Is the Albatross ready for Sunday?'

    const captured = await place.run(
      'benchmark',
      'capture',
      message,
      ...at,
      '--expect',
      'Albatross',
      '--reject',
      'Sunday race',
    )
    const precious = await place.json('benchmark', 'capture', message, ...at, '--as-is', '--evals', place.store)
    const ran = await place.json('benchmark', 'run', 'my-cases')
    const shown = await place.run('benchmark', 'run', 'my-cases')

    expect(captured).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"Sunday race" was recalled, but must not be'),
    })
    expect(precious.document).toMatchObject({ passesNow: true, isFaithful: true })
    expect(ran).toMatchObject({ exitCode: 1, document: { runs: [{ totalCases: 2, passedCases: 1 }] } })
    expect(shown.stdout).toContain(`"${message}": relevant beliefs: "Sunday race" was recalled, but must not be.`)
  })

  it('checks quotes with --as-is, which excludes other expectations', async () => {
    using place = harness()
    await place.run('hear', 'The boathouse key hangs behind the green cupboard.', '--at', '2026-05-03T10:00:00Z')
    const message = 'Where does the boathouse key hang?'
    const { quotes } = JSON.parse((await place.run('recall', message, '--json')).stdout)
    const turn: string = quotes[0].turn

    const asIs = await place.run('benchmark', 'capture', message, '--as-is')
    const both = await place.run('benchmark', 'capture', message, '--as-is', '--expect-quote', turn)

    expect(asIs.stdout).toContain('Recalls no belief; quotes "The boathouse key hangs behind the green cupboard.".')
    expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--as-is cannot be combined') })
  })

  it('with --replace reports that there was no case to replace', async () => {
    using place = harness()
    await place.run('remember', 'A dinghy.', '--name', 'Albatross')
    const capture = ['benchmark', 'capture', 'Is the Albatross ready?', '--as-is', '--replace']

    const first = await place.run(...capture)
    const second = await place.run(...capture)

    expect(first.stderr).toContain('Nothing was replaced')
    expect(second.stderr).not.toContain('Nothing was replaced')
  })

  it('prints a command that runs as printed', async () => {
    using place = harness()
    await place.run('remember', 'A dinghy.', '--name', 'Albatross')

    const { stderr } = await place.run('benchmark', 'capture', 'Is the Albatross ready?', '--as-is')
    const { exitCode } = await place.run('benchmark', 'run', 'my-cases')

    expect(stderr.replaceAll(/\s+/gu, ' ')).toContain('with `credence benchmark run my-cases`')
    expect(exitCode).toBe(0)
  })
})

const recordsOf = (store: string, runId: string): string[] =>
  readFileSync(join(store, 'runs', runId, 'cases.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')

/** Implements the HTTP contract: accepts beliefs, finds nothing, and does not answer the fifth search until released. */
async function stallingServer() {
  const { createServer } = await import('node:http')
  let searches = 0
  let markStalled = (): void => {}
  let letGo = (): void => {}
  const stalled = new Promise<void>((resolve) => {
    markStalled = resolve
  })
  const freed = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    if (request.url === '/search') {
      searches += 1
      if (searches === 5) {
        markStalled()
        await freed
      }
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/search' ? { results: [] } : { id: 'x', ok: true }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    stalled,
    letGo,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

describe('the store of a killed process', () => {
  it('is read without the unfinished record', async () => {
    using place = harness()
    await place.run('benchmark', 'run', 'session-drift', '--run-id', 'r')
    plant(place.store, {
      [`runs/.tmp-${2 ** 30}-0a0b0c0d-r.json`]: '{"half',
      [`benchmarks/.staged-${2 ** 30}-0a0b0c0d-pack/manifest.json`]: '{',
    })

    const { document } = await place.json('benchmark', 'status')

    expect(document).toMatchObject({ runs: { total: 1, invalid: 0 }, benchmarks: { total: 0, invalid: 0 } })
  })
})
