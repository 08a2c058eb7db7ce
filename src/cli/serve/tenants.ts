import { teamOf, teamOwner } from '../../beliefs/scope.ts'
import { type McpOptions, memoryMcp } from '../../mcp/memory-mcp.ts'
import { type Memory, memoryFrom } from '../../memory/memory.ts'
import type { Principal } from '../../memory/people/access.ts'
import { memberMemory, memoryOfTeam, teamPorts } from '../../memory/people/team-memory.ts'
import type { Author, Ports } from '../../memory/ports.ts'
import type { Caller } from '../../operations/operation.ts'
import type { ServedMemory } from '../../operations/served-memory.ts'
import { RecentMap } from '../../recent-map.ts'

/** The origin of an agent's changes: its token rather than its name, because an agent can give itself any name. */
const tokenOrigin = ({ tokenId }: Principal): string => `token:${tokenId}`

/** The memories of a person and of their teams as one, limited to the scopes of a token. */
export function principalMemory(ports: Ports, principal: Principal, author: Author): Memory {
  const scopes = principal.scopes.filter((scope) => teamOf(scope) === null)
  const own = memoryFrom(ports, { user: principal.person, scopes, agent: null, author })
  // The memories share one store, which is closed separately.
  return memberMemory({ ...own, close: async () => {} }, ports, principal, author)
}

/** The memory that the server serves to the holder of a token, or that of one of their teams. */
export function tenantMemory(
  base: ServedMemory,
  ports: ServedMemory['ports'],
  principal: Principal,
  team?: string,
): ServedMemory {
  const user = team === undefined ? principal.person : teamOwner(team)
  const scopes = principal.scopes.filter((scope) => team === undefined || teamOf(scope) === team)
  // A message that is tried on a page does not count as a use of the memory.
  const { counter: _counter, ...uncounted } = ports
  const memoryAs = (author: Author): Memory => {
    const used = author.origin === 'dashboard' ? uncounted : ports
    return team === undefined ? principalMemory(used, principal, author) : memoryOfTeam(used, principal, team, author)
  }
  const head = async () => {
    // The last event of this user, because the head of the whole journal would reveal how much other people change.
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

/** MCP over HTTP: for the server's own user with the options `own`, and for the holders of tokens. */
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
