import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../../files/leftovers.ts'
import { livingGroup, processFile, processIds } from './linux-processes.ts'

/** Stands in the environment of everything an agent starts, so that what left its process group is found too. */
export const markName = 'AGENT_TASK_MARK'

const mostRounds = 20
/** So often it is looked again while some process is only starting. */
const mostStarts = 5

/** Ends every process with this mark, and waits until they are dead. Only Linux lets one look; elsewhere the group has to do. */
export async function endMarked(mark: string): Promise<void> {
  if (process.platform !== 'linux') return
  const ended = new Set<number>()
  for (let round = 0, starts = 0; round < mostRounds; round += 1) {
    const { marked, isAnyStarting } = lookAround(`${markName}=${mark}`)
    const isOver = marked.length === 0 && [...ended].every((pid) => livingGroup(pid) === null)
    if (isOver) {
      if (!isAnyStarting || starts === mostStarts) return
      starts += 1
    }
    // What is ended may have started another a moment before, so it is looked for again.
    for (const pid of marked) {
      end(pid)
      ended.add(pid)
    }
    await pause(10)
  }
}

function lookAround(setting: string): { readonly marked: readonly number[]; readonly isAnyStarting: boolean } {
  const marked: number[] = []
  let isAnyStarting = false
  for (const pid of processIds()) {
    if (pid === process.pid) continue
    const environment = processFile(pid, 'environ')
    if (environment?.split('\0').includes(setting)) marked.push(pid)
    else if (environment === '' && hasMemory(pid)) isAnyStarting = true
  }
  return { marked, isAnyStarting }
}

/**
 * A program has no environment for a moment while the system loads it, and hardly ever later. The dead, and threads of
 * the system, have no memory either.
 */
const hasMemory = (pid: number): boolean => processFile(pid, 'statm')?.startsWith('0 ') === false

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
  }
}
