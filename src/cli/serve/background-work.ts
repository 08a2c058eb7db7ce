import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { z } from 'zod'
import { conflict, unavailable } from '../../errors.ts'
import { parseJson } from '../../json.ts'
import { storeFile } from '../../open-memory.ts'
import type { BackgroundWork } from '../../operations/served-memory.ts'
import { exitCodes } from '../command/command.ts'
import type { Session } from '../session.ts'
import type { Progress } from '../text/progress-bar.ts'

type Ended = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }

/** Output beyond this is dropped. */
const maxCharacters = 4_000_000

/** Runs this program in another process, for work that would block this one. */
function runProgram(
  { program: { machine }, places: { workingDirectory } }: Session,
  argv: readonly string[],
  {
    env = {},
    signal,
    onProgress = () => {},
  }: {
    readonly env?: Readonly<Record<string, string>>
    readonly signal: AbortSignal
    readonly onProgress?: (progress: Progress) => void
  },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(machine.node, [machine.program, ...argv], {
      cwd: workingDirectory(),
      env: { ...machine.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      signal,
    })
    child.on('message', (message) => {
      const told = Told.safeParse(message)
      if (told.success) onProgress(told.data.progress)
    })
    const gathered = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.setEncoding('utf8').on('data', (chunk: string) => {
        if (gathered[stream].length < maxCharacters) gathered[stream] += chunk
      })
    }
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, ...gathered }))
  })
}

const Told = z.object({ progress: z.object({ label: z.string(), done: z.int(), total: z.int() }) })

const Examined = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })),
})

/** Checks, syncs and benchmark runs, each in a separate process. `onProblem` gets the reason for a failure. */
export function backgroundWork(
  session: Session,
  { dir, user, evalRoot }: { readonly dir: string; readonly user: string; readonly evalRoot: string },
  onProblem: (line: string) => void,
) {
  const stopping = new AbortController()
  let checking: Progress | null = null
  let running: { readonly pack: string; readonly ended: Promise<void> } | null = null
  // Not an argument: every user of the machine can read arguments, and the address may contain a password.
  const storeEnvironment = (): Readonly<Record<string, string>> => {
    const store = session.places.serverOf(dir)
    return store === undefined ? {} : { CREDENCE_STORE: store }
  }

  const begin = async (pack: string): Promise<{ readonly runId: string; readonly ended: Promise<void> }> => {
    const { newRunId } = await import('../../eval/run/run.ts')
    if (running !== null) {
      throw conflict(`The pack ${running.pack} is already running.`, 'Wait until it is done.')
    }
    const runId = newRunId(pack, '', new Date())
    const argv = ['benchmark', 'run', pack, '--run-id', runId, '--explain', '--evals', evalRoot, '--dir', dir]
    // The request for a run is explicit, so it overrides a disabled harness.
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
      // Checked here, because the command would treat a missing file as a memory that was never created.
      const file = storeFile(dir)
      if ((await session.places.storeFile(dir)) === file && !existsSync(file)) {
        const detail = `${file} was moved or deleted while it was served; put it back, or start the server again`
        return { ok: false, findings: [{ check: 'store', ok: false, detail }] }
      }
      const argv = ['doctor', '--json', '--dir', dir, '--user', user]
      const onProgress = (progress: Progress): void => {
        checking = progress
      }
      const options = { env: storeEnvironment(), signal: stopping.signal, onProgress }
      const { stdout, stderr } = await runProgram(session, argv, options).finally(() => {
        checking = null
      })
      const examined = Examined.safeParse(parseJson(stdout))
      if (examined.success) return examined.data
      throw unavailable('The memory could not be checked.', stderr.trim().slice(0, 500) || 'Run `credence doctor`.')
    },
    checking: () => checking,
    startRun: async (pack: string) => ({ runId: (await begin(pack)).runId }),
    running: () => running?.pack ?? null,
    /** Runs packs one after the other, and resolves when all are done. */
    runAll: async (packs: readonly string[]) => {
      for (const pack of packs) {
        if (stopping.signal.aborted) return
        await running?.ended
        await (await begin(pack)).ended
      }
    },
    /** Syncs with every target of earlier syncs. */
    sync: async () => {
      const argv = ['sync', '--dir', dir, '--user', user]
      const options = { env: storeEnvironment(), signal: stopping.signal }
      const { exitCode, stderr } = await runProgram(session, argv, options)
      if (exitCode !== exitCodes.fine) onProblem(`sync: ${stderr.trim()}`)
    },
    stop: async () => {
      stopping.abort()
      await running?.ended
    },
  } satisfies BackgroundWork & Record<string, unknown>
}
