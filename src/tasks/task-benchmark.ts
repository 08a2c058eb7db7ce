import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { carriedOut } from '../eval/kinds/kind.ts'
import { canonicalJson, sha256 } from '../eval/pack/manifest.ts'
import type { CaseOutcome, ExecutionRequest, RunnableBenchmark } from '../eval/run/run.ts'
import type { MetricDeclaration } from '../eval/store/schemas/primitives.ts'
import type { Verdict } from '../eval/store/schemas/run.ts'
import { asJson, writeAtomically } from '../files/atomic-write.ts'
import type { Evidence } from './evidence.ts'
import { type Graders, gradeTask, gradingVersion, type TaskGrade } from './grade/task-grade.ts'
import { judgePromptHash } from './judge/judge-prompt.ts'
import type { Task } from './task.ts'

/** What every graded part must reach for a task to pass. */
export const defaultPassAt = 0.9

/** Evidence of one task in one repeat: made by an agent, or found where it was kept. */
export type Obtained = {
  /** Filled with what the seed draws. */
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  /** Where that is, below the eval store. */
  readonly place: string
}

/** What carrying out and grading tasks takes. */
export type TaskWorkParts = {
  readonly tasks: readonly Task[]
  /** Null when the work was interrupted, which is no result. */
  readonly obtain: (task: Task, request: ExecutionRequest) => Promise<Obtained | null>
  readonly graders: Graders
  readonly passAt: number
  readonly now: () => Date
  /** Hears of every grade as it is made. */
  readonly onGrade?: (grade: TaskGrade) => void
  /** Hears which task is being worked on. */
  readonly onBegin?: (task: Task, repeat: number) => void
}

export type TaskBenchmarkParts = TaskWorkParts & {
  readonly benchmarkId: string
  readonly system: RunnableBenchmark['system']
  /** Whether the same agent must do the same every time. */
  readonly isDeterministic: boolean
}

const share = (name: string, primary = false): MetricDeclaration => ({
  name,
  direction: 'higher',
  range: [0, 1],
  ...(primary ? { primary } : {}),
})

/** Tasks as a benchmark of the harness: a case is a task, carried out and graded. */
export function taskBenchmark(parts: TaskBenchmarkParts): RunnableBenchmark {
  const { tasks, benchmarkId, system, isDeterministic, graders } = parts
  const packFiles = {
    ...gradingHashes(parts),
    ...Object.fromEntries(tasks.map(({ id, sha256: digest }) => [`tasks/${id}.md`, `sha256:${digest}`])),
  }
  return {
    manifest: {
      benchmarkId,
      cases: tasks.map((task) => ({ id: task.id, prompt: promptOf(task), expectedSignals: signalsOf(task) })),
      deterministic: isDeterministic && graders.judge === null,
      metrics: [
        share('score', true),
        share('automatedScore'),
        share('answerScore'),
        share('recallScore'),
        share('judgeScore'),
      ],
    },
    packHash: sha256(canonicalJson(packFiles)),
    packFiles,
    system,
    execute: (request) => carryOutTasks(parts, request),
  }
}

/** Runs that were graded otherwise are not runs of the same thing, and are not compared. */
export function gradingHashes({ graders: { judge }, passAt }: Pick<TaskWorkParts, 'graders' | 'passAt'>) {
  const asked =
    judge === null
      ? 'none'
      : { model: `${judge.model.provider}:${judge.model.model}`, votes: judge.votes, judgePromptHash }
  return {
    grading: sha256(canonicalJson({ gradingVersion, passAt })),
    judge: sha256(canonicalJson(asked)),
  }
}

/** What a task asks first, as a manifest lists it. */
export const promptOf = ({ sessions, name }: Task): string =>
  sessions.find(({ prompt }) => prompt.trim() !== '')?.prompt ?? name
export const signalsOf = ({ category, name }: Task): string[] => [category, name].filter((text) => text.trim() !== '')

/** Has tasks carried out and grades the evidence of each. Grades are kept in the folder of the run. */
export async function* carryOutTasks(parts: TaskWorkParts, request: ExecutionRequest): AsyncGenerator<CaseOutcome> {
  const { graders, now, onGrade, onBegin, passAt } = parts
  const { signal, wanted, folder } = request
  const outcomes = carriedOut(
    parts.tasks.filter(({ id }) => wanted.has(id)),
    request,
    async (task): Promise<CaseOutcome | null> => {
      onBegin?.(task, request.repeat)
      const obtained = await parts.obtain(task, request)
      if (obtained === null || signal.aborted) return null
      const grade = await gradeTask({ ...obtained, graders, signal, now })
      if (signal.aborted) return null
      if (folder !== null) await keepGrade(folder, grade)
      onGrade?.(grade)
      return outcomeOf(grade, obtained.evidence, passAt)
    },
  )
  for await (const outcome of outcomes) if (outcome !== null) yield outcome
}

