import { notFound } from '../../errors.ts'
import { mean } from '../../eval/score/statistics.ts'
import { casesOf } from '../../eval/store/case-log.ts'
import { readEnvironment, requireRun, runFolder } from '../../eval/store/documents.ts'
import type { CaseRecord, RunSummary } from '../../eval/store/schemas/run.ts'
import type { TaskGrade } from '../grade/task-grade.ts'
import { changedFiles, readTranscript } from '../run/evidence-folder.ts'
import { fromRun, type Obtained, readGrade, tasksOfRun } from '../task-outcomes.ts'
import type { TranscriptEntry } from '../transcript.ts'

/** One repeat of one task of a run, with its evidence and its grade. */
export type TaskRun = Pick<Obtained, 'task' | 'evidence' | 'folder'> & {
  readonly grade: TaskGrade
  readonly record: CaseRecord
  readonly transcript: readonly TranscriptEntry[]
  /** Files of the evidence that are missing or were changed. */
  readonly changed: readonly string[]
}

export type ReadTaskRun = {
  readonly run: RunSummary
  /** The run that made the evidence: this one, or the one that was graded again. */
  readonly evidenceRun: string
  readonly tasks: readonly TaskRun[]
}

export function taskSettings(
  root: string,
  runId: string,
): { readonly regradeOf: string | null; readonly passAt: number | null } {
  const environment = readEnvironment(root, runId)
  const { regradeOf, passAt } = environment?.ok ? environment.value.settings : {}
  return {
    regradeOf: typeof regradeOf === 'string' ? regradeOf : null,
    passAt: typeof passAt === 'number' ? passAt : null,
  }
}

/** Everything about a run of tasks, by task and repeat. */
export async function readTaskRun(root: string, runId: string): Promise<ReadTaskRun> {
  const run = requireRun(root, runId)
  const evidenceRun = taskSettings(root, runId).regradeOf ?? runId
  const { records } = await casesOf(root, runId)
  // Interrupted before anything was graded: there may not even be evidence.
  if (records.length === 0) return { run, evidenceRun, tasks: [] }
  const found = new Map((await tasksOfRun(runFolder(root, evidenceRun))).map((task) => [task.id, task]))
  const obtain = fromRun(runFolder(root, evidenceRun))
  const tasks: TaskRun[] = []
  for (const record of records) {
    const { caseId, repeat } = record
    const task = found.get(caseId)
    const grade = await readGrade(runFolder(root, runId), caseId, repeat + 1)
    if (task === undefined || grade === null) {
      const missing = task === undefined ? 'evidence' : 'grade'
      const hint = 'Name a run that `credence task run` or `credence task regrade` made.'
      throw notFound(`The run "${runId}" has no ${missing} of "${caseId}".`, hint)
    }
    const { evidence, folder, task: filled } = await obtain(task, { repeat })
    const changed = await changedFiles(folder, evidence)
    const kept = evidence.transcript
    const transcript = kept === null || changed.includes(kept.path) ? [] : await readTranscript(folder, kept)
    tasks.push({ task: filled, evidence, folder, grade, record, transcript, changed })
  }
  return { run, evidenceRun, tasks }
}

export type Coverage = ReturnType<typeof coverageOf>

/** How many of the results were graded. Shown beside every score. */
export function coverageOf(grades: readonly TaskGrade[]) {
  const byState: Record<string, number> = {}
  for (const { state } of grades) byState[state] = (byState[state] ?? 0) + 1
  return {
    tasks: grades.length,
    graded: grades.filter(({ score }) => score !== null).length,
    /** Those whose score has every part that the task asks for. */
    complete: grades.filter(({ isComplete }) => isComplete).length,
    unjudged: grades.filter(({ judge }) => judge.state === 'unjudged').length,
    byState,
  }
}

export type MeanScores = ReturnType<typeof meanScores>

/** Means over what was graded; null where nothing was. */
export function meanScores(grades: readonly TaskGrade[]) {
  return {
    score: mean(grades.map(({ score }) => score)),
    automatedScore: mean(grades.map(({ automatedScore }) => automatedScore)),
    answerScore: mean(grades.map(({ answerScore }) => answerScore)),
    recallScore: mean(grades.map(({ recallScore }) => recallScore)),
    judgeScore: mean(grades.map(({ judgeScore }) => judgeScore)),
  }
}

/** The names of the tools that were called, in order. */
export const toolNames = ({ transcript }: Pick<TaskRun, 'transcript'>): readonly string[] =>
  transcript.flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'assistant'
      ? entry.message.content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : []))
      : [],
  )
