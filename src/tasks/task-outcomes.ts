import { readdirSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { MemoryError, notFound } from '../errors.ts'
import type { CaseOutcome, ExecutionRequest } from '../eval/run/run.ts'
import { executeInOrder } from '../eval/runners/runner.ts'
import type { CaseVerdict } from '../eval/store/schemas/run.ts'
import { formatJson, writeAtomically } from '../files/atomic-write.ts'
import { nullIfMissing } from '../files/leftovers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import type { Evidence } from './evidence.ts'
import { type Graders, gradeTask, type TaskGrade } from './grade/task-grade.ts'
import { instantiate, parseTask } from './parse/parse-task.ts'
import { evidenceNames, readEvidence } from './run/evidence-folder.ts'
import { type Assignment, executeTask } from './run/execute-task.ts'
import type { Task } from './task.ts'

export type TaskWorkParts = {
  readonly tasks: readonly Task[]
  readonly obtain: ObtainEvidence
  readonly graders: Graders
  readonly passAt: number
  readonly now: () => Date
  readonly onBegin?: ((task: Task) => void) | undefined
}

/** Carries out tasks and grades the evidence of each. Stores the grades in the folder of the run. */
export async function* executeTasks(parts: TaskWorkParts, request: ExecutionRequest): AsyncGenerator<CaseOutcome> {
  const { graders, now, onBegin, passAt } = parts
  const { signal, wanted, folder } = request
  const outcomes = executeInOrder(
    parts.tasks.filter(({ id }) => wanted.has(id)),
    request,
    async (task): Promise<CaseOutcome | null> => {
      onBegin?.(task)
      const obtained = await parts.obtain(task, request)
      if (obtained === null || signal.aborted) return null
      const grade = await gradeTask({ ...obtained, graders, signal, now })
      if (signal.aborted) return null
      if (folder !== null) await keepGrade(folder, grade)
      return caseOutcome(grade, obtained.evidence, passAt)
    },
  )
  for await (const outcome of outcomes) if (outcome !== null) yield outcome
}

const gradePath = (runFolder: string, taskId: string, repeat: number): string =>
  join(runFolder, 'grades', taskId, `${repeat}.json`)

async function keepGrade(runFolder: string, grade: TaskGrade): Promise<void> {
  const path = gradePath(runFolder, grade.taskId, grade.repeat)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeAtomically(path, formatJson(grade), { existing: 'replace' })
}

/** A stored grade; null if it is missing or unreadable. */
export async function readGrade(runFolder: string, taskId: string, repeat: number): Promise<TaskGrade | null> {
  try {
    // This program wrote the file into its own store, so only the version and the task id are checked.
    const grade = JSON.parse(await readFile(gradePath(runFolder, taskId, repeat), 'utf8')) as TaskGrade
    return grade.schemaVersion === 1 && grade.taskId === taskId ? grade : null
  } catch {
    return null
  }
}

/** A fault of the harness is an error, a fault of the agent is a failure, and a task that could not be graded is unjudged. */
export function verdictOf(grade: TaskGrade, passAt: number): CaseVerdict {
  const { state, automated, judge, automatedScore, answerScore, sameSessionScore, judgeScore } = grade
  if (state === 'infra_error' || state === 'grader_error' || state === 'judge_error') return 'error'
  if (state === 'agent_failed' || state === 'agent_timeout') return 'fail'
  if (state === 'skipped') {
    return automated.state === 'not_applicable' && judge.state === 'not_applicable' ? 'skipped' : 'unjudged'
  }
  const world = grade.objectiveState?.stateScore ?? null
  const parts = [automatedScore, answerScore, sameSessionScore, judgeScore, world].filter((score) => score !== null)
  if (parts.length === 0) return 'unjudged'
  return parts.every((score) => score >= passAt) ? 'pass' : 'fail'
}

function caseOutcome(grade: TaskGrade, evidence: Evidence, passAt: number): CaseOutcome {
  const verdict = verdictOf(grade, passAt)
  const { score, automatedScore, answerScore, recallScore, judgeScore, state, reason, checks, criteria } = grade
  const failed = checks.filter(({ passed }) => !passed)
  const { facts = [], objectiveStateCoverage, actionOutcomeScore } = grade.objectiveState ?? {}
  const worldScores = omitUndefined({ objectiveStateCoverage, actionOutcomeScore })
  const reasons = [
    ...(reason === null ? [] : [`${state}: ${reason}`]),
    ...failed.map(({ session, id, expected, found }) => `${session}, ${id}: expected ${expected}; found ${found}`),
    ...facts.filter(({ holds }) => holds !== true).map(({ session, id, observed }) => `${session}, ${id}: ${observed}`),
    ...criteria
      .filter((check) => check.score < 1)
      .map(({ part, name, score: own }) => `${part}, ${name}: ${roundText(own)}`),
  ]
  const items = [
    ...checks.map(({ session, id, passed }) => ({ id, tier: session, score: passed ? 1 : 0 })),
    ...facts.map(({ session, id, holds }) => ({ id, tier: session, score: holds === null ? null : Number(holds) })),
    ...criteria.map(({ part, name, score: own }) => ({ id: name, tier: part, score: own })),
  ]
  return {
    caseId: grade.taskId,
    verdict,
    scores: { score, automatedScore, answerScore, recallScore, judgeScore, ...worldScores },
    returned: items.map((item, index) => ({ ...item, id: item.id || '(unnamed)', rank: index + 1 })),
    failures: verdict === 'fail' ? reasons : [],
    timings: { work: durationOf(evidence), grading: grade.gradingMs },
    explanation: {
      group: `${state}${grade.isComplete ? '' : ', not completely graded'}; evidence in ${grade.evidence}`,
      state,
      isComplete: grade.isComplete,
      evidence: grade.evidence,
      notes: grade.notes,
      nearMisses:
        verdict === 'fail' ? [] : failed.map(({ session, id, found }) => ({ id: `${session}/${id}`, reason: found })),
    },
    ...(verdict === 'error' ? { error: { class: state, message: reason ?? state } } : {}),
  }
}

export const durationOf = ({ startedAt, endedAt }: Evidence): number =>
  Math.max(0, Date.parse(endedAt) - Date.parse(startedAt))
const roundText = (value: number): string => String(Math.round(value * 1000) / 1000)

/** Evidence of one task in one repeat: made by an agent, or read from an earlier run. */
export type Obtained = {
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  readonly storePath: string
}

export type ObtainEvidence = (
  task: Task,
  request: Pick<ExecutionRequest, 'repeat' | 'seed' | 'signal'>,
) => Promise<Obtained | null>

/** The evidence folder of a task. Repeats in paths count from 1. */
export const evidencePath = (runFolder: string, taskId: string, repeat: number): string =>
  join(runFolder, 'evidence', taskId, String(repeat))

const pathsOf = (runFolder: string, taskId: string, repeat: number) => ({
  folder: evidencePath(runFolder, taskId, repeat),
  storePath: `runs/${basename(runFolder)}/evidence/${taskId}/${repeat}`,
})

export type Workers = Omit<Assignment, 'task' | 'folder' | 'repeat' | 'seed' | 'signal'> & {
  readonly runFolder: string
}

/** Has an agent carry out tasks. Reuses the evidence that an interrupted run completed. Null if interrupted. */
export const obtainByAgent =
  ({ runFolder, ...rest }: Workers): ObtainEvidence =>
  async (task, { repeat, seed, signal }) => {
    const { folder, storePath } = pathsOf(runFolder, task.id, repeat + 1)
    const filled = instantiate(task, seed)
    const kept = await readEvidence(folder).catch((error: unknown) => {
      if (error instanceof MemoryError && error.code === 'not_found') return null
      throw error
    })
    const evidence = kept?.isComplete
      ? kept
      : await executeTask({ ...rest, task: filled, folder, repeat: repeat + 1, seed, signal })
    return evidence.isComplete ? { task: filled, evidence, folder, storePath } : null
  }

/** Reads the evidence that an earlier run stored. */
export const obtainFromRun =
  (runFolder: string) =>
  async (task: Task, { repeat }: Pick<ExecutionRequest, 'repeat'>): Promise<Obtained> => {
    const { folder, storePath } = pathsOf(runFolder, task.id, repeat + 1)
    const evidence = await readEvidence(folder)
    return { task: instantiate(task, evidence.seed), evidence, folder, storePath }
  }

/** The tasks as they were at the time of a run, read from its evidence. */
export async function tasksOfRun(runFolder: string): Promise<readonly Task[]> {
  const root = join(runFolder, 'evidence')
  const ids = nullIfMissing(() => readdirSync(root)) ?? []
  const tasks: Task[] = []
  for (const id of ids.toSorted()) {
    const [repeat = '1'] = (await readdir(join(root, id))).toSorted()
    const file = join(root, id, repeat, evidenceNames.task)
    const bytes = await readFile(file).catch((cause: unknown) => {
      const hint = 'Only a run whose task file was readable can be graded again.'
      throw notFound(`The evidence of "${id}" has no copy of its task, ${file}.`, hint, cause)
    })
    tasks.push(parseTask(bytes, file))
  }
  if (tasks.length > 0) return tasks
  throw notFound(`There is no evidence of tasks in ${runFolder}.`, 'Name a run that `credence task run` made.')
}
