import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { constants, readdirSync, readFileSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../../files/leftovers.ts'

export type Program = {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment; no variable is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  readonly signal: AbortSignal
  /** Max bytes on standard output and standard error together; the group is ended if it writes more. Default 16 MiB. */
  readonly maxOutput?: number
  /** Opens descriptor 3 for a result of at most this many bytes; the group is ended if it writes more. */
  readonly maxResult?: number
  readonly onStart?: (pid: number) => void
  /** Time between SIGTERM and SIGKILL. Default 2 s. */
  readonly graceMs?: number
}

export type Ending = Readonly<Awaited<ReturnType<typeof runInGroup>>>

const maxStderrLength = 1024 * 1024
const defaultGraceMs = 2_000
/** Max time to wait, after the group is gone, for the output of a process that left the group. */
const drainMs = 1_000
const isWindows = process.platform === 'win32'

/**
 * Runs a program in a new process group, and ends the whole group when the program exits or `signal` is aborted: a leftover
 * process could write into the next session. Rejects only if the program cannot be started.
 */
export async function runInGroup(given: Program) {
  const { program, args, cwd, env, input, signal, maxResult, graceMs } = given
  signal.throwIfAborted()
  const stdio = ['pipe', 'pipe', 'pipe', ...(maxResult === undefined ? [] : ['pipe' as const])] as 'pipe'[]
  const child = spawn(program, [...args], { cwd, env, detached: !isWindows, stdio, windowsHide: true })
  const { pid } = child
  if (pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve))
  liveGroups.add(pid)
  given.onStart?.(pid)

  let ending: Promise<void> | null = null
  const end = (): void => {
    ending ??= endGroup(pid, graceMs)
  }
  const collected = collectOutput(child, given, end)
  // A program may exit without reading its input.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input ?? '')

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  signal.addEventListener('abort', end, { once: true })
  try {
    // The signal may have been aborted after the check above and before the listener was added.
    if (signal.aborted) end()
    const [exitCode, killedBy] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.once('exit', (code, by) => resolve([code, by]))
    })
    end()
    await ending
    const drained = new AbortController()
    await Promise.race([closed, pause(drainMs, undefined, { signal: drained.signal }).catch(() => {})])
    drained.abort()
    return { pid, exitCode, killedBy, ...collected() }
  } finally {
    signal.removeEventListener('abort', end)
    for (const stream of child.stdio) stream?.destroy()
    liveGroups.delete(pid)
  }
}

/** Reads the streams of a process up to their limits. Calls `end` if one is exceeded. Returns a function that returns the output. */
function collectOutput(
  { stdout, stderr, stdio }: ChildProcess,
  { maxOutput = 16 * 1024 * 1024, maxResult = 0 }: Pick<Program, 'maxOutput' | 'maxResult'>,
  end: () => void,
) {
  const output: Buffer[] = []
  const result: Buffer[] = []
  let errorText = ''
  let outputBytes = 0
  let resultBytes = 0
  /** The stream that exceeded its limit. */
  let exceeded: 'output' | 'result' | null = null
  const refuse = (stream: 'output' | 'result'): void => {
    exceeded ??= stream
    end()
  }
  const listen = (stream: Readable | null, take: (chunk: Buffer) => void): void => {
    // A killed process breaks its streams; the exit code already reports that.
    stream?.on('data', take).on('error', () => {})
  }
  const isTooMuch = (chunk: Buffer): boolean => {
    outputBytes += chunk.length
    if (outputBytes > maxOutput) refuse('output')
    return outputBytes > maxOutput
  }
  listen(stdout, (chunk) => {
    if (!isTooMuch(chunk)) output.push(chunk)
  })
  listen(stderr, (chunk) => {
    if (!isTooMuch(chunk)) errorText = (errorText + chunk.toString('utf8')).slice(-maxStderrLength)
  })
  listen((stdio[3] ?? null) as Readable | null, (chunk) => {
    resultBytes += chunk.length
    if (resultBytes > maxResult) refuse('result')
    else result.push(chunk)
  })
  return () => ({ stderr: errorText, exceeded, stdout: Buffer.concat(output), result: Buffer.concat(result) })
}

async function endGroup(pid: number, graceMs: number = defaultGraceMs): Promise<void> {
  if (isWindows) {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true })
    return
  }
  if (!signalGroup(pid, 'SIGTERM')) return
  // A second Ctrl-C ends this process at once; processes of the group that ignored the first must not outlive it.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const isHandled = signals.some((name) => process.listenerCount(name) > 0)
  const atOnce = (name: NodeJS.Signals): void => {
    signalGroup(pid, 'SIGKILL')
    for (const each of signals) process.off(each, atOnce)
    // If there is another listener, it decides whether this process ends.
    if (!isHandled) process.kill(process.pid, name)
  }
  for (const each of signals) process.on(each, atOnce)
  try {
    if (await isGone(pid, graceMs)) return
    signalGroup(pid, 'SIGKILL')
    // Waits, so that nothing is still writing when the next session begins.
    await isGone(pid, 1_000)
  } finally {
    for (const each of signals) process.off(each, atOnce)
  }
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs
  while (signalGroup(pid, 0) && hasLiving(pid)) {
    if (performance.now() >= end) return false
    await pause(10)
  }
  return true
}

/** Whether a process of the group is alive. The kernel counts zombies as members; only Linux lets us tell them apart. */
function hasLiving(group: number): boolean {
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/u.test(name)) return false
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      // "pid (name) state parent group …": the name may contain anything, but ends at the last parenthesis.
      const [state = '', , its] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(its) === group && !'ZX'.includes(state)
    } catch {
      // The process ended after the folder was listed.
      return false
    }
  })
}

/** Sends a signal to the process group; 0 only checks whether the group exists. False if none of its processes is left. */
function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, name)
    return true
  } catch (error) {
    // Some systems return EPERM if only zombies are left.
    if (codeOf(error) === 'ESRCH' || codeOf(error) === 'EPERM') return false
    throw error
  }
}

const liveGroups = new Set<number>()

// The process groups that this process started end with it, however it exits.
process.on('exit', () => {
  for (const pid of liveGroups) {
    if (!isWindows) signalGroup(pid, 'SIGKILL')
  }
})

/** Why a task cannot be carried out here, in one sentence; null if it can. Only programs can be checked. */
export async function missingPrerequisite(
  prerequisites: readonly string[],
  searchPath: string,
): Promise<string | null> {
  for (const prerequisite of prerequisites) {
    const [, name] = /^cli:(\S+)$/u.exec(prerequisite) ?? []
    if (name === undefined) return `The task needs "${prerequisite}", which cannot be checked here; use cli:NAME.`
    if ((await findProgram(name, searchPath)) === null)
      return `The task needs the program "${name}", which is not on the path.`
  }
  return null
}

/** The path of a program, or null. */
export async function findProgram(name: string, searchPath: string): Promise<string | null> {
  const isPath = name.includes('/') || name.includes('\\')
  const folders = isPath ? [''] : searchPath.split(delimiter).filter((folder) => folder !== '')
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : ['']
  for (const file of folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending)))) {
    const isProgram = await access(file, constants.X_OK).then(
      async () => (await stat(file)).isFile(),
      () => false,
    )
    if (isProgram) return file
  }
  return null
}
