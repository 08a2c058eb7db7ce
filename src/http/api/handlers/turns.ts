import type { TurnFilter } from '../../../beliefs/turn-store.ts'
import { MemoryError } from '../../../errors.ts'
import type { HeardTurn } from '../../../memory/conversation/hear.ts'
import type { Asked, Desk, Handlers } from '../handlers.ts'

type TurnRoutes = 'hear' | 'listTurns' | 'getTurn' | 'forgetTurns' | 'listConversations' | 'getConversation' | 'search'

export function turnHandlers({ homeScopes }: Desk): Handlers<TurnRoutes> {
  return {
    hear: async ({ memory, body: { learn, ...body }, keyed }) => {
      const given: readonly HeardTurn[] = 'turns' in body ? body.turns : [body]
      const { turns, taken, refused } = await memory.hear(given.map(withMessageId(keyed.key)), {
        scopes: homeScopes,
        ...(learn === undefined ? {} : { learn }),
      })
      const count = (outcome: string): number => turns.filter((turn) => turn.outcome === outcome).length
      const [kept, known] = [count('kept'), count('known')]
      return {
        kept,
        known,
        leftOut: turns.length - kept - known,
        turns: turns.map(({ outcome, turn, reason = null }) => ({
          outcome,
          id: turn?.id ?? null,
          session: turn?.session ?? null,
          reason,
        })),
        learned: taken.map(({ outcome, belief, replaced, because }) => ({ outcome, belief, replaced, because })),
        notLearned: refused.map(({ text, reason, explanation }) => ({ text, reason, explanation })),
      }
    },
    listTurns: ({ memory, query }) => memory.turns(filterOf(query)),
    getTurn: async ({ memory, params: { id }, query: { around } }) => {
      const turn = await memory.turn(id)
      const { session, index } = turn
      const first = Math.max(0, index - around)
      const { items } = await memory.turns({ session, offset: first, limit: index - first + 1 + around })
      return {
        turn,
        before: items.filter((one) => one.index < index),
        after: items.filter((one) => one.index > index),
      }
    },
    forgetTurns: ({ memory, query: { dryRun = false, ...selection }, keyed }) =>
      memory.forgetTurns(selection, { ...keyed, dryRun }),
    listConversations: ({ memory, query }) => memory.conversations(filterOf(query)),
    getConversation: async ({ memory, params: { session }, query }) => {
      const page = await memory.turns({ ...query, session })
      if (page.total > 0) return page
      throw new MemoryError('not_found', `There is no conversation "${session.slice(0, 80)}".`, {
        hint: 'GET conversations lists those there are.',
      })
    },
    search: ({ memory, query: { q, scope, ...options } }) =>
      memory.search(q, { ...options, ...(scope === undefined ? {} : { scopes: scope }) }),
  }
}

/** A retry with the same idempotency key sends the same messages. */
const withMessageId =
  (key: string | undefined) =>
  (turn: HeardTurn, place: number): HeardTurn =>
    key === undefined || turn.messageId !== undefined
      ? turn
      : { ...turn, messageId: place === 0 ? key : `${key}:${place}` }

type FilterQuery = Asked<'listTurns'>['query']

const filterOf = ({ role, scope, ...rest }: FilterQuery): Omit<TurnFilter, 'user'> => ({
  ...rest,
  ...(role === undefined ? {} : { roles: role }),
  ...(scope === undefined ? {} : { scopes: scope }),
})
