import { join } from 'node:path'
import { z } from 'zod'
import { errorMessage } from '../agent.ts'
import type { Evidence } from '../evidence.ts'
import { readTranscript } from '../run/evidence-folder.ts'
import { runInGroup } from '../run/process-group.ts'
import type { Task } from '../task.ts'
import type { Confinement, Python, Sandbox } from './sandbox.ts'

/** The result of a task's Python checks. `output` is the beginning of the text that they printed. */
export type AutomatedGrade =
  | {
      readonly state: 'scored'
      readonly score: number
      readonly scores: Readonly<Record<string, number>>
      readonly output: string
    }
  | { readonly state: 'grader_error'; readonly reason: string; readonly output: string }
  | { readonly state: 'skipped'; readonly reason: string }
  | { readonly state: 'not_applicable' }

const mebibyte = 1024 * 1024
/** Max bytes of a workspace for a grader. A larger workspace is a grader error. */
const maxWorkspaceBytes = 512 * mebibyte
const maxResult = mebibyte
const keptOutput = 8_000

/** The limits of a grader. Node enforces the wall clock and the output; the kernel enforces the rest. */
export const defaultLimits = {
  wallClockMs: 60_000,
  memoryBytes: 1024 * mebibyte,
  processes: 64,
  fileBytes: 64 * mebibyte,
  openFiles: 256,
  outputBytes: mebibyte,
  /** Max growth of the workspace copy, including temporary files. */
  scratchBytes: 128 * mebibyte,
}
export type GraderLimits = Readonly<typeof defaultLimits>

type AutomatedRequest = {
  readonly task: Pick<Task, 'automatedChecks' | 'answerChecks' | 'gradingType'>
  readonly evidence: Pick<Evidence, 'transcript' | 'workspace'>
  readonly folder: string
  readonly sandbox: Sandbox
  readonly limits?: GraderLimits
  readonly signal?: AbortSignal
}

/** Runs a task's own Python checks on the evidence, in the sandbox. */
export async function gradeAutomatically(request: AutomatedRequest): Promise<AutomatedGrade> {
  const { task, evidence, folder, sandbox, limits = defaultLimits, signal } = request
  const code = task.automatedChecks
  if (code === null) {
    if (task.gradingType === 'llm_judge' || task.answerChecks.length > 0) return { state: 'not_applicable' }
    return { state: 'grader_error', reason: 'The task is graded automatically but has no checks.', output: '' }
  }
  if (sandbox.state === 'none') return { state: 'skipped', reason: sandbox.reason }
  const workspaceBytes = evidence.workspace.reduce((sum, { bytes }) => sum + bytes, 0)
  if (workspaceBytes > maxWorkspaceBytes) {
    const reason = `The workspace has ${workspaceBytes} bytes; graders get at most ${maxWorkspaceBytes}.`
    return { state: 'grader_error', reason, output: '' }
  }
  const workspace = evidence.workspace.length === 0 ? null : join(folder, 'workspace')
  const transcript = await readTranscript(folder, evidence.transcript)
  const job = { python: sandbox.python, workspace, workspaceBytes, limits, code, transcript }
  const { scores, output } = await runGrader(sandbox.confine, job, signal)
  if (typeof scores === 'string') return { state: 'grader_error', reason: scores, output }
  const values = Object.values(scores)
  return { state: 'scored', score: values.reduce((sum, value) => sum + value, 0) / values.length, scores, output }
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

type GraderScores = Readonly<Record<string, number>> | string

/** Runs a grader in the driver. Kills its processes if it exceeds its time or output, or when `signal` is aborted. */
export async function runGrader(
  confine: Confinement,
  { code, transcript, ...job }: GraderJob,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly scores: GraderScores; readonly output: string }> {
  const { wallClockMs, outputBytes } = job.limits
  const { workspace, remove, ...program } = await confine(job, [
    '-I',
    '-B',
    '-X',
    'utf8',
    '-c',
    graderDriver,
    ...limitArguments(job.limits),
  ])
  const timeout = AbortSignal.timeout(wallClockMs)
  try {
    const { exitCode, killedBy, exceeded, result, stdout, stderr } = await runInGroup({
      ...program,
      cwd: '/',
      input: JSON.stringify({ code, transcript, workspace }),
      signal: AbortSignal.any([signal, timeout]),
      maxOutput: outputBytes,
      maxResult,
      graceMs: 0,
    })
    const output = `${stdout.toString('utf8')}${stderr}`.slice(0, keptOutput).trim()
    if (exceeded === 'output') return { scores: `The grader printed more than ${outputBytes} bytes.`, output }
    if (exceeded === 'result') return { scores: 'The result of the grader is too long.', output }
    if (signal.aborted) return { scores: 'The grader was interrupted.', output }
    if (timeout.aborted) return { scores: `The grader took longer than ${wallClockMs} ms.`, output }
    if (result.length > 0) return { scores: scoresIn(result.toString('utf8')), output }
    const exit = killedBy === null ? `exit code ${exitCode}` : `signal ${killedBy}`
    return {
      scores: `The grader ended without a result (${exit})${output === '' ? '' : `: ${output.slice(-300)}`}`,
      output,
    }
  } catch (error) {
    return { scores: `The grader could not be started: ${errorMessage(error)}`, output: '' }
  } finally {
    await remove()
  }
}

const limitArguments = (limits: GraderLimits): readonly string[] => [
  `RLIMIT_AS=${limits.memoryBytes}`,
  `RLIMIT_CPU=${Math.ceil(limits.wallClockMs / 1000) + 1}`,
  `RLIMIT_FSIZE=${limits.fileBytes}`,
  `RLIMIT_NOFILE=${limits.openFiles}`,
  `RLIMIT_NPROC=${limits.processes}`,
  'RLIMIT_CORE=0',
]

/** The driver writes its result to this descriptor. Standard output is the grader's. */
const resultDescriptor = 3

/**
 * The Python program that wraps a grader. It closes the descriptors that it inherited, through which the grader could reach
 * files outside: Node closes only the first 16. It sets the limits that the kernel enforces, reads the job from standard input,
 * calls `grade` and writes one document to the result descriptor. Programs that the grader starts do not inherit that
 * descriptor and cannot inspect this process.
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
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
os.closerange(CHANNEL + 1, 2**31 - 1 if hard == resource.RLIM_INFINITY else hard)
for name, text in (pair.split("=") for pair in sys.argv[1:]):
    kind, limit = getattr(resource, name, None), int(text)
    if kind is None:
        continue
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(kind, (limit, limit))
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

function scoresIn(text: string): GraderScores {
  let document: z.infer<typeof Reported>
  try {
    document = Reported.parse(JSON.parse(text))
  } catch {
    return 'The result of the grader is not the one document that was expected.'
  }
  if ('error' in document) return document.error
  if (document.scores.length === 0) return 'The grader returned no scores.'
  const scores = new Map<string, number>()
  for (const [name, value] of document.scores) {
    if (scores.has(name)) return 'The grader returned a name twice.'
    // Written as "not within" so that NaN is rejected too.
    if (!('number' in value && value.number >= 0 && value.number <= 1)) {
      const shown = 'number' in value ? String(value.number) : value.other
      return `The grader returned ${shown} for ${JSON.stringify(name)}, which is not a number from 0 to 1.`
    }
    scores.set(name, value.number)
  }
  return Object.fromEntries(scores)
}
