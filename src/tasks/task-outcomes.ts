import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { carriedOut } from '../eval/kinds/kind.ts'
import type { CaseOutcome, ExecutionRequest } from '../eval/run/run.ts'
import type { Verdict } from '../eval/store/schemas/run.ts'
import { asJson, writeAtomically } from '../files/atomic-write.ts'
import type { Evidence } from './evidence.ts'
import { type Graders, gradeTask, type TaskGrade } from './grade/task-grade.ts'
import type { ObtainEvidence } from './obtain-evidence.ts'
import type { Task } from './task.ts'

export type TaskWorkParts = {
  readonly tasks: readonly Task[]
  readonly obtain: ObtainEvidence
  readonly graders: Graders
  readonly passAt: number
  readonly now: () => Date
  readonly onBegin?: (task: Task) => void
}

/** Has tasks carried out and grades the evidence of each. Grades are kept in the folder of the run. */
export async function* carryOutTasks(parts: TaskWorkParts, request: ExecutionRequest): AsyncGenerator<CaseOutcome> {
  const { graders, now, onBegin, passAt } = parts
  const { signal, wanted, folder } = request
  const outcomes = carriedOut(
    parts.tasks.filter(({ id }) => wanted.has(id)),
    request,
    async (task): Promise<CaseOutcome | null> => {
      onBegin?.(task)
      const obtained = await parts.obtain(task, request)
      if (obtained === null || signal.aborted) return null
      const grade = await gradeTask({ ...obtained, graders, signal, now })
      if (signal.aborted) return null
      if (folder !== null) await keepGrade(folder, grade)
      return outcomeOf(grade, obtained.evidence, passAt)
    },
  )
  for await (const outcome of outcomes) if (outcome !== null) yield outcome
}

const gradePath = (runFolder: string, taskId: string, repeat: number): string =>
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

/** A fault of the harness is an error, a fault of the agent is a failure; a task that could not be graded is neither. */
export function verdictOf(grade: TaskGrade, passAt: number): Verdict {
  const { state, automated, judge, automatedScore, answerScore, sameSessionScore, judgeScore } = grade
  if (state === 'infra_error' || state === 'grader_error' || state === 'judge_error') return 'error'
  if (state === 'agent_failed' || state === 'agent_timeout') return 'fail'
  if (state === 'skipped') {
    return automated.state === 'not_applicable' && judge.state === 'not_applicable' ? 'skipped' : 'unjudged'
  }
  const parts = [automatedScore, answerScore, sameSessionScore, judgeScore].filter((score) => score !== null)
  if (parts.length === 0) return 'unjudged'
  return parts.every((score) => score >= passAt) ? 'pass' : 'fail'
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
