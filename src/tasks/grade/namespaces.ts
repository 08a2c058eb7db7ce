import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Confinement, insideArguments, insideScript, isRoot, nobody, systemPath } from './confinement.ts'
import { shownSystem } from './shown-system.ts'

/**
 * Builds a root of its own in memory and changes into it: folders of the system read-only, the workspace read-only
 * beside an empty one of a bounded size, nothing else. Steps come as arguments: `link TARGET PATH`, `show PATH`,
 * `device PATH`, until `--`.
 */
const outsideScript = [
  'set -eu',
  'root=$1; workspace=$2; size=$3; inside=$4; shift 4',
  'mount -t tmpfs -o size=1m,mode=755,nosuid,nodev tmpfs "$root"',
  'mkdir "$root/etc" "$root/dev" "$root/tmp" "$root/workspace" "$root/evidence"',
  'while [ "$1" != "--" ]; do',
  '  case $1 in',
  '    link) ln -s "$2" "$root$3"; shift 3;;',
  '    show)',
  '      if [ -d "$2" ]; then mkdir -p "$root$2"; else : > "$root$2"; fi',
  '      mount --rbind "$2" "$root$2"; mount -o remount,bind,ro,nosuid "$root$2"; shift 2;;',
  '    device) : > "$root$2"; mount --bind "$2" "$root$2"; shift 2;;',
  '  esac',
  'done',
  'shift',
  'if [ -n "$workspace" ]; then',
  '  mount --bind "$workspace" "$root/evidence"; mount -o remount,bind,ro,nosuid,nodev "$root/evidence"',
  'fi',
  'mount -t tmpfs -o "size=$size,mode=700,nosuid,nodev" tmpfs "$root/workspace"',
  'mount -t tmpfs -o "size=$size,mode=1777,nosuid,nodev" tmpfs "$root/tmp"',
  'mount -o remount,bind,ro,nosuid,nodev "$root"',
  'exec chroot "$root" /bin/sh -c "$inside" sh "$@"',
].join('\n')

const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'] as const

/**
 * Kernel namespaces by way of `unshare`: processes, network, mounts and names are the grader's own, and all of its
 * processes end with the first. `withUser` takes a user namespace, which needs no privilege; root does without, so
 * that the grader can run as a user that owns nothing.
 */
export function namespaces({ withUser }: { readonly withUser: boolean }): Confinement {
  return {
    isolation: 'namespaces',
    limitsProcesses: true,
    prepare: async (job) => {
      const root = await mkdtemp(join(tmpdir(), 'credence-grader-'))
      const owner = !withUser && isRoot() ? nobody : null
      const size = String(job.workspaceBytes * 2 + job.limits.scratchBytes)
      return {
        program: 'unshare',
        args: [
          ...(withUser ? ['--user', '--map-root-user'] : []),
          ...['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL'],
          ...['--propagation', 'private', '--', '/bin/sh', '-c', outsideScript, 'sh'],
          ...[root, job.workspace ?? '', size, insideScript, ...stepsFor(job.python.prefix), '--'],
          ...insideArguments(job, owner),
        ],
        env: { PATH: systemPath },
        workspace: '/workspace',
        remove: () => rm(root, { recursive: true, force: true }),
      }
    },
  }
}

function stepsFor(prefix: string): readonly string[] {
  const steps = shownSystem(prefix).flatMap((shown) =>
    shown.kind === 'link' ? ['link', shown.target, shown.path] : ['show', shown.path],
  )
  return [...steps, ...devices.flatMap((path) => ['device', path])]
}
