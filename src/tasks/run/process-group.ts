import { spawn, spawnSync } from 'node:child_process'
import { codeOf } from '../../files/leftovers.ts'
import { livingGroup, processIds } from './linux-processes.ts'

export type Program = {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** All of its environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** What it reads on standard input. */
  readonly input?: string | Uint8Array
  /** When it is raised, the whole group is ended. */
  readonly signal: AbortSignal
  /** More output than this ends the group. Default 16 MiB. */
  readonly mostOutput?: number
  readonly onStart?: (pid: number) => void
  /** How long the group has between being asked to end and being ended. Default 2 s. */
  readonly graceMs?: number
}

export type Ending = {
  readonly pid: number
  readonly exitCode: number | null
  readonly killedBy: string | null
  readonly stdout: Buffer
  /** The end of it, which is where the reason stands. */
  readonly stderr: string
  /** Whether it wrote more than it may, and was ended for it. */
  readonly isCut: boolean
}

const longestComplaint = 1024 * 1024
const defaultGraceMs = 2_000
/** How long output may still come after every process of the group is gone, from one that left the group. */
const drainMs = 1_000
const isWindows = process.platform === 'win32'

/**
 * Runs a program in a process group of its own, and ends the whole group when the program ends or `signal` is raised:
 * what it left behind would write into the next session. Rejects only when it cannot be started.
 */
export async function runInGroup(given: Program): Promise<Ending> {
  const { program, args, cwd, env, input, signal, mostOutput = 16 * 1024 * 1024, graceMs = defaultGraceMs } = given
  signal.throwIfAborted()
  const child = spawn(program, [...args], { cwd, env, detached: !isWindows, stdio: 'pipe', windowsHide: true })
  const { pid } = child
  if (pid === undefined) {
    throw await new Promise<Error>((resolve) => child.once('error', resolve))
  }
  liveGroups.add(pid)
  given.onStart?.(pid)

  const chunks: Buffer[] = []
  let size = 0
  let isCut = false
  let complaint = ''
  let ending: Promise<void> | null = null
  const end = (): void => {
    ending ??= endGroup(pid, graceMs)
  }
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= mostOutput) chunks.push(chunk)
    else if (!isCut) {
      isCut = true
      end()
    }
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-longestComplaint)
  })
  // A program that does not read to the end is no failure of ours.
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? '')

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  signal.addEventListener('abort', end, { once: true })
  try {
    // Aborted between the check above and the listener.
    if (signal.aborted) end()
    const [exitCode, killedBy] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.once('exit', (code, by) => resolve([code, by]))
    })
    end()
    await ending
    await withinMs(closed, drainMs)
    return { pid, exitCode, killedBy, stdout: Buffer.concat(chunks), stderr: complaint, isCut }
  } finally {
    signal.removeEventListener('abort', end)
    for (const stream of [child.stdout, child.stderr, child.stdin]) stream.destroy()
    liveGroups.delete(pid)
  }
}

/** Asks every process of a group to end, and ends those that do not. */
export async function endGroup(pid: number, graceMs: number = defaultGraceMs): Promise<void> {
  if (isWindows) {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true })
    return
  }
  if (!signalGroup(pid, 'SIGTERM')) return
  // A second Ctrl-C ends this process at once; what ignores the first must not outlive it.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const isOthers = signals.some((name) => process.listenerCount(name) > 0)
  const atOnce = (name: NodeJS.Signals): void => {
    signalGroup(pid, 'SIGKILL')
    for (const each of signals) process.off(each, atOnce)
    // Where somebody else listens, ending this process is theirs to decide.
    if (!isOthers) process.kill(process.pid, name)
  }
  for (const each of signals) process.on(each, atOnce)
  try {
    if (await isGone(pid, graceMs)) return
    signalGroup(pid, 'SIGKILL')
    // Nothing survives this; it is waited for so that nothing is still writing when the next session begins.
    await isGone(pid, 1_000)
  } finally {
    for (const each of signals) process.off(each, atOnce)
  }
}

async function isGone(pid: number, withinTimeMs: number): Promise<boolean> {
  const end = performance.now() + withinTimeMs
  while (signalGroup(pid, 0) && hasLiving(pid)) {
    if (performance.now() >= end) return false
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return true
}

/** Whether a process of the group does anything any more. The system counts the dead as members too; Linux says which they are. */
const hasLiving = (group: number): boolean =>
  process.platform !== 'linux' || processIds().some((pid) => livingGroup(pid) === group)

/** False when no process of the group is left. */
function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, name)
    return true
  } catch (error) {
    // Some systems answer EPERM where only dead processes are left to be collected.
    if (codeOf(error) === 'ESRCH' || codeOf(error) === 'EPERM') return false
    throw error
  }
}

const liveGroups = new Set<number>()

// However this process ends, what it started ends with it.
process.on('exit', () => {
  for (const pid of liveGroups) {
    if (!isWindows) signalGroup(pid, 'SIGKILL')
  }
})

/** Whether a promise settled in time. */
async function withinMs(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
