import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { teamOwner } from '../../../beliefs/scope.ts'
import { unavailable } from '../../../errors.ts'
import { writeAtomically } from '../../../files/atomic-write.ts'
import { prepareOwnPath } from '../../../files/own-files.ts'
import type { EndedSessions } from '../../../http/authentication.ts'
import { listen } from '../../../http/listen.ts'
import { type HostNames, loopbackNames } from '../../../http/same-origin.ts'
import { defaultUser } from '../../../open-memory.ts'
import { type CommandAnswer, defineCommand, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, option, text, viewOptions, wholeNumber } from '../../command/options.ts'
import { typedBeforeOptions } from '../../connect/launch.ts'
import { forgetOldTurns } from '../../hooks/hear-queue.ts'
import { openingOptions } from '../../memory-location.ts'
import { answerCommands } from '../../resident/answer-commands.ts'
import { openServedStore, type ServedPlace, type ServedStore, servedApp } from '../../serve/served-store.ts'
import { principalMemory } from '../../serve/tenants.ts'
import type { LocationOptions, OpenedPorts, Session } from '../../session.ts'
import { lines } from '../../text/output.ts'
import { tourScopes } from './tour.ts'

const wellFormed = /^[A-Za-z0-9_-]{43}$/u

/** The latest sessions that were logged out, in a private file with one session per line. */
function openEndedSessions(dir: string): EndedSessions {
  const file = join(dir, 'state', 'ended-sessions')
  const known = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  return {
    has: (id) => known.has(id),
    add: async (id) => {
      known.add(id)
      await writeAtomically(prepareOwnPath(dir, file), `${[...known].slice(-maxEnded).join('\n')}\n`, {
        existing: 'replace',
      })
    },
  }
}

const maxEnded = 1_000

/** Reads a token of the installation, or creates it, in a file that only its owner can read. */
async function installationToken(file: string): Promise<string> {
  await writeAtomically(file, `${randomBytes(32).toString('base64url')}\n`, { existing: 'keep' })
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  const token = readFileSync(file, 'utf8').trim()
  if (wellFormed.test(token)) return token
  throw unavailable(
    `${file} does not contain a token.`,
    'Delete it. The next start creates a new token, and all clients must log in again.',
  )
}

const defaultPort = 4777
const loopback = '127.0.0.1'

const packsToEvaluate = ['retrieval-precision', 'session-drift']

export const serve = defineCommand({
  args: {},
  options: {
    port: wholeNumber('The port; 0 for any free port.', { min: 0, max: 65_535, default: defaultPort }),
    host: text('<address>', 'The address to listen on.', loopback),
    allowRemote: flag(
      'Required to listen on other addresses: everyone who has the token can read and change everything.',
    ),
    publicUrl: option(
      '<url>',
      'The address under which a reverse proxy with TLS serves this, such as https://memory.example.org.',
      readPublicUrl,
    ),
    demo: flag('Serve a temporary demo memory, even if you have a memory.'),
    evaluate: flag('Run the retrieval packs once in the background, so that the evaluation pages show runs.'),
    ...viewOptions,
    ...memoryOptions,
  },
  description:
    'Runs until interrupted: the dashboard at /, the HTTP API under /api/v1 (described at /api/openapi.json), MCP at /mcp. All need the token of the memory directory, which the printed link contains. Agents have their own token, with which they cannot accept, confirm or undo. Other people use tokens of `credence token create`. If there is no memory yet, a demo memory is served.',
  examples: {
    'credence serve': `Prints a link to the dashboard on http://${loopback}:${defaultPort}.`,
    'credence serve --demo --port 0 --json': 'Serves a demo on a free port, and prints the address as JSON.',
  },
  async run({ options }, session) {
    const hosts = withPublicUrl(hostNames(options.host ?? loopback, options.allowRemote), options.publicUrl)
    const isDemo = options.demo || !(await session.places.hasMemory(options))
    const served = isDemo ? demoMemory(session) : { ...session.places.locate(options), isDemo }
    const settings = session.places.settings({ dir: served.dir })
    const ports = await session.memories.ports(served.dir, {
      ...openingOptions(settings),
      ...(isDemo ? { semantic: 'off' } : {}),
      indexedOwners: (store) => listOwners(store, served.user),
    })
    if (isDemo) await (await loadDemo()).fillDemoWithPast(ports, served.dir)
    const open = await openServedStore(session, ports, served, (line) => console.error(line))
    const close = async (): Promise<void> => {
      await open.close()
      if (isDemo) rmSync(served.dir, { recursive: true, force: true })
    }
    try {
      // Connects now, so that an unreachable database is reported at the start instead of with the first request.
      await open.served.people.access()
      return await answerRequests(session, { ...open, close }, served, hosts, options)
    } catch (error) {
      await close()
      throw error
    }
  },
})

