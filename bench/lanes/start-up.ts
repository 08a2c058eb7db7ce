import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { benchScope, generateMessages } from '../corpus.ts'
import type { FilledStores } from '../filled-stores.ts'
import { milliseconds, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Program = {
  readonly argv: readonly string[]
  readonly input?: string
  /** Measures the time until this many lines of output, not until the end. */
  readonly untilLines?: number
}

/** One-shot commands from start to exit, compared with an empty Node program; runs alternate so that noise affects all. */
export const startUpLane: Lane = {
  name: 'start-up',
  summary: 'one-shot commands from start to exit, compared with `node -e 0`; what importing costs',
  async run({ quick, log, stores }) {
    const size = quick ? 1_000 : 100_000
    const rounds = quick ? 5 : 25
    // The store has as many turns as beliefs.
    const { dir, sample } = await stores.copyWithTurns(size, size)
    const [message = ''] = generateMessages(sample, { count: 1, words: 40, mentions: 2, seed: 3 })
    const installed = installedPackage(stores)
    const samples = new Map<string, number[]>()
    for (let round = -2; round < rounds; round += 1) {
      // A new session per round: a hook answers the same event of the same conversation only once.
      for (const [name, program] of Object.entries(oneShots(installed, dir, message, `s${round}`))) {
        const took = program.untilLines ? await linesOf(program, dir) : wholeRunOf(name, program, dir)
        if (round >= 0) samples.set(name, [...(samples.get(name) ?? []), took])
      }
    }
    const rows = [...samples].map(([program, sampleMs]) => ({ program, beliefs: size, spread: spreadOf(sampleMs) }))
    const floor = rows[0]?.spread.p50 ?? Number.NaN
    for (const { program, spread } of rows)
      log(`  ${program.padEnd(28)} p50 ${milliseconds(spread.p50)} ms  ${(spread.p50 / floor).toFixed(2)}x`)
    return { rows, imports: importCosts(quick ? 3 : 9) }
  },
}

function wholeRunOf(name: string, { argv, input = '' }: Program, cwd: string): number {
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', input, cwd })
  const took = performance.now() - start
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
  if (argv.length > 2 && stdout === '') throw new Error(`${name} printed nothing, so its time says nothing.`)
  return took
}

async function linesOf({ argv, input = '', untilLines = 1 }: Program, cwd: string): Promise<number> {
  const start = performance.now()
  const child = spawn(process.execPath, argv, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(input)
  let lines = 0
  for await (const _line of createInterface({ input: child.stdout })) {
    lines += 1
    if (lines === untilLines) break
  }
  const took = performance.now() - start
  if (lines < untilLines) throw new Error(`${argv.join(' ')} ended after ${lines} lines.`)
  child.stdout.resume()
  child.stdin.end()
  await once(child, 'exit')
  return took
}

/** The package as a user has it: built and installed with its dependencies. */
function installedPackage(stores: FilledStores): string {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' })
  const place = stores.place('package')
  mkdirSync(place, { recursive: true })
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(place, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  return join(place, 'bin', 'credence.js')
}

function oneShots(installed: string, dir: string, message: string, session: string): Readonly<Record<string, Program>> {
  const clone = join(root, 'bin', 'credence.js')
  const recall = ['recall', message, '--dir', dir, '--scope', benchScope]
  const prompt = { session_id: session, cwd: dir, hook_event_name: 'UserPromptSubmit', prompt: message }
  const hook = ['hook', 'prompt-submit', '--host', 'claude-code', '--dir', dir, '--scope', benchScope]
  return {
    'node -e 0': { argv: ['-e', '0'] },
    'credence recall (package)': { argv: [installed, ...recall] },
    'credence recall (clone)': { argv: [clone, ...recall] },
    'credence hook (package)': { argv: [installed, ...hook], input: JSON.stringify(prompt) },
    'credence mcp, first answer (package)': {
      argv: [installed, 'mcp', '--dir', dir, '--scope', benchScope],
      input: mcpCall(message),
      untilLines: 1,
    },
    'credence mcp, one call (package)': {
      argv: [installed, 'mcp', '--dir', dir, '--scope', benchScope],
      input: mcpCall(message),
      // A server whose input has ended exits without sending the answer.
      untilLines: 2,
    },
  }
}

/** A host's first messages and one search. */
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

/** Packages whose import time is measured, to show which ones a fast command must not load. */
const imported = ['zod', 'hono', '@modelcontextprotocol/server', 'yaml', 'mdast-util-from-markdown']

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
