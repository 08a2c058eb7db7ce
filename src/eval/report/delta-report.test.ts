import { describe, expect, it } from 'vitest'
import { type GateReason, judge, type Side } from '../gate/gate.ts'
import type { Figures } from '../score/figures.ts'
import { type DeltaReport, deltaGithub, deltaJunit, deltaMarkdown, deltaReport } from './delta-report.ts'

const none = { benchmarks: 0, runs: 0, shadows: 0, baselines: 0 }

function figures(benchmarkId: string, passRate: number): Figures {
  const shared = {
    errorCases: null,
    judgedCases: null,
    packHash: null,
    system: null,
    seed: null,
    repeats: null,
    isNoisy: false,
    declarations: [],
    cases: null,
  }
  return { ...shared, benchmarkId, runId: `run-of-${benchmarkId}`, passRate, totalCases: 12, metrics: {} }
}

function reportOf(
  base: readonly Figures[],
  candidate: readonly Figures[],
  reasons: readonly GateReason[] = [],
): DeltaReport {
  const sideOf = (list: readonly Figures[], own: readonly GateReason[]): Side => ({
    standings: list.map((side) => ({
      benchmarkId: side.benchmarkId,
      system: side.system?.name ?? null,
      taken: { runId: side.runId, status: 'completed', why: 'the only finished run' },
      figures: side,
      problems: [],
      outdated: null,
    })),
    reasons: own,
  })
  const before = base.map((side) => ({ ...side, runId: `base-${side.runId}` }))
  const judgement = judge(sideOf(before, []), sideOf(candidate, reasons))
  const about = { reference: null, baseRootDir: 'base', candidateRootDir: 'candidate' }
  return deltaReport([judgement], { ...about, invalid: { base: none, candidate: none } })
}

const worse = reportOf(
  [figures('a', 0.75), figures('b', 0.5)],
  [figures('a', 0.5), figures('b', 0.75), figures('c', 1)],
)
const hostile: GateReason = {
  kind: 'invalid',
  benchmarkId: null,
  system: null,
  next: 'Repair the file or remove it.',
  line: 'runs/x.json: notes is "<script>alert(1)</script> ]] & | [x](javascript:y)\n::set-output name=a::b\u0001',
}

describe('a comparison in Markdown', () => {
  it('shows the verdict, reasons, improvements and every metric', () => {
    expect(deltaMarkdown(worse)).toBe(`# Benchmark comparison: regression

- Passed: no
- Baseline: latest runs in base
- Candidate: candidate
- Benchmarks compared: 2
- New in the candidate: c
- Invalid in the base: 0 benchmarks, 0 runs, 0 shadows, 0 baselines
- Invalid in the candidate: 0 benchmarks, 0 runs, 0 shadows, 0 baselines

## Reasons

- a: passRate fell from 0.75 to 0.5. Look at the run run-of-a; if this is intended, accept it: \\\`credence benchmark snapshot --snapshot-id ID --force --accept-lower "reason"\\\`.

## Improvements

- b: passRate rose from 0.5 to 0.75.

## Notes

- a: The base does not say which content of the pack it was run on.
- b: The base does not say which content of the pack it was run on.

## Runs

- a: regression. Base: base-run-of-a (the only finished run). Candidate: run-of-a (the only finished run).
- b: pass. Base: base-run-of-b (the only finished run). Candidate: run-of-b (the only finished run).

## Benchmarks

### a

base-run-of-a → run-of-a

| figure | base | candidate | change | verdict | evidence |
|---|---:|---:|---:|---|---|
| passRate | 0.75 | 0.5 | -0.25 | worse |  |

### b

base-run-of-b → run-of-b

| figure | base | candidate | change | verdict | evidence |
|---|---:|---:|---:|---|---|
| passRate | 0.5 | 0.75 | +0.25 | better |  |
`)
  })

  it('escapes messages, so that they cannot become markup', () => {
    const markdown = deltaMarkdown(reportOf([], [], [hostile]))

    expect(markdown).not.toMatch(/(?<!\\)<script|(?<!\\)\[x\]|^::/mu)
  })
})

describe('a comparison as JUnit', () => {
  it('has a failure for each worse benchmark and an error for each that could not be judged', () => {
    const junit = deltaJunit(
      reportOf([figures('a', 1), figures('b', 1)], [figures('a', 0.5), figures('b', 1)], [hostile]),
    )

    expect(junit).toContain('tests="3" failures="1" errors="1"')
    expect(junit).toContain(
      '<testcase classname="benchmark" name="a"><failure message="a: passRate fell from 1 to 0.5."',
    )
    expect(junit).toContain('<testcase classname="benchmark" name="b"/>')
    expect(junit).not.toContain('<script>')
    expect(junit).not.toContain('\u0001')
  })
})

describe('a comparison for GitHub Actions', () => {
  it('annotates each reason on one line', () => {
    const { annotations, summary } = deltaGithub(reportOf([], [], [hostile]))

    expect(annotations[0]).toMatch(/^::error title=Benchmark invalid::runs\/x\.json/u)
    expect(annotations.every((line) => !line.includes('\n'))).toBe(true)
    expect(summary).toContain('# Benchmark comparison: invalid documents')
  })
})

describe('a comparison for machines', () => {
  it('contains the metrics of every benchmark, including those that improved', () => {
    expect(worse).toMatchObject({
      passed: false,
      exitCode: 1,
      comparedBenchmarks: 2,
      newBenchmarks: ['c'],
      deltas: [
        { benchmarkId: 'a', passRateDelta: -0.25, regressions: ['passRate fell from 0.75 to 0.5.'], improvements: [] },
        { benchmarkId: 'b', passRateDelta: 0.25, regressions: [], improvements: ['passRate rose from 0.5 to 0.75.'] },
      ],
    })
  })
})
