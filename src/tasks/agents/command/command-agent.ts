import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, type AgentConversation, AgentFailure, errorMessage } from '../../agent.ts'
import { type Ending, findProgram, type Program, runInGroup } from '../../run/process-group.ts'
import type { Output, OutputReading } from './read-output.ts'

type Call = {
  readonly prompt: string
  /** The id of the conversation; programs that accept an id store their history under it. */
  readonly session: string
  readonly isFirst: boolean
  readonly workspace: string
  readonly file: string
}

/** How to run an agent that is a program. One process answers one prompt. */
export type CommandProfile = {
  readonly name: string
  readonly program: string
  readonly model: string | null
  readonly args: (call: Call) => readonly string[]
  readonly takesStdin: boolean
  readonly read: (output: Output, call: Call) => OutputReading | Promise<OutputReading>
  /** Environment variables to pass to the program, in addition to `always`. */
  readonly passThrough: readonly string[]
  readonly set?: Readonly<Record<string, string>>
  readonly versionArgs?: readonly string[]
  /** `before` and `after`: arguments with which the same program creates a conversation and deletes it. */
  readonly before?: (call: Pick<Call, 'session' | 'workspace'>) => readonly string[]
  readonly after?: (call: Pick<Call, 'session' | 'workspace'>) => readonly string[]
}

export type AgentEnvironment = Readonly<Record<string, string | undefined>>

/** The environment variables that every program gets. The user's keys and settings are not passed on. */
const always = 'PATH HOME LANG TMPDIR SystemRoot USERPROFILE APPDATA LOCALAPPDATA PATHEXT TEMP'.split(' ')

const maxErrorTextLength = 400
const versionMs = 15_000

export function commandAgent(profile: CommandProfile, environment: AgentEnvironment): Agent {
  const passed = [...always, ...profile.passThrough].map((name) => [name, environment[name]] as const)
  const env = { ...Object.fromEntries(passed.filter(isSet)), ...profile.set }
  const known = { version: 'unknown', model: profile.model }
  return {
    name: profile.name,
    get version() {
      return known.version
    },
    get model() {
      return known.model
    },
    unavailable: async () => {
      const program = await findProgram(profile.program, environment.PATH ?? '')
      if (program === null) return `The program "${profile.program}" is not on the path.`
      if (profile.versionArgs !== undefined) known.version = await readVersion(program, profile.versionArgs, env)
      return null
    },
    start: async ({ workspace }) => {
      const promptFiles = await mkdtemp(join(tmpdir(), 'credence-prompt-'))
      // Aborted when the agent is stopped, even before the task's time is up.
      const stopping = new AbortController()
      const running = new Set<Promise<unknown>>()
      const run = async (program: Pick<Program, 'args' | 'signal' | 'input' | 'onStart'>): Promise<Ending> => {
        const work = runInGroup({ ...program, program: profile.program, cwd: workspace, env })
        running.add(work)
        try {
          return await work
        } catch (cause) {
          if (program.signal.aborted) throw program.signal.reason
          const message = `${profile.name}: "${profile.program}" cannot be started: ${errorMessage(cause)}.`
          throw new AgentFailure('infrastructure', message, { cause })
        } finally {
          running.delete(work)
        }
      }
      const open = async (): Promise<AgentConversation> => {
        const id = randomUUID()
        let session: string = id
        let count = 0
        let pid: number | null = null
        if (profile.before !== undefined) {
          const prepared = await run({ args: profile.before({ session: id, workspace }), signal: stopping.signal })
          if (prepared.exitCode !== 0) throw new AgentFailure('infrastructure', complaintOf(profile, prepared))
        }
        return {
          id,
          get process() {
            return pid
          },
          messageCount: () => count,
          send: async (prompt, signal) => {
            const file = join(promptFiles, `${randomUUID()}.txt`)
            await writeFile(file, prompt)
            const call = { prompt, session, isFirst: count === 0, workspace, file }
            const limit = AbortSignal.any([signal, stopping.signal])
            const ending = await run({
              args: profile.args(call),
              signal: limit,
              ...(profile.takesStdin ? { input: prompt } : {}),
              onStart: (started) => {
                pid = started
              },
            })
            const output = { stdout: ending.stdout.toString('utf8'), stderr: ending.stderr }
            const { messages, usage, answer, conversationId, model, problem } = await profile.read(output, call)
            // The messages of a failed program are stored too.
            const failure = (fault: AgentFailure['fault'], message: string): AgentFailure =>
              new AgentFailure(fault, message, { messages, usage })
            if (limit.aborted) throw failure('agent', `${profile.name} was ended before it was done.`)
            if (ending.exceeded !== null) throw failure('agent', `${profile.name} wrote more than is read of it.`)
            if (problem !== null) throw failure(problem.fault, `${profile.name}: ${problem.message}`)
            if (ending.exitCode !== 0) throw failure('agent', complaintOf(profile, ending))
            known.model ??= model
            session = conversationId ?? session
            count += 1 + messages.length
            return { messages, answer, usage }
          },
          close: async () => {
            if (profile.after === undefined) return
            await run({ args: profile.after({ session: id, workspace }), signal: new AbortController().signal })
          },
        }
      }
      const stop = async (): Promise<void> => {
        stopping.abort()
        await Promise.allSettled(running)
        await rm(promptFiles, { recursive: true, force: true })
      }
      return { open, stop }
    },
  }
}

const isSet = (entry: readonly [string, string | undefined]): entry is [string, string] => entry[1] !== undefined

function complaintOf({ name }: CommandProfile, { exitCode, killedBy, stderr }: Ending): string {
  const how = killedBy === null ? `ended with exit code ${exitCode}` : `was ended by ${killedBy}`
  const said = stderr.trim().slice(-maxErrorTextLength)
  return said === '' ? `${name} ${how}.` : `${name} ${how}: ${said}`
}

async function readVersion(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  try {
    const signal = AbortSignal.timeout(versionMs)
    const { stdout, exitCode } = await runInGroup({ program, args, cwd: tmpdir(), env, signal })
    const [line = ''] = stdout.toString('utf8').trim().split('\n')
    return exitCode === 0 && line !== '' ? line.slice(0, 100) : 'unknown'
  } catch {
    // A program that does not report its version may still work.
    return 'unknown'
  }
}
