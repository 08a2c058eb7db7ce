import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { embedTexts } from '../../src/memory/conversation/meaning.ts'
import { defaultUser, openPorts } from '../../src/open-memory.ts'
import { hostPlace, installedHost } from '../../test/hosts/host-place.ts'
import { scriptedModel } from '../../test/hosts/scripted-model.ts'
import { benchScope, generateMessages } from '../corpus.ts'
import type { FilledStores } from '../filled-stores.ts'
import { milliseconds, type Ratio, ratioOf, type Spread, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

type Place = ReturnType<typeof hostPlace>
type HostName = keyof typeof measuredHosts

/** One running session of a host. `turn` sends a prompt and waits for the end of the turn. */
type HostSession = Disposable & { readonly turn: (prompt: string) => Promise<void> }

type MeasuredHost = {
  readonly env: (url: string) => Readonly<Record<string, string>>
  readonly files: (url: string) => Readonly<Record<string, string>>
  readonly hooksFile: string
  readonly serverFile: string
  /** The entry of an MCP server called "credence" in `serverFile`. */
  readonly server: (command: string, argument: string) => string
  readonly start: (place: Place, cwd: string) => Promise<HostSession>
}

type Log = (line: string) => void

/**
 * The hook variants. `command`: hooks that call the host's MCP server through its socket. `bare tool`: a tool of another server
 * that answers at once.
 */
const variants = ['none', 'node -e 0', 'bare tool', 'command', 'mcp_tool'] as const
type Variant = (typeof variants)[number]

export const hostsLane: Lane = {
  name: 'hosts',
  summary: 'from a prompt to the request to the model in Claude Code and Codex; hooks of five kinds take turns',
  async run({ quick, log, stores }): Promise<HostsFigures> {
    const request = { variants, prompts: quick ? 3 : 20, log, stores, memory: await indexedMemory(stores) }
    const rows = await inEachHost((host, programs) => measure(host, programs, request))
    return { load: loadavg()[0], rows }
  },
}

/**
 * The target load of the machine, including the processes that this lane adds. The host's own processes come on top.
 */
const wantedLoad = 10

/** Exits after 20 minutes, in case the lane is killed. */
const burner = 'const end = performance.now() + 1_200_000; while (performance.now() < end);'

export const busyHostsLane: Lane = {
  name: 'hosts-busy',
  summary: `how many prompts get no context at a load of ${wantedLoad}`,
  async run({ quick, log, stores }): Promise<HostsFigures> {
    const [load = 0] = loadavg()
    const burners = Math.max(0, Math.round(wantedLoad - load))
    log(`  load ${load.toFixed(1)}, and ${burners} processes that use the processors`)
    const burning = Array.from({ length: burners }, () => spawn(process.execPath, ['-e', burner]))
    try {
      // 200 prompts in all: 50 for each of two variants on each of two hosts.
      const sizes = { prompts: quick ? 10 : 50, log, stores }
      const request = { variants: ['command', 'mcp_tool'] as const, ...sizes, memory: await indexedMemory(stores) }
      const rows = await inEachHost((host, programs) => measure(host, programs, request))
      return { load: loadavg()[0], rows }
    } finally {
      for (const process of burning) process.kill('SIGKILL')
    }
  },
}

async function inEachHost(work: (host: HostName, programs: string) => Promise<readonly Row[]>) {
  const rows: Row[] = []
  for (const host of ['claude-code', 'codex'] as const) {
    const programs = installedHost(host)
    if (programs !== null) rows.push(...(await work(host, programs)))
  }
  return rows
}

export type HostsFigures = {
  /** The load of the machine at the end, with the processes that the lane started. */
  readonly load: number | undefined
  readonly rows: readonly Row[]
}

type Row = {
  readonly host: HostName
  readonly variant: Variant
  /** The times from the prompt to the request to the model (`request`) and to the end of the turn (`turn`). */
  readonly request: Spread
  readonly turn: Spread
  /** The ratios to the first variant and to `node -e 0`, computed round by round. */
  readonly toFirst: Ratio
  readonly toNode: Ratio | null
  readonly withoutContext: number
}

type MeasureRequest = {
  readonly variants: readonly Variant[]
  readonly prompts: number
  readonly log: Log
  readonly stores: FilledStores
  /** The directory of a filled memory, which is copied for each variant. */
  readonly memory: string
}

/** The number of beliefs, and also of turns. */
const memorySize = 1_000

/** Fills a memory and computes its vectors in advance; otherwise a measured prompt would wait for texts that are being indexed. Returns its directory. */
async function indexedMemory(stores: FilledStores): Promise<string> {
  const { dir } = await stores.copyWithTurns(memorySize, memorySize)
  const ports = openPorts(dir, { semantic: 'on', isOneShot: true })
  await embedTexts(ports, { user: defaultUser })
  await ports.store.close()
  return dir
}

const warmUp = 2

/**
 * The pause before each prompt; no person writes one faster. During the pause, the hooks of the previous variant store
 * its turn.
 */
const pauseMs = 500

async function measure(host: HostName, programs: string, request: MeasureRequest): Promise<readonly Row[]> {
  const asked = { prompt: '', at: 0, blocks: 0 }
  await using model = await scriptedModel(({ conversation }) => {
    if (asked.at === 0 && conversation.includes(asked.prompt))
      Object.assign(asked, { at: performance.now(), blocks: conversation.split('<memory').length - 1 })
    return { text: 'Certainly, at once.' }
  })
  using opened = new DisposableStack()
  const measured: Measured[] = []
  const { sample } = await request.stores.of(memorySize)
  const messages = generateMessages(sample, { count: request.prompts + warmUp, words: 8, mentions: 1, seed: 5 })
  for (const variant of request.variants) {
    const place = opened.use(await connectedPlace(host, variant, { ...request, programs, url: model.url }))
    const session = opened.use(await measuredHosts[host].start(place, place.repository('ledger')))
    measured.push({ variant, session, requests: [], turns: [], blocks: 0, withoutContext: 0 })
  }
  for (const [round, message] of messages.entries()) {
    for (const one of inOrderOf(round, measured)) {
      await sleep(pauseMs)
      Object.assign(asked, { prompt: `${message} (${round} ${one.variant})`, at: 0 })
      const start = performance.now()
      await one.session.turn(asked.prompt)
      const turn = performance.now() - start
      const hasContext = asked.blocks > one.blocks
      one.blocks = asked.blocks
      if (round < warmUp) continue
      if (round % 50 === 0) request.log(`  ${host}: ${round} prompts, load ${loadavg()[0]?.toFixed(1)}`)
      one.requests.push(asked.at - start)
      one.turns.push(turn)
      one.withoutContext += Number(!hasContext)
    }
  }
  const each = (samples: readonly number[]) => samples.map((sample) => [sample])
  const [base] = measured
  const node = measured.find(({ variant }) => variant === 'node -e 0')
  return measured.map(({ variant, requests, turns, withoutContext }) => {
    const toFirst = ratioOf(each(requests), each(base?.requests ?? []))
    const toNode = node === undefined ? null : ratioOf(each(requests), each(node.requests))
    const row = { host, variant, request: spreadOf(requests), turn: spreadOf(turns), toFirst, toNode, withoutContext }
    request.log(
      `  ${`${host} ${variant}`.padEnd(24)} request ${milliseconds(row.request.p50)} ms, p95 ${milliseconds(row.request.p95)}  turn ${milliseconds(row.turn.p50)} ms  ${toFirst.median.toFixed(2)}x of ${base?.variant}  ${toNode?.median.toFixed(2) ?? '-'}x of node -e 0  ${withoutContext} without context`,
    )
    return row
  })
}

/**
 * Each round starts with a different variant, and every second round goes backwards, so that no variant always follows
 * the same other variant.
 */
function inOrderOf<Variant>(round: number, variants: readonly Variant[]): readonly Variant[] {
  const first = round % variants.length
  const order = [...variants.slice(first), ...variants.slice(0, first)]
  return round % 2 === 0 ? order : order.reverse()
}

type Measured = {
  readonly variant: Variant
  readonly session: HostSession
  readonly requests: number[]
  readonly turns: number[]
  blocks: number
  withoutContext: number
}

/** A home directory in which the host is configured for one variant. */
async function connectedPlace(
  host: HostName,
  variant: Variant,
  {
    programs,
    url,
    stores,
    memory,
  }: Pick<MeasureRequest, 'stores' | 'memory'> & {
    readonly programs: string
    readonly url: string
  },
): Promise<Place> {
  const { env, files, hooksFile, serverFile, server }: MeasuredHost = measuredHosts[host]
  const place = hostPlace(programs, () => env(url))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(place.home, path)), { recursive: true })
    writeFileSync(join(place.home, path), text)
  }
  for (const [path, text] of Object.entries(files(url))) write(path, text)
  if (variant === 'node -e 0') {
    const hook = { type: 'command', command: `${process.execPath} -e 0`, timeout: 5 }
    write(hooksFile, JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }))
  }
  if (variant === 'bare tool') {
    const hook = {
      type: 'mcp_tool',
      server: 'credence',
      tool: 'hook',
      input: { event: 'UserPromptSubmit' },
      timeout: 15,
    }
    write(hooksFile, JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }))
    const program = fileURLToPath(new URL('../programs/bare-hook.ts', import.meta.url))
    write(serverFile, (files(url)[serverFile] ?? '') + server(process.execPath, program))
  }
  if (variant === 'command' || variant === 'mcp_tool') {
    const dir = stores.place(variant)
    cpSync(memory, dir, { recursive: true })
    const argv = ['connect', host, '--yes', '--dir', dir, '--scope', benchScope]
    // Without the PATH of the host, `connect` cannot detect its version, so it writes hooks that run commands.
    const { exitCode, stderr } = await (variant === 'command' ? place.runWith({}, ...argv) : place.credence(...argv))
    if (exitCode !== 0) throw new Error(`credence ${argv.join(' ')}: ${stderr}`)
  }
  return place
}

