import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { queuedNames } from '../../src/cli/hooks/hook-queue.ts'
import { bin, createSandbox, endOf } from '../cli/sandbox.ts'

/** The versions that the tests run, which docs/agents.md names. Each was tried; updating one is a deliberate change. */
export const pinned = {
  'claude-code': '@anthropic-ai/claude-code@2.1.328',
  codex: '@openai/codex@0.169.0',
  gemini: '@google/gemini-cli@0.61.0',
  opencode: 'opencode-ai@1.18.33',
  openclaw: 'openclaw@2026.9.6',
  'openclaw-5': 'openclaw@2026.5.18',
} as const

const cache = process.env.CREDENCE_HOSTS_DIR ?? join(homedir(), '.cache', 'credence-hosts')

const tried = new Map<keyof typeof pinned, string | null>()

/** The directory with the programs of a host, installed from npm once; null, with a printed reason, if that fails. */
export function installedHost(host: keyof typeof pinned): string | null {
  const known = tried.get(host)
  if (known !== undefined) return known
  const programs = install(host)
  tried.set(host, programs)
  return programs
}

function install(host: keyof typeof pinned): string | null {
  const spec = pinned[host]
  const place = join(cache, spec.replaceAll('/', '-'))
  const programs = join(place, 'node_modules', '.bin')
  if (existsSync(programs)) return programs
  let draft = ''
  try {
    mkdirSync(cache, { recursive: true })
    draft = mkdtempSync(join(cache, 'installing-'))
    writeFileSync(join(draft, 'package.json'), '{"private": true}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', spec], {
      cwd: draft,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 300_000,
    })
    renameSync(draft, place)
    return programs
  } catch (error) {
    // The first line is the command; npm's own reason comes below it.
    const [command, ...said] = String(error instanceof Error ? error.message : error).split('\n')
    const reason =
      said
        .filter((line) => line.startsWith('npm error'))
        .slice(0, 3)
        .join(' ') || command
    console.warn(`SKIPPED: ${spec} could not be installed: ${reason}`)
    return existsSync(programs) ? programs : null
  } finally {
    if (draft !== '') rmSync(draft, { recursive: true, force: true })
  }
}

/** A separate home with two repositories, and a host whose programs are in `programs`. */
export function hostPlace(programs: string, hostEnv: (home: string) => Readonly<Record<string, string>>) {
  const place = createSandbox()
  const own = join(place.path, 'bin')
  mkdirSync(own)
  // The same Node for the host, its servers and its hooks, and `credence` on the PATH.
  symlinkSync(process.execPath, join(own, 'node'))
  symlinkSync(bin, join(own, 'credence'))
  const env = {
    PATH: [own, programs, process.env.PATH ?? ''].join(delimiter),
    HOME: place.home,
    XDG_CACHE_HOME: join(place.path, 'cache'),
    ...hostEnv(place.home),
  }
  const repository = (name: string): string => {
    const path = join(place.work, name)
    mkdirSync(join(path, '.git', 'refs'), { recursive: true })
    mkdirSync(join(path, '.git', 'objects'))
    writeFileSync(join(path, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    return path
  }
  const memoryDirectory = join(place.home, '.local', 'share', 'credence')
  const runIn = async (cwd: string, program: string, ...args: readonly string[]) => {
    const child = spawn(program, args, { cwd, env, stdio: 'pipe' })
    child.stdin.end()
    return endOf(child)
  }
  return {
    ...place,
    env,
    repository,
    /** Runs a program of the host to its end. */
    runIn,
    /** Runs Credence as the person would, with the same home and PATH. */
    credence: (...argv: readonly string[]) => runIn(place.work, 'credence', ...argv),
    credenceJson: async (...argv: readonly string[]) => {
      const { exitCode, stdout, stderr } = await runIn(place.work, 'credence', ...argv, '--json')
      if (exitCode !== 0) throw new Error(`credence ${argv.join(' ')}: ${exitCode} ${stderr}`)
      return JSON.parse(stdout)
    },
    /** Waits until the queue is stored; then stores the messages that a host interrupted when it ended, as the next session would. */
    allHeard: async () => {
      const isHeard = () => queuedNames(memoryDirectory).length === 0
      await eventually(isHeard, '', maxHearingMs).catch(() => runIn(place.work, 'credence', 'hook', 'hear'))
      await eventually(isHeard, 'The queue is not empty.')
    },
  }
}

const maxWaitMs = 60_000
const maxHearingMs = 10_000

/** Waits for a condition that other processes fulfil. */
export async function eventually(isMet: () => boolean, otherwise: string, waitMs = maxWaitMs): Promise<void> {
  const end = performance.now() + waitMs
  while (!isMet()) {
    if (performance.now() > end) throw new Error(`${otherwise} Waited ${waitMs} ms.`)
    await sleep(50)
  }
}
