import { milliseconds } from '../measure.ts'
import type { RecallFigures } from './recall-section.ts'
import type { ServeFigures, StartUpFigures, TurnsFigures, WritesFigures } from './sections.ts'
import { count, table, times } from './table.ts'

export type AimedFigures = {
  readonly recall: RecallFigures
  readonly writes: WritesFigures
  readonly startUp: StartUpFigures
  readonly serve: ServeFigures
  readonly turns: TurnsFigures
}

type Aim = { readonly aim: string; readonly measured: string; readonly isReached: boolean }

/**
 * The aims are delays that a person or an agent notices, each next to the measured figure, so that the page shows which
 * ones were missed.
 */
export function aimsSection(figures: AimedFigures): string {
  const aims = [
    ...recallAims(figures.recall),
    ...writeAims(figures.writes),
    ...startUpAims(figures.startUp),
    ...serveAims(figures.serve),
    ...turnAims(figures.turns),
  ]
  return table(
    ['aim', 'measured', 'reached'],
    aims.map(({ aim, measured, isReached }) => [aim, measured, isReached ? 'yes' : '**no**']),
  )
}

function recallAims({ rows, ingest }: RecallFigures): readonly Aim[] {
  const p50 = (beliefs: number): number =>
    rows.find((row) => row.system === 'credence' && row.beliefs === beliefs && row.words === 40 && row.kind === 'exact')
      ?.spread.p50 ?? Number.NaN
  const growth = p50(100_000) / p50(1_000)
  const taken = ingest.find(({ beliefs }) => beliefs === 100_000)
  return [
    atMostMs('a recall of 40 words from 100,000 beliefs', p50(100_000), 10),
    { aim: '100,000 beliefs at most 4 times the time of 1,000', measured: times(growth), isReached: growth <= 4 },
    {
      aim: 'import of 100,000 beliefs at 2,000 a second',
      measured: count(taken?.perSecond ?? Number.NaN),
      isReached: (taken?.perSecond ?? 0) >= 2_000,
    },
    {
      aim: 'at most 2,000 bytes a belief on disk',
      measured: count(taken?.bytesPerBelief ?? Number.NaN),
      isReached: (taken?.bytesPerBelief ?? Number.NaN) <= 2_000,
    },
  ]
}

function writeAims({ rows }: WritesFigures): readonly Aim[] {
  const p50 = (what: string, beliefs: number): number =>
    rows.find((row) => row.what === what && row.beliefs === beliefs)?.spread.p50 ?? Number.NaN
  const sizes = [...new Set(rows.map(({ beliefs }) => beliefs))]
  const slowest = Math.max(...sizes.map((size) => p50('add', size) / p50('bare insert', size)))
  return [
    {
      aim: 'add within 3 times a bare insert at every size',
      measured: `up to ${times(slowest)}`,
      isReached: slowest <= 3,
    },
  ]
}

/** A command must end before its answer feels late to the person who waits for it. A hook delays every prompt. */
function startUpAims({ rows }: StartUpFigures): readonly Aim[] {
  return ['credence recall (package)', 'credence hook (package)'].map((program) =>
    atMostMs(`\`${program}\``, rows.find((row) => row.program === program)?.spread.p50 ?? Number.NaN, 300),
  )
}

function serveAims({ rows, stalls }: ServeFigures): readonly Aim[] {
  const p95 = (what: string, clients: number): number =>
    rows.find((row) => row.what === what && row.clients === clients)?.spread.p95 ?? Number.NaN
  return [
    atMostMs('recall over HTTP for one client, p95', p95('recall over HTTP', 1), 10),
    atMostMs('recall over HTTP for 32 clients, p95', p95('recall over HTTP', 32), 100),
    atMostMs('`memory_search` over MCP for one client, p95', p95('MCP memory_search', 1), 20),
    atMostMs(`event loop late while ${stalls.writers} write`, stalls.longestMs, 50),
  ]
}

function turnAims({ rows }: TurnsFigures): readonly Aim[] {
  const largest = rows.at(-1)
  if (largest === undefined) return []
  const { turns, search, vectorSearch, embedding, vectorRecall } = largest
  return [
    atMostMs(`search over ${count(turns)} turns by words`, search.p50, 20),
    atMostMs('the vector of a question', embedding.p50, 15),
    atMostMs(`search over ${count(turns)} turns with vectors`, vectorSearch.p50, 50),
    atMostMs(`recall from ${count(turns)} turns with vectors`, vectorRecall.p50, 300),
  ]
}

const atMostMs = (what: string, measured: number, max: number): Aim => ({
  aim: `${what}: at most ${max} ms`,
  measured: `${milliseconds(measured)} ms`,
  isReached: measured <= max,
})
