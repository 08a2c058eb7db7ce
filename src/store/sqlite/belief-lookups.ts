import { type Belief, byStanding } from '../../beliefs/belief.ts'
import type { BeliefFilter, BeliefOrder, Page, Viewpoint } from '../../beliefs/belief-store.ts'
import { universalScope } from '../../beliefs/scope.ts'
import {
  agentKey,
  byReinforcement,
  byUpdate,
  heldName,
  newestText,
  readText,
  type StoredText,
  statusCode,
  typeCode,
} from '../belief-row.ts'
import { BoundedCache } from '../resident/bounded-cache.ts'
import type { ChangedBeliefs } from './changed-beliefs.ts'
import { allOf, type Conditions, type Connection } from './connection.ts'

const mostCached = 5_000
const mostViews = 50
/** The members of a scope up to this size are collected in a few milliseconds. */
const crowd = 5_000

/** A prefix followed by this sorts after every text that starts with the prefix. */
const lastCharacter = '\u{10ffff}'

/** Reads of beliefs, each by an index. Everything here runs inside the caller's transaction. */
export class BeliefLookups {
  readonly #connection: Connection
  readonly #changes: ChangedBeliefs
  readonly #cache = new BoundedCache<Belief>(mostCached)
  /** Pinned and standing beliefs by view, which every recall of a conversation asks for again. */
  readonly #views = new BoundedCache<readonly Belief[]>(mostViews)
  /** The lengths of lists: to count reads every belief, and every page of a list asks for it. */
  readonly #totals = new BoundedCache<number>(mostViews)

  constructor(connection: Connection, changes: ChangedBeliefs) {
    this.#connection = connection
    this.#changes = changes
    changes.onChanged((changed) => {
      if (changed === null) this.#cache.clear()
      else for (const { user_id, belief_id } of changed) this.#cache.delete(`${user_id} ${belief_id}`)
    })
    connection.onChange(() => {
      this.#views.clear()
      this.#totals.clear()
    })
  }

  get(userId: number, id: string): Belief | null {
    this.#changes.catchUp()
    const key = `${userId} ${id}`
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const row = this.#connection.get<StoredText>(newestText, [userId, id])
    const belief = row === undefined ? null : readText(id, row)
    if (belief !== null) this.#cache.set(key, belief)
    return belief
  }

  getMany(userId: number, ids: readonly string[]): Belief[] {
    return [...new Set(ids)].flatMap((id) => this.get(userId, id) ?? [])
  }

