import { type Context, Hono } from 'hono'
import { apiApp } from './api/api-app.ts'
import { EvalArchive } from './api/evals/eval-archive.ts'
import type { Desk } from './api/handlers.ts'
import { type LetIn, tokenOnly } from './authentication.ts'
import { Credentials } from './credentials.ts'
import { answerError, refuse } from './error-answers.ts'
import { FailedAttempts } from './failed-attempts.ts'
import { atMostInFlight } from './in-flight.ts'
import { LiveEvents } from './live-events.ts'
import { type HostNames, sameOriginOnly } from './same-origin.ts'
import { securityHeaders } from './security-headers.ts'
import { staticFiles } from './static-files.ts'

export type ServerOptions = {
  readonly desk: Desk
  /** The one secret of the installation. */
  readonly token: string
  readonly hosts: HostNames
  /** Where the built dashboard lies. */
  readonly webDirectory: string
  /** Answers at `/mcp`; whoever asks has shown the token by then. */
  readonly mcpHandler?: ((request: Request) => Promise<Response>) | undefined
  /** Gets errors that are bugs of ours, whole. */
  readonly onBug: (error: unknown) => void
  /** How often other processes' changes are looked for while a page listens. */
  readonly lookEveryMs?: number
}

const mostInFlight = 256
const mostFailures = 10
const failureWindowMs = 60_000

/** The API, the dashboard and MCP behind one door. */
export function serverApp(options: ServerOptions): { readonly app: Hono<LetIn>; readonly close: () => void } {
  const { desk, token, hosts, webDirectory, mcpHandler, onBug, lookEveryMs = 500 } = options
  const credentials = new Credentials(token)
  const failures = new FailedAttempts({ now: desk.clock, most: mostFailures, windowMs: failureWindowMs })
  const archive = new EvalArchive({ root: desk.evalRoot, shipped: desk.shippedPacks })
  const live = new LiveEvents({
    state: async () => {
      await desk.catchUp()
      return { journalHead: (await desk.store.head()).number, evalsStamp: archive.stamp() }
    },
    everyMs: lookEveryMs,
    onProblem: onBug,
  })
  const app = new Hono<LetIn>()
  app.onError(answerError(onBug, { code: 'too_large' }))
  app.use(securityHeaders, sameOriginOnly(hosts), atMostInFlight(mostInFlight))
  app.route('/', apiApp({ desk, archive, live, credentials, failures, onBug }))
  app.all('/mcp', tokenOnly({ credentials, failures }), (context) =>
    mcpHandler === undefined ? noMcp(context) : mcpHandler(context.req.raw),
  )
  const files = staticFiles(webDirectory)
  app.get('*', files)
  app.all('*', (context) => {
    context.header('allow', 'GET')
    return refuse(context, 405, { code: 'not_allowed', message: 'Pages take GET.' })
  })
  return { app, close: () => live.close() }
}

const noMcp = (context: Context): Response =>
  refuse(context, 503, { code: 'unavailable', message: 'MCP is not served here.', hint: 'Use `credence mcp`.' })
