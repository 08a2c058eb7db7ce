import { Hono, type MiddlewareHandler } from 'hono'
import { apiApp } from './api/api-app.ts'
import { EvalArchive } from './api/eval-archive.ts'
import type { ServerDeps } from './api/server-deps.ts'
import { type Authenticated, Authentication } from './authentication.ts'
import { answerError, refuse } from './error-answers.ts'
import { LiveEvents } from './live-events.ts'
import { type HostNames, sameOriginOnly } from './same-origin.ts'
import { staticFiles } from './static-files.ts'

export type ServerOptions = {
  readonly deps: ServerDeps
  /** The one secret of the installation. */
  readonly token: string
  readonly hosts: HostNames
  /** The folder of the built dashboard. */
  readonly webDirectory: string
  /** Answers requests to `/mcp`, which are authenticated by then. */
  readonly mcpHandler?: ((request: Request) => Promise<Response>) | undefined
  /** Called with errors that are bugs. */
  readonly onBug: (error: unknown) => void
  /** How often changes by other processes are looked for while a page listens. */
  readonly pollEveryMs?: number
}

const mostInFlight = 256

/** Only files of this server run or are shown, no page can frame it, and no text becomes markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
}

/** The API, the dashboard and MCP on one port. */
export function serverApp(options: ServerOptions): { readonly app: Hono<Authenticated>; readonly close: () => void } {
  const { deps, token, hosts, webDirectory, mcpHandler, onBug, pollEveryMs = 500 } = options
  const authentication = new Authentication(token, deps.clock)
  const archive = new EvalArchive({ root: deps.evalRoot, shipped: deps.shippedPacks })
  const live = new LiveEvents({
    state: async () => {
      await deps.catchUp()
      return { journalHead: (await deps.store.head()).number, evalsStamp: archive.stamp() }
    },
    everyMs: pollEveryMs,
    onProblem: onBug,
  })
  const app = new Hono<Authenticated>()
  app.onError(answerError(onBug, { code: 'too_large' }))
  app.use(withSecurityHeaders, sameOriginOnly(hosts), atMostInFlight(mostInFlight))
  app.route('/', apiApp({ deps, archive, live, authentication, onBug }))
  app.all('/mcp', authentication.required, (context) => {
    if (mcpHandler !== undefined) return mcpHandler(context.req.raw)
    const message = 'MCP is not served here.'
    return refuse(context, 503, { code: 'unavailable', message, hint: 'Use `credence mcp`.' })
  })
  app.get('*', staticFiles(webDirectory))
  app.all('*', (context) => {
    context.header('allow', 'GET')
    return refuse(context, 405, { code: 'not_allowed', message: 'Pages take GET.' })
  })
  return { app, close: () => live.close() }
}

/** Adds the headers to every answer, refusals included. An answer without a `cache-control` of its own is not stored. */
const withSecurityHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value)
  if (context.res.headers.get('cache-control') === null) context.header('cache-control', 'no-store')
}

/** Refuses requests while `most` others are being answered, so that a flood costs little. */
export function atMostInFlight(most: number): MiddlewareHandler {
  let inFlight = 0
  return async (context, next) => {
    if (inFlight >= most) {
      context.header('retry-after', '1')
      const message = `The server is answering ${most} requests already.`
      return refuse(context, 429, { code: 'too_many', message, hint: 'Try again in a second.' })
    }
    inFlight += 1
    try {
      return await next()
    } finally {
      inFlight -= 1
    }
  }
}
