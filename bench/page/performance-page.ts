import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { FirstMinuteFigures } from '../lanes/first-minute.ts'
import type { HostsFigures } from '../lanes/hosts.ts'
import type { ProxyFigures } from '../lanes/proxy.ts'
import { aimsSection } from './aims-section.ts'
import { ingestSection, type RecallFigures, recallPlot, recallSection } from './recall-section.ts'
import {
  busyHostsSection,
  firstMinuteSection,
  type HarnessFigures,
  harnessSection,
  hostsSection,
  proxySection,
  type QualityFigures,
  qualitySection,
  type ScifactFigures,
  type ServeFigures,
  type StartUpFigures,
  scifactSection,
  serveSection,
  startUpSection,
  type TurnsFigures,
  turnsSection,
  type WritesFigures,
  writesSection,
} from './sections.ts'

/** The results of a benchmark run, as stored in bench/results. */
export type Report = {
  readonly at: string
  readonly command: string
  readonly machine: {
    readonly cpu: string
    readonly cores: number
    readonly memoryGiB: number
    readonly node: string
    readonly platform: string
  }
  readonly versions: Readonly<Record<string, string>>
  /** The duration of each lane. */
  readonly seconds: Readonly<Record<string, number>>
  readonly results: Partial<Results>
}

type Results = {
  readonly quality: QualityFigures
  readonly scifact: ScifactFigures
  readonly recall: RecallFigures
  readonly writes: WritesFigures
  readonly 'start-up': StartUpFigures
  readonly serve: ServeFigures
  readonly proxy: ProxyFigures
  readonly turns: TurnsFigures
  readonly harness: HarnessFigures
  readonly hosts: HostsFigures
  readonly 'hosts-busy': HostsFigures
  readonly 'first-minute': FirstMinuteFigures
}

const page = new URL('../../docs/performance.md', import.meta.url)
const images = new URL('../../docs/images/', import.meta.url)

/** Puts the figures of a run between the markers of their sections. Keeps the text outside the markers. */
export function updatePerformancePage(report: Report): void {
  const { quality, scifact, recall, writes, 'start-up': startUp, serve, proxy, turns, harness, hosts } = report.results
  const { 'hosts-busy': busy, 'first-minute': firstMinute } = report.results
  const sections: Readonly<Record<string, string | undefined>> = {
    // Only written if all these lanes were run.
    aims: recall && writes && startUp && serve && turns && aimsSection({ recall, writes, startUp, serve, turns }),
    quality: quality && qualitySection(quality),
    scifact: scifact && scifactSection(scifact),
    recall: recall && recallSection(recall),
    ingest: recall && ingestSection(recall),
    writes: writes && writesSection(writes),
    'start-up': startUp && startUpSection(startUp),
    serve: serve && serveSection(serve),
    proxy: proxy && proxySection(proxy),
    turns: turns && turnsSection(turns),
    harness: harness && harnessSection(harness),
    hosts: hosts && hostsSection(hosts),
    'hosts-busy': busy && busyHostsSection(busy),
    'first-minute': firstMinute && firstMinuteSection(firstMinute),
  }
  let text = readFileSync(page, 'utf8')
  for (const [name, body] of Object.entries(sections))
    if (body !== undefined) text = between(text, name, `${provenance(report)}\n\n${body}`)
  writeFileSync(page, text)
  if (recall === undefined) return
  mkdirSync(images, { recursive: true })
  writeFileSync(new URL('recall-growth.svg', images), recallPlot(recall))
}

function between(text: string, section: string, body: string): string {
  const open = `<!-- ${section}:begin -->`
  const close = `<!-- ${section}:end -->`
  const start = text.indexOf(open)
  const end = text.indexOf(close)
  if (start < 0 || end < 0) throw new Error(`docs/performance.md has no section ${section}`)
  return `${text.slice(0, start + open.length)}\n${body}\n${text.slice(end)}`
}

const provenance = ({ at, command, machine }: Report): string =>
  `Measured ${at.slice(0, 10)} with \`${command}\` on ${machine.cores} cores (${machine.cpu}), ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.platform}.`
