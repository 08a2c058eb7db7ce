import type { PackRun } from '../kinds/retrieval/run-pack.ts'
import { invalid } from '../pack/manifest.ts'
import type { Provenance } from '../store/schemas/manifest.ts'
import { type Summary, summarise } from './retrieval-report.ts'

/** One backend with all its runs, or the reason why it did not run. */
export type BackendResult =
  | { readonly backend: string; readonly runs: readonly PackRun[] }
  | { readonly backend: string; readonly skipped: string }

/** A count of passes: `60/60`. */
type Tally = Pick<Summary, 'totalPassed' | 'totalCases' | 'errors'>

/** One line of the table of results. */
export type ComparisonRow = ReturnType<typeof comparisonRow>

export function comparisonRow(backend: string, runs: readonly PackRun[]) {
  const summaryOf = (some: readonly PackRun[]): Summary =>
    summarise(some.flatMap((run) => run.records.map(({ entry }) => entry)))
  const tallyOf = (some: readonly PackRun[]): Tally => {
    const { totalPassed, totalCases, errors } = summaryOf(some)
    return { totalPassed, totalCases, errors }
  }
  const sessions = runs.filter((run) => run.pack.kind === 'session')
  const others = runs.filter((run) => run.pack.kind !== 'session')
  const { passRateInterval95, meanPrecision, meanRecall, meanDriftScore, p50LatencyMs } = summaryOf(runs)
  return {
    backend,
    description: runs[0]?.subject.description ?? '',
    static: others.length === 0 ? null : tallyOf(others),
    session: sessions.length === 0 ? null : tallyOf(sessions),
    total: tallyOf(runs),
    ...{ passRateInterval95, meanPrecision, meanRecall, meanDriftScore, p50LatencyMs },
    packs: runs.map((run) => ({ id: run.pack.id, ...tallyOf([run]) })),
  }
}

/** The mark of a pack that the default system passes whole: it shows that nothing broke, and no more. */
export const saturated = 'regression suite (saturated)'

/** Only the default system decides: a control is meant to fail, or to pass everything. */
const isSaturated = (backend: string, { totalPassed, totalCases }: Tally): boolean =>
  backend === 'bm25' && totalPassed === totalCases

type Table = { readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }

/** A row per backend: passes with the uncertainty that a pass count leaves out. */
export function overallTable(rows: readonly ComparisonRow[]): Table {
  const evidence = rows.map(({ backend, total }) => (isSaturated(backend, total) ? saturated : ''))
  const hasEvidence = evidence.some((note) => note !== '')
  const titles = ['Backend', 'Static', 'Session', 'Total', '95 % interval', 'Precision', 'Recall', 'Drift']
  return {
    titles: hasEvidence ? [...titles, 'Evidence'] : titles,
    rows: rows.map((row, index) => [
      row.backend,
      tallyText(row.static),
      tallyText(row.session),
      tallyText(row.total),
      intervalText(row.passRateInterval95),
      decimal(row.meanPrecision),
      decimal(row.meanRecall),
      decimal(row.meanDriftScore),
      ...(hasEvidence ? [evidence[index] ?? ''] : []),
    ]),
  }
}

/** A row per backend and a column per pack. */
export function packTable(rows: readonly ComparisonRow[]): Table {
  const ids = [...new Set(rows.flatMap(({ packs }) => packs.map(({ id }) => id)))]
  const tally = (row: ComparisonRow | undefined, id: string) => row?.packs.find((pack) => pack.id === id) ?? null
  const ours = rows.find(({ backend }) => backend === 'bm25')
  const evidence = ids.map((id) => {
    const own = tally(ours, id)
    return own !== null && isSaturated('bm25', own) ? saturated : ''
  })
  const results = rows.map((row) => [row.backend, ...ids.map((id) => tallyText(tally(row, id)))])
  const isPlain = evidence.every((note) => note === '')
  return { titles: ['Backend', ...ids], rows: isPlain ? results : [...results, ['evidence', ...evidence]] }
}

export const tableMarkdown = ({ titles, rows }: Table): string =>
  [titles, titles.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n')

const tallyText = (tally: Tally | null): string => {
  if (tally === null) return '–'
  const errors = tally.errors === 0 ? '' : ` (${tally.errors} ${tally.errors === 1 ? 'error' : 'errors'})`
  return `${tally.totalPassed}/${tally.totalCases}${errors}`
}

const intervalText = (interval: Summary['passRateInterval95']): string =>
  interval === null ? '–' : `${(interval.low * 100).toFixed(1)}–${(interval.high * 100).toFixed(1)} %`

/** Two decimals; a value below 1 is not rounded up to it. */
const decimal = (value: number | null): string =>
  value === null ? '–' : value < 1 && value >= 0.995 ? '0.99' : value.toFixed(2)

const start = '<!-- measured: start -->'
const end = '<!-- measured: end -->'

type PackProvenance = { readonly id: string; readonly provenance: Provenance | undefined }

/** The measured part of the documentation: nothing in it depends on the machine. */
export function measuredMarkdown(
  rows: readonly ComparisonRow[],
  notes: readonly string[],
  packs: readonly PackProvenance[] = [],
): string {
  return [
    tableMarkdown(overallTable(rows)),
    '',
    'By pack:',
    '',
    tableMarkdown(packTable(rows)),
    '',
    ...provenanceLines(rows, packs),
    ...rows.map(({ backend, description }) => `- \`${backend}\`: ${description}.`),
    ...notes.map((note) => `- ${note}`),
  ].join('\n')
}

/** The figure of each pack when it was first run, beside today's. */
function provenanceLines(rows: readonly ComparisonRow[], packs: readonly PackProvenance[]): readonly string[] {
  const today = rows.find(({ backend }) => backend === 'bm25')?.packs ?? []
  const lines = packs.map(({ id, provenance: { casesWritten, by, firstSight } = {} }) => {
    const now = today.find((pack) => pack.id === id)
    const { passed, total, date, commit } = firstSight ?? {}
    const first = firstSight ? `${passed}/${total} (${date}, ${commit})` : 'not measured'
    const current = now === undefined ? '–' : `${now.totalPassed}/${now.totalCases}`
    return [id, casesWritten ?? 'unknown', by ?? 'unknown', first, current]
  })
  if (lines.length === 0) return []
  const titles = ['Pack', 'Cases written', 'By', 'First sight', 'Today']
  return ['Where the cases come from:', '', tableMarkdown({ titles, rows: lines }), '']
}

/** The document with the text between its markers replaced. */
export function withMeasured(document: string, file: string, measured: string): string {
  const [from, to] = [document.indexOf(start), document.indexOf(end)]
  if (from < 0 || to < from)
    throw invalid(`${file}: has no ${start} with ${end} after it.`, 'Put the two markers where the table belongs.')
  return `${document.slice(0, from + start.length)}\n${measured}\n${document.slice(to)}`
}
