import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Confined, Confinement, GraderLimits } from './confinement.ts'
import { graderDriver } from './grader-driver.ts'

/** What became of a grader's process. `document` is what came over its own channel, and nothing else. */
export type GraderRun = {
  readonly document: string | null
  /** Why it was ended from outside; null when it ended by itself. */
  readonly stopped: string | null
  readonly exit: string
  /** The beginning of what it printed, for a person. */
  readonly output: string
  readonly ms: number
}

export type GraderJob = Pick<Confined, 'python' | 'workspace' | 'workspaceBytes' | 'limits'> & {
  readonly code: string
  readonly transcript: readonly unknown[]
}

const keptOutput = 8_000
/** More than any honest result needs. */
const longestDocument = 1024 * 1024

/** Runs the driver with a grader, and kills all of it when time or output runs out, or when `signal` says so. */
export async function runGrader(
  confinement: Confinement,
  { code, transcript, ...job }: GraderJob,
  signal?: AbortSignal,
): Promise<GraderRun> {
  const args = ['-I', '-B', '-X', 'utf8', '-c', graderDriver, ...limitArguments(job.limits, confinement)]
  const prepared = await confinement.prepare({ ...job, args })
  const begun = performance.now()
  try {
    const child = spawn(prepared.program, [...prepared.args], {
      env: prepared.env,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    let stopped: string | null = null
    const stop = (reason: string): void => {
      stopped ??= reason
      kill(child.pid)
    }
    const gathered = { document: Buffer.alloc(0), output: Buffer.alloc(0), printed: 0 }
    const listen = (stream: Readable | null, take: (chunk: Buffer) => void): void => {
      // A stream that breaks because its process was killed is no news.
      stream?.on('data', take).on('error', () => {})
    }
    for (const stream of [child.stdout, child.stderr]) {
      listen(stream, (chunk) => {
        gathered.printed += chunk.length
        if (gathered.output.length < keptOutput) gathered.output = Buffer.concat([gathered.output, chunk])
        if (gathered.printed > job.limits.outputBytes) stop(`It printed more than ${job.limits.outputBytes} bytes.`)
      })
    }
    listen(child.stdio[3] as Readable | null, (chunk) => {
      if (gathered.document.length + chunk.length > longestDocument) stop('Its result is too long.')
      else gathered.document = Buffer.concat([gathered.document, chunk])
    })
    const timer = setTimeout(() => stop(`It took longer than ${job.limits.wallClockMs} ms.`), job.limits.wallClockMs)
    const abort = (): void => stop('It was interrupted.')
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    child.stdin?.on('error', () => {})
    child.stdin?.end(JSON.stringify({ code, transcript, workspace: prepared.workspace }))
    try {
      const exit = await endOf(child)
      return {
        document: stopped === null && gathered.document.length > 0 ? gathered.document.toString('utf8') : null,
        stopped,
        exit,
        output: gathered.output.subarray(0, keptOutput).toString('utf8').trim(),
        ms: performance.now() - begun,
      }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      kill(child.pid)
    }
  } finally {
    await prepared.remove()
  }
}

/** The group and everything in it; nothing happens when it is gone. */
function kill(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** Waits for the process itself: a stray descendant that holds a stream open must not hold up the grading. */
const endOf = (child: ReturnType<typeof spawn>): Promise<string> =>
  new Promise((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}`))
    child.on('exit', (code, signal) => {
      const ending = signal === null ? `exit code ${code}` : `signal ${signal}`
      // What is still on its way through the pipes arrives within moments, unless something holds them open.
      const late = setTimeout(() => resolve(ending), 500)
      child.on('close', () => {
        clearTimeout(late)
        resolve(ending)
      })
    })
  })

/** By the names that Python has for them. */
function limitArguments(limits: GraderLimits, { limitsProcesses }: Confinement): readonly string[] {
  const seconds = Math.ceil(limits.wallClockMs / 1000) + 1
  return [
    `RLIMIT_AS=${limits.memoryBytes}`,
    `RLIMIT_CPU=${seconds}`,
    `RLIMIT_FSIZE=${limits.fileBytes}`,
    `RLIMIT_NOFILE=${limits.openFiles}`,
    `RLIMIT_NPROC=${limitsProcesses ? limits.processes : ''}`,
    'RLIMIT_CORE=0',
  ]
}
