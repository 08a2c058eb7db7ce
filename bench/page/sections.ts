import type { ComparisonRow } from '../../src/eval/report/comparison.ts'
import type { FirstMinuteFigures } from '../lanes/first-minute.ts'
import type { HostsFigures } from '../lanes/hosts.ts'
import type { ProxyFigures } from '../lanes/proxy.ts'
import type { ConcurrentWrites, WriteRow } from '../lanes/writes.ts'
import { milliseconds, type Ratio, type Spread } from '../measure.ts'
import { count, ratioText, table, times } from './table.ts'

export type QualityFigures = {
  readonly packs: readonly string[]
  readonly topK: number
  readonly rows: readonly ComparisonRow[]
  readonly skipped: readonly { readonly system: string; readonly reason: string }[]
}

export const qualitySection = ({ packs, rows, skipped }: QualityFigures): string =>
  [
    `Packs: ${packs.join(', ')}.`,
    '',
    table(
      ['system', 'passed', 'precision', 'recall', 'how it is asked'],
      rows.map(({ backend, total, meanPrecision, meanRecall, description }) => [
        backend,
        `${total.totalPassed}/${total.totalCases}${total.errors > 0 ? `, ${total.errors} errors` : ''}`,
        meanPrecision?.toFixed(3) ?? '',
        meanRecall?.toFixed(3) ?? '',
        description,
      ]),
    ),
    ...skipped.map(({ system, reason }) => `\nNot run: ${system}. ${reason}`),
  ].join('\n')

export type ScifactFigures =
  | { readonly skipped: string }
  | { readonly documents: number; readonly queries: number; readonly ndcgAt10: number; readonly anchor: number }

export const scifactSection = (figures: ScifactFigures): string =>
  'skipped' in figures
    ? `Not run: ${figures.skipped}.`
    : `NDCG@10 ${figures.ndcgAt10.toFixed(3)} over ${count(figures.queries)} queries and ${count(figures.documents)} documents (at least ${figures.anchor} is wanted).`

export type WritesFigures = { readonly rows: readonly WriteRow[]; readonly concurrent: ConcurrentWrites }

export function writesSection({ rows, concurrent }: WritesFigures): string {
  const bare = (beliefs: number): number =>
    rows.find((row) => row.what === 'bare insert' && row.beliefs === beliefs)?.spread.p50 ?? Number.NaN
  return [
    table(
      ['change', 'beliefs', 'p50 ms', 'p99 ms', 'beside the bare insert'],
      rows.map(({ what, beliefs, spread }) => [
        what,
        count(beliefs),
        milliseconds(spread.p50),
        milliseconds(spread.p99),
        times(spread.p50 / bare(beliefs)),
      ]),
    ),
    '',
    `${concurrent.processes} processes writing at once: ${count(concurrent.perSecond)} durable adds a second, ${concurrent.isAllThere ? `all ${count(concurrent.writes)} there once` : 'and NOT all of them there'}.`,
  ].join('\n')
}

export type StartUpFigures = {
  readonly rows: readonly { readonly program: string; readonly beliefs: number; readonly spread: Spread }[]
  readonly imports?: readonly { readonly module: string; readonly ms: number }[]
}

export function startUpSection({ rows, imports = [] }: StartUpFigures): string {
  const floor = rows[0]?.spread.p50 ?? Number.NaN
  return [
    table(
      ['program', 'beliefs', 'p50 ms', 'p95 ms', 'ratio to `node -e 0`'],
      rows.map(({ program, beliefs, spread }) => [
        `\`${program}\``,
        program.startsWith('node') ? '' : count(beliefs),
        milliseconds(spread.p50),
        milliseconds(spread.p95),
        times(spread.p50 / floor),
      ]),
    ),
    ...(imports.length === 0
      ? []
      : [
          '',
          'What importing costs, each in a process of its own:',
          '',
          table(
            ['module', 'ms'],
            imports.map(({ module, ms }) => [module, ms.toFixed(1)]),
          ),
        ]),
  ].join('\n')
}

export type HarnessFigures = {
  readonly cases: { readonly cases: number; readonly perSecond: number }
  readonly status: {
    readonly runs: number
    readonly shadows: number
    readonly statusMs: number
    readonly ratio: number
  }
  readonly shadow: { readonly ratio: number }
}

export const harnessSection = ({ cases, status, shadow }: HarnessFigures): string =>
  [
    `- ${count(cases.perSecond)} cases a second, each written down durably (${count(cases.cases)} cases).`,
    `- The status of ${count(status.runs)} runs and ${count(status.shadows)} shadow records: ${status.statusMs.toFixed(0)} ms, ${times(status.ratio)} reading the files.`,
    `- A recall with its shadow record beside one without: ${times(shadow.ratio)}.`,
  ].join('\n')

