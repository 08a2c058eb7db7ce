import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An interpreter, and the folder its library lies in. */
export type Python = { readonly executable: string; readonly prefix: string; readonly version: string }

export type Isolation = 'bubblewrap' | 'namespaces' | 'none'

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
const nobody = 65_534

const isRoot = (): boolean => process.getuid?.() === 0

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

type Layout = {
  /** A new folder, removed after the run. */
  readonly folder: string
  /** The user that owns the copy; null for the one that runs it. */
  readonly owner: number | null
  /** How large the copy and the temporary files may grow, in bytes. */
  readonly size: string
  /** Arguments of `insideScript`. */
  readonly inside: readonly string[]
}

/** What both confinements with a root of their own have in common. */
async function prepareRoot(
  { python, args, workspaceBytes, limits }: Confined,
  { program, owner }: { readonly program: string; readonly owner: number | null },
  argumentsFor: (layout: Layout) => readonly string[],
): Promise<Prepared> {
  const folder = await mkdtemp(join(tmpdir(), 'credence-grader-'))
  const inside = [owner === null ? '' : String(owner), python.executable, ...args]
  return {
    program,
    args: argumentsFor({ folder, owner, size: String(workspaceBytes * 2 + limits.scratchBytes), inside }),
    env: { PATH: systemPath },
    workspace: '/workspace',
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Folders and files of the system that programs need. Only those that exist are shown. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store']
const systemFiles = ['/etc/ld.so.cache', '/etc/alternatives']

type Shown =
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'place'; readonly path: string }
  /** The interpreter's folder, where that is outside the system's. */
  | { readonly kind: 'interpreter'; readonly path: string }

/** What a grader sees of the system, read-only. Links stay links, so that every name works as it does outside. */
function shownSystem(prefix: string): readonly Shown[] {
  const folders = systemFolders.flatMap((path): readonly Shown[] => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? [{ kind: 'link', path, target: readlinkSync(path) }] : [{ kind: 'place', path }]
  })
  const files = systemFiles.filter((path) => existsSync(path)).map((path): Shown => ({ kind: 'place', path }))
  const isInSystem = systemFolders.some((folder) => `${prefix}/`.startsWith(`${folder}/`))
  return [...folders, ...files, ...(isInSystem ? [] : [{ kind: 'interpreter', path: prefix } as const])]
}

/** A root of its own, made by bubblewrap. `program` is where it is, when not among the system's programs. */
export const bubblewrap = (program = 'bwrap'): Confinement => ({
  isolation: 'bubblewrap',
  limitsProcesses: true,
  prepare: (job) =>
    prepareRoot(job, { program, owner: isRoot() ? nobody : null }, ({ folder, owner, size, inside }) => [
      ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
      // Root keeps the capabilities that giving the copy away takes; the script drops them.
      ...(owner === null
        ? ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'CAP_SETPCAP']
        : ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID', 'SETPCAP'].flatMap((name) => [
            '--cap-add',
            `CAP_${name}`,
          ])),
      ...['--die-with-parent', '--new-session', '--clearenv'],
      ...shownSystem(job.python.prefix).flatMap(bindArguments),
      ...['--dev', '/dev', '--ro-bind', job.workspace ?? folder, '/evidence'],
      ...['--size', size, '--perms', '0700', '--tmpfs', '/workspace'],
      ...['--size', size, '--perms', '1777', '--tmpfs', '/tmp', '--remount-ro', '/'],
      ...['--', '/bin/sh', '-c', insideScript, 'sh', ...inside],
    ]),
})

function bindArguments(shown: Shown): readonly string[] {
  if (shown.kind === 'link') return ['--symlink', shown.target, shown.path]
  const bind = ['--ro-bind', shown.path, shown.path]
  if (shown.kind === 'place') return bind
  // Bubblewrap makes the folders above readable only by their owner, unless told otherwise.
  const names = shown.path.split('/').slice(1, -1)
  const above = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return [...above.flatMap((folder) => ['--perms', '0755', '--dir', folder]), ...bind]
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
  prepare: (job) =>
    prepareRoot(
      job,
      { program: 'unshare', owner: !withUser && isRoot() ? nobody : null },
      ({ folder, size, inside }) => [
        ...(withUser ? ['--user', '--map-root-user'] : []),
        ...['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL'],
        ...['--propagation', 'private', '--', '/bin/sh', '-c', outsideScript, 'sh'],
        ...[folder, job.workspace ?? '', size, insideScript],
        ...shownSystem(job.python.prefix).flatMap((shown) =>
          shown.kind === 'link' ? ['link', shown.target, shown.path] : ['show', shown.path],
        ),
        ...devices.flatMap((path) => ['device', path]),
        '--',
        ...inside,
      ],
    ),
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
