import type { IngestRow, PeerSize, RecallRow } from '../lanes/recall.ts'
import { milliseconds, type Spread } from '../measure.ts'
import { growthPlot } from './growth-plot.ts'
import { count, ratioText, table, times } from './table.ts'

export type RecallFigures = {
  readonly rows: readonly RecallRow[]
  readonly ingest: readonly IngestRow[]
  readonly memory: readonly PeerSize[]
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

/** Three tables: Credence by length and kind of message; all systems for messages of 40 words; the ratios. */
export function recallSection({ rows, users }: RecallFigures): string {
  const sizes = sizesIn(rows)
  const rowOf = (system: string, beliefs: number, words: number, kind = 'exact'): RecallRow | undefined =>
    rows.find((row) => row.system === system && row.beliefs === beliefs && row.words === words && row.kind === kind)
  const find = (system: string, beliefs: number, words: number, kind = 'exact'): Spread | undefined =>
    rowOf(system, beliefs, words, kind)?.spread
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
    'Everybody, 40 words: p50 in milliseconds, and how many times the p50 of Credence in the same rounds (eight of ten rounds lie within the brackets):',
    '',
    table(
      ['system', ...sizes.map((size) => `${count(size)} beliefs`)],
      systems.map((system) => [
        system,
        ...sizes.map((size) => {
          const row = rowOf(system, size, 40)
          if (row === undefined) return ''
          return system === 'credence'
            ? milliseconds(row.spread.p50)
            : `${milliseconds(row.spread.p50)}, ${ratioText(row.ratio)}`
        }),
      ]),
    ),
    '',
    '![Recall time against store size](images/recall-growth.svg)',
    '',
    ...growth(find, sizes),
    `- One store with ${count(users.users)} users of ${count(users.beliefsEach)} beliefs each, every message from another: p50 ${milliseconds(users.spread.p50)} ms, p99 ${milliseconds(users.spread.p99)} ms.`,
  ].join('\n')
}

function growth(
  find: (system: string, beliefs: number, words: number) => Spread | undefined,
  sizes: readonly number[],
): readonly string[] {
  const p50 = (beliefs: number, words: number): number => find('credence', beliefs, words)?.p50 ?? Number.NaN
  const smallest = sizes.find((size) => size >= 1_000) ?? Math.min(...sizes)
  const largest = Math.max(...sizes)
  const grown = [5, 40, 400].map((words) => `${times(p50(largest, words) / p50(smallest, words))} for ${words} words`)
  return [`- p50 at ${count(largest)} beliefs beside ${count(smallest)}: ${grown.join(', ')}.`]
}

export const ingestSection = ({ ingest, memory }: RecallFigures): string =>
  [
    table(
      ['beliefs', 'beliefs a second', 'bytes on disk a belief'],
      ingest.map(({ beliefs, perSecond, bytesPerBelief }) => [count(beliefs), count(perSecond), count(bytesPerBelief)]),
    ),
    '',
    'Memory that a process takes for the index, each system in a process of its own, and the time until it can be asked. The libraries hold names and aliases; Credence reads the rest from disk:',
    '',
    table(
      ['system', 'beliefs', 'bytes in memory a belief', 'ready after'],
      memory
        .filter(({ beliefs }) => beliefs >= 10_000)
        .map(({ system, beliefs, bytesPerBelief, readyMs }) => [
          system,
          count(beliefs),
          count(bytesPerBelief),
          `${(readyMs / 1_000).toFixed(1)} s`,
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
