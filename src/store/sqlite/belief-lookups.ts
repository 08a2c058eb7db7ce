import { type Belief, compareStanding } from '../../beliefs/belief.ts'
import type { BeliefFilter, BeliefOrder, BeliefStore, Viewpoint } from '../../beliefs/belief-store.ts'
import { universalScope } from '../../beliefs/scope.ts'
import {
  agentKey,
  compareReinforcement,
  compareUpdate,
  nameKeyInScope,
  newestText,
  readText,
  type StoredText,
  statusCode,
  typeCode,
} from '../belief-row.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { type Conditions, type Connection, joinConditions, noItems, type ReadForUser } from './connection.ts'

const maxCached = 5_000
const maxViews = 50
/** If the scopes of a filter contain more beliefs than this, a page is found by testing the latest beliefs one by one. */
const crowd = 5_000

/** A prefix followed by this sorts after every text that starts with the prefix. */
export const lastCharacter = '\u{10ffff}'

type BeliefReads = Pick<
  BeliefStore,
  | ('get' | 'getMany' | 'idsStartingWith' | 'named' | 'holders' | 'supersededBy' | 'proposalsFor')
  | ('list' | 'scopes' | 'pinned' | 'standing')
>

/** The functions that read beliefs, each with an index. */
export function beliefReads(connection: Connection, reading: ReadForUser): BeliefReads {
  const cache = new BoundedCache<Belief>(maxCached)
  /** The pinned and standing beliefs of a view. They are cached, because every recall in a conversation needs them. */
  const views = new BoundedCache<readonly Belief[]>(maxViews)
  /** The totals of lists. They are cached, because counting scans every belief, and each page of a list needs the total. */
  const totals = new BoundedCache<number>(maxViews)
  connection.onChange(() => {
    for (const known of [cache, views, totals]) known.clear()
  })

  function get(userId: number, id: string): Belief | null {
    const key = `${userId} ${id}`
    const known = cache.get(key)
    if (known !== undefined) return known
    const row = connection.get<StoredText>(newestText, [userId, id])
    const belief = row === undefined ? null : readText(id, row)
    return belief === null ? null : cache.set(key, belief)
  }

  const getMany = (userId: number, ids: readonly string[]): Belief[] =>
    [...new Set(ids)].flatMap((id) => get(userId, id) ?? [])

  /** The beliefs whose ids a query returns. */
  const readBeliefs = (userId: number, sql: string, values: readonly unknown[]): Belief[] =>
    getMany(userId, connection.column<string>(sql, values))

  function totalOf(userId: number, filter: BeliefFilter): number {
    const asked = JSON.stringify([userId, filter])
    const known = totals.get(asked) ?? countOfScope(userId, filter)
    if (known !== undefined) return known
    const { where, values } = conditionsOf(userId, filter, false)
    return totals.set(asked, connection.value<number>(`SELECT count(*) FROM beliefs WHERE ${where}`, values) ?? 0)
  }

  /** The number of beliefs in one scope, maintained by every commit. Undefined if the filter has other conditions. */
  function countOfScope(userId: number, { user: _, scopes, current, ...rest }: BeliefFilter): number | undefined {
    const [scope, ...others] = scopes ?? []
    if (scope === undefined || others.length > 0 || Object.values(rest).some((value) => value !== undefined)) return
    const row = connection.get<{ beliefs: number; current: number }>(
      'SELECT beliefs, current FROM scopes WHERE user_id = ? AND name = ?',
      [userId, scope],
    )
    if (row === undefined) return 0
    return current === undefined ? row.beliefs : current ? row.current : row.beliefs - row.current
  }

  /** Whether the scopes contain so many beliefs that a page is found faster by testing the latest beliefs one by one. */
  function isCrowded(userId: number, scopes: readonly string[]): boolean {
    const sum = 'SELECT sum(beliefs) FROM scopes WHERE user_id = ? AND name IN (SELECT value FROM json_each(?))'
    const inScopes = connection.value<number | null>(sum, [userId, JSON.stringify(scopes)])
    return (inScopes ?? 0) > crowd
  }

  function cachedView(asked: readonly unknown[], read: () => readonly Belief[]): readonly Belief[] {
    const key = JSON.stringify(asked)
    return views.get(key) ?? views.set(key, read())
  }

  function readPinned(userId: number, view: Viewpoint, editedEverywhere: boolean): readonly Belief[] {
    const agent = agentKey(view.agent)
    const inView = connection.column<string>(
      `SELECT members.belief FROM json_each(:scopes) AS asked
       CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
       CROSS JOIN members INDEXED BY members_pinned ON members.user_id = :userId AND members.scope = scopes.id
         AND members.agent IN ('', :agent) AND members.pinned = 1`,
      [{ userId, agent, scopes: JSON.stringify(view.scopes) }],
    )
    const edited = `SELECT belief FROM members INDEXED BY members_pinned_edited
      WHERE user_id = ? AND agent IN ('', ?) AND pinned = 1 AND edited = 1`
    const ids = editedEverywhere ? [...inView, ...connection.column<string>(edited, [userId, agent])] : inView
    return getMany(userId, ids).sort(compareReinforcement)
  }

  function readStanding(userId: number, { agent, scopes }: Viewpoint, limit: number): readonly Belief[] {
    const inScope = `SELECT belief FROM members INDEXED BY members_standing WHERE user_id = ?
      AND scope = (SELECT id FROM scopes WHERE user_id = ? AND name = ?) AND agent = ? AND shelf IS NOT NULL
      ORDER BY edited DESC, shelf, reinforced DESC, belief LIMIT ?`
    const owners = agent === null ? [''] : ['', agentKey(agent)]
    const ids = [...new Set([...scopes, universalScope])].flatMap((scope) =>
      owners.flatMap((owner) => connection.column<string>(inScope, [userId, userId, scope, owner, limit])),
    )
    return getMany(userId, ids).sort(compareStanding).slice(0, limit)
  }

  return {
    get: (user, id) => reading(user, null, (userId) => get(userId, id)),
    getMany: async (user, ids) => (ids.length === 0 ? [] : reading(user, [], (userId) => getMany(userId, ids))),
    idsStartingWith: (user, prefix, limit) => {
      const between = 'SELECT id FROM beliefs WHERE user_id = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?'
      return reading(user, [], (userId) => connection.column(between, [userId, prefix, prefix + lastCharacter, limit]))
    },
    named: (user, name) => {
      const called = `SELECT id FROM beliefs INDEXED BY beliefs_by_name WHERE user_id = ? AND name_key = ?
        ORDER BY current DESC, updated_at DESC, id`
      return reading(user, [], (userId) => readBeliefs(userId, called, [userId, nameKeyInScope(name)]))
    },
    holders: (user, name, scopes) => {
      const holding = `SELECT members.belief FROM json_each(:scopes) AS asked
        CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
        CROSS JOIN members INDEXED BY members_holding_name ON members.user_id = :userId AND members.scope = scopes.id
          AND members.name_key = :name AND members.current = 1`
      const asked = { name: nameKeyInScope(name), scopes: JSON.stringify(scopes) }
      return reading(user, [], (userId) => readBeliefs(userId, holding, [{ userId, ...asked }]).sort(compareUpdate))
    },
    // Names the index, because SQLite has no statistics and would choose an index in which it must scan every belief.
    supersededBy: (user, id) => {
      const replaced = 'SELECT id FROM beliefs INDEXED BY beliefs_superseded WHERE user_id = ? AND superseded_by = ?'
      return reading(user, [], (userId) => readBeliefs(userId, replaced, [userId, id]).sort(compareUpdate))
    },
    proposalsFor: (user, id) => {
      const proposed = 'SELECT id FROM beliefs INDEXED BY beliefs_proposed WHERE user_id = ? AND proposed_for = ?'
      return reading(user, [], (userId) => readBeliefs(userId, proposed, [userId, id]).sort(compareUpdate))
    },
    list: (filter, { limit, offset, order = 'updated' }) =>
      reading(filter.user, noItems, (userId) => {
        const { scopes = [] } = filter
        const { where, values } = conditionsOf(userId, filter, scopes.length > 0 && isCrowded(userId, scopes))
        const page = `SELECT id FROM beliefs WHERE ${where} ORDER BY ${orders[order]} LIMIT ? OFFSET ?`
        return { items: readBeliefs(userId, page, [...values, limit, offset]), total: totalOf(userId, filter) }
      }),
    scopes: (user) => {
      const counted = 'SELECT name AS scope, current AS beliefs FROM scopes WHERE user_id = ? ORDER BY name'
      return reading(user, [], (userId) =>
        connection
          .all<{ scope: string; beliefs: number }>(counted, [userId])
          .map(({ scope, beliefs }) => ({ scope, beliefs })),
      )
    },
    pinned: (view, { editedEverywhere }) =>
      reading(view.user, [], (userId) =>
        cachedView(['pinned', userId, view.agent, view.scopes, editedEverywhere], () =>
          readPinned(userId, view, editedEverywhere),
        ),
      ),
    standing: (view, limit) =>
      reading(view.user, [], (userId) =>
        cachedView(['standing', userId, view.agent, view.scopes, limit], () => readStanding(userId, view, limit)),
      ),
  }
}

