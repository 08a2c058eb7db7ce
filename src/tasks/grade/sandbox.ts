import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { defaultLimits, type GraderJob, runGrader } from './automated-checks.ts'

/** A Python interpreter, and the folder of its standard library. */
export type Python = { readonly executable: string; readonly prefix: string; readonly version: string }

const ask =
  'import json, sys; print(json.dumps([sys.executable, sys.base_prefix, ".".join(map(str, sys.version_info[:3]))]))'

const Reply = z.tuple([z.string().min(1), z.string().min(1), z.string().startsWith('3.')])

/** The interpreter for graders; null if there is none. `name` may be a wrapper script, so the interpreter reports its real path. */
export async function findPython(name = 'python3'): Promise<Python | null> {
  try {
    const { stdout } = await promisify(execFile)(name, ['-I', '-c', ask], { timeout: 20_000 })
    const [executable, prefix, version] = Reply.parse(JSON.parse(stdout))
    return { executable: realpathSync(executable), prefix: realpathSync(prefix), version }
  } catch {
    // Not installed, or not Python 3.
    return null
  }
}

type Prepared = {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The path of the workspace copy as the grader sees it. */
  readonly workspace: string
  readonly remove: () => Promise<void>
}

/** Isolates a grader from the rest of the machine. `args` are the arguments of Python. */
export type Confinement = (job: Omit<GraderJob, 'code' | 'transcript'>, args: readonly string[]) => Promise<Prepared>

/** How graders run, or why they cannot run. */
export type Sandbox =
  | { readonly state: 'ready'; readonly confine: Confinement; readonly python: Python }
  | { readonly state: 'none'; readonly reason: string }

type SandboxOptions = { readonly python: Python | null; readonly candidates?: readonly Confinement[] }

const defaultCandidates = (): readonly Confinement[] =>
  process.platform === 'linux' ? [isolate({ withUser: false }), isolate({ withUser: true })] : []

/** Chooses the first confinement that passes the probe. If none does, no grader runs. */
export async function openSandbox({ python, candidates = defaultCandidates() }: SandboxOptions): Promise<Sandbox> {
  if (python === null) return { state: 'none', reason: 'There is no python3 on this machine.' }
  let reason = 'this system has none'
  for (const confine of candidates) {
    const problem = await explainFailure(confine, python)
    if (problem === null) return { state: 'ready', confine, python }
    reason = problem
  }
  return { state: 'none', reason: `Python checks need a sandbox: ${reason}.` }
}

/** System tools are searched for in these folders, not in the caller's PATH. */
const systemPath = '/usr/bin:/bin:/usr/sbin:/sbin'

/** The user id for graders when we run as root; this user owns nothing. */
const nobody = '65534'

/** Runs inside the sandbox: copies the workspace, gives it to the owner, drops privileges, runs Python. Arguments: owner, program. */
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

/** System folders and files that programs need. Only the existing ones are mounted. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store']
const systemFiles = ['/etc/ld.so.cache', '/etc/alternatives']

/** Arguments of `outsideScript` that mount the system read-only for a grader. Links stay links, so that every path works. */
function systemArguments(prefix: string): readonly string[] {
  const folders = systemFolders.flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? ['link', readlinkSync(path), path] : ['show', path]
  })
  const files = systemFiles.filter((path) => existsSync(path)).flatMap((path) => ['show', path])
  // The interpreter may be installed outside of the system folders; then its folder is shown too.
  const isInSystem = systemFolders.some((folder) => `${prefix}/`.startsWith(`${folder}/`))
  return [...folders, ...files, ...(isInSystem ? [] : ['show', prefix])]
}

/**
 * Builds a root file system in memory and changes into it. Arguments up to `--` are steps: `link TARGET PATH`, `show PATH`,
 * `device PATH`.
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
 * Kernel namespaces made by `unshare`: the grader has its own processes, network, mounts and host name, and all its processes end with
 * the first. `withUser` adds a user namespace, which needs no privilege. Root needs no user namespace, so the grader can run as a user
 * that owns nothing.
 */
const isolate =
  ({ withUser }: { readonly withUser: boolean }): Confinement =>
  async ({ python, workspace, workspaceBytes, limits }, args) => {
    const folder = await mkdtemp(join(tmpdir(), 'credence-grader-'))
    const owner = !withUser && process.getuid?.() === 0 ? nobody : ''
    return {
      program: 'unshare',
      args: [
        ...(withUser ? ['--user', '--map-root-user'] : []),
        '--mount',
        '--net',
        '--pid',
        '--ipc',
        '--uts',
        '--fork',
        '--kill-child=SIGKILL',
        '--propagation',
        'private',
        '--',
        '/bin/sh',
        '-c',
        outsideScript,
        'sh',
        folder,
        workspace ?? '',
        String(workspaceBytes * 2 + limits.scratchBytes),
        insideScript,
        ...systemArguments(python.prefix),
        ...devices.flatMap((path) => ['device', path]),
        '--',
        owner,
        python.executable,
        ...args,
      ],
      env: { PATH: systemPath },
      workspace: '/workspace',
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  }

const probeProcesses = 16

/** Python that tries forbidden and allowed actions inside the sandbox. */
const probeScript = (outside: string): string => `
import os, socket
def grade(transcript, workspace_path):
    found = {}
    note = os.path.join(workspace_path, "note")
    found["workspace"] = open(note).read() == "inside"
    open(note, "w").write("changed")
    found["outside"] = not os.path.exists(${JSON.stringify(outside)})
    def refused(path):
        try:
            open(path, "w").close()
            return False
        except OSError:
            return True
    found["writing"] = all(refused(path) for path in ("/stray", "/usr/stray", "/evidence/note"))
    def is_open(descriptor):
        try:
            os.fstat(descriptor)
            return True
        except OSError:
            return False
    found["descriptors"] = not any(is_open(one) for one in range(4, 256))
    found["environment"] = set(os.environ) <= {"LC_CTYPE"}
    found["network"] = {name for _, name in socket.if_nameindex()} <= {"lo"}
    found["privileges"] = not os.path.exists("/proc/1")
    try:
        os.setgroups([0])
        found["privileges"] = False
    except OSError:
        pass
    children, (hold, release) = [], os.pipe()
    for _ in range(${probeProcesses * 2}):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            os.close(release)
            os.read(hold, 1)
            os._exit(0)
        children.append(child)
    os.close(release)
    for child in children:
        os.waitpid(child, 0)
    found["processes"] = 0 < len(children) < ${probeProcesses * 2}
    return found
`

/** Why a confinement cannot be trusted, determined by running the probe; null if it works. */
export async function explainFailure(confine: Confinement, python: Python): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'credence-probe-'))
  try {
    const outside = join(folder, 'outside')
    const workspace = await mkdtemp(join(folder, 'workspace-'))
    await writeFile(outside, 'outside')
    await writeFile(join(workspace, 'note'), 'inside')
    const { scores } = await runGrader(confine, {
      python,
      workspace,
      workspaceBytes: 6,
      limits: { ...defaultLimits, wallClockMs: 20_000, processes: probeProcesses },
      code: probeScript(outside),
      transcript: [],
    })
    if (typeof scores === 'string') return scores
    const broken = Object.entries(scores).filter(([, score]) => score !== 1)
    return broken.length === 0 ? null : `it does not isolate ${broken.map(([name]) => name).join(', ')}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
