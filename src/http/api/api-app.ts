import { type Context, Hono } from 'hono'
import { MemoryError } from '../../errors.ts'
import type { Authenticated, Authentication } from '../authentication.ts'
import { answerError, refuse } from '../error-answers.ts'
import type { LiveEvents } from '../live-events.ts'
import { readRequest } from '../read-request.ts'
import { type RouteName, routes } from './contract.ts'
import type { EvalArchive } from './eval-archive.ts'
import { beliefHandlers } from './handlers/beliefs.ts'
import { evalHandlers } from './handlers/evals.ts'
import { recallHandlers } from './handlers/recall.ts'
import { systemHandlers } from './handlers/system.ts'
import { turnHandlers } from './handlers/turns.ts'
import { openApiDocument } from './openapi.ts'
import type { Route } from './route.ts'
import type { Handlers, ServerDeps } from './server-deps.ts'

export const apiPrefix = '/api/v1'

type ApiOptions = {
  readonly deps: ServerDeps
  readonly archive: EvalArchive
  readonly live: LiveEvents
  readonly authentication: Authentication
  readonly onBug: (error: unknown) => void
}

type Respond = (context: Context<Authenticated>) => Promise<Response>

/** Everything under `/api`, route by route from the table in `contract.ts`. */
export function apiApp(options: ApiOptions): Hono<Authenticated> {
  const { deps, archive, live, authentication, onBug } = options
  const handlers: Handlers = {
    ...systemHandlers(deps),
    ...beliefHandlers(deps),
    ...turnHandlers(deps),
    ...recallHandlers(deps),
    ...evalHandlers(deps, archive),
  }
  const withoutMemory: Partial<Record<RouteName, Respond>> = {
    login: async (context) => {
      const { body } = await readRequest(context, routes.login)
      if (!authentication.isToken((body as { readonly token: string }).token))
        return authentication.refuseWrongToken(context)
      context.header('set-cookie', authentication.setCookie())
      return context.json({ ok: true })
    },
    logout: async (context) => {
      await readRequest(context, routes.logout)
      context.header('set-cookie', authentication.clearCookie())
      return context.json({ ok: true })
    },
    events: async (context) => {
      await readRequest(context, routes.events)
      return live.subscribe(context)
    },
  }
  const app = new Hono<Authenticated>()
  app.onError(answerError(onBug, { code: 'too_large' }))
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const respond = withoutMemory[name] ?? respondWith(name as keyof Handlers, route, { handlers, deps })
    if (route.access === 'anybody') app.on(route.method, `${apiPrefix}${route.path}`, respond)
    else app.on(route.method, `${apiPrefix}${route.path}`, authentication.required, respond)
  }
  const document = openApiDocument(deps.version)
  app.get('/api/openapi.json', authentication.required, (context) => context.json(document))
  for (const [path, known] of Map.groupBy(Object.values(routes) as Route[], ({ path }) => path)) {
    const allowed = known.map(({ method }) => method).join(', ')
    app.all(`${apiPrefix}${path}`, authentication.required, (context) => {
      context.header('allow', allowed)
      return refuse(context, 405, { code: 'not_allowed', message: `${context.req.path} takes ${allowed}.` })
    })
  }
  app.all('/api/*', authentication.required, (context) => {
    const message = `There is no ${context.req.path.slice(0, 80)}.`
    return refuse(context, 404, { code: 'not_found', message, hint: 'GET /api/openapi.json lists the routes.' })
  })
  return app
}

const respondWith =
  (name: keyof Handlers, route: Route, { handlers, deps }: { handlers: Handlers; deps: ServerDeps }): Respond =>
  async (context) => {
    const request = await readRequest(context, route)
    await deps.catchUp()
    const memory = deps.memories[context.get('channel')]
    // The schemas of this route have validated the request, so it has the type that the handler expects.
    const handle = handlers[name] as (request: object) => Promise<object>
    try {
      return context.json(await handle({ ...request, memory }), route.status)
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'conflict') throw error
      const { code, message, hint = null } = error
      const id = changedBelief(name, request)
      const current = id === null ? {} : { current: await deps.store.get(deps.user, id) }
      return refuse(context, 409, { code, message, hint, ...current })
    }
  }

/** The id of the belief that a request changes, so that a conflict can show what the belief says now. */
function changedBelief(
  name: RouteName,
  { params, body }: { readonly params: unknown; readonly body: unknown },
): string | null {
  if (name === 'applyRemedy') return (body as { readonly beliefId: string }).beliefId
  const isAboutBelief = routes[name].path.startsWith('/beliefs/:id') || routes[name].path.startsWith('/proposals/:id')
  return isAboutBelief ? (params as { readonly id: string }).id : null
}
