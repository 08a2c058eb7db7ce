import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Confinement, insideArguments, insideScript, isRoot, nobody, systemPath } from './confinement.ts'
import { type Shown, shownSystem } from './shown-system.ts'

/** The same house, built by bubblewrap. `program` is where it is, when not among the system's programs. */
export function bubblewrap(program = 'bwrap'): Confinement {
  return {
    isolation: 'bubblewrap',
    limitsProcesses: true,
    prepare: async (job) => {
      const empty = await mkdtemp(join(tmpdir(), 'credence-grader-'))
      const owner = isRoot() ? nobody : null
      const size = String(job.workspaceBytes * 2 + job.limits.scratchBytes)
      return {
        program,
        args: [
          ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
          // Root keeps just what it needs to hand the copy to nobody, and drops that too.
          ...(owner === null
            ? ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'CAP_SETPCAP']
            : ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID', 'SETPCAP'].flatMap((name) => [
                '--cap-add',
                `CAP_${name}`,
              ])),
          ...['--die-with-parent', '--new-session', '--clearenv'],
          ...folderArguments(job.python.prefix),
          ...['--dev', '/dev', '--ro-bind', job.workspace ?? empty, '/evidence'],
          ...['--size', size, '--perms', '0700', '--tmpfs', '/workspace'],
          ...['--size', size, '--perms', '1777', '--tmpfs', '/tmp', '--remount-ro', '/'],
          ...['--', '/bin/sh', '-c', insideScript, 'sh', ...insideArguments(job, owner)],
        ],
        env: { PATH: systemPath },
        workspace: '/workspace',
        remove: () => rm(empty, { recursive: true, force: true }),
      }
    },
  }
}

const folderArguments = (prefix: string): readonly string[] => shownSystem(prefix).flatMap(argumentsFor)

function argumentsFor(shown: Shown): readonly string[] {
  switch (shown.kind) {
    case 'link':
      return ['--symlink', shown.target, shown.path]
    case 'place':
      return ['--ro-bind', shown.path, shown.path]
    case 'interpreter':
      return [...above(shown.path), '--ro-bind', shown.path, shown.path]
  }
}

/** Left to itself it makes the folders above closed to everybody but their owner. */
function above(path: string): readonly string[] {
  const names = path.split('/').slice(1, -1)
  return names.flatMap((_, index) => ['--perms', '0755', '--dir', `/${names.slice(0, index + 1).join('/')}`])
}