export const gradePath = (runFolder: string, taskId: string, repeat: number): string =>
  join(runFolder, 'grades', taskId, `${repeat}.json`)

async function keepGrade(runFolder: string, grade: TaskGrade): Promise<void> {
  const path = gradePath(runFolder, grade.taskId, grade.repeat)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeAtomically(path, asJson(grade), { existing: 'replace' })
}

/** A grade as it was kept; null when there is none that can be read. */
export async function readGrade(runFolder: string, taskId: string, repeat: number): Promise<TaskGrade | null> {
  try {
    // Written by this program into its own store; the frame is checked, the rest is only shown.
    const grade = JSON.parse(await readFile(gradePath(runFolder, taskId, repeat), 'utf8')) as TaskGrade
    return grade.schemaVersion === 1 && grade.taskId === taskId ? grade : null
  } catch {
    return null
  }
}

/** The apparatus's faults are errors, the agent's are failures; what nothing could grade is neither. */
export function verdictOf(grade: TaskGrade, passAt: number): Verdict {
  switch (grade.state) {
    case 'infra_error':
    case 'grader_error':
    case 'judge_error':
      return 'error'
    case 'agent_failed':
    case 'agent_timeout':
      return 'fail'
    case 'skipped':
      return grade.automated.state === 'not_applicable' && grade.judge.state === 'not_applicable'
        ? 'skipped'
        : 'unjudged'
    case 'scored': {
      const { automatedScore, answerScore, sameSessionScore, judgeScore } = grade
      const parts = [automatedScore, answerScore, sameSessionScore, judgeScore].filter((score) => score !== null)
      if (parts.length === 0) return 'unjudged'
      return parts.every((score) => score >= passAt) ? 'pass' : 'fail'
    }
  }
}

function outcomeOf(grade: TaskGrade, evidence: Evidence, passAt: number): CaseOutcome {
  const verdict = verdictOf(grade, passAt)
  const { score, automatedScore, answerScore, recallScore, judgeScore, state, reason, checks, criteria } = grade
  const failed = checks.filter(({ passed }) => !passed)
  const reasons = [
    ...(reason === null ? [] : [`${state}: ${reason}`]),
    ...failed.map(({ session, id, expected, found }) => `${session}, ${id}: expected ${expected}; found ${found}`),
    ...criteria.filter((one) => one.score < 1).map(({ part, name, score: own }) => `${part}, ${name}: ${rounded(own)}`),
  ]
  const items = [
    ...checks.map(({ session, id, passed }) => ({ id, tier: session, score: passed ? 1 : 0 })),
    ...criteria.map(({ part, name, score: own }) => ({ id: name, tier: part, score: own })),
  ]
  return {
    caseId: grade.taskId,
    verdict,
    scores: { score, automatedScore, answerScore, recallScore, judgeScore },
    returned: items.map((item, index) => ({ ...item, id: item.id || '(unnamed)', rank: index + 1 })),
    failures: verdict === 'fail' ? reasons : [],
    timings: { work: elapsed(evidence), grading: grade.gradingMs },
    explanation: {
      group: `${state}${grade.isComplete ? '' : ', not completely graded'}; evidence in ${grade.evidence}`,
      state,
      isComplete: grade.isComplete,
      evidence: grade.evidence,
      notes: grade.notes,
      sessions: evidence.sessions.map(({ id, isFresh, conversationId, priorMessages, outcome, toolCalls, answer }) => ({
        ...{ id, isFresh, conversationId, priorMessages, outcome, toolCalls, answer },
      })),
      nearMisses:
        verdict === 'fail' ? [] : failed.map(({ session, id, found }) => ({ id: `${session}/${id}`, reason: found })),
    },
    ...(verdict === 'error' ? { error: { class: state, message: reason ?? state } } : {}),
  }
}

const elapsed = ({ startedAt, endedAt }: Evidence): number => Math.max(0, Date.parse(endedAt) - Date.parse(startedAt))
const rounded = (value: number): string => String(Math.round(value * 1000) / 1000)
