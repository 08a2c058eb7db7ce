import { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { newRunId } from '../../eval/run/run-id.ts'
import type { BackgroundWork } from '../../http/api/server-deps.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { runProgram } from './run-program.ts'

type Place = { readonly dir: string; readonly user: string; readonly evalRoot: string }

const Examined = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })),
})

export type StoppableWork = BackgroundWork & {
  /** Runs packs one after the other; settles when all are done. */
  runAll(packs: readonly string[]): Promise<void>
  /** Ends whatever is under way. */
  stop(): Promise<void>
}

/** Checks and runs, each in a process of its own. `onProblem` is told why a run came to nothing. */
export function backgroundWork(
  session: Session,
  { dir, user, evalRoot }: Place,
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
    // Whoever asks for a run has switched the harness on by that.
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
    // Not a document: the caller says so with what was printed instead.
    return null
  }
}
