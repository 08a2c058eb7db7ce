import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { MemoryError } from '../../src/errors.ts'
import { type ComparisonRow, comparisonRow } from '../../src/eval/report/comparison.ts'
import { loadPack, type Pack } from '../../src/eval/runners/retrieval/pack.ts'
import { runPack } from '../../src/eval/runners/retrieval/run-pack.ts'
import { bestCut, rankingsOf } from '../../src/eval/system/calibration.ts'
import { readMcpMapping } from '../../src/eval/system/outside/mcp-mapping.ts'
import { mcpSystem } from '../../src/eval/system/outside/mcp-system.ts'
import { Systems } from '../../src/eval/system/systems.ts'
import type { SystemUnderTest } from '../../src/eval/system/under-test.ts'
import { defaultEmbedder, openEmbedder } from '../../src/memory/meaning/open-embedder.ts'
import { inMemory } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { libraries } from '../peers/libraries.ts'
import { type Peer, peerSystem, systemWithoutCut } from '../peers/ranker.ts'
import type { Lane } from '../run.ts'

/** The number of results per query. 20 is usual, and the published comparison uses it too. */
const topK = 20

const packIds = ['retrieval-precision', 'retrieval-hard', 'session-drift']
const packsDirectory = fileURLToPath(new URL('../../packs', import.meta.url))
const examples = fileURLToPath(new URL('../../examples/systems', import.meta.url))

/** The quality of the answers of Credence and of other systems, on the same cases with the same neutral ids. */
export const qualityLane: Lane = {
  name: 'quality',
  summary: 'answers on our retrieval packs, compared with search libraries and memory servers',
  async run({ quick, log }) {
    const packs = (quick ? packIds.slice(0, 1) : packIds).map((id) => loadPack(`${packsDirectory}/${id}`).pack)
    const backends = new Systems({
      openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }),
      version: 'bench',
      clock: () => performance.now(),
      openEmbedder: () => openEmbedder(defaultEmbedder),
      packsDirectory,
    })
    const rows: ComparisonRow[] = []
    const skipped: { readonly system: string; readonly reason: string }[] = []
    for (const { name, open } of contestants(backends, quick)) {
      try {
        const row = await measure(name, await open(), packs)
        rows.push(row)
        log(
          `  ${name.padEnd(24)} ${row.total.totalPassed}/${row.total.totalCases}  precision ${row.meanPrecision}  recall ${row.meanRecall}`,
        )
      } catch (error) {
        if (!(error instanceof MemoryError && error.code === 'unavailable')) throw error
        skipped.push({ system: name, reason: [error.message, error.hint].filter(Boolean).join(' ') })
        log(`  ${name.padEnd(24)} skipped: ${error.message}`)
      }
    }
    return { packs: packs.map(({ id }) => id), topK, rows, skipped: [...skipped, ...notMeasured] }
  },
}

type Contestant = { readonly name: string; readonly open: () => Promise<SystemUnderTest> }

function contestants(backends: Systems, quick: boolean): readonly Contestant[] {
  const own = (quick ? (['bm25'] as const) : (['bm25', 'vector', 'vector-calibrated', 'none'] as const)).map(
    (name) => ({ name: `credence ${name}`, open: () => backends.open(name) }),
  )
  const calibration = loadPack(`${packsDirectory}/calibration`).pack
  const peers = libraries.flatMap((peer) => [
    {
      name: peer.name,
      open: async () => backends.underTest(peerSystem(peer, peer.name, { k: topK, threshold: null })),
    },
    {
      name: `${peer.name}, calibrated`,
      open: async () =>
        backends.underTest(peerSystem(peer, `${peer.name}, calibrated`, await cutFor(peer, calibration))),
    },
  ])
  const servers = mcpServers.flatMap(({ entrance, mappings }) =>
    mappings.map((name) => ({
      name,
      open: async () => backends.underTest(mcpSystem({ mapping: installedMapping(name, entrance) })),
    })),
  )
  return [...own, ...peers, ...servers]
}

/** The best k and threshold for a peer, chosen on cases that are in none of the packs. */
async function cutFor(peer: Peer, calibration: Pack) {
  const rankings = await rankingsOf(calibration, systemWithoutCut(peer))
  const scores = rankings.flatMap(({ hits }) => hits.map(({ score }) => score)).sort((a, b) => a - b)
  const thresholds = peer.hasScores
    ? Array.from({ length: 200 }, (_, step) => scores[Math.floor((step * (scores.length - 1)) / 199)] ?? 0)
    : [0]
  const { k, threshold } = bestCut(rankings, [...new Set(thresholds)])
  return { k, threshold }
}

/** Memory servers, each queried with the whole message and word by word. */
const mcpServers = [
  {
    entrance: '@modelcontextprotocol/server-memory/dist/index.js',
    mappings: ['server-memory', 'server-memory-words'],
  },
  { entrance: '@agentmemory/agentmemory/dist/standalone.mjs', mappings: ['agentmemory', 'agentmemory-words'] },
]

/** Systems that were tried but are not measured. */
const notMeasured = [
  {
    system: 'mem0ai',
    reason: 'Adding something needs a language model and an embedding endpoint; there is no way to run it without.',
  },
  {
    system: '@tobilu/qmd',
    reason:
      'Its lexical search needs the Bun runtime and Markdown files, and finds only files that hold every word of the question.',
  },
]

/** The published mapping, with the installed program instead of one that npm would have to look up. */
function installedMapping(name: string, entrance: string) {
  const outside = createRequire(new URL('../outside/package.json', import.meta.url))
  try {
    return {
      ...readMcpMapping(`${examples}/${name}.json`),
      command: process.execPath,
      args: [outside.resolve(entrance)],
    }
  } catch (cause) {
    throw new MemoryError('unavailable', `${entrance} is not installed.`, {
      hint: 'npm install --prefix bench/outside --ignore-scripts --omit=optional',
      cause,
    })
  }
}

async function measure(name: string, subject: SystemUnderTest, packs: readonly Pack[]): Promise<ComparisonRow> {
  try {
    const runs = []
    for (const pack of packs) runs.push(await runPack(pack, subject))
    return comparisonRow(name, runs)
  } finally {
    await subject.close()
  }
}
