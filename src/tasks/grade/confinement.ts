import type { Python } from './python.ts'

/** What keeps a grader from the rest of the machine. */
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
  /** What Python is started with. */
  readonly args: readonly string[]
}

/** A program to start, ready with its copy of the workspace. */
export type Prepared = {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The copy, as the grader sees it. */
  readonly workspace: string
  readonly remove: () => Promise<void>
}

export type Confinement = {
  readonly isolation: Isolation
  /** Whether the number of processes can be limited; where they are counted by user, it cannot. */
  readonly limitsProcesses: boolean
  prepare(job: Confined): Promise<Prepared>
}

/** Tools of the system are looked for here and nowhere else, whatever the caller's environment says. */
export const systemPath = '/usr/bin:/bin:/usr/sbin:/sbin'

/** A user that owns nothing; what root runs is run as this one. */
export const nobody = 65_534

export const isRoot = (): boolean => process.getuid?.() === 0

/**
 * What happens inside, once nothing else can be seen: copy the workspace, give it away, drop every privilege, and
 * become Python. Arguments: owner or empty, then the program.
 */
export const insideScript = [
  'set -eu',
  'owner=$1; shift',
  'cp -RP /evidence/. /workspace/',
  'if [ -n "$owner" ]; then chown -R -h "$owner:$owner" /workspace; else chmod -R u+rwX /workspace; fi',
  'cd /workspace',
  'drop="--no-new-privs --bounding-set=-all --inh-caps=-all"',
  'if [ -n "$owner" ]; then drop="$drop --reuid=$owner --regid=$owner --clear-groups"; fi',
  'exec setpriv $drop env -i "$@"',
].join('\n')

/** Owner of the copy, then Python and what it is started with. */
export const insideArguments = ({ python, args }: Confined, owner: number | null): readonly string[] => [
  owner === null ? '' : String(owner),
  python.executable,
  ...args,
]
