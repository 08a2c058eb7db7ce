import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSnapshot } from '../../src/eval/gate/baselines.ts'
import { gateStores } from '../../src/eval/gate/ci-gate.ts'
import type { CaseResult, CaseVerdict } from '../../src/eval/store/schemas/run.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { aBaseline, aRun, plant } from './eval-store.ts'
import { caseExample } from './example-documents.ts'

// Each test is a scenario in which the gate once passed a change without evidence, or failed a good one.

const verdictOf: Readonly<Record<string, CaseVerdict>> = { p: 'pass', f: 'fail', e: 'error' }

/** A run with case records: a letter for the verdict of each case, and a score unless the case is an error. */
function recorded(runId: string, verdicts: string, scores: readonly (number | null)[], fields: object = {}) {
  const results = [...verdicts].map((letter, index): CaseResult => {
    const verdict = verdictOf[letter] ?? 'skipped'
    return { id: `c${index}`, verdict, scores: { f1: verdict === 'error' ? null : (scores[index] ?? null) } }
  })
  const count = (verdict: CaseVerdict): number => results.filter((one) => one.verdict === verdict).length
  const known = results.flatMap(({ scores: own }) => own?.f1 ?? [])
  const summary = aRun({
    runId,
    passed: count('pass'),
    total: results.length,
    failedCases: count('fail'),
    errorCases: count('error'),
    metrics: { f1: known.reduce((sum, score) => sum + score, 0) / known.length },
    ...fields,
  })
  const lines = results.map(({ id, verdict, scores: own }) => {
    const { error: _, ...record } = { ...caseExample, error: undefined }
    const error = verdict === 'error' ? { error: { class: 'Error', message: 'broke' } } : {}
    const failures = verdict === 'fail' ? ['c0 is missing.'] : []
    return JSON.stringify({ ...record, caseId: id, repeat: 0, verdict, scores: own, failures, ...error })
  })
  return { [`runs/${runId}.json`]: summary, [`runs/${runId}/cases.jsonl`]: `${lines.join('\n')}\n` }
}

async function gated(base: object, candidate: object, options: { readonly now?: Date } = {}) {
  using place = temporaryDirectory()
  const ours = join(place.path, 'base')
  const theirs = join(place.path, 'candidate')
  plant(ours, { ...base })
  plant(theirs, { ...candidate })
  return await gateStores({ base: ours, candidate: theirs, ...options })
}

it('an error of the base that became an answer lowers no score', async () => {
  const report = await gated(recorded('run-1', 'ppe', [1, 1]), recorded('run-2', 'ppf', [1, 1, 0]))

  expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 })
})

it('a falling score among the cases that both sides answered is a regression, even if there are errors', async () => {
  const report = await gated(recorded('run-1', 'ppe', [1, 1]), recorded('run-2', 'ppp', [1, 0.5, 1]))

  expect(report).toMatchObject({ verdict: 'regression', exitCode: 1 })
  expect(report.reasons[0]?.line).toContain('f1 fell from 1 to 0.75')
})

it('a passing case that lost its score cannot be judged better', async () => {
  const report = await gated(recorded('run-1', 'ppp', [1, 1, 0.2]), recorded('run-2', 'ppp', [1, 1, null]))

  expect(report).toMatchObject({ verdict: 'cannot tell', exitCode: 4 })
  expect(report.reasons[0]?.line).toContain('1 case that passed on both sides lost a score: c2.')
})

it('a failing case that passes needs no score', async () => {
  const report = await gated(recorded('run-1', 'ppf', [1, 1, 0]), recorded('run-2', 'ppp', [1, 1, null]))

  expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 })
})

it('fewer repeats make a measurement less strict if results vary', async () => {
  const report = await gated(
    recorded('run-1', 'ppp', [1, 1, 1], { deterministic: false, repeats: 5 }),
    recorded('run-2', 'ppp', [1, 1, 1], { deterministic: false, repeats: 1 }),
  )

  expect(report).toMatchObject({ verdict: 'cannot tell', exitCode: 4 })
  expect(report.reasons[0]?.line).toContain('Different numbers of repeats: 5 and 1.')
  expect(report.reasons[0]?.next).toBe('Run both sides with the same system, seed and repeats.')
})

const acceptRuns = (root: string) =>
  createSnapshot(root, { snapshotId: 'required-main', createdAt: '2026-03-20T00:00:00Z', sourceRootDir: '.' })

it.each(['runs', 'snapshot'])(
  'a run compared with itself proves nothing about the candidate (base of %s)',
  async (kind) => {
    using place = temporaryDirectory()
    const base = join(place.path, 'base')
    const copy = join(place.path, 'copy')
    plant(base, { 'runs/run-001.json': aRun() })
    cpSync(base, copy, { recursive: true })
    if (kind === 'snapshot') await acceptRuns(base)

    for (const candidate of [base, copy]) {
      const report = await gateStores({ base, candidate })

      expect(report).toMatchObject({ verdict: 'cannot tell', exitCode: 4, comparedBenchmarks: 0 })
      expect(report.reasons[0]?.line).toBe(
        'ama-memory: both sides have the same run run-001, so the candidate was not measured.',
      )
    }
  },
)

