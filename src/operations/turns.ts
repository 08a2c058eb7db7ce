import type { Belief } from '../beliefs/belief.ts'
import { type Turn, turnRoles } from '../beliefs/turn.ts'
import type { TurnFilter } from '../beliefs/turn-store.ts'
import { invalid, notFound } from '../errors.ts'
import type { HeardTurn } from '../memory/conversation/hear.ts'
import { learnedFrom } from '../memory/explain/links.ts'
import type { Memory } from '../memory/memory.ts'
import { omitUndefined } from '../omit-undefined.ts'
import {
  choice,
  flag,
  list,
  message,
  object,
  optional,
  paging,
  scopeFilter,
  scopes,
  text,
  turnId,
  whole,
  withDefault,
} from './field.ts'
import { operation, servedBy } from './operation.ts'
import { heardTurn, said } from './shared-fields.ts'

const maxTurns = 1_000

const containing = optional(text(2_000), 'Contains these words, ignoring case.')
const filters = {
  speaker: said.speaker,
  role: optional(list(choice(turnRoles), {}, 'Of any of these roles.')),
  scope: scopeFilter,
  since: said.since,
  until: said.until,
  containing,
}

/** Turns: stored word for word, listed and forgotten. */
export const turns = {
  hear: operation({
    summary: "Store one or several turns of a conversation word for word, and learn from the person's turns.",
    access: 'agents',
    http: 'POST /turns',
    status: 201,
    input: {
      ...heardTurn,
      text: optional(heardTurn.text),
      turns: optional(list(object(heardTurn), { min: 1, max: maxTurns }), 'Several turns, instead of one.'),
      learn: optional(
        choice(['beliefs', 'review', 'nothing']),
        "Whether statements in the person's words become beliefs (default), candidates, or nothing.",
      ),
    },
    run: async ({ memory, view, idempotency: { key } }, { learn, turns: several, text, ...rest }) => {
      const sent = several ?? (text === undefined ? [] : [{ ...rest, text }])
      const extra =
        several === undefined
          ? []
          : ['text', ...Object.keys(rest)].filter((name) => name in { ...rest, ...omitUndefined({ text }) })
      if (sent.length === 0 || extra.length > 0)
        throw invalid(
          extra.length > 0
            ? `${extra.join(', ')}: not allowed together with turns.`
            : 'text: there is neither a text nor turns.',
          'Send one turn, or several as turns.',
        )
      const options = { scopes: view.homeScopes, ...omitUndefined({ learn }) }
      const heard = await memory.hear(sent.map(withMessageId(key)), options)
      const count = (outcome: string): number => heard.turns.filter((turn) => turn.outcome === outcome).length
      const kept = count('kept')
      const known = count('known')
      return {
        kept,
        known,
        leftOut: heard.turns.length - kept - known,
        turns: heard.turns.map(({ outcome, turn, reason = null }) => {
          return { outcome, id: turn?.id ?? null, session: turn?.session ?? null, reason }
        }),
        learned: heard.taken.map(({ outcome, belief, replaced, because }) => ({ outcome, belief, replaced, because })),
        notLearned: heard.refused.map(({ text, reason, explanation }) => ({ text, reason, explanation })),
      }
    },
  }),
  listTurns: operation({
    summary: 'Turns, newest first; the turns of a session, oldest first.',
    http: 'GET /turns',
    input: { session: said.session, ...filters, ...paging(50) },
    run: ({ memory }, input) => memory.turns(filterOf(input)),
  }),
  getTurn: operation({
    summary: 'One turn, with the turns before and after it.',
    http: 'GET /turns/:id',
    input: {
      id: turnId,
      around: withDefault(whole({ min: 0, max: 50 }), 0, 'How many turns before it and after it to show.'),
    },
    run: async ({ memory }, { id, around }) => {
      const turn = await turnById(memory, id)
      const { session, index } = turn
      const first = Math.max(0, index - around)
      const { items } = await memory.turns({ session, offset: first, limit: index - first + 1 + around })
      const before = items.filter((turn) => turn.index < index)
      const after = items.filter((turn) => turn.index > index)
      return { turn, before, after }
    },
  }),
  whyTurn: operation({
    summary: 'Why a turn is quoted for a message, or why it is not.',
    writes: false,
    http: 'POST /turns/:id/why',
    input: { id: turnId, message, scopes: optional(scopes('Default those of the server.')) },
    run: async ({ memory, view }, { id, message, scopes = view.scopes }) =>
      memory.whyTurn(message, (await turnById(memory, id)).id, { scopes }),
  }),
  forgetTurns: operation({
    summary: 'Erase every text of the turns that match all given fields. It cannot be undone.',
    http: 'DELETE /turns',
    input: {
      turn: optional(text(200, 'Id of one turn.')),
      session: said.session,
      since: said.since,
      until: said.until,
      containing: optional(
        text(2_000),
        'Contains these words, ignoring case. Without other fields, also forgets beliefs that contain them; with other fields, only beliefs that were learned from the turns.',
      ),
      dryRun: optional(flag('true: only returns what would be forgotten.')),
    },
    run: ({ memory, idempotency }, { dryRun = false, ...selection }) =>
      memory.forgetTurns(selection, { ...idempotency, dryRun }),
  }),
  listConversations: operation({
    summary: 'Conversations, the most recently active first.',
    http: 'GET /conversations',
    input: { ...filters, ...paging(50) },
    run: ({ memory }, input) => memory.conversations(filterOf(input)),
  }),
  getConversation: operation({
    summary: 'The turns of one conversation, oldest first.',
    http: 'GET /conversations/:session',
    input: { session: text(200), ...paging(100) },
    run: async (call, input) => {
      const page = await call.memory.turns(input)
      if (page.total === 0)
        throw notFound(
          `There is no conversation "${input.session.slice(0, 80)}".`,
          'GET conversations lists all conversations.',
        )
      const { ports, view } = servedBy(call)
      /** Beliefs that were learned from a turn, by its id. */
      const learned: Record<string, readonly LearnedBelief[]> = {}
      for (const [turn, beliefs] of await learnedFrom(ports, view.user, page.items))
        learned[turn] = beliefs.map(({ id, name, candidate }) => ({ id, name, candidate }))
      return { ...page, learned }
    },
  }),
}

type LearnedBelief = Pick<Belief, 'id' | 'name' | 'candidate'>

/** Reads a turn by its whole id. As for beliefs, id prefixes are only for people. */
async function turnById(memory: Memory, id: string): Promise<Turn> {
  const turn = await memory.turn(id)
  if (turn.id === id) return turn
  throw notFound(`There is no turn with the id "${id}".`, 'Give the whole id. GET turns lists all turns.')
}

/** Derives the message id from the idempotency key, so that a retry does not store a turn twice. */
const withMessageId =
  (key: string | undefined) =>
  (turn: HeardTurn, place: number): HeardTurn =>
    key === undefined || turn.messageId !== undefined
      ? turn
      : { ...turn, messageId: place === 0 ? key : `${key}:${place}` }

type Filter = Omit<TurnFilter, 'user' | 'roles' | 'scopes'> & {
  readonly role?: TurnFilter['roles']
  readonly scope?: TurnFilter['scopes']
}

const filterOf = ({ role, scope, ...rest }: Filter): Omit<TurnFilter, 'user'> => ({
  ...rest,
  ...omitUndefined({ roles: role, scopes: scope }),
})
