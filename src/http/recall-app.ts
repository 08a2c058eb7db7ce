import { Hono } from 'hono'
import { universalScope } from '../beliefs/scope.ts'
import { beliefMessage, routes, searchMessage } from '../eval/system/outside/http-contract.ts'
import type { System } from '../eval/system/system.ts'
import type { BeliefRecord } from '../memory/transfer/belief-record.ts'
import { answerError, refuse } from './error-answers.ts'
import { readBody } from './read-request.ts'
import { idIn, receivedBelief } from './received-belief.ts'
import { loopbackNames, sameOriginOnly } from './same-origin.ts'

export type RecallAppOptions = {
  /** What answers; nobody else may use it. */
  readonly system: System
  readonly now: () => Date
  readonly newId: () => string
  /** Gets errors that are bugs of ours, whole. */
  readonly onBug: (error: unknown) => void
}

const hint = 'docs/systems.md describes the requests.'

/** The contract of docs/systems.md in front of a system, for harnesses written for it. Only the relevant tier is served. */
export function recallApp({ system, now, newId, onBug }: RecallAppOptions): Hono {
  const told = new Map<string, BeliefRecord>()
  let lastMoment = 0
  /** Never the same twice: what is told later is newer, however fast it is told, so that no result depends on speed. */
  const moment = (): string => {
    lastMoment = Math.max(now().getTime(), lastMoment + 1)
    return new Date(lastMoment).toISOString()
  }
  const app = new Hono()
  app.onError(answerError(onBug))
  app.use(sameOriginOnly(loopbackNames))

  /** Adds a belief, or puts it in the place of the one with its id. */
  const put = async (request: Request): Promise<{ readonly id: string }> => {
    const message = await readBody(request, beliefMessage, hint)
    const keyOf = (id: string | undefined): string => `${message.user_id}\n${id}`
    const belief = receivedBelief(message, { known: told.get(keyOf(idIn(message))), at: moment(), newId })
    await system.update({ kind: 'create', belief })
    told.set(keyOf(belief.id), belief)
    return { id: belief.id }
  }

  const search = async (request: Request) => {
    const { query, user_id: user, limit, scope, scopes } = await readBody(request, searchMessage, hint)
    const active = scopes ?? (scope === undefined || scope === null ? [universalScope] : [scope].flat())
    const { relevant } = await system.recall({ user, scopes: active, message: query, budget: only(limit), recall: {} })
    return {
      results: relevant.map(({ id, score, clauses = [] }) => ({ id, score, clauses, metadata: { beliefId: id } })),
    }
  }

  app.on(routes.reset.method, routes.reset.path, async (context) => {
    told.clear()
    await system.reset()
    return context.json({ ok: true })
  })
  app.on(routes.add.method, routes.add.path, async (context) => context.json(await put(context.req.raw)))
  app.on(routes.update.method, routes.update.path, async (context) => context.json(await put(context.req.raw)))
  app.on(routes.search.method, routes.search.path, async (context) => context.json(await search(context.req.raw)))

  for (const { method, path } of Object.values(routes)) {
    app.all(path, (context) => {
      context.header('allow', method)
      return refuse(context, 405, { code: 'invalid', message: `${path} takes ${method}.` })
    })
  }
  app.notFound((context) =>
    refuse(context, 404, {
      code: 'not_found',
      message: `There is no ${context.req.path.slice(0, 80)}.`,
      hint: `There are ${Object.values(routes)
        .map(({ method, path }) => `${method} ${path}`)
        .join(', ')}.`,
    }),
  )
  return app
}

/** The limit is for results alone: pins take no places here, because the harness that asks adds its own. */
const only = (limit: number) => ({
  maxBeliefs: limit,
  maxPinned: 0,
  maxQuestions: 0,
  maxCharacters: Number.MAX_SAFE_INTEGER,
})
