import { notFound } from '../../errors.ts'
import { mean } from '../../eval/score/statistics.ts'
import { readCaseLog } from '../../eval/store/case-log.ts'
import { readEnvironment, requireRun, runFolder } from '../../eval/store/documents.ts'
import type { TaskGrade } from '../grade/task-grade.ts'
import { changedFiles, readTranscript } from '../run/evidence-folder.ts'
import { obtainFromRun, readGrade, tasksOfRun } from '../task-outcomes.ts'

export type ReadTaskRun = Readonly<Awaited<ReturnType<typeof readTaskRun>>>
/** One repeat of one task of a run, with its evidence and its grade. */
export type TaskRun = ReadTaskRun['tasks'][number]

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

/** All results of a run of tasks, by task and repeat. */
export async function readTaskRun(root: string, runId: string) {
  const run = requireRun(root, runId)
  /** The run that made the evidence: this run, or the run that it regrades. */
  const evidenceRun = taskSettings(root, runId).regradeOf ?? runId
  const { records } = await readCaseLog(root, runId)
  // A run interrupted before any grading may not even have evidence.
  const kept = records.length === 0 ? [] : await tasksOfRun(runFolder(root, evidenceRun))
  const obtain = obtainFromRun(runFolder(root, evidenceRun))
  const tasks = []
  for (const record of records) {
    const { caseId, repeat } = record
    const task = kept.find(({ id }) => id === caseId)
    const grade = await readGrade(runFolder(root, runId), caseId, repeat + 1)
    if (task === undefined || grade === null) {
      const hint = 'Name a run that `credence task run` or `credence task regrade` made.'
      throw notFound(`The run "${runId}" has no ${task === undefined ? 'evidence' : 'grade'} of "${caseId}".`, hint)
    }
    const { evidence, folder, task: filled } = await obtain(task, { repeat })
    /** Files of the evidence that are missing or were changed. */
    const changed = await changedFiles(folder, evidence)
    const isSound = evidence.transcript !== null && !changed.includes(evidence.transcript.path)
    const transcript = isSound ? await readTranscript(folder, evidence.transcript) : []
    tasks.push({ task: filled, evidence, folder, grade, record, transcript, changed })
  }
  return { run, evidenceRun, tasks }
}

/** How many results were graded. Shown with every score. */
export function coverageOf(grades: readonly TaskGrade[]) {
  const byState: Record<string, number> = {}
  for (const { state } of grades) byState[state] = (byState[state] ?? 0) + 1
  return {
    tasks: grades.length,
    graded: grades.filter(({ score }) => score !== null).length,
    complete: grades.filter(({ isComplete }) => isComplete).length,
    unjudged: grades.filter(({ judge }) => judge.state === 'unjudged').length,
    byState,
  }
}

/** Means over the graded results; null if there are none. */
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
