import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenWith } from '../../../http/listen.ts'
import { explainForeignRequest, loopbackNames } from '../../../http/same-origin.ts'
import { pauseFor } from '../../../memory/conversation/pause.ts'
import type { Memory } from '../../../memory/memory.ts'
import { openMemory } from '../../../open-memory.ts'
import { openServer } from '../../../open-server.ts'
import { memoryProxy } from '../../../proxy/proxy.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { memoryOptions, option, viewOptions, wholeNumber } from '../../command/options.ts'
import { keepingNotice, openingOptions, recordsShadows, shadowRecorder } from '../../memory-location.ts'
import { openProxyMemory } from '../../proxy/proxy-memory.ts'
import { answerCommands } from '../../resident/answer-commands.ts'
import { lines } from '../../text/output.ts'

const defaultPort = 4778
const loopback = '127.0.0.1'
/** How long a request waits for the memory. */
const deadlineMs = 300
/** How long the start waits for the memory and its model. */
const maxOpeningMs = 20_000

export const proxy = defineCommand({
  args: {},
  options: {
    upstream: option('<url>', 'The service to forward requests to. Required.', readUpstream),
    port: wholeNumber('The port; 0 for any free port.', { min: 0, max: 65_535, default: defaultPort }),
    ...viewOptions,
    ...memoryOptions,
  },
  description: `Runs on this machine until interrupted. Set the base URL of a client to that of the proxy; its key is forwarded and never stored. Requests to OpenAI Chat Completions and Responses and to Anthropic Messages get a block with the recalled context, and the messages of both sides are stored as turns; all other requests are forwarded unchanged. The headers x-credence-user and x-credence-scope select another user or scopes for a request, and x-credence-memory: off disables memory. If the memory does not answer within ${deadlineMs} ms, the request is forwarded without it; the header x-credence-memory of the answer says what was done.`,
  examples: {
    'credence proxy --upstream https://api.anthropic.com':
      'Serves clients of Anthropic; start them with ANTHROPIC_BASE_URL=http://127.0.0.1:4778.',
    'credence proxy --upstream http://127.0.0.1:11434/v1 --port 4779 --scope project:ledger':
      'Gives the memory of one project to the clients of a local model.',
  },
  async run({ options }, session) {
    const { upstream, port = defaultPort } = options
    if (upstream === undefined)
      throw new UsageError('--upstream is missing.', 'Name the service, such as --upstream https://api.openai.com/v1.')
    const { dir, store, user, scopes, homeScopes, everyTeam } = session.places.locate(options)
    const settings = session.places.settings(options)
    const isNew = !(await session.places.hasMemory(options))
    const record = recordsShadows(settings)
      ? await shadowRecorder(session.places.evalRoot(options), (line) => console.error(line))
      : (opened: Memory) => opened
    const opening = {
      dir,
      everyTeam,
      busyTimeoutMs: deadlineMs,
      server: store === undefined ? undefined : () => openServer(dir, store),
      author: { actor: 'person', origin: 'proxy' },
      ...openingOptions(settings),
    } as const
    const memory = openProxyMemory({
      open: (view) => record(openMemory({ ...opening, ...view })),
      maxTurnCharacters: settings.maxTurnCharacters,
    })
    // If warming up fails, the requests report the error.
    const warmingUp = memory.warmUp({ user, scopes, homeScopes }).catch(() => {})
    await Promise.race([warmingUp, sleep(maxOpeningMs, null, { ref: false })])
    const directory = session.places.workingDirectory()
    const proxying = memoryProxy({
      upstream,
      memory,
      view: { user, scopes, homeScopes },
      isPaused: () => pauseFor(dir, directory, new Date()) !== null,
      deadlineMs,
      now: () => new Date(),
      log: (line) => console.error(`${new Date().toISOString()} ${line}`),
      refusalOf: ({ headers }) =>
        explainForeignRequest(
          { host: headers.host, origin: headers.origin, site: headers['sec-fetch-site']?.toString() },
          loopbackNames,
        ),
    })
    const listening = await listenWith(createServer(proxying.listener), { host: loopback, port }).catch(
      async (error: unknown) => {
        await memory.close()
        throw error
      },
    )
    const answering = await answerCommands(session.program.machine)
    session.program.onInterrupt(async () => {
      await answering.close()
      await listening.close()
      await proxying.close()
      await memory.close()
    })
    const isOpen = upstream.protocol === 'http:' && !loopbackNames.names.includes(upstream.hostname)
    return {
      document: { url: listening.url, port: listening.port, upstream: upstream.href, dir, user, scopes },
      text: () =>
        lines(
          `Forwarding requests from ${listening.url} to ${upstream.href} with the memory in ${dir}.`,
          `  OpenAI     base URL ${listening.url}/v1`,
          `  Anthropic  base URL ${listening.url}`,
          'Press Ctrl-C to stop.',
        ),
      notes: [
        ...(isOpen ? [`warning: ${upstream.origin} is not encrypted; your key can be read on the way.`] : []),
        ...(isNew ? [keepingNotice(dir)] : []),
      ],
    }
  },
})

function readUpstream(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(
      `"${given.slice(0, 80)}" is not a URL of http or https.`,
      'Use one such as https://api.openai.com/v1.',
    )
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(
      'The URL of the service has a user, a query or a fragment.',
      'Give only host and path; the key comes from the client.',
    )
  return url
}
