import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MemoryError } from '../errors.ts'
import type { ExecutionRequest } from '../eval/run/run.ts'
import { codeOf } from '../files/leftovers.ts'
import type { Evidence } from './evidence.ts'
import { instantiate } from './parse/draw.ts'
import { parseTask } from './parse/parse-task.ts'
import { type Assignment, carryOut } from './run/carry-out.ts'
import { evidenceNames, readEvidence } from './run/evidence-folder.ts'
import type { Task } from './task.ts'

/** Evidence of one task in one repeat: made by an agent, or read from an earlier run. */
export type Obtained = {
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  /** The path of the folder below the eval store. */
  readonly place: string
}

export type ObtainEvidence = (
  task: Task,
  request: Pick<ExecutionRequest, 'repeat' | 'seed' | 'signal'>,
) => Promise<Obtained | null>

/** Repeats count from 1, as people do. */
const placeOf = (runFolder: string, taskId: string, repeat: number) => ({
  folder: join(runFolder, 'evidence', taskId, String(repeat)),
  place: `runs/${basename(runFolder)}/evidence/${taskId}/${repeat}`,
})

export type Workers = Pick<
  Assignment,
  'agent' | 'control' | 'now' | 'timeoutMultiplier' | 'searchPath' | 'temporary'
> & {
  readonly runFolder: string
}

/** Has an agent carry out tasks. Evidence that an interrupted run finished is used, not made again; null when interrupted. */
export const byAgent =
  ({ runFolder, ...rest }: Workers): ObtainEvidence =>
  async (task, { repeat, seed, signal }) => {
    const { folder, place } = placeOf(runFolder, task.id, repeat + 1)
    const filled = instantiate(task, seed)
    const kept = await readEvidence(folder).catch((error: unknown) => {
      if (error instanceof MemoryError && error.code === 'not_found') return null
      throw error
    })
    const evidence = kept?.isComplete
      ? kept
      : await carryOut({ ...rest, task: filled, folder, repeat: repeat + 1, seed, signal })
    return evidence.isComplete ? { task: filled, evidence, folder, place } : null
  }

/** Reads the evidence that an earlier run kept. */
export const fromRun =
  (runFolder: string) =>
  async (task: Task, { repeat }: Pick<ExecutionRequest, 'repeat'>): Promise<Obtained> => {
    const { folder, place } = placeOf(runFolder, task.id, repeat + 1)
    const evidence = await readEvidence(folder)
    return { task: instantiate(task, evidence.seed), evidence, folder, place }
  }

/** The tasks of a run as they were then, read from its evidence. */
export async function tasksOfRun(runFolder: string): Promise<readonly Task[]> {
  const root = join(runFolder, 'evidence')
  const ids = await readdir(root).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  const tasks: Task[] = []
  for (const id of ids.toSorted()) {
    const [repeat = '1'] = (await readdir(join(root, id))).toSorted()
    const file = join(root, id, repeat, evidenceNames.task)
    const bytes = await readFile(file).catch((cause: unknown) => {
      throw new MemoryError('not_found', `The evidence of "${id}" has no copy of its task, ${file}.`, {
        hint: 'Only a run whose task file was readable can be graded again.',
        cause,
      })
    })
    tasks.push(parseTask(bytes, file))
  }
  if (tasks.length > 0) return tasks
  throw new MemoryError('not_found', `There is no evidence of tasks in ${runFolder}.`, {
    hint: 'Name a run that `credence task run` made.',
  })
}