/** The owner of the installation, and all people and teams of the server. */
async function listOwners(store: OpenedPorts['store'], owner: string): Promise<readonly string[]> {
  const access = await store.access()
  const people = (await access.people()).map(({ name }) => name)
  const teams = (await access.teams()).map(({ name }) => teamOwner(name))
  return [...new Set([owner, ...people, ...teams])]
}

/** Imported dynamically, because the demo imports the evaluation code, which other servers load only on request. */
const loadDemo = () => import('../../serve/demo-memory.ts')

/** The host names that requests may use. Refuses an address that other machines can reach unless --allow-remote is given. */
function hostNames(host: string, allowRemote: boolean): HostNames {
  if (host === loopback || host === 'localhost' || host === '::1') return loopbackNames
  if (!allowRemote) {
    throw new UsageError(
      `${host} can be reached from other machines.`,
      `Leave out --host for ${loopback}, or add --allow-remote to allow this.`,
    )
  }
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return { names: [...loopbackNames.names, ...(isEverywhere ? [] : [host.toLowerCase()])], anyAddress: isEverywhere }
}

function readPublicUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url !== null && /^https?:$/u.test(url.protocol) && given.replace(/\/$/u, '') === url.origin) return url
  throw new UsageError(
    `"${given}" is not the address of a server.`,
    'Write https://memory.example.org, without a path.',
  )
}

/** Adds the public host name, under which a reverse proxy forwards requests. */
const withPublicUrl = (hosts: HostNames, url: URL | undefined): HostNames =>
  url === undefined ? hosts : { ...hosts, names: [...hosts.names, url.hostname], publicOrigin: url.origin }

const demoMemory = (session: Session): ServedPlace => ({
  dir: session.program.temporaryDirectory(),
  user: defaultUser,
  scopes: tourScopes,
  homeScopes: tourScopes.slice(0, 1),
  isDemo: true,
})

type ServeOptions = LocationOptions & {
  readonly host: string | undefined
  readonly port: number | undefined
  readonly evaluate: boolean
}

