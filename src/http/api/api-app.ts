import { type Context, Hono } from 'hono'
import { mayName, parseScope, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { RecentMap } from '../../recent-map.ts'
import type { Authenticated, Authentication, Caller } from '../authentication.ts'
import { refuse } from '../error-answers.ts'
import { answerJson } from '../json-answer.ts'
import { LiveEvents } from '../live-events.ts'
import { readRequest } from '../read-request.ts'
import { isOfTeams, type RouteName, routes } from './contract.ts'
import type { EvalArchive } from './eval-archive.ts'
import { accessHandlers } from './handlers/access.ts'
import { beliefHandlers } from './handlers/beliefs.ts'
import { evalHandlers } from './handlers/evals.ts'
import { recallHandlers } from './handlers/recall.ts'
import { systemHandlers } from './handlers/system.ts'
import { turnHandlers } from './handlers/turns.ts'
import { openApiDocument } from './openapi.ts'
import type { Route } from './route.ts'
import { beliefById, type Handlers, noBelief, type ServerDeps } from './server-deps.ts'

export const apiPrefix = '/api/v1'

type ApiOptions = {
  readonly deps: ServerDeps
  readonly archive: EvalArchive
  readonly live: LiveEvents
  readonly pollEveryMs: number
  readonly authentication: Authentication
  readonly onBug: (error: unknown) => void
}

type Respond = (context: Context<Authenticated>) => Promise<Response>

/** The dependencies of one owner, and the handlers made for them. */
type Served = { readonly deps: ServerDeps; readonly handlers: Handlers }

/** Handlers of this many people and teams are kept. */
const mostServed = 1_000

/** Everything under `/api`, route by route from the table in `contract.ts`. */
export function apiApp(options: ApiOptions): { readonly app: Hono<Authenticated>; readonly close: () => void } {
  const { deps, archive, live, pollEveryMs, authentication, onBug } = options
  const servedFrom = (of: ServerDeps): Served => ({
    deps: of,
    handlers: {
      ...systemHandlers(of),
      ...beliefHandlers(of),
      ...turnHandlers(of),
      ...recallHandlers(of),
      ...evalHandlers(of, archive),
      ...accessHandlers(of),
    },
  })
  const installation = servedFrom(deps)
  const known = new RecentMap<Served>(mostServed)
  /** The token alone decides which memory a request is about; `team` must be one of its teams. */
  const servedFor = (caller: Caller, team: string | undefined): Served => {
    if (caller.kind !== 'member') {
      if (team === undefined) return installation
      throw new MemoryError('not_found', `There is no team "${team.slice(0, 80)}" for this token.`)
    }
    const key = JSON.stringify([caller.principal, team])
    return known.get(key) ?? known.set(key, servedFrom(deps.forPrincipal(caller.principal, team)))
  }
  /** The events for each token, about the changes of its person only. They end when the token is revoked. */
  const lives = new Map<string, LiveEvents>()
  const liveFor = (caller: Caller): LiveEvents => {
    if (caller.kind !== 'member') return live
    const { tokenId: id } = caller.principal
    const { store } = servedFor(caller, undefined).deps
    const state = async () => {
      if ((await (await deps.access()).access.findToken({ id })) === null && lives.delete(id)) own.close()
      return { journalHead: (await store.head()).number, evalsStamp: '' }
    }
    const own = lives.get(id) ?? new LiveEvents({ state, everyMs: pollEveryMs, onProblem: onBug })
    lives.set(id, own)
    return own
  }
  const withoutMemory: Partial<Record<RouteName, Respond>> = {
    login: async (context) => {
      const { body } = await readRequest(context, routes.login)
      const cookie = await authentication.logIn((body as { readonly token: string }).token)
      if (cookie === null) return authentication.refuseWrongToken(context)
      context.header('set-cookie', cookie)
      return context.json({ ok: true })
    },
    logout: async (context) => {
      await readRequest(context, routes.logout)
      context.header('set-cookie', await authentication.endSession(context.req.header('cookie')))
      return context.json({ ok: true })
    },
    events: async (context) => {
      await readRequest(context, routes.events)
      return liveFor(context.get('caller')).subscribe(context)
    },
  }
  // Errors are answered by the app that this one is part of: a handler of its own is one more promise for every step of a request.
  const app = new Hono<Authenticated>()
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const own = withoutMemory[name]
    const respond = own ?? respondWith(name as keyof Handlers, route, servedFor)
    const path = `${apiPrefix}${route.path}`
    if (route.access === 'anybody') app.on(route.method, path, respond)
    else app.on(route.method, path, authentication.admit(route.access), respond)
    if (isOfTeams(name, route))
      app.on(route.method, `${teamPrefix}${route.path}`, authentication.admit(route.access), respond)
  }
  const document = openApiDocument(deps.version)
  app.get('/api/openapi.json', authentication.admit('authenticated'), (context) => context.json(document))
  for (const [path, known] of Map.groupBy(Object.values(routes) as Route[], ({ path }) => path)) {
    const allowed = known.map(({ method }) => method).join(', ')
    app.all(`${apiPrefix}${path}`, authentication.admit('authenticated'), (context) => {
      context.header('allow', allowed)
      return refuse(context, 405, { code: 'not_allowed', message: `${context.req.path} takes ${allowed}.` })
    })
  }
  app.all('/api/*', authentication.admit('authenticated'), (context) => {
    const message = `There is no ${context.req.path.slice(0, 80)}.`
    return refuse(context, 404, { code: 'not_found', message, hint: 'GET /api/openapi.json lists the routes.' })
  })
  return {
    app,
    close: () => {
      for (const one of lives.values()) one.close()
    },
  }
}

