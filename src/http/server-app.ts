import { Hono, type MiddlewareHandler } from 'hono'
import type { FoundToken } from '../beliefs/access-store.ts'
import { findToken, noteTokenUse } from '../memory/people/access.ts'
import type { Caller } from '../operations/operation.ts'
import type { ServedMemory } from '../operations/served-memory.ts'
import { apiApp } from './api/api-app.ts'
import { type Authenticated, Authentication, type EndedSessions, type Tokens } from './authentication.ts'
import { answerError, refuse } from './error-answers.ts'
import { withSecurityHeaders } from './json-answer.ts'
import { type HostNames, sameOriginOnly } from './same-origin.ts'
import { staticFiles } from './static-files.ts'

export type ServerOptions = {
  readonly served: ServedMemory
  readonly tokens: Tokens
  readonly endedSessions: EndedSessions
  readonly hosts: HostNames
  /** The folder of the built dashboard. */
  readonly webDirectory: string
  /** Handles requests to `/mcp`, after authentication. */
  readonly mcpHandler?: ((request: Request, caller: Caller) => Promise<Response>) | undefined
  /** Maximum requests per minute for each token of the store. Default 0: no limit. */
  readonly perMinute?: number
  /** Called with errors that are bugs. */
  readonly onBug: (error: unknown) => void
  /** How often to poll for changes by other processes while a page listens. */
  readonly pollEveryMs?: number
}

const maxInFlight = 256

/** The API, the dashboard and MCP on one port. */
export function serverApp(options: ServerOptions): { readonly app: Hono<Authenticated>; readonly close: () => void } {
  const { served, tokens, endedSessions, hosts, webDirectory, mcpHandler, onBug, pollEveryMs = 500 } = options
  /** Records the use of a token. If that fails, for example on a full disk, the request is still answered. */
  const noteUse = async (token: FoundToken | null): Promise<FoundToken | null> => {
    if (token !== null) await noteTokenUse(await served.people.access(), token).catch(onBug)
    return token
  }
  const find = {
    bySecret: async (secret: string) => noteUse(await findToken((await served.people.access()).access, secret)),
    byId: async (id: string) => noteUse(await (await served.people.access()).access.findToken({ id })),
  }
  const authentication = new Authentication({
    tokens,
    ended: endedSessions,
    clock: served.server.clock,
    now: served.server.now,
    find,
    perMinute: options.perMinute ?? 0,
    isSecure: hosts.publicOrigin?.startsWith('https:') ?? false,
  })
  const app = new Hono<Authenticated>()
  app.onError(answerError(onBug, { code: 'too_large' }))
  app.use(withSecurityHeaders, sameOriginOnly(hosts), limitInFlight(maxInFlight))
  const api = apiApp({ served, pollEveryMs, authentication, onBug })
  app.route('/', api.app)
  app.all('/mcp', authentication.admit('agents'), (context) => {
    if (mcpHandler !== undefined) return mcpHandler(context.req.raw, context.get('caller'))
    const message = 'MCP is not served here.'
    return refuse(context, 503, { code: 'unavailable', message, hint: 'Use `credence mcp`.' })
  })
  app.get('*', staticFiles(webDirectory))
  app.all('*', (context) => {
    context.header('allow', 'GET')
    return refuse(context, 405, { code: 'not_allowed', message: 'Pages take GET.' })
  })
  return { app, close: api.close }
}

/** Refuses requests while `maxInFlight` others are in flight, so that floods are cheap to handle. */
export function limitInFlight(maxInFlight: number): MiddlewareHandler {
  let inFlight = 0
  return async (context, next) => {
    if (inFlight >= maxInFlight) {
      context.header('retry-after', '1')
      const message = `The server is answering ${maxInFlight} requests already.`
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
