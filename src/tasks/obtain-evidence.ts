import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MemoryError } from '../errors.ts'
import type { ExecutionRequest } from '../eval/run/run.ts'
import { codeOf } from '../files/leftovers.ts'
import type { Agent } from './agent.ts'
import type { Control, Evidence } from './evidence.ts'
import { instantiate } from './parse/draw.ts'
import { type ParseOptions, parseTask } from './parse/parse-task.ts'
import { type Assignment, carryOut } from './run/carry-out.ts'
import { evidenceNames } from './run/evidence-folder.ts'
import { readEvidence } from './run/read-evidence.ts'
import type { Task } from './task.ts'
import type { Obtained } from './task-benchmark.ts'

/** Where the evidence of a task lies, below the folder of its run. Repeats count from 1, as people do. */
export const evidencePath = (taskId: string, repeat: number): string => join('evidence', taskId, String(repeat))

export type Workers = Pick<Assignment, 'now' | 'timeoutMultiplier' | 'places' | 'temporary'> & {
  readonly agentFor: (task: Task) => Agent
  readonly control: Control
  readonly runFolder: string
}

/** Has an agent carry out tasks. Evidence that an interrupted run finished is used, not made again. */
export const byAgent =
  ({ agentFor, control, runFolder, ...rest }: Workers) =>
  async (task: Task, { repeat, seed, signal }: ExecutionRequest): Promise<Obtained | null> => {
    const path = evidencePath(task.id, repeat + 1)
    const folder = join(runFolder, path)
    const filled = instantiate(task, seed)
    const kept = await finished(folder)
    const evidence =
      kept ??
      (await carryOut({
        ...rest,
        task: filled,
        agent: agentFor(filled),
        control,
        folder,
        repeat: repeat + 1,
        seed,
        signal,
      }))
    return evidence.isComplete
      ? { task: filled, evidence, folder, place: `runs/${basename(runFolder)}/${portable(path)}` }
      : null
  }

async function finished(folder: string): Promise<Evidence | null> {
  try {
    const evidence = await readEvidence(folder)
    return evidence.isComplete ? evidence : null
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return null
    throw error
  }
}

/** Finds what an earlier run kept. */
export const fromRun =
  ({ runFolder }: { readonly runFolder: string }) =>
  async (task: Task, { repeat }: ExecutionRequest): Promise<Obtained | null> => {
    const path = evidencePath(task.id, repeat + 1)
    const folder = join(runFolder, path)
    const evidence = await readEvidence(folder)
    return {
      task: instantiate(task, evidence.seed),
      evidence,
      folder,
      place: `runs/${basename(runFolder)}/${portable(path)}`,
    }
  }

/** The tasks of a run as they were then, read from its evidence. */
export async function tasksOfRun(runFolder: string, options: ParseOptions = {}): Promise<readonly Task[]> {
  const root = join(runFolder, 'evidence')
  const tasks: Task[] = []
  for (const id of namesIn(root).toSorted()) {
    const [repeat] = namesIn(join(root, id)).toSorted()
    if (repeat === undefined) continue
    const file = join(root, id, repeat, evidenceNames.task)
    const bytes = await readFile(file).catch((cause: unknown) => {
      throw new MemoryError('not_found', `The evidence of "${id}" has no copy of its task, ${file}.`, {
        hint: 'Only a run whose task file was readable can be graded again.',
        cause,
      })
    })
    tasks.push(parseTask(bytes, file, options))
  }
  if (tasks.length > 0) return tasks
  throw new MemoryError('not_found', `There is no evidence of tasks in ${runFolder}.`, {
    hint: 'Name a run that `credence task run` made.',
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

const portable = (path: string): string => path.replaceAll('\\', '/')
