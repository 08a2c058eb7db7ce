import { type Context, Hono } from 'hono'
import { MemoryError } from '../../errors.ts'
import { evalReadsOf } from '../../operations/evaluation.ts'
import type { Call, Caller, Operation } from '../../operations/operation.ts'
import type { ServedMemory } from '../../operations/served-memory.ts'
import type { OperationName } from '../../operations/table.ts'
import { limitToView } from '../../operations/view.ts'
import { RecentMap } from '../../recent-map.ts'
import type { Authenticated, Authentication } from '../authentication.ts'
import { refuse } from '../error-answers.ts'
import { answerJson } from '../json-answer.ts'
import { LiveEvents } from '../live-events.ts'
import { readRequest } from '../read-request.ts'
import { type Endpoint, endpoints, isOfTeams } from './endpoints.ts'

export const apiPrefix = '/api/v1'
const teamPrefix = `${apiPrefix}/teams/:team`

type ApiOptions = {
  readonly served: ServedMemory
  readonly pollEveryMs: number
  readonly authentication: Authentication
  readonly onBug: (error: unknown) => void
}

type Respond = (context: Context<Authenticated>) => Promise<Response>

/** The maximum number of cached memories of people and teams. */
const maxServed = 1_000

/** The app for `/api`, with a route for each operation. */
export function apiApp(options: ApiOptions): { readonly app: Hono<Authenticated>; readonly close: () => void } {
  const { served, authentication } = options
  const known = new RecentMap<ServedMemory>(maxServed)
  /** The token determines the memory of a request; `team` must be one of the token's teams. */
  const servedFor = (caller: Caller, team: string | undefined): ServedMemory => {
    if (caller.kind !== 'member') {
      if (team === undefined) return served
      throw new MemoryError('not_found', `There is no team "${team.slice(0, 80)}" for this token.`)
    }
    const key = JSON.stringify([caller.principal, team])
    return known.get(key) ?? known.set(key, served.people.memoryOf(caller.principal, team))
  }
  const live = liveEvents(options, servedFor)
  const respondTo = respondWithoutMemory(authentication, live.of)
  // Without an error handler: the parent app has one, and a second would add a promise to every step of a request.
  const app = new Hono<Authenticated>()
  for (const endpoint of Object.values(endpoints)) {
    const { name, method } = endpoint
    const respond = respondTo[name] ?? respondWithOperation(endpoint, servedFor)
    const path = `${apiPrefix}${endpoint.path}`
    if (endpoint.access === 'anybody') app.on(method, path, respond)
    else app.on(method, path, authentication.admit(endpoint.access), respond)
    if (isOfTeams(endpoint))
      app.on(method, `${teamPrefix}${endpoint.path}`, authentication.admit(endpoint.access), respond)
  }
  app.get('/api/openapi.json', authentication.admit('authenticated'), async (context) => {
    const { openApiDocument } = await import('./openapi.ts')
    return context.json(openApiDocument(served.server.version))
  })
  for (const [path, same] of Map.groupBy(Object.values(endpoints), ({ path }) => path)) {
    const allowed = same.map(({ method }) => method).join(', ')
    app.all(`${apiPrefix}${path}`, authentication.admit('authenticated'), (context) => {
      context.header('allow', allowed)
      return refuse(context, 405, { code: 'not_allowed', message: `${context.req.path} takes ${allowed}.` })
    })
  }
  app.all('/api/*', authentication.admit('authenticated'), (context) => {
    const message = `There is no ${context.req.path.slice(0, 80)}.`
    return refuse(context, 404, { code: 'not_found', message, hint: 'GET /api/openapi.json lists the routes.' })
  })
  return { app, close: live.close }
}

/** Event streams for pages: one for the installation, and one per token, which ends when the token is revoked. */
function liveEvents(
  { served, pollEveryMs, onBug }: ApiOptions,
  servedFor: (caller: Caller, team: string | undefined) => ServedMemory,
) {
  const { installation, people, server } = served
  const own = new LiveEvents({
    state: async () => {
      await served.catchUp()
      const evals = installation === null ? null : await evalReadsOf(installation, server.clock)
      return { journalHead: (await served.ports.store.head()).number, evalsStamp: evals?.stamp() ?? '' }
    },
    everyMs: pollEveryMs,
    onProblem: onBug,
  })
  const ofTokens = new Map<string, LiveEvents>()
  const openForToken = (caller: Extract<Caller, { kind: 'member' }>): LiveEvents => {
    const { tokenId: id } = caller.principal
    const { store } = servedFor(caller, undefined).ports
    const state = async () => {
      if ((await (await people.access()).access.findToken({ id })) === null && ofTokens.delete(id)) events.close()
      return { journalHead: (await store.head()).number, evalsStamp: '' }
    }
    const events = ofTokens.get(id) ?? new LiveEvents({ state, everyMs: pollEveryMs, onProblem: onBug })
    ofTokens.set(id, events)
    return events
  }
  return {
    of: (caller: Caller): LiveEvents => (caller.kind === 'member' ? openForToken(caller) : own),
    close: (): void => {
      for (const live of [own, ...ofTokens.values()]) live.close()
    },
  }
}

/** The handlers for logging in and out and for the event stream, which do not use a memory. */
function respondWithoutMemory(
  authentication: Authentication,
  liveOf: (caller: Caller) => LiveEvents,
): Partial<Record<OperationName, Respond>> {
  return {
    login: async (context) => {
      const { body } = await readRequest(context, endpoints.login.request())
      const cookie = await authentication.logIn((body as { readonly token: string }).token)
      if (cookie === null) return authentication.refuseWrongToken(context)
      context.header('set-cookie', cookie)
      return context.json({ ok: true })
    },
    logout: async (context) => {
      await readRequest(context, endpoints.logout.request())
      context.header('set-cookie', await authentication.endSession(context.req.header('cookie')))
      return context.json({ ok: true })
    },
    events: async (context) => {
      await readRequest(context, endpoints.events.request())
      return liveOf(context.get('caller')).subscribe(context)
    },
  }
}

type Input = Readonly<Record<string, unknown>>

/** Parses a request, limits an agent to its view, runs the operation, and responds. */
const respondWithOperation =
  (
    { operation, request, status }: Endpoint,
    servedFor: (caller: Caller, team: string | undefined) => ServedMemory,
  ): Respond =>
  async (context) => {
    const { params, query, body, idempotency } = await readRequest(context, request())
    const caller = context.get('caller')
    const served = servedFor(caller, context.req.param('team'))
    await served.catchUp()
    const channel = context.get('channel')
    const isAgent = channel === 'agent'
    const received: Input = { ...params, ...query, ...(body as object | null) }
    const input = isAgent ? await limitToView(served, operation.input, received) : received
    const call: Call = { memory: served.memories[channel], view: served.view, isAgent, caller, idempotency, served }
    // The input was validated with the schemas of the operation, so it has the type that `run` expects.
    const run = operation.run as (call: Call, input: Input) => Promise<object>
    try {
      return answerJson(context, await run(call, input), status)
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'conflict') throw error
      const { code, message, hint = null } = error
      const id = beliefIn(operation, input)
      const current = id === null ? {} : { current: await served.ports.store.get(served.view.user, id) }
      return refuse(context, 409, { code, message, hint, ...current })
    }
  }

/** The id of the belief in a request, so that a conflict can show the current content. */
function beliefIn(operation: Operation, input: Input): string | null {
  const [named] = Object.entries(operation.input).flatMap(([name, { names }]) => (names === 'belief' ? [name] : []))
  return named === undefined ? null : String(input[named])
}
