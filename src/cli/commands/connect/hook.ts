import { type Argument, defineCommand, UsageError } from '../../command/command.ts'
import { choice, memoryOptions, viewOptions } from '../../command/options.ts'
import { failingNotice, noteHook } from '../../connect/seen.ts'
import { type HookRecord, logHook } from '../../hooks/hook-log.ts'
import { hookAnswer, hookEventNamed, hookEvents, hookHosts } from '../../hooks/host-protocol.ts'
import { failureOf, hookDeadlineMs, runHook } from '../../hooks/run-hook.ts'
import type { Session } from '../../session.ts'
import { write } from '../../text/output.ts'

const event: Argument<ReturnType<typeof readEvent>> = {
  help: `What happened: ${hookEvents.join(', ')}, or the host's own name for it.`,
  count: 'one',
  takesStdin: false,
  read: ([given]) => readEvent(given ?? ''),
}

export const hook = defineCommand({
  args: { event },
  options: {
    host: choice('<host>', hookHosts, 'The program that runs the hook.', 'claude-code'),
    ...viewOptions,
    ...memoryOptions,
  },
  description: `Reads the host's JSON on standard input, puts the message into a queue and prints the context for the host, or none if the memory has not answered ${hookDeadlineMs} ms after the start. A background process (\`hear\`) stores the message and learns from it. On any error it exits with 0, adds a line to state/hook.log and prints nothing; only at the start of a session, after a day of errors, a warning.`,
  isForPrograms: true,
  examples: {
    'credence hook prompt-submit --host codex':
      'Prints the context for the prompt on standard input, and stores the prompt.',
    'credence hook SessionStart': 'Prints standing instructions, preferences and pinned beliefs, for Claude Code.',
  },
  async run({ args, options: { host: given, ...options } }, session) {
    const run = { host: given ?? 'claude-code', event: args.event, options }
    const { dir, host, ...numbers } = await runHook(run, session)
    const record = { at: new Date().toISOString(), host, event: args.event, ...numbers, ms: msSince(session) }
    note(session, dir, record, given !== undefined)
    return { document: numbers, text: () => '' }
  },
  async failOpen(error, session, argv) {
    const known = argv.map((word) => hookEventNamed(word)).find((name) => name !== undefined)
    const host = hookHosts.find((name) => argv.includes(name) || argv.includes(`--host=${name}`))
    const dir = argv[argv.indexOf('--dir') + 1]
    const record = {
      at: new Date().toISOString(),
      host: host ?? (argv.some((word) => word.startsWith('--host')) ? 'unknown' : 'claude-code'),
      event: known ?? 'unknown',
      outcome: failureOf(error),
      ms: msSince(session),
    }
    note(session, session.places.directory(argv.includes('--dir') ? dir : undefined), record, host !== undefined)
    if (host === undefined || known !== 'session-start') return
    const notice = failingNotice(session.program.machine, host, new Date())
    await write(session.terminal.streams().stdout, hookAnswer(host, known, '', notice))
  },
})

/**
 * Adds a line to the hook log of the memory, and records the run for `connect --status`. A run without a host name or with
 * an unknown event was started by hand, and is only logged.
 */
function note({ program: { machine } }: Session, dir: string, record: HookRecord, isHostNamed: boolean): void {
  logHook(dir, record)
  const { host, event } = record
  if (isHostNamed && event !== 'hear' && event !== 'unknown') noteHook(machine, host, record)
}

const msSince = (session: Session): number => Math.round(performance.now() - session.program.startedAt)

function readEvent(given: string) {
  const found = hookEventNamed(given)
  if (found !== undefined) return found
  throw new UsageError(`Unknown event "${given}".`, `Use ${hookEvents.join(', ')}.`)
}
