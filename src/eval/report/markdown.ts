import type { BenchmarkDelta, DeltaReport } from '../gate/delta-report.ts'
import { nameOf, shown, type TakenRun } from '../gate/gate.ts'

const mostCasesNamed = 10

/** The comparison for a pull request or release notes. Same report, same bytes. */
export function deltaMarkdown(report: DeltaReport): string {
  return [
    `# Benchmark comparison: ${verdictWords[report.verdict]}`,
    header(report),
    section(
      'Reasons',
      report.reasons.map(({ line, next }) => `${line} ${next}`),
    ),
    section('Improvements', report.improvements),
    section('Notes', report.notes),
    section('Runs', report.verdicts.map(takenText)),
    ['## Benchmarks', ...(report.deltas.length === 0 ? ['none'] : report.deltas.map(benchmark))].join('\n\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

export const verdictWords: Readonly<Record<DeltaReport['verdict'], string>> = {
  pass: 'passed',
  regression: 'regression',
  invalid: 'invalid documents',
  'cannot tell': 'cannot tell',
}

function header(report: DeltaReport): string {
  const invalid = Object.entries(report.invalidArtifacts).map(([side, counts]) => {
    const listed = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
    return `- Invalid in the ${side}: ${listed.join(', ')}`
  })
  return [
    `- Passed: ${report.passed ? 'yes' : 'no'}`,
    `- Baseline: ${baselineText(report)}`,
    ...(report.baselineCreatedAt === null ? [] : [`- Baseline created: ${report.baselineCreatedAt}`]),
    ...(report.baselineSourceRootDir === null ? [] : [`- Baseline source: ${escaped(report.baselineSourceRootDir)}`]),
    `- Candidate: ${escaped(report.candidateRootDir)}`,
    `- Benchmarks compared: ${report.comparedBenchmarks}`,
    ...named('Missing in the candidate', report.missingCandidateBenchmarks),
    ...named('New in the candidate', report.newBenchmarks),
    ...invalid,
  ].join('\n')
}

function baselineText({ baselineSnapshotId, baselineResolvedFrom, baseRootDir }: DeltaReport): string {
  if (baselineSnapshotId !== null) {
    const own = baselineResolvedFrom === 'candidate' ? ", the candidate's own, because the base has none" : ''
    return `snapshot ${escaped(baselineSnapshotId)}${own}`
  }
  return baseRootDir === null ? 'none' : `latest runs in ${escaped(baseRootDir)}`
}

function benchmark(delta: BenchmarkDelta): string {
  const { baseRunId, candidateRunId, obstacles, figures, cases } = delta
  const title = `### ${escaped(nameOf(delta))}\n\n${escaped(baseRunId)} → ${escaped(candidateRunId)}`
  if (obstacles.length > 0) return [title, ...obstacles.map((line) => `- ${escaped(line)}`)].join('\n')
  const rows = figures.map(({ figure, base, candidate, delta: change, verdict, test }) => {
    const evidence = test === null ? '' : `p = ${test.adjustedP.toPrecision(2)}, n = ${test.pairs}`
    const sign = change !== null && change > 0 ? '+' : ''
    const cells = [
      figure,
      shown(base),
      shown(candidate),
      change === null ? '' : sign + shown(change),
      verdict,
      evidence,
    ]
    return `| ${cells.map(escaped).join(' | ')} |`
  })
  const table = ['| figure | base | candidate | change | verdict | evidence |', '|---|---:|---:|---:|---|---|', ...rows]
  return [title, table.join('\n'), ...named('Broken', cases?.broken ?? []), ...named('Fixed', cases?.fixed ?? [])].join(
    '\n\n',
  )
}

/** Which run stood for each side, and why that one. */
export function takenText(one: DeltaReport['verdicts'][number]): string {
  const side = (taken: TakenRun | null): string => (taken === null ? 'no run' : `${taken.runId} (${taken.why})`)
  return `${nameOf(one)}: ${one.verdict}. Base: ${side(one.base)}. Candidate: ${side(one.candidate)}.`
}

const section = (title: string, lines: readonly string[]): string =>
  [`## ${title}`, lines.length === 0 ? 'none' : lines.map((line) => `- ${escaped(line)}`).join('\n')].join('\n\n')

function named(label: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return []
  const more = ids.length > mostCasesNamed ? ` and ${ids.length - mostCasesNamed} more` : ''
  return [`- ${label}: ${ids.slice(0, mostCasesNamed).map(escaped).join(', ')}${more}`]
}

/** Ids and messages are data: nothing in them may become markup, a link or a new line. */
const escaped = (text: string): string => text.replace(/\s+/gu, ' ').replace(/[\\`*_{}[\]<>#|!~@]/gu, '\\$&')
