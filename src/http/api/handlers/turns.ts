import type { Turn } from '../../../beliefs/turn.ts'
import type { TurnFilter } from '../../../beliefs/turn-store.ts'
import { MemoryError, notFound } from '../../../errors.ts'
import type { HeardTurn } from '../../../memory/conversation/hear.ts'
import { learnedFrom } from '../../../memory/explain/links.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import type { turnRoutes } from '../routes/turn-routes.ts'
import type { ApiRequest, Handlers, ServerDeps } from '../server-deps.ts'

export function turnHandlers(deps: ServerDeps): Handlers<keyof typeof turnRoutes> {
  const { homeScopes } = deps
  return {
    hear: async ({ memory, body: { learn, ...body }, idempotency: { key } }) => {
      const sent: readonly HeardTurn[] = 'turns' in body ? body.turns : [body]
      const options = { scopes: homeScopes, ...omitUndefined({ learn }) }
      const { turns, taken, refused } = await memory.hear(sent.map(withMessageId(key)), options)
      const count = (outcome: string): number => turns.filter((turn) => turn.outcome === outcome).length
      const [kept, known] = [count('kept'), count('known')]
      return {
        kept,
        known,
        leftOut: turns.length - kept - known,
        turns: turns.map(({ outcome, turn, reason = null }) => {
          return { outcome, id: turn?.id ?? null, session: turn?.session ?? null, reason }
        }),
        learned: taken.map(({ outcome, belief, replaced, because }) => ({ outcome, belief, replaced, because })),
        notLearned: refused.map(({ text, reason, explanation }) => ({ text, reason, explanation })),
      }
    },
    listTurns: ({ memory, query }) => memory.turns(filterOf(query)),
    getTurn: async ({ memory, params: { id }, query: { around } }) => {
      const turn = await turnById(memory, id)
      const { session, index } = turn
      const first = Math.max(0, index - around)
      const { items } = await memory.turns({ session, offset: first, limit: index - first + 1 + around })
      const [before, after] = [items.filter((one) => one.index < index), items.filter((one) => one.index > index)]
      return { turn, before, after }
    },
    whyTurn: async ({ memory, params: { id }, body: { message, scopes = deps.scopes } }) =>
      memory.whyTurn(message, (await turnById(memory, id)).id, { scopes }),
    forgetTurns: ({ memory, query: { dryRun = false, ...selection }, idempotency }) =>
      memory.forgetTurns(selection, { ...idempotency, dryRun }),
    listConversations: ({ memory, query }) => memory.conversations(filterOf(query)),
    getConversation: async ({ memory, params: { session }, query }) => {
      const page = await memory.turns({ ...query, session })
      if (page.total > 0) {
        const learned = [...(await learnedFrom(deps.ports, deps.user, page.items))]
        return {
          ...page,
          learned: Object.fromEntries(
            learned.map(([id, beliefs]) => [
              id,
              beliefs.map(({ id: belief, name, candidate }) => ({ id: belief, name, candidate })),
            ]),
          ),
        }
      }
      throw new MemoryError('not_found', `There is no conversation "${session.slice(0, 80)}".`, {
        hint: 'GET conversations lists all conversations.',
      })
    },
    search: ({ memory, query: { q, scope, ...options } }) =>
      memory.search(q, { ...options, ...omitUndefined({ scopes: scope }) }),
  }
}

/** Reads a turn by its whole id, as beliefs are read: the beginnings of ids are for people. */
async function turnById(memory: Memory, id: string): Promise<Turn> {
  const turn = await memory.turn(id)
  if (turn.id === id) return turn
  throw notFound(`There is no turn with the id "${id}".`, 'Give the whole id. GET turns lists all turns.')
}

/** The idempotency key becomes the message id, so that a retry keeps no turn twice. */
const withMessageId =
  (key: string | undefined) =>
  (turn: HeardTurn, place: number): HeardTurn =>
    key === undefined || turn.messageId !== undefined
      ? turn
      : { ...turn, messageId: place === 0 ? key : `${key}:${place}` }

const filterOf = ({ role, scope, ...rest }: ApiRequest<'listTurns'>['query']): Omit<TurnFilter, 'user'> => ({
  ...rest,
  ...omitUndefined({ roles: role, scopes: scope }),
})
