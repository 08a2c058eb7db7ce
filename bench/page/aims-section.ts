import { milliseconds } from '../measure.ts'
import type { RecallFigures } from './recall-section.ts'
import type { ProfileFigures, ServeFigures, StartUpFigures, WritesFigures } from './sections.ts'
import { count, ratioText, table, times } from './table.ts'

export type AimedFigures = {
  readonly recall: RecallFigures
  readonly profile: ProfileFigures
  readonly writes: WritesFigures
  readonly 'start-up': StartUpFigures
  readonly serve: ServeFigures
}

type Aim = { readonly aim: string; readonly measured: string; readonly isReached: boolean }

/** Every aim next to the measured figure, so that the page shows which aims were missed. */
export function aimsSection(figures: AimedFigures): string {
  const aims = [
    ...recallAims(figures.recall),
    ...profileAims(figures.profile),
    ...writeAims(figures.writes),
    ...startUpAims(figures['start-up']),
    ...serveAims(figures.serve),
  ]
  return table(
    ['aim', 'measured', 'reached'],
    aims.map(({ aim, measured, isReached }) => [aim, measured, isReached ? 'yes' : '**no**']),
  )
}

function recallAims({ rows, ingest, users }: RecallFigures): readonly Aim[] {
  const exact = rows.filter(({ words, kind }) => words === 40 && kind === 'exact')
  const p50 = (beliefs: number): number =>
    exact.find((row) => row.system === 'credence' && row.beliefs === beliefs)?.spread.p50 ?? Number.NaN
  const fastest = (beliefs: number) =>
    exact
      .filter((row) => row.beliefs === beliefs && !row.system.startsWith('credence'))
      .sort((a, b) => a.ratio.median - b.ratio.median)[0]
  const beside = (beliefs: number, least: number, aim: string): readonly Aim[] => {
    const peer = fastest(beliefs)
    if (peer === undefined) return []
    const measured = `${peer.system} ${ratioText(peer.ratio)}`
    return [{ aim, measured, isReached: peer.ratio.median > least }]
  }
  const taken = ingest.find(({ beliefs }) => beliefs === 100_000)
  const growth = p50(1_000_000) / p50(1_000)
  return [
    ...beside(1_000, 1, 'at 1,000 beliefs and 40 words the fastest library takes longer'),
    ...beside(100_000, 4, 'at 100,000 beliefs the fastest library takes 4 times as long'),
    { aim: '1,000,000 beliefs at most 3 times the time of 1,000', measured: times(growth), isReached: growth <= 3 },
    {
      aim: '1,000 users of 1,000 beliefs within 1 ms',
      measured: `${milliseconds(users.spread.p50)} ms`,
      isReached: users.spread.p50 <= 1,
    },
    ...(taken === undefined
      ? []
      : [
          {
            aim: 'import of 100,000 beliefs at 3,500 a second',
            measured: count(taken.perSecond),
            isReached: taken.perSecond >= 3_500,
          },
          {
            aim: 'at most 2,000 bytes a belief on disk',
            measured: count(taken.bytesPerBelief),
            isReached: taken.bytesPerBelief <= 2_000,
          },
        ]),
  ]
}

function profileAims({ recall, floor }: ProfileFigures): readonly Aim[] {
  const ratio = recall.p50 / floor.spread.p50
  return [{ aim: 'recall within 4 times the look-ups in a map', measured: times(ratio), isReached: ratio <= 4 }]
}

function writeAims({ rows }: WritesFigures): readonly Aim[] {
  const p50 = (what: string, beliefs: number): number =>
    rows.find((row) => row.what === what && row.beliefs === beliefs)?.spread.p50 ?? Number.NaN
  const sizes = [...new Set(rows.map(({ beliefs }) => beliefs))]
  const slowest = (what: string) => Math.max(...sizes.map((size) => p50(what, size) / p50('bare insert', size)))
  const atMost = (what: string, most: number): Aim => ({
    aim: `${what} within ${most} times a bare insert at every size`,
    measured: `up to ${times(slowest(what))}`,
    isReached: slowest(what) <= most,
  })
  return [atMost('add', 3)]
}

function startUpAims({ rows }: StartUpFigures): readonly Aim[] {
  const floor = rows[0]?.spread.p50 ?? Number.NaN
  const most: readonly (readonly [program: string, times: number])[] = [
    ['credence recall (package)', 2.5],
    ['credence hook (package)', 2.5],
    ['credence mcp, first answer (package)', 4],
  ]
  return most.map(([program, allowed]) => {
    const ratio = (rows.find((row) => row.program === program)?.spread.p50 ?? Number.NaN) / floor
    return {
      aim: `\`${program}\` within ${allowed} times \`node -e 0\``,
      measured: times(ratio),
      isReached: ratio <= allowed,
    }
  })
}

function serveAims({ rows, stalls }: ServeFigures): readonly Aim[] {
  const of = (what: string, clients: number) => rows.find((row) => row.what === what && row.clients === clients)
  const one = of('recall over HTTP', 1)
  const many = of('recall over HTTP', 32)
  const search = of('MCP memory_search', 1)
  return [
    {
      aim: 'recall over HTTP within 3 times the bare route, one client',
      measured: one?.ratio === undefined ? '' : ratioText(one.ratio),
      isReached: (one?.ratio?.median ?? Number.NaN) <= 3,
    },
    {
      aim: '1,000 recalls a second over HTTP at 32 clients',
      measured: count(Math.round(many?.perSecond ?? 0)),
      isReached: (many?.perSecond ?? 0) >= 1_000,
    },
    {
      aim: '`memory_search` over MCP within 2 ms',
      measured: `${milliseconds(search?.spread.p50 ?? Number.NaN)} ms`,
      isReached: (search?.spread.p50 ?? Number.NaN) <= 2,
    },
    {
      aim: `event loop late by at most 30 ms while ${stalls.writers} write`,
      measured: `${milliseconds(stalls.longestMs)} ms`,
      isReached: stalls.longestMs <= 30,
    },
  ]
}
