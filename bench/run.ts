import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { FilledStores } from './filled-stores.ts'
import { firstMinuteLane } from './lanes/first-minute.ts'
import { harnessLane } from './lanes/harness.ts'
import { busyHostsLane, hostsLane } from './lanes/hosts.ts'
import { postgresLane } from './lanes/postgres.ts'
import { proxyLane } from './lanes/proxy.ts'
import { qualityLane } from './lanes/quality.ts'
import { recallLane } from './lanes/recall.ts'
import { scifactLane } from './lanes/scifact.ts'
import { serveLane } from './lanes/serve.ts'
import { startUpLane } from './lanes/start-up.ts'
import { turnsLane } from './lanes/turns.ts'
import { writesLane } from './lanes/writes.ts'
import { type Report, updatePerformancePage } from './page/performance-page.ts'

/** One measurement. Its return value is written to the results unchanged. */
export type Lane = {
  readonly name: string
  readonly summary: string
  run(options: LaneOptions): Promise<object>
}

export type LaneOptions = {
  /** Small sizes, to check that everything runs. */
  readonly quick: boolean
  readonly log: (line: string) => void
  readonly stores: FilledStores
}

const lanes: readonly Lane[] = [
  qualityLane,
  scifactLane,
  recallLane,
  writesLane,
  startUpLane,
  serveLane,
  proxyLane,
  turnsLane,
  harnessLane,
  postgresLane,
  hostsLane,
  busyHostsLane,
  firstMinuteLane,
]

const usage = `Usage: npm run bench -- [lane…] [--quick] [--no-write]

Lanes (all by default):
${lanes.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

  --quick      small sizes, to see that everything runs; writes nothing
  --no-write   prints, and leaves bench/results/ and docs/performance.md alone`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      'no-write': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return say(usage, 0)
  const unknown = positionals.filter((name) => !lanes.some((lane) => lane.name === name))
  if (unknown.length > 0) return say(`There is no lane "${unknown[0]}".\n\n${usage}`, 2)

  const results: Record<string, object> = {}
  const seconds: Record<string, number> = {}
  const stores = new FilledStores()
  const at = new Date().toISOString()
  const report = (): Report => ({
    at,
    command: ['npm run bench', ...process.argv.slice(2)].join(' ').replace('bench ', 'bench -- '),
    machine: machine(),
    versions: versions(),
    seconds,
    // Each lane returns the figures that its section of the page shows.
    results: results as Report['results'],
  })
  try {
    for (const lane of lanes.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
      console.error(`== ${lane.name}: ${lane.summary}`)
      const start = performance.now()
      results[lane.name] = await lane.run({ quick: values.quick, log: (line) => console.error(line), stores })
      seconds[lane.name] = Math.round((performance.now() - start) / 1_000)
      console.error(`== ${lane.name} took ${seconds[lane.name]} s`)
      // Saved after each lane, so that an interrupted run keeps its measurements so far.
      if (!values.quick && !values['no-write']) save(report(), positionals)
    }
  } finally {
    stores.remove()
  }
  console.log(JSON.stringify(report(), null, 2))
  return 0
}

function save(report: Report, lanesAsked: readonly string[]): void {
  mkdirSync(new URL('./results', import.meta.url), { recursive: true })
  const name = `${[report.at.slice(0, 10), ...lanesAsked].join('-')}.json`
  writeFileSync(new URL(`./results/${name}`, import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
  updatePerformancePage(report)
}

function say(text: string, code: number): number {
  console.error(text)
  return code
}

const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
})

/** The versions of all measured packages. */
function versions(): Readonly<Record<string, string>> {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Readonly<Record<string, { readonly version: string }>>
  }
  return Object.fromEntries(
    measured.map((name) => [name, lock.packages[`node_modules/${name}`]?.version ?? 'not installed']),
  )
}

const measured = [
  'pg',
  'minisearch',
  '@orama/orama',
  'flexsearch',
  '@modelcontextprotocol/server-memory',
  '@modelcontextprotocol/server',
  'hono',
]

process.exitCode = await main()