async function answerRequests(
  session: Session,
  open: ServedStore,
  served: ServedPlace,
  hosts: HostNames,
  options: ServeOptions,
): Promise<CommandAnswer> {
  const { host = loopback, port = defaultPort } = options
  const { dir, user, isDemo } = served
  const isOnServer = !isDemo && session.places.locate(options).store !== undefined
  const place = isOnServer ? await session.places.storeFile(dir) : dir
  const [tokenFile, agentFile] = ['token', 'agent-token'].map((name) =>
    prepareOwnPath(dir, join(dir, 'state', name)),
  ) as [string, string]
  const tokens = { person: await installationToken(tokenFile), agent: await installationToken(agentFile) }
  const serving = {
    tokens,
    endedSessions: openEndedSessions(dir),
    hosts,
    webDirectory: join(session.program.machine.program, '..', '..', 'dist', 'web'),
    perMinute: session.places.settings({ dir }).requestsPerMinute,
    onBug,
  }
  const { app, mcp, close } = servedApp(open, serving, (options.scope ?? []).length > 0)
  const address = { host, port, typed: typedBeforeOptions(session.program.machine) }
  const listening = await listen((request, env) => app.fetch(request, env), address)
  const interruption = new AbortController()
  // A demo leaves no files behind, not even an empty socket directory.
  const answering = isDemo ? null : await answerCommands(session.program.machine)
  const stopWork = startWork(session, open, { ...served, isOnServer, evaluates: options.evaluate }, interruption.signal)
  session.program.onInterrupt(async () => {
    interruption.abort()
    await answering?.close()
    await stopWork()
    close()
    await listening.close()
    await mcp.close()
    await open.close()
  })
  // Browsers do not send the fragment, so the token appears in no log.
  const link = `${listening.url}/#token=${tokens.person}`
  return {
    document: { url: listening.url, port: listening.port, link, dir, user, isDemo },
    text: () =>
      lines(
        isDemo
          ? 'Serving a demo memory, which is deleted when the server stops. Your own data is neither read nor changed.'
          : `Serving the memory in ${place}.`,
        `  dashboard  ${link}`,
        `  API        ${listening.url}/api/v1  (Authorization: Bearer, with the token in ${tokenFile})`,
        `  MCP        ${listening.url}/mcp  (for agents, with the token in ${agentFile})`,
        options.evaluate &&
          `Running the benchmarks ${packsToEvaluate.join(' and ')} in the background; the page Evaluation shows the results.`,
        'Press Ctrl-C to stop.',
      ),
    notes: isDemo ? ['To create a memory of your own, stop this server and run `credence init`.'] : [],
  }
}

// Logged, because the client is told only that there was an internal error.
const onBug = (error: unknown): void => console.error(error)

/** Starts the work that a server does between requests. Returns a function that ends it. */
function startWork(
  session: Session,
  open: ServedStore,
  { dir, isDemo, isOnServer, evaluates }: ServedPlace & { readonly isOnServer: boolean; readonly evaluates: boolean },
  signal: AbortSignal,
): () => Promise<void> {
  const { keepTurnsDays, syncEvery } = session.places.settings({ dir })
  const stopForgetting = isDemo ? () => {} : repeatEvery(hourMs, () => forgetTurns(open, keepTurnsDays))
  const isSyncing = syncEvery > 0 && !isDemo && !isOnServer
  const stopSyncing = isSyncing ? repeatEvery(syncEvery * minuteMs, open.work.sync) : () => {}
  const evaluate = async (): Promise<void> => {
    if (isDemo) await (await loadDemo()).evaluateExample(session, open.evalRoot, signal)
    if (!signal.aborted) await open.work.runAll(packsToEvaluate)
  }
  const evaluated = evaluates ? evaluate().catch(onBug) : undefined
  return async () => {
    await stopForgetting()
    await open.work.stop()
    await stopSyncing()
    await evaluated
  }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Runs work immediately and then after each interval, one run at a time, until the returned function is called. */
function repeatEvery(everyMs: number, work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null
  const start = (): void => {
    underWay ??= work()
      .catch((error: unknown) => console.error(error))
      .finally(() => {
        underWay = null
      })
  }
  start()
  const timer = setInterval(start, everyMs)
  return async () => {
    clearInterval(timer)
    await underWay
  }
}

/** Forgets the old turns of the owner and of all people of the server. */
async function forgetTurns(open: ServedStore, keepTurnsDays: number): Promise<void> {
  const author = { actor: 'person', origin: 'retention' } as const
  await forgetOldTurns(open.memoryAs(author), keepTurnsDays, new Date())
  if (keepTurnsDays === 0) return
  const { access } = await open.served.people.access()
  for (const { name: person } of await access.people()) {
    const principal = { tokenId: '', person, isAgent: false, scopes: [], teams: [] }
    await forgetOldTurns(principalMemory(open.served.ports, principal, author), keepTurnsDays, new Date())
  }
}