it('passes only if the candidate has its own run for every benchmark of the base', async () => {
  const drawnRun = fc.record({
    runId: fc.constantFrom('run-1', 'run-2', 'run-3'),
    benchmarkId: fc.constantFrom('one', 'two'),
    passed: fc.constantFrom(8, 9, 9, 9),
  })
  const runs = fc.uniqueArray(drawnRun, { selector: ({ runId }) => runId, maxLength: 3 })
  const store = (drawn: readonly Parameters<typeof aRun>[0][]) =>
    Object.fromEntries(drawn.map((run) => [`runs/${run?.runId}.json`, aRun(run)]))
  const seen = new Set<string>()

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('runs', 'snapshot', "candidate's snapshot"),
      runs,
      runs,
      fc.boolean(),
      async (kind, ours, theirs, isCopied) => {
        using place = temporaryDirectory()
        const base = join(place.path, 'base')
        const candidate = join(place.path, 'candidate')
        plant(base, { 'runs/.keep': '', ...(kind === "candidate's snapshot" ? {} : store(ours)) })
        plant(candidate, { 'runs/.keep': '', ...store(isCopied ? ours : theirs) })
        if (kind === 'snapshot' && ours.length > 0) await acceptRuns(base)
        if (kind === "candidate's snapshot" && theirs.length > 0 && !isCopied) await acceptRuns(candidate)

        const report = await gateStores({ base, candidate, bootstrap: true })

        seen.add(`${kind} ${report.verdict}`)
        if (report.verdict !== 'pass') return
        expect(report.comparedBenchmarks).toBeGreaterThan(0)
        for (const verdict of report.verdicts) {
          expect(verdict.candidate).not.toBeNull()
          expect(verdict.candidate?.runId).not.toBe(verdict.base.runId)
        }
      },
    ),
    { numRuns: 300 },
  )
  expect([...seen]).toEqual(expect.arrayContaining(['runs pass', 'snapshot pass', 'snapshot cannot tell']))
})

it('a run dated in the future is invalid, because it hides every later run', async () => {
  const now = new Date('2026-03-20T00:00:00Z')
  const future = { startedAt: '2099-01-01T00:00:00Z', completedAt: '2099-01-01T00:00:00Z' }
  const report = await gated(
    { 'runs/run-001.json': aRun() },
    {
      'runs/run-002.json': aRun({ runId: 'run-002', ...future }),
      'runs/run-003.json': aRun({ runId: 'run-003', passed: 0 }),
    },
    { now },
  )

  expect(report).toMatchObject({ verdict: 'invalid', exitCode: 3 })
  expect(report.reasons[0]?.line).toContain('the run run-002 is dated 2099-01-01T00:00:00Z, which is in the future')
})

it('of two runs that ended at the same time the worse one counts', async () => {
  const report = await gated(
    { 'runs/run-001.json': aRun() },
    { 'runs/a.json': aRun({ runId: 'a', passed: 1 }), 'runs/z.json': aRun({ runId: 'z' }) },
  )

  expect(report).toMatchObject({ verdict: 'regression', exitCode: 1 })
})

it('a directory without the folders of a store is not a base, and neither is a file', async () => {
  using place = temporaryDirectory()
  const [directory, file, candidate] = ['directory', 'file', 'candidate'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(join(directory, 'elsewhere'), { recursive: true })
  writeFileSync(file, '')
  const benchmarks = [{ benchmarkId: 'ama-memory', runId: 'run-000', passRate: 0.75 }]
  plant(candidate, { 'baselines/required-main.json': aBaseline({ benchmarks }), 'runs/run-001.json': aRun() })

  const mistyped = await gateStores({ base: directory, candidate })
  const said = await gateStores({ base: directory, candidate, bootstrap: true })
  const noDirectory = await gateStores({ base: file, candidate, bootstrap: true })

  expect(mistyped).toMatchObject({ verdict: 'cannot tell', exitCode: 4 })
  expect(said).toMatchObject({ verdict: 'pass', baselineResolvedFrom: 'candidate' })
  expect(noDirectory).toMatchObject({ verdict: 'invalid', exitCode: 3 })
})

it('suggests no option that the command refuses: the name of a system may differ from its option', async () => {
  const system = { name: 'http-127-0-0-1-8080', version: '1' }
  const report = await gated({ 'runs/run-001.json': aRun({ system }) }, { 'runs/.keep': '' })

  expect(report).toMatchObject({ verdict: 'regression', exitCode: 1 })
  expect(report.reasons[0]?.next).toBe(
    'Run it again on http-127-0-0-1-8080, with the options of run-001: `credence benchmark run ama-memory`.',
  )
})
