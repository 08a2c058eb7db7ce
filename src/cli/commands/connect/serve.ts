import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { listen } from '../../../http/listen.ts'
import { type HostNames, loopbackNames } from '../../../http/same-origin.ts'
import { serverApp } from '../../../http/server-app.ts'
import { memoryMcp } from '../../../mcp/memory-mcp.ts'
import { defaultUser } from '../../../open-memory.ts'
import { defineCommand, flag, text, wholeNumber } from '../../command.ts'
import { placeOptions, viewOptions } from '../../common-options.ts'
import { forgetOldTurns } from '../../old-turns.ts'
import { fillDemo } from '../../serve/demo-memory.ts'
import { type OpenDesk, openDesk, type ServedPlace } from '../../serve/open-desk.ts'
import { installationToken } from '../../serve/token.ts'
import type { Session } from '../../session.ts'
import { tourScopes } from '../../tour-scenes.ts'
import { UsageError } from '../../usage-error.ts'

const usualPort = 4777
const loopback = '127.0.0.1'

/** What `--evaluate` runs: small, and the figures that recall stands for. */
const packsToEvaluate = ['retrieval-precision', 'session-drift']

export const serve = defineCommand({
  args: {},
  options: {
    port: wholeNumber('The port; 0 is any that is free.', { min: 0, max: 65_535, default: usualPort }),
    host: { ...text('<address>', 'The address to listen on.'), default: loopback },
    allowRemote: flag(
      'Needed for another address than this machine: whoever has the token can read and change everything.',
    ),
    demo: flag('Serve a demo memory that is gone afterwards, even if there is one of your own.'),
    evaluate: flag('Run the retrieval packs once, in the background, so that there is something to see.'),
    ...viewOptions,
    ...placeOptions,
  },
  description:
    'Answers until it is interrupted: the dashboard at /, the HTTP API under /api/v1 (described at /api/openapi.json), MCP at /mcp. Only with the token of the memory directory, which the link brings along. Where there is no memory yet, a demo memory is served.',
  examples: [
    { command: 'credence serve', effect: `Prints a link to the dashboard on http://${loopback}:${usualPort}.` },
    {
      command: 'credence serve --demo --port 0 --json',
      effect: 'Serves a demo on a free port, and says where as JSON.',
    },
  ],
  async run({ options }, session) {
    const { port = usualPort, host = loopback } = options
    const hosts = hostNames(host, options.allowRemote)
    const isDemo = options.demo || !(await session.hasMemory(options))
    const place = isDemo ? demoPlace(session) : ownPlace(session, options)
    const open = await opened(session, place)
    try {
      return await served(session, open, { host, port, hosts, place, isEvaluating: options.evaluate, options })
    } catch (error) {
      await open.close()
      if (isDemo) rmSync(place.dir, { recursive: true, force: true })
      throw error
    }
  },
})

/** Listening to other machines is only for who says so twice. */
function hostNames(host: string, allowRemote: boolean): HostNames {
  if (host === loopback || host === 'localhost' || host === '::1') return loopbackNames
  if (!allowRemote) {
    throw new UsageError(
      `${host} can be reached from other machines.`,
      `Leave --host out for ${loopback}, or add --allow-remote if that is what you want.`,
    )
  }
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return { names: [...loopbackNames.names, ...(isEverywhere ? [] : [host.toLowerCase()])], anyAddress: isEverywhere }
}

function ownPlace(session: Session, options: Parameters<Session['place']>[0]): ServedPlace {
  const { dir, user, scopes, homeScopes } = session.place(options)
  return { dir, user, scopes, homeScopes, isDemo: false }
}

const demoPlace = (session: Session): ServedPlace => ({
  dir: session.temporaryDirectory(),
  user: defaultUser,
  scopes: tourScopes,
  homeScopes: tourScopes.slice(0, 1),
  isDemo: true,
})

