import type { Argument } from '../../command.ts'
import { choice, defineCommand } from '../../command.ts'
import { placeOptions, viewOptions } from '../../common-options.ts'
import { hookEventNamed, hookEvents, hookHosts } from '../../hooks/hook-event.ts'
import { logHook } from '../../hooks/hook-log.ts'
import { failureOf, hookDeadlineMs, runHook } from '../../hooks/run-hook.ts'
import type { Session } from '../../session.ts'
import { UsageError } from '../../usage-error.ts'

const event: Argument<ReturnType<typeof readEvent>> = {
  help: `What happened: ${hookEvents.join(', ')}, or the host's own name for it.`,
  count: 'one',
  takesStdin: false,
  read: ([given]) => readEvent(given ?? ''),
}

export const hook = defineCommand({
  args: { event },
  options: {
    host: { ...choice('<host>', hookHosts, 'Which program the hook belongs to.'), default: 'claude-code' },
    ...viewOptions,
    ...placeOptions,
  },
  description: `Reads the host's JSON on standard input, puts what was said into a queue and prints the context for the host, within ${hookDeadlineMs} ms. A process of its own (\`hear\`), which no host waits for, keeps what was said and learns from it. Whatever goes wrong, it prints nothing, ends with 0 and leaves a line in state/hook.log.`,
  isForPrograms: true,
  examples: [
    {
      command: 'credence hook prompt-submit --host codex',
      effect: 'Prints the context for the prompt on standard input, and keeps the prompt.',
    },
    {
      command: 'credence hook SessionStart',
      effect: 'Prints standing instructions, preferences and pinned beliefs, for Claude Code.',
    },
  ],
  async run({ args, options: { host = 'claude-code', ...options } }, session) {
    const { dir, ...numbers } = await runHook({ host, event: args.event, options }, session)
    logHook(dir, { at: new Date().toISOString(), host, event: args.event, ...numbers, ms: msSince(session) })
    return { document: numbers, text: () => '' }
  },
  async failOpen(error, session, argv) {
    const known = argv.map((word) => hookEventNamed(word)).find((name) => name !== undefined)
    const host = hookHosts.find((name) => argv.includes(name) || argv.includes(`--host=${name}`))
    const dir = argv[argv.indexOf('--dir') + 1]
    logHook(session.directory(argv.includes('--dir') ? dir : undefined), {
      at: new Date().toISOString(),
      host: host ?? (argv.some((word) => word.startsWith('--host')) ? 'unknown' : 'claude-code'),
      event: known ?? 'unknown',
      outcome: error instanceof UsageError ? 'failed: usage' : failureOf(error),
      ms: msSince(session),
    })
  },
})

const msSince = (session: Session): number => Math.round(performance.now() - session.startedAt)

function readEvent(given: string) {
  const found = hookEventNamed(given)
  if (found !== undefined) return found
  throw new UsageError(`Unknown event "${given}".`, `Use ${hookEvents.join(', ')}.`)
}
