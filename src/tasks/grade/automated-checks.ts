import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Evidence } from '../evidence.ts'
import type { Task } from '../task.ts'
import { defaultLimits, type GraderLimits, type Isolation } from './confinement.ts'
import { parseScores, runGrader } from './run-grader.ts'
import type { Sandbox } from './sandbox.ts'

/** What the Python checks of a task came to. */
export type AutomatedGrade =
  | {
      readonly state: 'scored'
      /** The plain mean of the scores. */
      readonly score: number
      readonly scores: Readonly<Record<string, number>>
      readonly isolation: Isolation
      readonly python: string
      readonly ms: number
      readonly output: string
    }
  | { readonly state: 'grader_error'; readonly reason: string; readonly output: string }
  | { readonly state: 'skipped'; readonly reason: string }
  | { readonly state: 'not_applicable' }

/** Larger workspaces are not copied. */
const mostWorkspaceBytes = 512 * 1024 * 1024

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
    sandbox.confinement,
    {
      python: sandbox.python,
      workspace: evidence.workspace.length === 0 ? null : join(folder, 'workspace'),
      workspaceBytes,
      limits,
      code: task.automatedChecks,
      transcript: evidence.transcript === null ? [] : await transcriptLines(join(folder, evidence.transcript.path)),
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
    isolation: sandbox.confinement.isolation,
    python: sandbox.python.version,
    ms: Math.round(run.ms),
    output,
  }
}

/** As graders expect it: one value a line; a line that is none says so. */
async function transcriptLines(path: string): Promise<readonly unknown[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    try {
      return JSON.parse(line) as unknown
    } catch (error) {
      return { raw: line, parse_error: error instanceof Error ? error.message : String(error) }
    }
  })
}
