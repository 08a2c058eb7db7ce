import { join } from 'node:path'
import { z } from 'zod'
import type { Evidence } from '../evidence.ts'
import { readTranscript } from '../run/evidence-folder.ts'
import { runInGroup } from '../run/process-group.ts'
import type { Task } from '../task.ts'
import type { Confinement, Python, Sandbox } from './sandbox.ts'

/** What the Python checks of a task came to. */
export type AutomatedGrade =
  | {
      readonly state: 'scored'
      /** The plain mean of the scores. */
      readonly score: number
      readonly scores: Readonly<Record<string, number>>
      readonly python: string
      readonly ms: number
      readonly output: string
    }
  | { readonly state: 'grader_error'; readonly reason: string; readonly output: string }
  | { readonly state: 'skipped'; readonly reason: string }
  | { readonly state: 'not_applicable' }

/** Larger workspaces are not copied. */
const mostWorkspaceBytes = 512 * 1024 * 1024

/** What a grader may use. The wall clock and the output are watched from outside, the rest by the kernel. */
export type GraderLimits = {
  readonly wallClockMs: number
  readonly memoryBytes: number
  readonly processes: number
  readonly fileBytes: number
  readonly openFiles: number
  readonly outputBytes: number
  /** What the copy of the workspace may grow by, together with temporary files. */
  readonly scratchBytes: number
}

const mebibyte = 1024 * 1024

export const defaultLimits: GraderLimits = {
  wallClockMs: 60_000,
  memoryBytes: 1024 * mebibyte,
  processes: 64,
  fileBytes: 64 * mebibyte,
  openFiles: 256,
  outputBytes: mebibyte,
  scratchBytes: 128 * mebibyte,
}

type AutomatedRequest = {
  readonly task: Pick<Task, 'automatedChecks' | 'answerChecks' | 'gradingType'>
  readonly evidence: Pick<Evidence, 'transcript' | 'workspace'>
  /** Where the evidence lies. */
  readonly folder: string
  readonly sandbox: Sandbox
  readonly limits?: GraderLimits
  readonly signal?: AbortSignal
}

/** Runs a task's own checks over the evidence, in the sandbox. */
export async function gradeAutomatically({
  task,
  evidence,
  folder,
  sandbox,
  limits = defaultLimits,
  signal,
}: AutomatedRequest): Promise<AutomatedGrade> {
  if (task.automatedChecks === null) {
    if (task.gradingType === 'llm_judge' || task.answerChecks.length > 0) return { state: 'not_applicable' }
    return { state: 'grader_error', reason: 'The task is graded automatically but has no checks.', output: '' }
  }
  if (sandbox.state === 'none') return { state: 'skipped', reason: sandbox.reason }
  const workspaceBytes = evidence.workspace.reduce((sum, { bytes }) => sum + bytes, 0)
  if (workspaceBytes > mostWorkspaceBytes) {
    const reason = `The workspace has ${workspaceBytes} bytes; graders get at most ${mostWorkspaceBytes}.`
    return { state: 'grader_error', reason, output: '' }
  }
  const run = await runGrader(
    sandbox.confine,
    {
      python: sandbox.python,
      workspace: evidence.workspace.length === 0 ? null : join(folder, 'workspace'),
      workspaceBytes,
      limits,
      code: task.automatedChecks,
      transcript: evidence.transcript === null ? [] : await readTranscript(folder, evidence.transcript),
    },
    signal,
  )
  const { output } = run
  const result = parseScores(run)
  if (!result.ok) return { state: 'grader_error', reason: result.reason, output }
  const values = Object.values(result.scores)
  return {
    state: 'scored',
    score: values.reduce((sum, value) => sum + value, 0) / values.length,
    scores: result.scores,
    python: sandbox.python.version,
    ms: Math.round(run.ms),
    output,
  }
}

/** How a grader's process ended. `document` is what came over the result descriptor. */
type GraderRun = {
  readonly document: string | null
  /** Why it was ended from outside; null when it ended by itself. */
  readonly stopped: string | null
  readonly exit: string
  /** The beginning of what it printed, for a person. */
  readonly output: string
  readonly ms: number
}

export type GraderJob = {
  readonly python: Python
  /** The folder to copy; null for an empty one. */
  readonly workspace: string | null
  readonly workspaceBytes: number
  readonly limits: GraderLimits
  readonly code: string
  readonly transcript: readonly unknown[]
}

