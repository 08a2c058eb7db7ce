import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { comparisonRow } from '../../../src/eval/report/comparison.ts'
import type { PackRun } from '../../../src/eval/runners/retrieval/run-pack.ts'
import { noneSystem } from '../../../src/eval/system/controls.ts'
import { type McpMapping, readMcpMapping } from '../../../src/eval/system/outside/mcp-mapping.ts'
import { mcpSystem } from '../../../src/eval/system/outside/mcp-system.ts'
import { packOf, runWith } from './sample-packs.ts'

const installed = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js')

/** The published mapping, with the installed program instead of one that npm would download. */
const mappingOf = (file: string): McpMapping => ({
  ...readMcpMapping(`examples/systems/${file}`),
  command: process.execPath,
  args: [installed],
})

const pack = packOf('retrieval-precision')

describe('@modelcontextprotocol/server-memory', () => {
  it('finds nothing for whole messages, and passes the cases that an empty answer passes', async () => {
    const mapping = mappingOf('server-memory.json')

    const run = await runWith(mcpSystem({ mapping }), pack)
    const nothing = await runWith(noneSystem(), pack)

    expect(run.notices).toEqual([expect.stringMatching(/^server-memory is memory-server /u)])
    expect(run.outcomes.flatMap(({ error }) => error ?? [])).toEqual([])
    const asked = new Set(askedIn(run).map(({ caseId }) => caseId))
    expect(passedIn(run)).toEqual(passedIn(nothing).filter((caseId) => asked.has(caseId)))
    expect(passesOf(run)).toBe(documented('server-memory'))
  })

  it('finds nearly everything word by word, relevant or not', async () => {
    const mapping = mappingOf('server-memory-words.json')

    const run = await runWith(mcpSystem({ mapping }), pack)

    const { meanPrecision, meanRecall } = comparisonRow('words', [run])
    expect(meanRecall).toBeGreaterThan(0.8)
    expect(meanPrecision).toBeLessThan(0.2)
    expect(passesOf(run)).toBe(documented('server-memory-words'))
  })

  it('has the version that the mappings name', () => {
    const { version } = JSON.parse(
      readFileSync('node_modules/@modelcontextprotocol/server-memory/package.json', 'utf8'),
    )

    for (const file of ['server-memory.json', 'server-memory-words.json']) {
      const mapping = readMcpMapping(`examples/systems/${file}`)
      expect(mapping.version).toBe(version)
      expect(mapping.args.at(-1)).toBe(`@modelcontextprotocol/server-memory@${version}`)
    }
  })
})

/** The passes of a run, formatted as in the tables. */
const passesOf = (run: PackRun): string => `${passedIn(run).length}/${askedIn(run).length}`

/** The cases whose features the server supports. */
const askedIn = ({ outcomes }: PackRun) => outcomes.filter(({ verdict }) => verdict !== 'skipped')

const passedIn = ({ outcomes }: PackRun): readonly string[] =>
  outcomes.filter(({ verdict }) => verdict === 'pass').map(({ caseId }) => caseId)

/** The documented result of a backend on the pack. */
function documented(backend: string): string | undefined {
  const rows = readFileSync('docs/systems.md', 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const column = rows.find(([, title]) => title === 'Backend')?.indexOf(pack.id) ?? -1
  return rows.find(([, name]) => name === backend)?.[column]
}
