import { MemoryError } from '../../errors.ts'
import { casesOf } from '../../eval/store/case-log.ts'
import { readEnvironment, requireRun, runFolder } from '../../eval/store/documents.ts'
import type { CaseRecord, RunSummary } from '../../eval/store/schemas/run.ts'
import type { Evidence } from '../evidence.ts'
import type { TaskGrade } from '../grade/task-grade.ts'
import { fromRun, tasksOfRun } from '../obtain-evidence.ts'
import { changedFiles, readTranscript } from '../run/read-evidence.ts'
import type { Task } from '../task.ts'
import { readGrade } from '../task-benchmark.ts'
import type { TranscriptEntry } from '../transcript.ts'

/** One repeat of one task of a run: what was asked, what happened, and what that was worth. */
export type TaskRun = {
  /** Filled with what the seed drew. */
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  readonly grade: TaskGrade
  readonly record: CaseRecord
  /** Entries of all sessions together. */
  readonly transcript: readonly TranscriptEntry[]
  /** Files of the evidence that are not what they were. */
  readonly changed: readonly string[]
}

export type ReadTaskRun = {
  readonly run: RunSummary
  /** The run whose evidence it is: the run itself, or the one that was graded again. */
  readonly evidenceRun: string
  readonly tasks: readonly TaskRun[]
}

/** The settings that only runs of tasks have. */
export type TaskSettings = {
  readonly regradeOf: string | null
  readonly strictUpstream: boolean
  readonly passAt: number | null
}

export function taskSettings(root: string, runId: string): TaskSettings {
  const environment = readEnvironment(root, runId)
  const settings = environment?.ok ? environment.value.settings : {}
  return {
    regradeOf: typeof settings.regradeOf === 'string' ? settings.regradeOf : null,
    strictUpstream: settings.strictUpstream === true,
    passAt: typeof settings.passAt === 'number' ? settings.passAt : null,
  }
}

/** Everything about a run of tasks, by task and repeat. */
export async function readTaskRun(root: string, runId: string): Promise<ReadTaskRun> {
  const run = requireRun(root, runId)
  const { regradeOf, strictUpstream } = taskSettings(root, runId)
  const evidenceRun = regradeOf ?? runId
  const { records } = await casesOf(root, runId)
  // Interrupted before anything was graded: there may not even be evidence.
  if (records.length === 0) return { run, evidenceRun, tasks: [] }
  const found = new Map(
    (await tasksOfRun(runFolder(root, evidenceRun), { strictUpstream })).map((task) => [task.id, task]),
  )
  const obtain = fromRun({ runFolder: runFolder(root, evidenceRun) })
  const signal = new AbortController().signal
  const tasks: TaskRun[] = []
  for (const record of records) {
    const { caseId, repeat, seed } = record
    const task = found.get(caseId)
    const grade = await readGrade(runFolder(root, runId), caseId, repeat + 1)
    if (task === undefined || grade === null) {
      throw new MemoryError(
        'not_found',
        `The run "${runId}" has no ${task === undefined ? 'evidence' : 'grade'} of "${caseId}".`,
        {
          hint: 'Name a run that `credence task run` or `credence task regrade` made.',
        },
      )
    }
    const obtained = await obtain(task, { repeat, seed, wanted: new Set([caseId]), jobs: 1, signal, folder: null })
    if (obtained === null) continue
    const { evidence, folder } = obtained
    const changed = await changedFiles(folder, evidence)
    const kept = evidence.transcript
    const transcript = kept === null || changed.includes(kept.path) ? [] : await readTranscript(folder, kept)
    tasks.push({ task: obtained.task, evidence, folder, grade, record, transcript, changed })
  }
  return { run, evidenceRun, tasks }
}
