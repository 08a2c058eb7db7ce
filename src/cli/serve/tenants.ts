import { teamOf, teamOwner } from '../../beliefs/scope.ts'
import { type McpOptions, memoryMcp } from '../../mcp/memory-mcp.ts'
import { type Memory, memoryFrom } from '../../memory/memory.ts'
import type { Principal } from '../../memory/people/access.ts'
import { memberMemory, memoryOfTeam, teamPorts } from '../../memory/people/team-memory.ts'
import type { Author, Ports } from '../../memory/ports.ts'
import type { Caller } from '../../operations/operation.ts'
import type { ServedMemory } from '../../operations/served-memory.ts'
import { RecentMap } from '../../recent-map.ts'

/** The author of an agent's changes: its token, since it can give itself any name. */
const tokenOrigin = ({ tokenId }: Principal): string => `token:${tokenId}`

/** The memory of a person together with those of their teams, as far as a token opens them. */
export function principalMemory(ports: Ports, principal: Principal, author: Author): Memory {
  const scopes = principal.scopes.filter((scope) => teamOf(scope) === null)
  const own = memoryFrom(ports, { user: principal.person, scopes, agent: null, author })
  // All memories share one store, which is closed once.
  return memberMemory({ ...own, close: async () => {} }, ports, principal, author)
}

/** The memory of the holder of a token of the store, or of one of their teams, as the server serves it. */
export function tenantMemory(
  base: ServedMemory,
  ports: ServedMemory['ports'],
  principal: Principal,
  team?: string,
): ServedMemory {
  const user = team === undefined ? principal.person : teamOwner(team)
  const scopes = principal.scopes.filter((scope) => team === undefined || teamOf(scope) === team)
  // Trying a message on a page is not a use of the memory.
  const { counter: _counter, ...uncounted } = ports
  const memoryAs = (author: Author): Memory => {
    const used = author.origin === 'dashboard' ? uncounted : ports
    return team === undefined ? principalMemory(used, principal, author) : memoryOfTeam(used, principal, team, author)
  }
  const head = async () => {
    // Numbers of others' changes are not theirs to know.
    const [last] = await ports.store.events(user, { limit: 1, hearing: true })
    return { number: last?.number ?? 0, hash: last?.hash ?? '' }
  }
  const own = team === undefined ? ports : teamPorts(ports, team)
  return {
    ...base,
    view: { user, scopes, homeScopes: scopes.slice(0, 1), agent: null, hasFixedScopes: principal.isAgent },
    memories: {
      dashboard: memoryAs({ actor: 'person', origin: 'dashboard' }),
      http: memoryAs({ actor: 'person', origin: 'http' }),
      agent: memoryAs({ actor: 'agent', origin: tokenOrigin(principal) }),
    },
    ports: { ...own, store: { ...own.store, head } },
    catchUp: user === base.view.user ? base.catchUp : async () => {},
    installation: null,
  }
}

type McpHandler = ReturnType<ReturnType<typeof memoryMcp>['httpHandler']>

const maxHandlers = 1_000

/** MCP over HTTP for every caller: for the server's own user with the options `own`, and for the holder of a token of the store. */
export function tenantMcp(ports: Ports, own: McpOptions) {
  const ofInstallation = memoryMcp(own).httpHandler()
  const handlers = new RecentMap<McpHandler>(maxHandlers, (handler) => void handler.close())
  const handlerOf = (principal: Principal): McpHandler => {
    const key = JSON.stringify(principal)
    const { person: user, scopes, isAgent: hasFixedScopes } = principal
    const view = { user, scopes, homeScopes: scopes.slice(0, 1), agent: null, hasFixedScopes }
    const memoryAs = async (author: Author): Promise<Memory> => principalMemory(ports, principal, author)
    const options = { ...own, view, memoryAs, boundOrigin: tokenOrigin(principal) }
    return handlers.get(key) ?? handlers.set(key, memoryMcp(options).httpHandler())
  }
  return {
    fetch: (request: Request, caller: Caller): Promise<Response> =>
      (caller.kind === 'member' ? handlerOf(caller.principal) : ofInstallation).fetch(request),
    close: async (): Promise<void> => {
      for (const handler of [ofInstallation, ...handlers.values()]) await handler.close()
    },
  }
}