const measuredHosts = {
  'claude-code': {
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    files: () => ({}),
    hooksFile: '.claude/settings.json',
    serverFile: '.claude.json',
    server: (command, argument) =>
      JSON.stringify({ mcpServers: { credence: { type: 'stdio', command, args: [argument] } } }),
    async start(place, cwd) {
      const format = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
      const host = startHost(place, cwd, ['claude', '-p', ...format])
      return {
        turn: async (prompt) => {
          host.send({ type: 'user', message: { role: 'user', content: prompt } })
          await host.line(({ type }) => type === 'result')
        },
        [Symbol.dispose]: host.end,
      }
    },
  },
  codex: {
    env: () => ({}),
    files: (url) => ({
      '.codex/config.toml': [
        'model = "scripted"',
        'model_provider = "local"',
        '[model_providers.local]',
        'name = "local"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    hooksFile: '.codex/hooks.json',
    serverFile: '.codex/config.toml',
    server: (command, argument) => `[mcp_servers.credence]\ncommand = "${command}"\nargs = ["${argument}"]\n`,
    async start(place, cwd) {
      const host = startHost(place, cwd, ['codex', 'app-server'])
      let last = 0
      const call = async (method: string, params: object) => {
        last += 1
        const id = last
        host.send({ id, method, params })
        const { result, error } = await host.line((line) => line.id === id)
        if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
        return result
      }
      await call('initialize', { clientInfo: { name: 'bench', version: '1' } })
      host.send({ method: 'initialized' })
      const { thread } = await call('thread/start', { cwd, config: { bypass_hook_trust: true } })
      return {
        turn: async (prompt) => {
          const ended = host.line(({ method }) => method === 'turn/completed')
          await call('turn/start', { threadId: thread.id, input: [{ type: 'text', text: prompt }] })
          await ended
        },
        [Symbol.dispose]: host.end,
      }
    },
  },
} satisfies Record<string, MeasuredHost>

/** A host that communicates in lines of JSON. */
function startHost(place: Place, cwd: string, [program, ...args]: readonly [string, ...string[]]) {
  const child = spawn(program, args, { cwd, env: place.env, stdio: ['pipe', 'pipe', 'ignore'] })
  // biome-ignore lint/suspicious/noExplicitAny: lines of two protocols, of which few fields are read
  type Line = any
  const waiting = new Set<(line: Line) => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text)
    for (const look of waiting) look(line)
  })
  return {
    send: (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`),
    line: (isWanted: (line: Line) => boolean) =>
      new Promise<Line>((resolve) => {
        const look = (line: Line): void => {
          if (!isWanted(line)) return
          waiting.delete(look)
          resolve(line)
        }
        waiting.add(look)
      }),
    end: () => void child.kill(),
  }
}
