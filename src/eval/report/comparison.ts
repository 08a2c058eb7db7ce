import type { PackRun } from '../runners/retrieval/run-pack.ts'
import { saturated } from '../score/figures.ts'
import { outcomesOf, type Summary, summarise } from './retrieval-report.ts'

type Tally = Pick<Summary, 'totalPassed' | 'totalCases' | 'errors'>

export type ComparisonRow = ReturnType<typeof comparisonRow>

/** The cases that the system could answer. Cases about capabilities that it does not offer are neither passed nor failed. */
const answersIn = (runs: readonly PackRun[]) => outcomesOf(runs).filter(({ verdict }) => verdict !== 'skipped')

export function comparisonRow(backend: string, runs: readonly PackRun[]) {
  const tallyOf = (some: readonly PackRun[]): Tally => {
    const { totalPassed, totalCases, errors } = summarise(answersIn(some))
    return { totalPassed, totalCases, errors }
  }
  const [session, others] = [true, false].map((isSession) => {
    const own = runs.filter(({ pack }) => (pack.kind === 'session') === isSession)
    return own.length === 0 ? null : tallyOf(own)
  })
  const { passRateInterval95, meanPrecision, meanRecall, meanDriftScore, p50LatencyMs } = summarise(answersIn(runs))
  return {
    backend,
    description: runs[0]?.system.description ?? '',
    static: others ?? null,
    session: session ?? null,
    total: tallyOf(runs),
    passRateInterval95,
    meanPrecision,
    meanRecall,
    meanDriftScore,
    p50LatencyMs,
    packs: runs.map((run) => ({ id: run.pack.id, ...tallyOf([run]) })),
  }
}

/** Whether the default system passes every case. Other systems do not count: controls are meant to fail, or to pass everything. */
const isSaturated = (backend: string, { totalPassed, totalCases }: Tally): boolean =>
  backend === 'bm25' && totalPassed === totalCases

export type Table = { readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }

/** A row per system: pass counts and the uncertainty of the pass rate. */
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

/** A row per system and a column per pack. */
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

const tallyText = (tally: Tally | null): string => {
  if (tally === null) return '–'
  const errors = tally.errors === 0 ? '' : ` (${tally.errors} ${tally.errors === 1 ? 'error' : 'errors'})`
  return `${tally.totalPassed}/${tally.totalCases}${errors}`
}

const intervalText = (interval: Summary['passRateInterval95']): string =>
  interval === null ? '–' : `${(interval.low * 100).toFixed(1)}–${(interval.high * 100).toFixed(1)} %`

/** Two decimals; a value below 1 is never shown as 1.00. */
const decimal = (value: number | null): string =>
  value === null ? '–' : value < 1 && value >= 0.995 ? '0.99' : value.toFixed(2)
