import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { type Confinement, defaultLimits, namespaces, type Python, unconfined } from './confinement.ts'
import { parseScores, runGrader } from './run-grader.ts'

const ask =
  'import json, sys; print(json.dumps([sys.executable, sys.base_prefix, ".".join(map(str, sys.version_info[:3]))]))'

const Reply = z.tuple([z.string().min(1), z.string().min(1), z.string().min(1)])

/** Names under which Python 3 is usually found, each with the arguments that make it one. */
const usualNames: readonly (readonly [name: string, ...args: string[]])[] =
  process.platform === 'win32' ? [['py', '-3'], ['python3'], ['python']] : [['python3']]

const longestStartMs = 20_000

/**
 * The interpreter that graders run on; null where there is none. What is found may be a script that only knows where
 * Python is, so it is asked for the real place.
 */
export async function findPython(names: typeof usualNames = usualNames): Promise<Python | null> {
  for (const [name, ...args] of names) {
    try {
      const { stdout } = await promisify(execFile)(name, [...args, '-I', '-c', ask], { timeout: longestStartMs })
      const [executable, prefix, version] = Reply.parse(JSON.parse(stdout))
      if (version.startsWith('3.')) {
        return { executable: realpathSync(executable), prefix: realpathSync(prefix), version }
      }
    } catch {
      // Not there, or not what its name says: the next name may be.
    }
  }
  return null
}

/** Where graders run, or why they do not. */
export type Sandbox =
  | { readonly state: 'ready'; readonly confinement: Confinement; readonly python: Python }
  | { readonly state: 'none'; readonly reason: string }

type SandboxOptions = {
  readonly python: Python | null
  /** Run graders without isolation where there is none. */
  readonly allowUnsafe: boolean
  readonly candidates?: readonly Confinement[]
}

/** In order of preference. */
const usualCandidates = (): readonly Confinement[] =>
  process.platform === 'linux' ? [namespaces({ withUser: false }), namespaces({ withUser: true })] : []

/** The first confinement that keeps what it promises, shown by a real run. Without one, no grader runs. */
export async function openSandbox({
  python,
  allowUnsafe,
  candidates = usualCandidates(),
}: SandboxOptions): Promise<Sandbox> {
  if (python === null) return { state: 'none', reason: 'There is no python3 on this machine.' }
  const reasons: string[] = []
  for (const confinement of candidates) {
    const reason = await whyNot(confinement, python)
    if (reason === null) return { state: 'ready', confinement, python }
    reasons.push(`${confinement.isolation}: ${reason}`)
  }
  if (allowUnsafe) return { state: 'ready', confinement: unconfined, python }
  const tried = reasons.length === 0 ? 'this system has none' : reasons.join('; ')
  return { state: 'none', reason: `Graders need a sandbox, and ${tried}. --unsafe-graders runs them without.` }
}

const probeProcesses = 16

/** Tries from inside what must not work, and what must. */
const probe = (outside: string): string => `
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

/** Null when the confinement holds. */
export async function whyNot(confinement: Confinement, python: Python): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'credence-probe-'))
  try {
    const outside = join(folder, 'outside')
    const workspace = await mkdtemp(join(folder, 'workspace-'))
    await writeFile(outside, 'outside')
    await writeFile(join(workspace, 'note'), 'inside')
    const run = await runGrader(confinement, {
      python,
      workspace,
      workspaceBytes: 6,
      limits: { ...defaultLimits, wallClockMs: 20_000, processes: probeProcesses },
      code: probe(outside),
      transcript: [],
    })
    const result = parseScores(run)
    if (!result.ok) return result.reason
    const broken = Object.entries(result.scores).filter(([, score]) => score !== 1)
    return broken.length === 0 ? null : `it does not confine ${broken.map(([name]) => name).join(', ')}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