async function opened(session: Session, place: ServedPlace): Promise<OpenDesk> {
  const vectors = session.settings({ dir: place.dir }).sentenceVectors
  const ports = await session.ports(place.dir, { thread: true, vectors })
  if (place.isDemo) await fillDemo(ports, place.dir)
  return openDesk(session, ports, place, (line) => console.error(line))
}

type Serving = {
  readonly host: string
  readonly port: number
  readonly hosts: HostNames
  readonly place: ServedPlace
  readonly isEvaluating: boolean
  readonly options: Parameters<Session['place']>[0]
}

async function served(session: Session, open: OpenDesk, { host, port, hosts, place, isEvaluating, options }: Serving) {
  const { dir, user, scopes, homeScopes, isDemo } = place
  const { token } = await installationToken(dir)
  // Standard error of its own accord: whoever sent the request learns only that there is a bug.
  const onBug = (error: unknown): void => console.error(error)
  const mcp = memoryMcp({
    version: open.desk.version,
    view: { user, scopes, homeScopes, agent: null, hasFixedScopes: (options.scope ?? []).length > 0 },
    memoryAs: async (author) => open.memoryAs(author),
    onBug,
  }).httpHandler()
  const { app, close } = serverApp({
    deps: open.desk,
    token,
    hosts,
    webDirectory: join(session.machine.program, '..', '..', 'dist', 'web'),
    mcpHandler: async (request) => {
      await open.desk.catchUp()
      return mcp.fetch(request)
    },
    onBug,
  })
  const listening = await listen((request) => app.fetch(request), { host, port })
  const stopForgetting = isDemo ? () => {} : lookingAfterTurns(session, open, options)
  // The command is done when it listens; the process then lives for as long as it does.
  onceInterrupted(async () => {
    await stopForgetting()
    close()
    await listening.close()
    await mcp.close()
    await open.close()
    if (isDemo) rmSync(dir, { recursive: true, force: true })
  })
  if (isEvaluating) void open.work.runAll(packsToEvaluate)
  // In the fragment, which no server ever sees and no log keeps.
  const link = `${listening.url}/#token=${token}`
  return {
    document: { url: listening.url, port: listening.port, link, dir, user, isDemo },
    text: () =>
      [
        isDemo
          ? 'There is a demo memory here, which is gone when this ends; nothing of yours is read or changed.'
          : `The memory in ${dir} is served.`,
        `  dashboard  ${link}`,
        `  API        ${listening.url}/api/v1  (Authorization: Bearer, with the token in ${join(dir, 'state', 'token')})`,
        `  MCP        ${listening.url}/mcp`,
        ...(isEvaluating ? [`Evaluating ${packsToEvaluate.join(' and ')} meanwhile.`] : []),
        'Interrupt to end.',
      ].join('\n'),
    notes: isDemo ? ['`credence init` makes a memory of your own.'] : [],
  }
}

const hourMs = 3_600_000

/** Looks after turns, now and every hour: forgets old ones, and has sentences of new ones worked out. Returns what ends that. */
function lookingAfterTurns(session: Session, open: OpenDesk, options: Serving['options']): () => Promise<void> {
  const { keepTurnsDays, sentenceVectors } = session.settings(options)
  const { dir, user } = session.place(options)
  const memory = open.memoryAs({ actor: 'person', origin: 'retention' })
  let underWay = Promise.resolve()
  const look = (): void => {
    // In a process of its own: working out what sentences mean takes all of a processor.
    if (sentenceVectors) void session.startDetached(['vectors', '--dir', dir, '--user', user])
    underWay = forgetOldTurns(memory, keepTurnsDays, new Date()).then(
      () => {},
      (error: unknown) => console.error(error),
    )
  }
  look()
  const timer = setInterval(look, hourMs)
  return async () => {
    clearInterval(timer)
    await underWay
  }
}

/** The first signal ends the service and with it the process; a second one ends the process at once. */
function onceInterrupted(end: () => Promise<void>): void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const stop = (): void => {
    for (const signal of signals) process.off(signal, stop)
    void end()
  }
  for (const signal of signals) process.on(signal, stop)
}