  idsStartingWith(userId: number, prefix: string, limit: number): readonly string[] {
    return this.#connection.column(
      'SELECT id FROM beliefs WHERE user_id = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?',
      [userId, prefix, prefix + lastCharacter, limit],
    )
  }

  named(userId: number, name: string): readonly Belief[] {
    const ids = this.#connection.column<string>(
      `SELECT id FROM beliefs INDEXED BY beliefs_by_name WHERE user_id = ? AND name_key = ?
       ORDER BY current DESC, updated_at DESC, id`,
      [userId, heldName(name)],
    )
    return this.getMany(userId, ids)
  }

  holders(userId: number, name: string, scopes: readonly string[]): readonly Belief[] {
    const ids = this.#connection.column<string>(
      `SELECT members.belief FROM json_each(:scopes) AS asked
       CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
       CROSS JOIN members INDEXED BY members_holding_name ON members.user_id = :userId AND members.scope = scopes.id
         AND members.name_key = :name AND members.current = 1`,
      [{ userId, name: heldName(name), scopes: JSON.stringify(scopes) }],
    )
    return this.getMany(userId, ids).sort(byUpdate)
  }

  supersededBy(userId: number, id: string): readonly Belief[] {
    return this.#linkedTo(userId, 'superseded_by', id)
  }

  proposalsFor(userId: number, id: string): readonly Belief[] {
    return this.#linkedTo(userId, 'proposed_for', id)
  }

  #linkedTo(userId: number, column: 'superseded_by' | 'proposed_for', id: string): readonly Belief[] {
    // Without statistics SQLite would rather pass over every belief in an index that holds both columns.
    const index = column === 'superseded_by' ? 'beliefs_superseded' : 'beliefs_proposed'
    const linked = `SELECT id FROM beliefs INDEXED BY ${index} WHERE user_id = ? AND ${column} = ?`
    return this.getMany(userId, this.#connection.column<string>(linked, [userId, id])).sort(byUpdate)
  }

  list(
    userId: number,
    filter: BeliefFilter,
    { limit, offset, order = 'updated' }: { limit: number; offset: number; order?: BeliefOrder },
  ): Page<Belief> {
    const { where, values } = conditionsOf(userId, filter, this.#isCrowded(userId, filter.scopes ?? []))
    const ids = this.#connection.column<string>(
      `SELECT id FROM beliefs WHERE ${where} ORDER BY ${orders[order]} LIMIT ? OFFSET ?`,
      [...values, limit, offset],
    )
    return { items: this.getMany(userId, ids), total: this.#total(userId, filter) }
  }

  #total(userId: number, filter: BeliefFilter): number {
    const asked = JSON.stringify([userId, filter])
    const known = this.#totals.get(asked) ?? this.#scopeCount(userId, filter)
    if (known !== undefined) return known
    const { where, values } = conditionsOf(userId, filter, false)
    const total = this.#connection.value<number>(`SELECT count(*) FROM beliefs WHERE ${where}`, values) ?? 0
    this.#totals.set(asked, total)
    return total
  }

  /** The number of beliefs in one scope, which every commit keeps up to date. Undefined where a filter asks for more. */
  #scopeCount(userId: number, { user: _user, scopes, current, ...rest }: BeliefFilter): number | undefined {
    const [scope, ...others] = scopes ?? []
    if (scope === undefined || others.length > 0 || Object.values(rest).some((value) => value !== undefined)) return
    const row = this.#connection.get<{ beliefs: number; current: number }>(
      'SELECT beliefs, current FROM scopes WHERE user_id = ? AND name = ?',
      [userId, scope],
    )
    if (row === undefined) return 0
    return current === undefined ? row.beliefs : current ? row.current : row.beliefs - row.current
  }

  /** Whether the scopes hold so many beliefs that a page is found sooner by testing the latest beliefs one by one. */
  #isCrowded(userId: number, scopes: readonly string[]): boolean {
    if (scopes.length === 0) return false
    const inScopes = this.#connection.value<number | null>(
      'SELECT sum(beliefs) FROM scopes WHERE user_id = ? AND name IN (SELECT value FROM json_each(?))',
      [userId, JSON.stringify(scopes)],
    )
    return (inScopes ?? 0) > crowd
  }

  scopes(userId: number): readonly { readonly scope: string; readonly beliefs: number }[] {
    return this.#connection.all(
      'SELECT name AS scope, current AS beliefs FROM scopes WHERE user_id = ? ORDER BY name',
      [userId],
    )
  }

  pinned(userId: number, view: Viewpoint, editedEverywhere: boolean): readonly Belief[] {
    const asked = JSON.stringify(['pinned', userId, view.agent, view.scopes, editedEverywhere])
    return this.#cachedView(asked, () => this.#readPinned(userId, view, editedEverywhere))
  }

  standing(userId: number, view: Viewpoint, limit: number): readonly Belief[] {
    const asked = JSON.stringify(['standing', userId, view.agent, view.scopes, limit])
    return this.#cachedView(asked, () => this.#readStanding(userId, view, limit))
  }

  #cachedView(asked: string, read: () => readonly Belief[]): readonly Belief[] {
    const known = this.#views.get(asked)
    if (known !== undefined) return known
    const beliefs = read()
    this.#views.set(asked, beliefs)
    return beliefs
  }

  #readPinned(userId: number, view: Viewpoint, editedEverywhere: boolean): readonly Belief[] {
    const agent = agentKey(view.agent)
    const inView = this.#connection.column<string>(
      `SELECT members.belief FROM json_each(:scopes) AS asked
       CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
       CROSS JOIN members INDEXED BY members_pinned ON members.user_id = :userId AND members.scope = scopes.id
         AND members.agent IN ('', :agent) AND members.pinned = 1`,
      [{ userId, agent, scopes: JSON.stringify(view.scopes) }],
    )
    const edited = `SELECT belief FROM members INDEXED BY members_pinned_edited
      WHERE user_id = ? AND agent IN ('', ?) AND pinned = 1 AND edited = 1`
    const ids = editedEverywhere ? [...inView, ...this.#connection.column<string>(edited, [userId, agent])] : inView
    return this.getMany(userId, ids).sort(byReinforcement)
  }

  #readStanding(userId: number, { agent, scopes }: Viewpoint, limit: number): readonly Belief[] {
    const inScope = `SELECT belief FROM members INDEXED BY members_standing WHERE user_id = ?
      AND scope = (SELECT id FROM scopes WHERE user_id = ? AND name = ?) AND agent = ? AND shelf IS NOT NULL
      ORDER BY edited DESC, shelf, reinforced DESC, belief LIMIT ?`
    const owners = agent === null ? [''] : ['', agentKey(agent)]
    const ids = [...new Set([...scopes, universalScope])].flatMap((scope) =>
      owners.flatMap((owner) => this.#connection.column<string>(inScope, [userId, userId, scope, owner, limit])),
    )
    return this.getMany(userId, ids).sort(byStanding).slice(0, limit)
  }
}

const recallsOf =
  'FROM recall_counts WHERE recall_counts.user_id = beliefs.user_id AND recall_counts.belief = beliefs.id'

const orders: Readonly<Record<BeliefOrder, string>> = {
  updated: 'updated_at DESC, name_key, id',
  name: 'name_key, updated_at DESC, id',
  recalled: `ifnull((SELECT count ${recallsOf}), 0) DESC, updated_at DESC, name_key, id`,
}

/** Independent of the belief, so that SQLite evaluates it once. */
const isAmongMembers = `id IN (SELECT members.belief FROM json_each(?) AS asked
  CROSS JOIN scopes ON scopes.user_id = ? AND scopes.name = asked.value
  CROSS JOIN members ON members.user_id = scopes.user_id AND members.scope = scopes.id)`

/** Evaluated for each belief, which is faster where most beliefs are members and only a page is wanted. */
const isMember = `EXISTS (SELECT 1 FROM json_each(?) AS asked
  CROSS JOIN scopes ON scopes.user_id = ? AND scopes.name = asked.value
  CROSS JOIN members ON members.user_id = scopes.user_id AND members.scope = scopes.id AND members.belief = beliefs.id)`

/** The WHERE clause of a filter. Lists are passed as JSON, so that there are few different queries. */
function conditionsOf(userId: number, filter: BeliefFilter, isCrowded: boolean): Conditions {
  const { scopes, types, statuses, pinned, current, proposals, candidates, recalled } = filter
  return allOf([
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