const teamPrefix = `${apiPrefix}/teams/:team`

const respondWith =
  (name: keyof Handlers, route: Route, servedFor: (caller: Caller, team: string | undefined) => Served): Respond =>
  async (context) => {
    const received = await readRequest(context, route)
    const caller = context.get('caller')
    const { deps, handlers } = servedFor(caller, context.req.param('team'))
    await deps.catchUp()
    const channel = context.get('channel')
    const memory = deps.memories[channel]
    const request = channel === 'agent' ? await withinView(deps, name, received) : received
    // The schemas of this route have validated the request, so it has the type that the handler expects.
    const handle = handlers[name] as (request: object) => Promise<object>
    try {
      return answerJson(context, await handle({ ...request, memory, caller }), route.status)
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'conflict') throw error
      const { code, message, hint = null } = error
      const id = changedBelief(name, request)
      const current = id === null ? {} : { current: await deps.store.get(deps.user, id) }
      return refuse(context, 409, { code, message, hint, ...current })
    }
  }

/** The id of the belief that a request changes, so that a conflict can show what the belief says now. */
function changedBelief(name: RouteName, { params, body }: { readonly params: unknown; readonly body: unknown }) {
  if (name === 'applyRemedy') return (body as { readonly beliefId: string }).beliefId
  const isAboutBelief = routes[name].path.startsWith('/beliefs/:id') || routes[name].path.startsWith('/proposals/:id')
  return isAboutBelief ? (params as { readonly id: string }).id : null
}

type Fields = Readonly<Record<string, unknown>>
type Request = { readonly params: unknown; readonly query: unknown; readonly body: unknown }

/**
 * The request of an agent, held to the scopes that the server was started for: it may name no other project, it lists and
 * searches only what is in view, and a belief out of view does not exist for it.
 */
export async function withinView<Asked extends Request>(
  deps: ServerDeps,
  name: RouteName,
  request: Asked,
): Promise<Asked> {
  const [params, query, body] = [request.params, request.query, request.body].map((part) => (part ?? {}) as Fields) as [
    Fields,
    Fields,
    Fields,
  ]
  const turns = Array.isArray(body.turns) ? (body.turns as readonly Fields[]) : []
  const named = [query.scope, body.scopes, body.scope, ...turns.map(({ scope }) => scope)].flat()
  // Parsed as the use cases parse it: they ignore white space around a scope.
  for (const scope of named.filter((one) => typeof one === 'string').map(parseScope))
    if (!(deps.hasFixedScopes ? visibleScopes(deps.scopes).includes(scope) : mayName(scope, deps.scopes)))
      throw new MemoryError('forbidden', `The scope "${scope}" is not served to agents here.`, {
        hint: `Use one of ${visibleScopes(deps.scopes).join(', ')}.`,
      })
  const ids = [params.id, body.beliefId, (body.by as Fields | undefined)?.id].filter((one) => typeof one === 'string')
  for (const id of ids) await requireInView(deps, id)
  // What was left out may be in other scopes.
  if (name === 'recall') return { ...request, body: { ...body, leftOut: false } }
  if ((name === 'listBeliefs' || name === 'search') && query.scope === undefined)
    return { ...request, query: { ...query, scope: visibleScopes(deps.scopes) } }
  return request
}

async function requireInView(deps: ServerDeps, id: string): Promise<void> {
  const { scopes } = await beliefById(deps, id)
  const isInView = scopes.some((scope) => visibleScopes(deps.scopes).includes(scope))
  // Another answer than for a belief that does not exist would reveal something about another scope.
  if (!isInView) throw noBelief(id)
}