export type ServeFigures = {
  readonly beliefs: number
  readonly rows: readonly {
    readonly what: string
    readonly clients: number
    readonly perSecond: number
    readonly spread: Spread
    readonly ratio?: Ratio
  }[]
  readonly stalls: { readonly writers: number; readonly p99Ms: number; readonly longestMs: number }
}

export const serveSection = ({ beliefs, rows, stalls }: ServeFigures): string =>
  [
    table(
      ['what is asked', 'clients', 'p50 ms', 'p95 ms', 'p99 ms', 'a second', 'beside the bare one'],
      rows.map(({ what, clients, perSecond, spread, ratio }) => [
        what,
        clients,
        milliseconds(spread.p50),
        milliseconds(spread.p95),
        milliseconds(spread.p99),
        count(Math.round(perSecond)),
        ratio === undefined || what.startsWith('bare') ? '' : ratioText(ratio),
      ]),
    ),
    '',
    `${count(beliefs)} beliefs. While ${stalls.writers} clients write, the event loop is late by ${milliseconds(stalls.p99Ms)} ms at p99 and ${milliseconds(stalls.longestMs)} ms at most.`,
  ].join('\n')

export const proxySection = ({ beliefs, turns, bare, proxy, added, addedMs }: ProxyFigures): string =>
  [
    table(
      ['what answers', 'p50 ms', 'p95 ms', 'p99 ms'],
      [
        ['a bare pass-through', milliseconds(bare.p50), milliseconds(bare.p95), milliseconds(bare.p99)],
        ['`credence proxy`', milliseconds(proxy.p50), milliseconds(proxy.p95), milliseconds(proxy.p99)],
      ],
    ),
    '',
    `${count(beliefs)} beliefs and ${count(turns)} turns; ${count(added)} of ${count(proxy.samples)} requests got a block of memory. Added at p50: ${milliseconds(addedMs)} ms.`,
  ].join('\n')

export type TurnsFigures = {
  readonly rows: readonly {
    readonly turns: number
    readonly keptPerSecond: number
    readonly rawBytesPerTurn: number
    readonly bytesPerTurn: number
    readonly vectorBytesPerTurn: number
    readonly search: Spread
    readonly vectorSearch: Spread
    readonly embedding: Spread
    readonly push: Spread
    readonly vectorRecall: Spread
  }[]
}

export const turnsSection = ({ rows }: TurnsFigures): string =>
  table(
    [
      'turns',
      'kept a second',
      'bytes of text a turn',
      'bytes on disk a turn',
      'more with vectors',
      'search p50 / p95 ms',
      'with vectors',
      "of which the question's vector",
      'quotes by words p50 / p95 ms',
      'recall with vectors',
    ],
    rows.map((row) => [
      count(row.turns),
      count(row.keptPerSecond),
      count(row.rawBytesPerTurn),
      count(row.bytesPerTurn),
      count(row.vectorBytesPerTurn),
      ...[row.search, row.vectorSearch, row.embedding, row.push, row.vectorRecall].map(
        ({ p50, p95 }) => `${milliseconds(p50)} / ${milliseconds(p95)}`,
      ),
    ]),
  )

export const hostsSection = ({ load = Number.NaN, rows }: HostsFigures): string =>
  [
    table(
      [
        'program',
        'hooks',
        'to the request, p50 / p95 ms',
        'ratio to none',
        'ratio to `node -e 0`',
        'whole turn, p50 ms',
      ],
      rows.map(({ host, variant, request, turn, toFirst, toNode }) => [
        host,
        `\`${variant}\``,
        `${milliseconds(request.p50)} / ${milliseconds(request.p95)}`,
        variant === 'none' ? '' : ratioText(toFirst),
        variant === 'none' || toNode === null ? '' : times(toNode.median),
        milliseconds(turn.p50),
      ]),
    ),
    '',
    `${rows[0]?.request.samples} prompts each, with a load of ${load.toFixed(1)}.`,
  ].join('\n')

export function busyHostsSection({ load = Number.NaN, rows }: HostsFigures): string {
  const without = rows.reduce((sum, row) => sum + row.withoutContext, 0)
  const prompts = rows.reduce((sum, row) => sum + row.request.samples, 0)
  return `${without} of ${prompts} prompts got no context at a load of ${load.toFixed(1)}.`
}

export const firstMinuteSection = (figures: FirstMinuteFigures): string => {
  const { conversations, turnsEach, load = Number.NaN, installed, initialised, newest, oldest } = figures
  const seconds = (from: number, to: number): string => `${(to - from).toFixed(1)} s`
  return [
    `- \`npm ci\`: ${seconds(0, installed)}.`,
    `- \`credence init --yes\` on ${count(conversations)} conversations of ${turnsEach} turns: ${seconds(installed, initialised)}.`,
    `- From the start of the import to the first right answer about the newest conversation: ${seconds(installed, newest)}; about the oldest, which is imported last: ${seconds(installed, oldest)}.`,
    `- Load ${load.toFixed(1)}.`,
  ].join('\n')
}
