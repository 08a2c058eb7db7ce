import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Confinement } from './confinement.ts'

/**
 * No isolation: a copy of the workspace, an empty environment, a process group and limits, but the same user, files
 * and network. Only for those who trust both the grader and what the agent wrote.
 */
export const unconfined: Confinement = {
  isolation: 'none',
  limitsProcesses: false,
  prepare: async (job) => {
    const folder = await mkdtemp(join(tmpdir(), 'credence-grader-'))
    const workspace = join(folder, 'workspace')
    if (job.workspace === null) await mkdir(workspace)
    else await cp(job.workspace, workspace, { recursive: true, verbatimSymlinks: true })
    return {
      program: job.python.executable,
      args: job.args,
      env: {},
      workspace,
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  },
}
