import { spawnSync } from 'node:child_process'
import { arch, platform, release } from 'node:os'
import type { Environment } from '../../../eval/store/schemas/run.ts'

/** What a run keeps of the machine it was made on, and of the sources it was made from. */
export const machine = (directory: string): Pick<Environment, 'git' | 'node' | 'os'> => ({
  git: gitState(directory),
  node: process.version,
  os: { platform: platform(), release: release(), arch: arch() },
})

/** The commit of the working directory; null outside of a repository, or where there is no git to ask. */
export function gitState(directory: string): Environment['git'] {
  const commit = git(directory, 'rev-parse', 'HEAD')
  if (commit === null || commit === '') return null
  const changes = git(directory, 'status', '--porcelain')
  return { commit, dirty: changes !== '' }
}

function git(directory: string, ...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', args, {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? stdout.trim() : null
}
