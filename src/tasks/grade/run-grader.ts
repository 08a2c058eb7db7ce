import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { Confined, Confinement, GraderLimits } from './confinement.ts'

/** How a grader's process ended. `document` is what came over its own channel, and nothing else. */
type GraderRun = {
  readonly document: string | null
  /** Why it was ended from outside; null when it ended by itself. */
  readonly stopped: string | null
  readonly exit: string
  /** The beginning of what it printed, for a person. */
  readonly output: string
  readonly ms: number
}

type GraderJob = Pick<Confined, 'python' | 'workspace' | 'workspaceBytes' | 'limits'> & {
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
      // A stream breaks when its process is killed, which is reported already.
      stream?.on('data', take).on('error', () => {})
    }
    for (const stream of [child.stdout, child.stderr]) {
      listen(stream, (chunk) => {
        gathered.printed += chunk.length
        if (gathered.output.length < keptOutput) gathered.output = Buffer.concat([gathered.output, chunk])
        if (gathered.printed > job.limits.outputBytes) stop(`It printed more than ${job.limits.outputBytes} bytes.`)
      })
    }
    listen(child.stdio[resultDescriptor] as Readable | null, (chunk) => {
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

/** Where the driver writes its one document. Standard output belongs to the grader. */
const resultDescriptor = 3

/**
 * The Python program around a grader. It sets the limits that the kernel enforces, reads the job from standard input,
 * calls `grade` and writes one document to the result descriptor. No program the grader starts inherits that
 * descriptor, and none may look into this process.
 */
const graderDriver = `
import sys, os
CHANNEL = ${resultDescriptor}
os.set_inheritable(CHANNEL, False)
try:
    import ctypes
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
except Exception:
    pass
try:
    import resource
    for name, text in (pair.split("=") for pair in sys.argv[1:]):
        if text == "":
            continue
        kind, limit = getattr(resource, name, None), int(text)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
except ImportError:
    pass
import json, math, numbers, traceback
job = json.loads(sys.stdin.buffer.read())
sys.argv = ["grader"]

def reported(value):
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isfinite(number):
            return {"number": number}
    return {"other": repr(value)[:200]}

def tell(document):
    left = json.dumps(document).encode()
    while left:
        left = left[os.write(CHANNEL, left):]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)

try:
    os.chdir(job["workspace"])
    space = {"__name__": "grader", "__builtins__": __builtins__}
    exec(compile(job["code"], "<automated checks>", "exec"), space)
    grade = space.get("grade")
    if not callable(grade):
        tell({"error": "The automated checks define no function named grade."})
    result = grade(job["transcript"], job["workspace"])
    if not isinstance(result, dict):
        tell({"error": "grade returned " + repr(result)[:200] + ", not a dict."})
    tell({"scores": [[str(name), reported(value)] for name, value in result.items()]})
except MemoryError:
    tell({"error": "The grader ran out of memory."})
except BaseException as problem:
    where = [part for part in traceback.extract_tb(problem.__traceback__) if part.filename == "<automated checks>"]
    line = " in line " + str(where[-1].lineno) if where else ""
    tell({"error": "The grader raised " + type(problem).__name__ + line + ": " + str(problem)[:500]})
`

const Reported = z.strictObject({
  scores: z.array(
    z.tuple([z.string(), z.union([z.strictObject({ number: z.number() }), z.strictObject({ other: z.string() })])]),
  ),
})
const Failed = z.strictObject({ error: z.string() })

type GraderScores =
  | { readonly ok: true; readonly scores: Readonly<Record<string, number>> }
  | { readonly ok: false; readonly reason: string }

const refuse = (reason: string): GraderScores => ({ ok: false, reason })

/** What a grader said, if it said it in time and by the rules: names with finite numbers from 0 to 1. */
export function parseScores(run: Pick<GraderRun, 'document' | 'stopped' | 'exit' | 'output'>): GraderScores {
  if (run.stopped !== null) return refuse(run.stopped)
  if (run.document === null) {
    return refuse(`It ended without a result (${run.exit})${run.output === '' ? '' : `: ${run.output.slice(-300)}`}`)
  }
  const document = parsed(run.document)
  const failed = Failed.safeParse(document)
  if (failed.success) return refuse(failed.data.error)
  const reported = Reported.safeParse(document)
  if (!reported.success) return refuse('Its result is not the one document that was expected.')
  const { scores } = reported.data
  if (scores.length === 0) return refuse('It returned no scores.')
  if (new Set(scores.map(([name]) => name)).size < scores.length) return refuse('It returned a name twice.')
  for (const [name, value] of scores) {
    const given = 'number' in value ? value.number : null
    // Written as "not within", so that what is no number is refused as well.
    if (!(given !== null && given >= 0 && given <= 1)) {
      const shown = 'number' in value ? String(value.number) : value.other
      return refuse(`It returned ${shown} for ${JSON.stringify(name)}, which is not a number from 0 to 1.`)
    }
  }
  const numbers = scores.flatMap(([name, value]) => ('number' in value ? [[name, value.number] as const] : []))
  return { ok: true, scores: Object.fromEntries(numbers) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
