import type { PackRun } from '../kinds/retrieval/run-pack.ts'
import { invalid } from '../pack/manifest.ts'
import type { Interval } from '../score/statistics.ts'
import type { Provenance } from '../store/schemas/manifest.ts'
import { type Summary, summarise } from './retrieval-report.ts'

/** One backend with all its runs, or the reason why it did not run. */
export type BackendResult =
  | { readonly backend: string; readonly runs: readonly PackRun[] }
  | { readonly backend: string; readonly skipped: string }

/** Passes of something: `60/60`. */
export type Tally = Pick<Summary, 'totalPassed' | 'totalCases' | 'errors'>

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
    passRateInterval95,
    meanPrecision,
    meanRecall,
    meanDriftScore,
    p50LatencyMs,
    packs: runs.map((run) => ({ id: run.pack.id, ...tallyOf([run]) })),
  }
}

/** What every table says of a pack that the default system passes whole: it shows that nothing broke, and no more. */
export const saturated = 'regression suite (saturated)'

type Column = { readonly title: string; readonly cell: (row: ComparisonRow) => string }

const columns: readonly Column[] = [
  { title: 'Backend', cell: ({ backend }) => backend },
  { title: 'Static', cell: (row) => tallyText(row.static) },
  { title: 'Session', cell: (row) => tallyText(row.session) },
  { title: 'Total', cell: (row) => tallyText(row.total) },
  { title: '95 % interval', cell: ({ passRateInterval95 }) => intervalText(passRateInterval95) },
  { title: 'Precision', cell: ({ meanPrecision }) => decimal(meanPrecision) },
  { title: 'Recall', cell: ({ meanRecall }) => decimal(meanRecall) },
  { title: 'Drift', cell: ({ meanDriftScore }) => decimal(meanDriftScore) },
]

/** Backends down, passes across, with the uncertainty that a pass count leaves out. */
export function overallTable(rows: readonly ComparisonRow[]): Table {
  const notes = rows.map(({ backend, total }) => (isSaturated(backend, total) ? saturated : ''))
  if (notes.every((note) => note === '')) return tableOf(columns, rows)
  return tableOf([...columns, { title: 'Evidence', cell: (row) => notes[rows.indexOf(row)] ?? '' }], rows)
}

/** Only the default system decides: a control is meant to fail, or to pass everything. */
const isSaturated = (backend: string, { totalPassed, totalCases }: Tally): boolean =>
  backend === 'bm25' && totalPassed === totalCases

/** The same by pack. */
export function packTable(rows: readonly ComparisonRow[]): Table {
  const ids = [...new Set(rows.flatMap(({ packs }) => packs.map(({ id }) => id)))]
  const byPack = ids.map((id) => ({
    title: id,
    cell: ({ packs }: ComparisonRow) => tallyText(packs.find((pack) => pack.id === id) ?? null),
  }))
  const table = tableOf([{ title: 'Backend', cell: ({ backend }) => backend }, ...byPack], rows)
  const ours = rows.find(({ backend }) => backend === 'bm25')
  const evidence = ids.map((id) => {
    const own = ours?.packs.find((pack) => pack.id === id)
    return own !== undefined && isSaturated('bm25', own) ? saturated : ''
  })
  return evidence.every((note) => note === '') ? table : { ...table, rows: [...table.rows, ['evidence', ...evidence]] }
}

export type Table = { readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }

const tableOf = (shown: readonly Column[], rows: readonly ComparisonRow[]): Table => ({
  titles: shown.map(({ title }) => title),
  rows: rows.map((row) => shown.map(({ cell }) => cell(row))),
})

/** For a terminal: the first column to the left, numbers to the right. */
export function tableText({ titles, rows }: Table): string {
  const lines = [titles, ...rows]
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    )
    .join('\n')
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

const intervalText = (interval: Interval | null): string =>
  interval === null ? '–' : `${(interval.low * 100).toFixed(1)}–${(interval.high * 100).toFixed(1)} %`

/** Two decimals; what is not quite perfect is not rounded up to it. */
const decimal = (value: number | null): string =>
  value === null ? '–' : value < 1 && value >= 0.995 ? '0.99' : value.toFixed(2)

const start = '<!-- measured: start -->'
const end = '<!-- measured: end -->'

/** The measured part of the documentation: nothing in it depends on the machine. */
export function measuredMarkdown(
  rows: readonly ComparisonRow[],
  notes: readonly string[],
  packs: readonly { readonly id: string; readonly provenance: Provenance | undefined }[] = [],
): string {
  const legend = rows.map(({ backend, description }) => `- \`${backend}\`: ${description}.`)
  return [
    tableMarkdown(overallTable(rows)),
    '',
    'By pack:',
    '',
    tableMarkdown(packTable(rows)),
    '',
    ...provenanceLines(rows, packs),
    ...legend,
    ...notes.map((note) => `- ${note}`),
  ].join('\n')
}

/** What each pack was worth when it was first run, beside what it shows today. */
function provenanceLines(
  rows: readonly ComparisonRow[],
  packs: Parameters<typeof measuredMarkdown>[2] = [],
): readonly string[] {
  const today = rows.find(({ backend }) => backend === 'bm25')?.packs ?? []
  const lines = packs.map(({ id, provenance }) => {
    const now = today.find((pack) => pack.id === id)
    const first = provenance?.firstSight
    return [
      id,
      provenance?.casesWritten ?? 'unknown',
      provenance?.by ?? 'unknown',
      first ? `${first.passed}/${first.total} (${first.date}, ${first.commit})` : 'not measured',
      now === undefined ? '–' : `${now.totalPassed}/${now.totalCases}`,
    ]
  })
  if (lines.length === 0) return []
  const titles = ['Pack', 'Cases written', 'By', 'First sight', 'Today']
  return ['Where the cases come from:', '', tableMarkdown({ titles, rows: lines }), '']
}

/** The document with what stands between its markers replaced. */
export function withMeasured(document: string, file: string, measured: string): string {
  const { from, to } = placeIn(document, file)
  return `${document.slice(0, from)}\n${measured}\n${document.slice(to)}`
}

/** What stands between the markers now. */
export function measuredIn(document: string, file: string): string {
  const { from, to } = placeIn(document, file)
  return document.slice(from, to).trim()
}

function placeIn(document: string, file: string): { readonly from: number; readonly to: number } {
  const from = document.indexOf(start)
  const to = document.indexOf(end)
  if (from >= 0 && to > from) return { from: from + start.length, to }
  throw invalid(`${file}: has no ${start} with ${end} after it.`, 'Put the two markers where the table belongs.')
}
