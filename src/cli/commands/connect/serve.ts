import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { writeAtomically } from '../../../files/atomic-write.ts'
import { listen } from '../../../http/listen.ts'
import { type HostNames, loopbackNames } from '../../../http/same-origin.ts'
import { serverApp } from '../../../http/server-app.ts'
import { memoryMcp } from '../../../mcp/memory-mcp.ts'
import { defaultUser } from '../../../open-memory.ts'
import { type Answer, defineCommand, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, text, viewOptions, wholeNumber } from '../../command/options.ts'
import { forgetOldTurns } from '../../hooks/hear-queue.ts'
import { fillDemo } from '../../serve/demo-memory.ts'
import { openDesk, type ServedMemory, type ServedStore } from '../../serve/open-desk.ts'
import type { LocationOptions, Session } from '../../session.ts'
import { lines } from '../../text/output.ts'
import { tourScopes } from './tour.ts'

const wellFormed = /^[A-Za-z0-9_-]{43}$/u

/** The token of an installation; made when there is none, and readable by its owner alone. */
async function installationToken(file: string): Promise<string> {
  await writeAtomically(file, `${randomBytes(32).toString('base64url')}\n`, { existing: 'keep' })
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  const token = readFileSync(file, 'utf8').trim()
  if (wellFormed.test(token)) return token
  throw new MemoryError('unavailable', `${file} does not hold a token.`, {
    hint: 'Remove it; the next start makes a new one, and everybody has to log in again.',
  })
}

const usualPort = 4777
const loopback = '127.0.0.1'

/** The packs of `--evaluate`. */
const packsToEvaluate = ['retrieval-precision', 'session-drift']

export const serve = defineCommand({
  args: {},
  options: {
    port: wholeNumber('The port; 0 for any free port.', { min: 0, max: 65_535, default: usualPort }),
    host: { ...text('<address>', 'The address to listen on.'), default: loopback },
    allowRemote: flag(
      'Needed for another address than this machine: everyone who has the token can read and change everything.',
    ),
    demo: flag('Serve a demo memory that is gone afterwards, even if there is one of your own.'),
    evaluate: flag('Run the retrieval packs once, in the background, so that there is something to see.'),
    ...viewOptions,
    ...memoryOptions,
  },
  description:
    'Answers until it is interrupted: the dashboard at /, the HTTP API under /api/v1 (described at /api/openapi.json), MCP at /mcp. Only with the token of the memory directory, which the link brings along. Where there is no memory yet, a demo memory is served.',
  examples: {
    'credence serve': `Prints a link to the dashboard on http://${loopback}:${usualPort}.`,
    'credence serve --demo --port 0 --json': 'Serves a demo on a free port, and says where as JSON.',
  },
  async run({ options }, session) {
    const { port = usualPort, host = loopback } = options
    const hosts = hostNames(host, options.allowRemote)
    const isDemo = options.demo || !(await session.hasMemory(options))
    const served = isDemo ? demoMemory(session) : { ...session.locate(options), isDemo }
    const vectors = session.settings({ dir: served.dir }).sentenceVectors
    const ports = await session.ports(served.dir, { thread: true, vectors })
    if (isDemo) await fillDemo(ports, served.dir)
    const open = await openDesk(session, ports, served, (line) => console.error(line))
    const close = async (): Promise<void> => {
      await open.close()
      if (isDemo) rmSync(served.dir, { recursive: true, force: true })
    }
    try {
      return await answerRequests(session, { ...open, close }, { host, port, hosts, served, options })
    } catch (error) {
      await close()
      throw error
    }
  },
})

/** Listening to other machines needs --allow-remote too. */
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

const demoMemory = (session: Session): ServedMemory => ({
  dir: session.temporaryDirectory(),
  user: defaultUser,
  scopes: tourScopes,
  homeScopes: tourScopes.slice(0, 1),
  isDemo: true,
})

type ServeRequest = {
  readonly host: string
  readonly port: number
  readonly hosts: HostNames
  readonly served: ServedMemory
  readonly options: LocationOptions & { readonly evaluate: boolean }
}

/** Listens until the process is interrupted. */
async function answerRequests(
  session: Session,
  open: ServedStore,
  { host, port, hosts, served, options }: ServeRequest,
): Promise<Answer> {
  const { dir, user, scopes, homeScopes, isDemo } = served
  const tokenFile = join(dir, 'state', 'token')
  const token = await installationToken(tokenFile)
  // The sender of the request learns only that there is a bug.
  const onBug = (error: unknown): void => console.error(error)
  const mcp = memoryMcp({
    version: open.desk.version,
    standing: { user, scopes, homeScopes, agent: null, hasFixedScopes: (options.scope ?? []).length > 0 },
    memoryAs: async (author) => open.memoryAs(author),
    onBug,
  }).httpHandler()
  const { app, close } = serverApp({
    desk: open.desk,
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
  session.onInterrupt(async () => {
    await stopForgetting()
    close()
    await listening.close()
    await mcp.close()
    await open.close()
  })
  if (options.evaluate) void open.work.runAll(packsToEvaluate)
  // Browsers do not send the fragment, so the token is in no log.
  const link = `${listening.url}/#token=${token}`
  return {
    document: { url: listening.url, port: listening.port, link, dir, user, isDemo },
    text: () =>
      lines(
        isDemo
          ? 'A demo memory is served, which is deleted when this ends; nothing of yours is read or changed.'
          : `The memory in ${dir} is served.`,
        `  dashboard  ${link}`,
        `  API        ${listening.url}/api/v1  (Authorization: Bearer, with the token in ${tokenFile})`,
        `  MCP        ${listening.url}/mcp`,
        options.evaluate && `Evaluating ${packsToEvaluate.join(' and ')} meanwhile.`,
        'Interrupt to end.',
      ),
    notes: isDemo ? ['`credence init` makes a memory of your own.'] : [],
  }
}

const hourMs = 3_600_000

/** Forgets old turns and computes vectors of new ones, now and every hour, until the function it returns is called. */
function lookingAfterTurns(session: Session, open: ServedStore, options: LocationOptions): () => Promise<void> {
  const { keepTurnsDays, sentenceVectors } = session.settings(options)
  const { dir, user } = session.locate(options)
  const memory = open.memoryAs({ actor: 'person', origin: 'retention' })
  let underWay = Promise.resolve()
  const look = (): void => {
    // In another process: computing vectors takes all of a processor.
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