const recallsOf =
  'FROM recall_counts WHERE recall_counts.user_id = beliefs.user_id AND recall_counts.belief = beliefs.id'

const orders: Readonly<Record<BeliefOrder, string>> = {
  updated: 'updated_at DESC, name_key, id',
  name: 'name_key, updated_at DESC, id',
  recalled: `ifnull((SELECT count ${recallsOf}), 0) DESC, updated_at DESC, name_key, id`,
}

/** A condition with a subquery that does not depend on the belief, so that SQLite evaluates it once. */
const isAmongMembers = `id IN (SELECT members.belief FROM json_each(?) AS asked
  CROSS JOIN scopes ON scopes.user_id = ? AND scopes.name = asked.value
  CROSS JOIN members ON members.user_id = scopes.user_id AND members.scope = scopes.id)`

/** A condition that is evaluated for each belief, which is faster if most beliefs are members and only a page is needed. */
const isMember = `EXISTS (SELECT 1 FROM json_each(?) AS asked
  CROSS JOIN scopes ON scopes.user_id = ? AND scopes.name = asked.value
  CROSS JOIN members ON members.user_id = scopes.user_id AND members.scope = scopes.id AND members.belief = beliefs.id)`

/** The WHERE clause of a filter. Lists are passed as JSON, so that there are few different queries. */
function conditionsOf(userId: number, filter: BeliefFilter, isCrowded: boolean): Conditions {
  const { scopes, types, statuses, pinned, current, proposals, candidates, recalled } = filter
  return joinConditions([
    ['user_id = ?', userId],
    scopes && [isCrowded ? isMember : isAmongMembers, JSON.stringify(scopes), userId],
    types && ['type IN (SELECT value FROM json_each(?))', JSON.stringify(types.map(typeCode))],
    statuses && ['status IN (SELECT value FROM json_each(?))', JSON.stringify(statuses.map(statusCode))],
    pinned !== undefined && ['pinned = ?', Number(pinned)],
    current !== undefined && ['current = ?', Number(current)],
    proposals !== undefined && [proposals ? 'proposed_for IS NOT NULL' : 'proposed_for IS NULL'],
    candidates !== undefined && ['candidate = ?', Number(candidates)],
    recalled !== undefined && [`${recalled ? '' : 'NOT '}EXISTS (SELECT 1 ${recallsOf})`],
  ])
}
