import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { MemoryError } from '../../errors.ts'
import { type Doorkeeper, type LetIn, refuseWrong, tokenOnly } from '../authentication.ts'
import { answerError, refuse } from '../error-answers.ts'
import type { LiveEvents } from '../live-events.ts'
import { type RouteName, routes } from './contract.ts'
import type { EvalArchive } from './evals/eval-archive.ts'
import { beliefHandlers } from './handlers/beliefs.ts'
import { evalHandlers } from './handlers/evals.ts'
import { journalHandlers } from './handlers/journal.ts'
import { recallHandlers } from './handlers/recall.ts'
import { systemHandlers } from './handlers/system.ts'
import { turnHandlers } from './handlers/turns.ts'
import type { Desk, Handlers } from './handlers.ts'
import { openApiDocument } from './openapi.ts'
import { NotJson, readRequest } from './read-request.ts'
import type { Route } from './route.ts'

export const apiPrefix = '/api/v1'

export type ApiOptions = Doorkeeper & {
  readonly desk: Desk
  readonly archive: EvalArchive
  readonly live: LiveEvents
  readonly onBug: (error: unknown) => void
}

type Answering = (context: Context<LetIn>) => Response | Promise<Response>

/** Everything under `/api`, route by route as the contract has them. */
export function apiApp(options: ApiOptions): Hono<LetIn> {
  const { desk, archive, onBug } = options
  const handlers: Handlers = {
    ...systemHandlers(desk),
    ...beliefHandlers(desk),
    ...turnHandlers(desk),
    ...recallHandlers(desk),
    ...journalHandlers(desk),
    ...evalHandlers(desk, archive),
  }
  const app = new Hono<LetIn>()
  app.onError((error, context) => {
    if (error instanceof NotJson) {
      return refuse(context, 415, {
        code: 'unsupported',
        message: error.message,
        hint: 'Send Content-Type: application/json.',
      })
    }
    return answerError(onBug, { code: 'too_large' })(error, context)
  })
  const special: Partial<Record<RouteName, Answering>> = {
    login: (context) => login(context, options),
    logout: (context) => logout(context, options),
    events: async (context) => {
      await readRequest(context, routes.events)
      return options.live.subscribe(context.req.raw)
    },
  }
  const letIn = tokenOnly(options)
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const answer = special[name] ?? handled(name as keyof Handlers, route, { handlers, desk })
    if (route.access === 'anybody') app.on(route.method, `${apiPrefix}${route.path}`, answer)
    else app.on(route.method, `${apiPrefix}${route.path}`, letIn, answer)
  }
  const description = openApiDocument(desk.version)
  app.get('/api/openapi.json', letIn, (context) => context.json(description))
  refuseOthers(app, letIn)
  return app
}

const handled =
  (name: keyof Handlers, route: Route, { handlers, desk }: { handlers: Handlers; desk: Desk }): Answering =>
  async (context) => {
    const asked = await readRequest(context, route)
    await desk.catchUp()
    const memory = desk.memories[context.get('channel')]
    // The request was read by the schemas of the route that this handler is for.
    const handle = handlers[name] as (asked: object) => Promise<object>
    try {
      return context.json(await handle({ ...asked, memory }), route.status)
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'conflict') throw error
      const id = currentOf(name, asked)
      const current = id === null ? {} : { current: await desk.store.get(desk.user, id) }
      const { code, message, hint = null } = error
      return refuse(context, 409, { code, message, hint, ...current })
    }
  }

/** The belief that a conflict is about: whoever wanted to change it sees what it says now, and loses nothing. */
function currentOf(
  name: RouteName,
  { params, body }: { readonly params: unknown; readonly body: unknown },
): string | null {
  if (name === 'applyRemedy') return (body as { readonly beliefId: string }).beliefId
  const isAboutBelief = routes[name].path.startsWith('/beliefs/:id') || routes[name].path.startsWith('/proposals/:id')
  return isAboutBelief ? (params as { readonly id: string }).id : null
}

async function login(context: Context<LetIn>, { credentials, failures }: ApiOptions): Promise<Response> {
  const { body } = await readRequest(context, routes.login)
  if (!credentials.isToken((body as { readonly token: string }).token)) return refuseWrong(context, failures)
  context.header('set-cookie', credentials.setCookie())
  return context.json({ ok: true })
}

async function logout(context: Context<LetIn>, { credentials }: ApiOptions): Promise<Response> {
  await readRequest(context, routes.logout)
  context.header('set-cookie', credentials.clearCookie())
  return context.json({ ok: true })
}

/** A known address with another verb is told which it takes, and an unknown one that there is none. */
function refuseOthers(app: Hono<LetIn>, letIn: MiddlewareHandler<LetIn>): void {
  const methods = Map.groupBy(Object.values(routes) as Route[], ({ path }) => path)
  for (const [path, known] of methods) {
    const allowed = known.map(({ method }) => method).join(', ')
    app.all(`${apiPrefix}${path}`, letIn, (context) => {
      context.header('allow', allowed)
      return refuse(context, 405, { code: 'not_allowed', message: `${context.req.path} takes ${allowed}.` })
    })
  }
  app.all('/api/*', letIn, (context) =>
    refuse(context, 404, {
      code: 'not_found',
      message: `There is no ${context.req.path.slice(0, 80)}.`,
      hint: 'GET /api/openapi.json lists what there is.',
    }),
  )
}
