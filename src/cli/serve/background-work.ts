import { spawn } from 'node:child_process'
import { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { newRunId } from '../../eval/run/run.ts'
import type { BackgroundWork } from '../../http/api/handlers.ts'
import { exitCodes } from '../command/command.ts'
import type { Session } from '../session.ts'

type Ended = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }

/** Output beyond this is dropped. */
const mostCharacters = 4_000_000

/** Runs this program in another process, for work that would keep this one from answering. */
function runProgram(
  { machine, workingDirectory }: Session,
  argv: readonly string[],
  { env = {}, signal }: { readonly env?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(machine.node, [machine.program, ...argv], {
      cwd: workingDirectory(),
      env: { ...machine.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    })
    const gathered = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (chunk: string) => {
        if (gathered[stream].length < mostCharacters) gathered[stream] += chunk
      })
    }
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, ...gathered }))
  })
}

const Examined = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })),
})

export type StoppableWork = BackgroundWork & {
  /** Runs packs one after the other; settles when all are done. */
  runAll(packs: readonly string[]): Promise<void>
  /** Ends running work. */
  stop(): Promise<void>
}

/** Checks and benchmark runs, each in a process of its own. `onProblem` gets the reason why a run failed. */
export function backgroundWork(
  session: Session,
  { dir, user, evalRoot }: { readonly dir: string; readonly user: string; readonly evalRoot: string },
  onProblem: (line: string) => void,
): StoppableWork {
  const stopping = new AbortController()
  let running: { readonly pack: string; readonly ended: Promise<void> } | null = null

  const begin = (pack: string): { readonly runId: string; readonly ended: Promise<void> } => {
    if (running !== null) {
      throw new MemoryError('conflict', `The pack ${running.pack} is being run.`, { hint: 'Wait until it is done.' })
    }
    const runId = newRunId(pack, '', new Date())
    const argv = ['benchmark', 'run', pack, '--run-id', runId, '--explain', '--store', evalRoot, '--dir', dir]
    // A request for a run switches the harness on.
    const env = { CREDENCE_EVAL_HARNESS_ENABLED: 'true' }
    const ended = runProgram(session, argv, { env, signal: stopping.signal })
      .then(({ exitCode, stderr }) => {
        if (exitCode !== exitCodes.fine && exitCode !== exitCodes.failed) onProblem(`${pack}: ${stderr.trim()}`)
      })
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) onProblem(`${pack}: ${String(error)}`)
      })
      .finally(() => {
        running = null
      })
    running = { pack, ended }
    return { runId, ended }
  }

  return {
    doctor: async () => {
      const argv = ['doctor', '--json', '--dir', dir, '--user', user]
      const { stdout, stderr } = await runProgram(session, argv, { signal: stopping.signal })
      const examined = Examined.safeParse(parsed(stdout))
      if (examined.success) return examined.data
      throw new MemoryError('unavailable', 'The memory could not be checked.', {
        hint: stderr.trim().slice(0, 500) || 'Run `credence doctor`.',
      })
    },
    startRun: async (pack) => ({ runId: begin(pack).runId }),
    running: () => running?.pack ?? null,
    runAll: async (packs) => {
      for (const pack of packs) {
        if (stopping.signal.aborted) return
        await running?.ended
        await begin(pack).ended
      }
    },
    stop: async () => {
      stopping.abort()
      await running?.ended
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports what was printed instead.
    return null
  }
}
