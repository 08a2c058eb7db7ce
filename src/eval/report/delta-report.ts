import type { BenchmarkComparison, FigureComparison } from '../compare/compare.ts'
import type { InvalidCounts } from '../gate/ci-gate.ts'
import {
  changeSentence,
  formatFigure,
  gateExitCodes,
  type Judgement,
  runNameOf,
  type TakenRun,
  worstOf,
} from '../gate/gate.ts'
import type { BaselineSnapshot } from '../store/schemas/run.ts'

/** The snapshot to compare with; null if the base is the latest runs of a store, or if there is no base. */
export type Reference = { readonly snapshot: BaselineSnapshot; readonly resolvedFrom: 'base' | 'candidate' } | null

/** The result of a comparison as JSON; the other formats are rendered from it. */
export type DeltaReport = ReturnType<typeof deltaReport>

/** One report of all comparisons of a candidate, with the worst verdict. */
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
  const { snapshot = null, resolvedFrom = null } = about.reference ?? {}
  const verdicts = judgements.flatMap((judgement) => judgement.verdicts)
  const deltas = verdicts.flatMap(({ comparison }) => (comparison === null ? [] : [deltaOf(comparison)]))
  const lines = (of: (delta: BenchmarkDelta) => readonly string[]): readonly string[] =>
    deltas.flatMap((delta) => of(delta).map((line) => `${runNameOf(delta)}: ${line}`))
  const reasons = judgements.flatMap((judgement) => judgement.reasons)
  return {
    schemaVersion: 1 as const,
    passed: verdict === 'pass',
    verdict,
    exitCode: gateExitCodes[verdict],
    // A reason against the candidate is in every judgement, so repetitions are removed.
    reasons: reasons.filter(({ line }, index) => reasons.findIndex((other) => other.line === line) === index),
    /** For every benchmark and system: the verdict, the reason in one line, the next step, and the compared runs. */
    verdicts: verdicts.map(({ comparison: _, ...rest }) => rest),
    baselineSnapshotId: snapshot?.snapshotId ?? null,
    baselineCreatedAt: snapshot?.createdAt ?? null,
    baselineSourceRootDir: snapshot?.sourceRootDir ?? null,
    /** The side whose snapshot was used: `candidate` only if the base has none. */
    baselineResolvedFrom: resolvedFrom,
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

type BenchmarkDelta = ReturnType<typeof deltaOf>

function deltaOf({ unjudged: _, remedy: _remedy, ...comparison }: BenchmarkComparison) {
  const { basePassRate, candidatePassRate, figures, notes } = comparison
  const sentences = (...verdicts: readonly FigureComparison['verdict'][]): readonly string[] =>
    figures.filter(({ verdict }) => verdicts.includes(verdict)).map(changeSentence)
  const moved = figures.flatMap(({ figure, delta }) =>
    delta === null || figure === 'passRate' || figure === 'errorCases' ? [] : [[figure, delta] as const],
  )
  return {
    ...comparison,
    passRateDelta: candidatePassRate - basePassRate,
    metricDeltas: Object.fromEntries(moved),
    regressions: sentences('worse', 'dropped'),
    improvements: sentences('better'),
    notes: [...notes, ...sentences('new')],
  }
}

export const verdictWords: Readonly<Record<DeltaReport['verdict'], string>> = {
  pass: 'passed',
  regression: 'regression',
  invalid: 'invalid documents',
  'cannot tell': 'cannot tell',
}

/** The comparison as Markdown for a pull request or release notes. Deterministic: the same report gives the same bytes. */
export function deltaMarkdown(report: DeltaReport): string {
  const reasons = report.reasons.map(({ line, next }) => `${line} ${next}`)
  return [
    `# Benchmark comparison: ${verdictWords[report.verdict]}`,
    headerMarkdown(report),
    section('Reasons', reasons),
    section('Improvements', report.improvements),
    section('Notes', report.notes),
    section('Runs', report.verdicts.map(takenRunText)),
    ['## Benchmarks', ...(report.deltas.length === 0 ? ['none'] : report.deltas.map(benchmarkMarkdown))].join('\n\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

function headerMarkdown(report: DeltaReport): string {
  const invalid = Object.entries(report.invalidArtifacts).map(([side, counts]) => {
    const listed = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
    return `- Invalid in the ${side}: ${listed.join(', ')}`
  })
  const facts: Readonly<Record<string, string | number | null>> = {
    Passed: report.passed ? 'yes' : 'no',
    Baseline: baselineText(report),
    'Baseline created': report.baselineCreatedAt,
    'Baseline source': report.baselineSourceRootDir && escapeMarkdown(report.baselineSourceRootDir),
    Candidate: escapeMarkdown(report.candidateRootDir),
    'Benchmarks compared': report.comparedBenchmarks,
  }
  return [
    ...Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [`- ${name}: ${fact}`])),
    ...listLine('Missing in the candidate', report.missingCandidateBenchmarks),
    ...listLine('New in the candidate', report.newBenchmarks),
    ...invalid,
  ].join('\n')
}

function baselineText({ baselineSnapshotId, baselineResolvedFrom, baseRootDir }: DeltaReport): string {
  if (baselineSnapshotId !== null) {
    const own = baselineResolvedFrom === 'candidate' ? ", the candidate's own, because the base has none" : ''
    return `snapshot ${escapeMarkdown(baselineSnapshotId)}${own}`
  }
  return baseRootDir === null ? 'none' : `latest runs in ${escapeMarkdown(baseRootDir)}`
}

function benchmarkMarkdown(delta: BenchmarkDelta): string {
  const { baseRunId, candidateRunId, obstacles, figures, cases } = delta
  const title = `### ${escapeMarkdown(runNameOf(delta))}\n\n${escapeMarkdown(baseRunId)} → ${escapeMarkdown(candidateRunId)}`
  if (obstacles.length > 0) return [title, ...obstacles.map((line) => `- ${escapeMarkdown(line)}`)].join('\n')
  const rows = figures.map(({ figure, base, candidate, delta: change, verdict, test }) => {
    const evidence = test === null ? '' : `p = ${test.adjustedP.toPrecision(2)}, n = ${test.pairs}`
    const moved = change === null ? '' : `${change > 0 ? '+' : ''}${formatFigure(change)}`
    return `| ${[figure, formatFigure(base), formatFigure(candidate), moved, verdict, evidence].map(escapeMarkdown).join(' | ')} |`
  })
  const table = ['| figure | base | candidate | change | verdict | evidence |', '|---|---:|---:|---:|---|---|', ...rows]
  const changes = [...listLine('Broken', cases?.broken ?? []), ...listLine('Fixed', cases?.fixed ?? [])]
  return [title, table.join('\n'), ...changes].join('\n\n')
}

/** A sentence with the run that represents each side, and why it was chosen. */
export function takenRunText(one: DeltaReport['verdicts'][number]): string {
  const side = (taken: TakenRun | null): string => (taken === null ? 'no run' : `${taken.runId} (${taken.why})`)
  return `${runNameOf(one)}: ${one.verdict}. Base: ${side(one.base)}. Candidate: ${side(one.candidate)}.`
}

const section = (title: string, lines: readonly string[]): string =>
  [`## ${title}`, lines.length === 0 ? 'none' : lines.map((line) => `- ${escapeMarkdown(line)}`).join('\n')].join(
    '\n\n',
  )

const maxListed = 10

function listLine(label: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return []
  const more = ids.length > maxListed ? ` and ${ids.length - maxListed} more` : ''
  return [`- ${label}: ${ids.slice(0, maxListed).map(escapeMarkdown).join(', ')}${more}`]
}

/** Escapes ids and messages, so that they cannot add markup, links or line breaks. */
const escapeMarkdown = (text: string): string => text.replace(/\s+/gu, ' ').replace(/[\\`*_{}[\]<>#|!~@]/gu, '\\$&')

/** For GitHub Actions: the Markdown for the step summary, and one annotation per reason for the log. */
export function deltaGithub(report: DeltaReport) {
  const errors = report.reasons.map(
    ({ kind, line, next }) => `::error title=${escapeProperty(`Benchmark ${kind}`)}::${escapeData(`${line} ${next}`)}`,
  )
  const notices = report.notes.map((note) => `::notice title=Benchmark::${escapeData(note)}`)
  return { summary: deltaMarkdown(report), annotations: [...errors, ...notices] }
}

/** Workflow commands are lines; characters that could end one early are percent-encoded. */
const escapeData = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** JUnit XML: a test case per benchmark and system, and one named `artifacts` for reasons that concern all of them. */
export function deltaJunit(report: DeltaReport): string {
  const nameIn = ({ benchmarkId, system }: DeltaReport['reasons'][number]): string =>
    benchmarkId === null ? 'artifacts' : runNameOf({ benchmarkId, system })
  const names = [...new Set([...report.deltas.map(runNameOf), ...report.reasons.map(nameIn)])].sort()
  const all = ['artifacts', ...names.filter((name) => name !== 'artifacts')].map((name) => ({
    name,
    reasons: report.reasons.filter((reason) => nameIn(reason) === name),
  }))
  const failures = all.filter(({ reasons }) => reasons.some(({ kind }) => kind === 'regression')).length
  const errors = all.filter(({ reasons }) => reasons.length > 0).length - failures
  const attributes = `name="credence benchmark gate" tests="${all.length}" failures="${failures}" errors="${errors}"`
  const cases = all.map(({ name, reasons }) => testCase(name, reasons)).join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite ${attributes}>\n${cases}\n</testsuite>\n</testsuites>\n`
}

function testCase(name: string, reasons: DeltaReport['reasons']): string {
  const open = `<testcase classname="benchmark" name="${escapeXml(name)}"`
  if (reasons.length === 0) return `${open}/>`
  // A regression is a failed test; a result that could not be judged is a test error.
  const tag = reasons.some(({ kind }) => kind === 'regression') ? 'failure' : 'error'
  const text = reasons.map(({ line, next }) => `${line} ${next}`).join('\n')
  return `${open}><${tag} message="${escapeXml(reasons[0]?.line ?? '')}">${escapeXml(text)}</${tag}></testcase>`
}

const entities: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}

const escapeXml = (text: string): string =>
  text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '')
    .replace(/[<>&"']/gu, (character) => entities[character] ?? '')
