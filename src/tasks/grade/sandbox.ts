import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bubblewrap } from './bubblewrap.ts'
import { type Confinement, defaultLimits } from './confinement.ts'
import { parseScores } from './grader-result.ts'
import { namespaces } from './namespaces.ts'
import type { Python } from './python.ts'
import { runGrader } from './run-grader.ts'
import { unconfined } from './unconfined.ts'

/** Where graders run, or why they do not. */
export type Sandbox =
  | { readonly state: 'ready'; readonly confinement: Confinement; readonly python: Python }
  | { readonly state: 'none'; readonly reason: string }

export type SandboxOptions = {
  readonly python: Python | null
  /** Run graders without isolation where there is none. */
  readonly allowUnsafe: boolean
  readonly candidates?: readonly Confinement[]
}

/** In order of preference. */
const usualCandidates = (): readonly Confinement[] =>
  process.platform === 'linux' ? [bubblewrap(), namespaces({ withUser: false }), namespaces({ withUser: true })] : []

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
