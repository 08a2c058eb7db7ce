import type { BenchmarkComparison, FigureComparison } from '../compare/compare.ts'
import type { InvalidCounts } from '../gate/ci-gate.ts'
import { changeSentence, gateExitCodes, type Judgement, nameOf, shown, type TakenRun, worstOf } from '../gate/gate.ts'
import type { BaselineSnapshot } from '../store/schemas/run.ts'

/** How one benchmark changed on one system. */
export type BenchmarkDelta = ReturnType<typeof deltaOf>

/** What a candidate was held against. */
export type Reference =
  | {
      readonly kind: 'snapshot'
      readonly snapshot: BaselineSnapshot
      readonly resolvedFrom: 'base' | 'candidate'
    }
  | { readonly kind: 'store' }
  | { readonly kind: 'nothing' }

/** The result of a comparison, for machines; the other forms are made from it. */
export type DeltaReport = ReturnType<typeof deltaReport>

/** One report of all that a candidate was held against. The worst judgement decides. */
export function deltaReport(
  judgements: readonly Judgement[],
  about: {
    readonly reference: Reference
    readonly baseRootDir: string | null
    readonly candidateRootDir: string
    readonly invalid: { readonly base?: InvalidCounts; readonly candidate: InvalidCounts }
  },
) {
  const verdict = worstOf(judgements.map((judgement) => judgement.verdict))
  const snapshot = about.reference.kind === 'snapshot' ? about.reference.snapshot : null
  const verdicts = judgements.flatMap((judgement) => judgement.verdicts)
  const deltas = verdicts.flatMap(({ comparison }) => (comparison === null ? [] : [deltaOf(comparison)]))
  const lines = (of: (delta: BenchmarkDelta) => readonly string[]): readonly string[] =>
    deltas.flatMap((delta) => of(delta).map((line) => `${nameOf(delta)}: ${line}`))
  const reasons = judgements.flatMap((judgement) => judgement.reasons)
  return {
    schemaVersion: 1 as const,
    passed: verdict === 'pass',
    verdict,
    exitCode: gateExitCodes[verdict],
    // What is wrong with the candidate is said by every judgement about it.
    reasons: reasons.filter(({ line }, index) => reasons.findIndex((other) => other.line === line) === index),
    /** Of every benchmark and system: the verdict, the reason in one line, what to do next, and the runs it rests on. */
    verdicts: verdicts.map(({ comparison: _, ...rest }) => rest),
    baselineSnapshotId: snapshot?.snapshotId ?? null,
    baselineCreatedAt: snapshot?.createdAt ?? null,
    baselineSourceRootDir: snapshot?.sourceRootDir ?? null,
    /** Whose snapshot decided. `candidate`: the base has never had one, so the candidate's own began. */
    baselineResolvedFrom: about.reference.kind === 'snapshot' ? about.reference.resolvedFrom : null,
    baseRootDir: about.baseRootDir,
    candidateRootDir: about.candidateRootDir,
    comparedBenchmarks: Math.max(...judgements.map(({ comparedBenchmarks }) => comparedBenchmarks)),
    missingCandidateBenchmarks: unique(judgements.flatMap((judgement) => judgement.missingCandidateBenchmarks)),
    newBenchmarks: unique(judgements.flatMap((judgement) => judgement.newBenchmarks)),
    invalidArtifacts: about.invalid,
    regressions: [
      ...lines(({ regressions }) => regressions),
      ...verdicts.filter((one) => one.verdict === 'regression' && one.comparison === null).map(({ reason }) => reason),
    ],
    improvements: lines(({ improvements }) => improvements),
    notes: lines(({ notes }) => notes),
    deltas,
  }
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

function deltaOf(comparison: BenchmarkComparison) {
  const { benchmarkId, system, baseRunId, candidateRunId, basePassRate, candidatePassRate } = comparison
  const { figures, obstacles, notes, cases } = comparison
  const sentences = (...verdicts: readonly FigureComparison['verdict'][]): readonly string[] =>
    figures.filter(({ verdict }) => verdicts.includes(verdict)).map(changeSentence)
  const moved = figures.flatMap(({ figure, delta }) =>
    delta === null || figure === 'passRate' || figure === 'errorCases' ? [] : [[figure, delta] as const],
  )
  return {
    benchmarkId,
    system,
    baseRunId,
    candidateRunId,
    basePassRate,
    candidatePassRate,
    passRateDelta: candidatePassRate - basePassRate,
    metricDeltas: Object.fromEntries(moved),
    regressions: sentences('worse', 'dropped'),
    improvements: sentences('better'),
    obstacles,
    notes: [...notes, ...sentences('new')],
    figures,
    cases,
  }
}

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

/**
 * What GitHub Actions shows: the Markdown for the step summary, and one annotation per reason for the log, which GitHub
 * lists above the files of a pull request.
 */
export function deltaGithub(report: DeltaReport): {
  readonly summary: string
  readonly annotations: readonly string[]
} {
  const errors = report.reasons.map(
    ({ kind, line, next }) => `::error title=${property(`Benchmark ${kind}`)}::${data(`${line} ${next}`)}`,
  )
  const notices = report.notes.map((note) => `::notice title=Benchmark::${data(note)}`)
  return { summary: deltaMarkdown(report), annotations: [...errors, ...notices] }
}

/** Workflow commands are lines: what could end one early is written as a code. */
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** The comparison as JUnit XML: a test case for each benchmark, and one for what concerns all of them. */
export function deltaJunit(report: DeltaReport): string {
  const general = report.reasons.filter(({ benchmarkId }) => benchmarkId === null)
  const ids = [...new Set([...report.deltas.map(nameOf), ...namesOf(report.reasons)])].sort()
  const about = (name: string) =>
    report.reasons.filter(({ benchmarkId, system }) => benchmarkId !== null && nameOf({ benchmarkId, system }) === name)
  const cases = [testCase('artifacts', general), ...ids.map((id) => testCase(id, about(id)))]
  const all = [general, ...ids.map(about)]
  const failures = all.filter((reasons) => reasons.some(({ kind }) => kind === 'regression')).length
  const errors = all.filter((reasons) => reasons.length > 0).length - failures
  const attributes = `name="credence benchmark gate" tests="${cases.length}" failures="${failures}" errors="${errors}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite ${attributes}>\n${cases.join('\n')}\n</testsuite>\n</testsuites>\n`
}

function testCase(name: string, reasons: DeltaReport['reasons']): string {
  const open = `<testcase classname="benchmark" name="${xml(name)}"`
  if (reasons.length === 0) return `${open}/>`
  // A regression is a failed test; what could not be judged is an error of the test itself.
  const tag = reasons.some(({ kind }) => kind === 'regression') ? 'failure' : 'error'
  const text = reasons.map(({ line, next }) => `${line} ${next}`).join('\n')
  return `${open}><${tag} message="${xml(reasons[0]?.line ?? '')}">${xml(text)}</${tag}></testcase>`
}

const namesOf = (reasons: DeltaReport['reasons']): readonly string[] =>
  reasons.flatMap(({ benchmarkId, system }) => (benchmarkId === null ? [] : [nameOf({ benchmarkId, system })]))

const entities: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Characters that XML does not know at all are left out. */
const xml = (text: string): string =>
  text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '')
    .replace(/[<>&"']/gu, (character) => entities[character] ?? '')
