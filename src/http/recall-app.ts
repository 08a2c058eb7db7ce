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
  /** The system that answers. Nothing else may use it. */
  readonly system: System
  readonly now: () => Date
  readonly newId: () => string
  /** Called with errors that are bugs. */
  readonly onBug: (error: unknown) => void
}

const hint = 'docs/systems.md describes the requests.'

/** Serves a system by the contract of docs/systems.md, for harnesses written for it. Only the relevant tier is served. */
export function recallApp({ system, now, newId, onBug }: RecallAppOptions): Hono {
  const sent = new Map<string, BeliefRecord>()
  let lastMoment = 0
  /** The time of a message. It grows with every message, so that no result depends on how fast they arrive. */
  const moment = (): string => {
    lastMoment = Math.max(now().getTime(), lastMoment + 1)
    return new Date(lastMoment).toISOString()
  }
  const app = new Hono()
  app.onError(answerError(onBug))
  app.use(sameOriginOnly(loopbackNames))

  /** Adds a belief, or replaces the one with its id. */
  const put = async (request: Request): Promise<{ readonly id: string }> => {
    const message = await readBody(request, beliefMessage, hint)
    const keyOf = (id: string | undefined): string => `${message.user_id}\n${id}`
    const belief = receivedBelief(message, { known: sent.get(keyOf(idIn(message))), at: moment(), newId })
    await system.update({ kind: 'create', belief })
    sent.set(keyOf(belief.id), belief)
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
    sent.clear()
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

/** The limit counts relevant beliefs only, because the harness adds its own pins. */
const only = (limit: number) => ({
  maxBeliefs: limit,
  maxPinned: 0,
  maxQuestions: 0,
  maxCharacters: Number.MAX_SAFE_INTEGER,
})
