import type { Page } from '../../beliefs/belief-store.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import type { SessionSummary, TurnFilter } from '../../beliefs/turn-store.ts'
import { MemoryError } from '../../errors.ts'
import type { Ports } from '../change/transaction.ts'
import { requirePage } from '../list.ts'
import { parseTime } from '../recall/parse-time.ts'

type TurnList = TurnFilter & { readonly limit?: number; readonly offset?: number }

export async function listTurns(
  { store }: Ports,
  { limit = 50, offset = 0, ...filter }: TurnList,
): Promise<Page<Turn>> {
  requirePage({ limit, offset })
  return store.listTurns(parseTurnFilter(filter), { limit, offset })
}

export async function listConversations(
  { store }: Ports,
  { limit = 50, offset = 0, ...filter }: TurnList,
): Promise<Page<SessionSummary>> {
  requirePage({ limit, offset })
  return store.listSessions(parseTurnFilter(filter), { limit, offset })
}

export async function getTurn({ store }: Pick<Ports, 'store'>, user: string, id: string): Promise<Turn> {
  const turn = await store.getTurn(user, id)
  if (turn !== null) return turn
  throw new MemoryError('not_found', `There is no turn ${id.slice(0, 80)}.`, {
    hint: 'List conversations with `credence conversations`.',
  })
}

/** The filter with its scopes and times as the store compares them. */
export const parseTurnFilter = ({ scopes, since, until, ...filter }: TurnFilter): TurnFilter => ({
  ...filter,
  ...(scopes === undefined ? {} : { scopes: parseScopes(scopes) }),
  ...(since === undefined ? {} : { since: new Date(parseTime('since', since)).toISOString() }),
  ...(until === undefined ? {} : { until: new Date(parseTime('until', until)).toISOString() }),
})
