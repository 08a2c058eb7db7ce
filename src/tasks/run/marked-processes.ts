import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../../files/leftovers.ts'

/** Stands in the environment of everything an agent starts, so that what left its process group is found too. */
export const markName = 'AGENT_TASK_MARK'

const mostRounds = 20

/** Ends every process with this mark. Only Linux lets one look; elsewhere the process group has to do. */
export async function endMarked(mark: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (let round = 0; round < mostRounds; round += 1) {
    const found = markedProcesses(`${markName}=${mark}`)
    if (found.length === 0) return
    // What is ended may have started another a moment before, so it is looked for again.
    for (const pid of found) end(pid)
    await pause(10)
  }
}

/** A process that is dead but was not collected yet has no environment any more. */
function markedProcesses(setting: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/u.test(name) || Number(name) === process.pid) return []
    try {
      return readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(setting) ? [Number(name)] : []
    } catch {
      // Gone since it was listed, or somebody else's.
      return []
    }
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
  }
}
