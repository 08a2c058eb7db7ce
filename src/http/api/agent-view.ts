import { mayName, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import type { RouteName } from './contract.ts'
import { beliefById, noBelief, type ServerDeps } from './server-deps.ts'

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
  for (const scope of named.filter((one) => typeof one === 'string'))
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
