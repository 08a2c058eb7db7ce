import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An interpreter, and the folder its library lies in. */
export type Python = { readonly executable: string; readonly prefix: string; readonly version: string }

export type Isolation = 'namespaces' | 'none'

/** What a grader may use. The wall clock and the output are watched from outside, the rest by the kernel. */
export type GraderLimits = {
  readonly wallClockMs: number
  readonly memoryBytes: number
  readonly processes: number
  readonly fileBytes: number
  readonly openFiles: number
  readonly outputBytes: number
  /** What the copy of the workspace may grow by, together with temporary files. */
  readonly scratchBytes: number
}

const mebibyte = 1024 * 1024

export const defaultLimits: GraderLimits = {
  wallClockMs: 60_000,
  memoryBytes: 1024 * mebibyte,
  processes: 64,
  fileBytes: 64 * mebibyte,
  openFiles: 256,
  outputBytes: mebibyte,
  scratchBytes: 128 * mebibyte,
}

export type Confined = {
  readonly python: Python
  /** The folder to copy; null for an empty one. */
  readonly workspace: string | null
  readonly workspaceBytes: number
  readonly limits: GraderLimits
  /** Arguments of Python. */
  readonly args: readonly string[]
}

/** A program to start, ready with its copy of the workspace. */
type Prepared = {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The copy, as the grader sees it. */
  readonly workspace: string
  readonly remove: () => Promise<void>
}

/** Keeps a grader from the rest of the machine. */
export type Confinement = {
  readonly isolation: Isolation
  /** Whether the number of processes can be limited; where the kernel counts them by user, it cannot. */
  readonly limitsProcesses: boolean
  prepare(job: Confined): Promise<Prepared>
}

/** System tools are looked up here, whatever the caller's environment says. */
const systemPath = '/usr/bin:/bin:/usr/sbin:/sbin'

/** The user id that graders of root run as; it owns nothing. */
const nobody = '65534'

/**
 * Runs inside the confinement: copies the workspace, gives it to the owner, drops every privilege and becomes Python.
 * Arguments: owner or empty, then the program.
 */
const insideScript = [
  'set -eu',
  'owner=$1; shift',
  'cp -RP /evidence/. /workspace/',
  'if [ -n "$owner" ]; then chown -R -h "$owner:$owner" /workspace; else chmod -R u+rwX /workspace; fi',
  'cd /workspace',
  'drop="--no-new-privs --bounding-set=-all --inh-caps=-all"',
  'if [ -n "$owner" ]; then drop="$drop --reuid=$owner --regid=$owner --clear-groups"; fi',
  'exec setpriv $drop env -i "$@"',
].join('\n')

/** Folders and files of the system that programs need. Only those that exist are shown. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store']
const systemFiles = ['/etc/ld.so.cache', '/etc/alternatives']

/** Arguments of `outsideScript` that show the system to a grader, read-only. Links stay links, so that every path works. */
function systemArguments(prefix: string): readonly string[] {
  const folders = systemFolders.flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? ['link', readlinkSync(path), path] : ['show', path]
  })
  const files = systemFiles.filter((path) => existsSync(path)).flatMap((path) => ['show', path])
  // The interpreter may be installed elsewhere.
  const isInSystem = systemFolders.some((folder) => `${prefix}/`.startsWith(`${folder}/`))
  return [...folders, ...files, ...(isInSystem ? [] : ['show', prefix])]
}

/**
 * Builds a root in memory and changes into it: folders of the system read-only, the workspace read-only beside an empty
 * one of a bounded size, nothing else. Steps come as arguments: `link TARGET PATH`, `show PATH`, `device PATH`, until
 * `--`.
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

const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom']

/**
 * Kernel namespaces made by `unshare`: processes, network, mounts and names are the grader's own, and all of its
 * processes end with the first. `withUser` takes a user namespace, which needs no privilege; root does without, so that
 * the grader can run as a user that owns nothing.
 */
export const namespaces = ({ withUser }: { readonly withUser: boolean }): Confinement => ({
  isolation: 'namespaces',
  limitsProcesses: true,
  prepare: async ({ python, args, workspace, workspaceBytes, limits }) => {
    const folder = await mkdtemp(join(tmpdir(), 'credence-grader-'))
    const owner = !withUser && process.getuid?.() === 0 ? nobody : ''
    return {
      program: 'unshare',
      args: [
        ...(withUser ? ['--user', '--map-root-user'] : []),
        ...['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL'],
        ...['--propagation', 'private', '--', '/bin/sh', '-c', outsideScript, 'sh'],
        ...[folder, workspace ?? '', String(workspaceBytes * 2 + limits.scratchBytes), insideScript],
        ...systemArguments(python.prefix),
        ...devices.flatMap((path) => ['device', path]),
        ...['--', owner, python.executable, ...args],
      ],
      env: { PATH: systemPath },
      workspace: '/workspace',
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  },
})

/**
 * No isolation: a copy of the workspace, an empty environment, a process group and limits, but the same user, files and
 * network. Only for those who trust both the grader and what the agent wrote.
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
