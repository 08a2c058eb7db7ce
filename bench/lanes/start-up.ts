import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchScope, generateMessages } from '../corpus.ts'
import type { FilledStores } from '../filled-stores.ts'
import { milliseconds, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Program = { readonly argv: readonly string[]; readonly input?: string }

/** One-shot commands from start to exit, beside an empty Node program; runs alternate so that noise falls on all. */
export const startUpLane: Lane = {
  name: 'start-up',
  summary: 'one-shot commands from start to exit, beside `node -e 0`; what importing costs',
  async run({ quick, log, stores }) {
    const size = quick ? 1_000 : 100_000
    const rounds = quick ? 5 : 25
    const { dir, sample } = await stores.copyOf(size)
    const [message = ''] = generateMessages(sample, { count: 1, words: 40, mentions: 2, seed: 3 })
    const programs = oneShots(installedPackage(stores), dir, message)
    const samples = new Map<string, number[]>(Object.keys(programs).map((name) => [name, []]))
    for (let round = -2; round < rounds; round += 1) {
      for (const [name, { argv, input = '' }] of Object.entries(programs)) {
        const start = performance.now()
        const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', input, cwd: dir })
        if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
        if (round >= 0) samples.get(name)?.push(performance.now() - start)
      }
    }
    const rows = [...samples].map(([program, sampleMs]) => ({ program, beliefs: size, spread: spreadOf(sampleMs) }))
    const floor = rows[0]?.spread.p50 ?? Number.NaN
    for (const { program, spread } of rows)
      log(`  ${program.padEnd(28)} p50 ${milliseconds(spread.p50)} ms  ${(spread.p50 / floor).toFixed(2)}x`)
    return { rows, imports: importCosts(quick ? 3 : 9) }
  },
}

/** The package as a user has it: built, with its dependencies beside it. */
function installedPackage(stores: FilledStores): string {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' })
  const place = stores.place('package')
  mkdirSync(place, { recursive: true })
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(place, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  return join(place, 'bin', 'credence.js')
}

function oneShots(installed: string, dir: string, message: string): Readonly<Record<string, Program>> {
  const clone = join(root, 'bin', 'credence.js')
  const recall = ['recall', message, '--dir', dir, '--scope', benchScope]
  const prompt = { session_id: 's', cwd: dir, hook_event_name: 'UserPromptSubmit', prompt: message }
  const hook = ['hook', 'prompt-submit', '--host', 'claude-code', '--dir', dir, '--scope', benchScope]
  return {
    'node -e 0': { argv: ['-e', '0'] },
    'credence recall (package)': { argv: [installed, ...recall] },
    'credence recall (clone)': { argv: [clone, ...recall] },
    'credence hook (package)': { argv: [installed, ...hook], input: JSON.stringify(prompt) },
    'credence mcp, one call (package)': {
      argv: [installed, 'mcp', '--dir', dir, '--scope', benchScope],
      input: mcpCall(message),
    },
  }
}

/** What a host says to begin with, and one search; the server ends when its input does. */
const mcpCall = (query: string): string =>
  [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'memory_search', arguments: { query } } },
  ]
    .map((call) => `${JSON.stringify({ jsonrpc: '2.0', ...call })}\n`)
    .join('')

/** What a path through the program might load, and what it therefore has to do without. */
const imported = ['better-sqlite3', 'zod', 'hono', '@modelcontextprotocol/server', 'yaml', 'mdast-util-from-markdown']

function importCosts(rounds: number): readonly { readonly module: string; readonly ms: number }[] {
  return imported.map((module) => {
    const script = `const start = performance.now(); await import('${module}'); console.log(performance.now() - start)`
    const took = Array.from({ length: rounds }, () =>
      Number(
        execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root, encoding: 'utf8' }),
      ),
    )
    return { module, ms: spreadOf(took).p50 }
  })
}
