import type { IngestRow, PeerSize, RecallRow } from '../lanes/recall.ts'
import { milliseconds, type Spread } from '../measure.ts'
import { growthPlot } from './growth-plot.ts'
import { count, table, times } from './table.ts'

export type RecallFigures = {
  readonly rows: readonly RecallRow[]
  readonly ingest: readonly IngestRow[]
  readonly resident: readonly PeerSize[]
  readonly users: {
    readonly users: number
    readonly beliefsEach: number
    readonly words: number
    readonly spread: Spread
  }
}

const sizesIn = (rows: readonly { readonly beliefs: number }[]): readonly number[] => [
  ...new Set(rows.map(({ beliefs }) => beliefs)),
]

/** Credence by length and kind of message, then everybody at 40 words, then the ratios. */
export function recallSection({ rows, users }: RecallFigures): string {
  const sizes = sizesIn(rows)
  const find = (system: string, beliefs: number, words: number, kind = 'exact'): Spread | undefined =>
    rows.find((row) => row.system === system && row.beliefs === beliefs && row.words === words && row.kind === kind)
      ?.spread
  const cell = (spread: Spread | undefined): string =>
    spread === undefined ? '' : [spread.p50, spread.p95, spread.p99].map(milliseconds).join(' / ')
  const ours = rows.filter(({ system }) => system === 'credence')
  const kinds = [...new Set(ours.map(({ words, kind }) => `${words} ${kind}`))].map((text) => {
    const [words = '', ...kind] = text.split(' ')
    return { words: Number(words), kind: kind.join(' ') }
  })
  const systems = [...new Set(rows.map(({ system }) => system))]
  return [
    'Credence, p50 / p95 / p99 in milliseconds:',
    '',
    table(
      ['words', 'message', ...sizes.map((size) => `${count(size)} beliefs`)],
      kinds.map(({ words, kind }) => [words, kind, ...sizes.map((size) => cell(find('credence', size, words, kind)))]),
    ),
    '',
    'Everybody, 40 words, p50 in milliseconds:',
    '',
    table(
      ['system', ...sizes.map((size) => `${count(size)} beliefs`)],
      systems.map((system) => [
        system,
        ...sizes.map((size) => {
          const spread = find(system, size, 40)
          return spread === undefined ? '' : milliseconds(spread.p50)
        }),
      ]),
    ),
    '',
    '![Recall time against store size](images/recall-growth.svg)',
    '',
    ...ratios(find, sizes, systems),
    `- One store with ${count(users.users)} users of ${count(users.beliefsEach)} beliefs each, every message from another: p50 ${milliseconds(users.spread.p50)} ms, p99 ${milliseconds(users.spread.p99)} ms.`,
  ].join('\n')
}

function ratios(
  find: (system: string, beliefs: number, words: number) => Spread | undefined,
  sizes: readonly number[],
  systems: readonly string[],
): readonly string[] {
  const p50 = (system: string, beliefs: number, words: number): number =>
    find(system, beliefs, words)?.p50 ?? Number.NaN
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)]
  const growth = [5, 40, 400].map(
    (words) => `${times(p50('credence', largest, words) / p50('credence', smallest, words))} for ${words} words`,
  )
  const peers = systems.filter((system) => system !== 'credence')
  const compared = Math.max(...sizes.filter((size) => peers.every((peer) => !Number.isNaN(p50(peer, size, 40)))))
  const slower = peers.map((peer) => `${peer} ${times(p50(peer, compared, 40) / p50('credence', compared, 40))}`)
  return [
    `- p50 at ${count(largest)} beliefs beside ${count(smallest)}: ${growth.join(', ')}.`,
    `- At ${count(compared)} beliefs and 40 words, as long as Credence takes: ${slower.join(', ')}.`,
  ]
}

export const ingestSection = ({ ingest, resident }: RecallFigures): string =>
  [
    table(
      ['beliefs', 'beliefs a second', 'bytes on disk a belief'],
      ingest.map(({ beliefs, perSecond, bytesPerBelief }) => [count(beliefs), count(perSecond), count(bytesPerBelief)]),
    ),
    '',
    'Memory a process needs besides its own: the libraries for names and aliases, Credence for what a thousand messages had it read:',
    '',
    table(
      ['system', 'beliefs', 'bytes in memory a belief'],
      resident.map(({ system, beliefs, residentBytesPerBelief }) => [
        system,
        count(beliefs),
        count(residentBytesPerBelief),
      ]),
    ),
  ].join('\n')

export const recallPlot = ({ rows }: RecallFigures): string =>
  growthPlot(
    [...new Set(rows.map(({ system }) => system))].map((system) => ({
      name: system,
      points: rows
        .filter((row) => row.system === system && row.words === 40 && row.kind === 'exact')
        .map(({ beliefs, spread }) => ({ x: beliefs, y: spread.p50 })),
    })),
    'Recall time against store size, 40 words',
  )