const keptOutput = 8_000
const mostResult = 1024 * 1024

/** Runs the driver with a grader, and kills its processes when time or output runs out, or when `signal` is aborted. */
export async function runGrader(
  confine: Confinement,
  { code, transcript, ...job }: GraderJob,
  signal: AbortSignal = new AbortController().signal,
): Promise<GraderRun> {
  const { wallClockMs, outputBytes } = job.limits
  const prepared = await confine(job, ['-I', '-B', '-X', 'utf8', '-c', graderDriver, ...limitArguments(job.limits)])
  const begun = performance.now()
  const timeout = AbortSignal.timeout(wallClockMs)
  try {
    const ending = await runInGroup({
      program: prepared.program,
      args: prepared.args,
      env: prepared.env,
      cwd: '/',
      input: JSON.stringify({ code, transcript, workspace: prepared.workspace }),
      signal: AbortSignal.any([signal, timeout]),
      mostOutput: outputBytes,
      mostResult,
      graceMs: 0,
    })
    const { exitCode, killedBy, exceeded, result, stdout, stderr } = ending
    const stopped =
      exceeded === 'output'
        ? `It printed more than ${outputBytes} bytes.`
        : exceeded === 'result'
          ? 'Its result is too long.'
          : signal.aborted
            ? 'It was interrupted.'
            : timeout.aborted
              ? `It took longer than ${wallClockMs} ms.`
              : null
    return {
      document: stopped === null && result.length > 0 ? result.toString('utf8') : null,
      stopped,
      exit: killedBy === null ? `exit code ${exitCode}` : `signal ${killedBy}`,
      output: `${stdout.toString('utf8')}${stderr}`.slice(0, keptOutput).trim(),
      ms: performance.now() - begun,
    }
  } catch (error) {
    const exit = `could not be started: ${error instanceof Error ? error.message : String(error)}`
    return { document: null, stopped: null, exit, output: '', ms: performance.now() - begun }
  } finally {
    await prepared.remove()
  }
}

/** By the names that Python has for them. */
function limitArguments(limits: GraderLimits): readonly string[] {
  const seconds = Math.ceil(limits.wallClockMs / 1000) + 1
  return [
    `RLIMIT_AS=${limits.memoryBytes}`,
    `RLIMIT_CPU=${seconds}`,
    `RLIMIT_FSIZE=${limits.fileBytes}`,
    `RLIMIT_NOFILE=${limits.openFiles}`,
    `RLIMIT_NPROC=${limits.processes}`,
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

const Score = z.union([z.strictObject({ number: z.number() }), z.strictObject({ other: z.string() })])
const Reported = z.union([
  z.strictObject({ scores: z.array(z.tuple([z.string(), Score])) }),
  z.strictObject({ error: z.string() }),
])

type GraderScores =
  | { readonly ok: true; readonly scores: Readonly<Record<string, number>> }
  | { readonly ok: false; readonly reason: string }

const refuse = (reason: string): GraderScores => ({ ok: false, reason })

/** The scores of a grader that ended in time with one valid result: names with finite numbers from 0 to 1. */
export function parseScores(run: Pick<GraderRun, 'document' | 'stopped' | 'exit' | 'output'>): GraderScores {
  if (run.stopped !== null) return refuse(run.stopped)
  if (run.document === null) {
    return refuse(`It ended without a result (${run.exit})${run.output === '' ? '' : `: ${run.output.slice(-300)}`}`)
  }
  let document: z.infer<typeof Reported>
  try {
    document = Reported.parse(JSON.parse(run.document))
  } catch {
    return refuse('Its result is not the one document that was expected.')
  }
  if ('error' in document) return refuse(document.error)
  if (document.scores.length === 0) return refuse('It returned no scores.')
  const scores = new Map<string, number>()
  for (const [name, value] of document.scores) {
    if (scores.has(name)) return refuse('It returned a name twice.')
    // Written as "not within", so that NaN is refused too.
    if (!('number' in value && value.number >= 0 && value.number <= 1)) {
      const shown = 'number' in value ? String(value.number) : value.other
      return refuse(`It returned ${shown} for ${JSON.stringify(name)}, which is not a number from 0 to 1.`)
    }
    scores.set(name, value.number)
  }
  return { ok: true, scores: Object.fromEntries(scores) }
}
