import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { RecallRow } from './lanes/recall.ts'
import { milliseconds, type Spread } from './measure.ts'

type Report = {
  readonly at: string
  readonly command: string
  readonly machine: {
    readonly cpu: string
    readonly cores: number
    readonly memoryGiB: number
    readonly node: string
    readonly platform: string
  }
  readonly results: Readonly<Record<string, object>>
}

const page = new URL('../docs/performance.md', import.meta.url)

/** Puts the figures of a run between the markers of their sections. Text outside the markers is left alone. */
export function updatePerformancePage(report: Report): void {
  if (!existsSync(page)) return
  let text = readFileSync(page, 'utf8')
  const recall = report.results.recall as
    | { rows: readonly RecallRow[]; ingest: readonly { beliefs: number; perSecond: number; bytesPerBelief: number }[] }
    | undefined
  if (recall !== undefined) {
    text = between(
      text,
      'recall',
      [provenance(report), '', latencyTable(recall.rows), '', ratios(recall.rows)].join('\n'),
    )
    text = between(text, 'ingest', [provenance(report), '', ingestTable(recall.ingest)].join('\n'))
  }
  const startUp = report.results['start-up'] as
    | { rows: readonly { program: string; beliefs: number; spread: Spread }[] }
    | undefined
  if (startUp !== undefined)
    text = between(text, 'start-up', [provenance(report), '', startUpTable(startUp.rows)].join('\n'))
  writeFileSync(page, text)
}

function between(text: string, section: string, body: string): string {
  const [open, close] = [`<!-- ${section}:begin -->`, `<!-- ${section}:end -->`]
  const start = text.indexOf(open)
  const end = text.indexOf(close)
  if (start < 0 || end < 0) throw new Error(`docs/performance.md has no section ${section}`)
  return `${text.slice(0, start + open.length)}\n${body}\n${text.slice(end)}`
}

const provenance = ({ at, command, machine }: Report): string =>
  `Measured ${at.slice(0, 10)} with \`${command}\` on ${machine.cores} cores (${machine.cpu}), ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.platform}.`

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

const latencyTable = (rows: readonly RecallRow[]): string =>
  [
    row(['system', 'beliefs', 'words', 'message', 'p50 ms', 'p95 ms', 'p99 ms']),
    row(['---', '---', '---', '---', '---', '---', '---']),
    ...rows.map(({ system, beliefs, words, kind, spread }) =>
      row([
        system,
        beliefs.toLocaleString('en'),
        words,
        kind,
        milliseconds(spread.p50),
        milliseconds(spread.p95),
        milliseconds(spread.p99),
      ]),
    ),
  ].join('\n')

function ratios(rows: readonly RecallRow[]): string {
  const p50 = (system: string, beliefs: number, words: number): number =>
    rows.find(
      (found) =>
        found.system === system && found.beliefs === beliefs && found.words === words && found.kind === 'exact',
    )?.spread.p50 ?? Number.NaN
  const smallest = Math.min(...rows.map(({ beliefs }) => beliefs))
  const largest = Math.max(...rows.map(({ beliefs }) => beliefs))
  const compared = Math.max(...rows.filter(({ system }) => system !== 'credence').map(({ beliefs }) => beliefs))
  const growth = [5, 40, 400].map(
    (words) => `${words} words: ${(p50('credence', largest, words) / p50('credence', smallest, words)).toFixed(2)}x`,
  )
  const peers = ['minisearch', 'sqlite fts5'].map(
    (peer) => `${peer} takes ${(p50(peer, compared, 40) / p50('credence', compared, 40)).toFixed(0)}x as long`,
  )
  return [
    `- p50 at ${largest.toLocaleString('en')} beliefs beside ${smallest.toLocaleString('en')}: ${growth.join(', ')}.`,
    `- At ${compared.toLocaleString('en')} beliefs and 40 words: ${peers.join(', ')}.`,
  ].join('\n')
}

const ingestTable = (rows: readonly { beliefs: number; perSecond: number; bytesPerBelief: number }[]): string =>
  [
    row(['beliefs', 'beliefs a second', 'bytes on disk a belief']),
    row(['---', '---', '---']),
    ...rows.map(({ beliefs, perSecond, bytesPerBelief }) =>
      row([beliefs.toLocaleString('en'), perSecond.toLocaleString('en'), bytesPerBelief]),
    ),
  ].join('\n')

function startUpTable(rows: readonly { program: string; beliefs: number; spread: Spread }[]): string {
  const floor = rows[0]?.spread.p50 ?? Number.NaN
  return [
    row(['program', 'beliefs', 'p50 ms', 'p95 ms', 'beside `node -e 0`']),
    row(['---', '---', '---', '---', '---']),
    ...rows.map(({ program, beliefs, spread }) =>
      row([
        `\`${program}\``,
        program.startsWith('node') ? '' : beliefs.toLocaleString('en'),
        milliseconds(spread.p50),
        milliseconds(spread.p95),
        `${(spread.p50 / floor).toFixed(2)}x`,
      ]),
    ),
  ].join('\n')
}
