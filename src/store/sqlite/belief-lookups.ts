import { type Belief, byStanding } from '../../beliefs/belief.ts'
import type { BeliefFilter, Page, Viewpoint } from '../../beliefs/belief-store.ts'
import { universalScope } from '../../beliefs/scope.ts'
import { byReinforcement, byUpdate, heldName } from '../standing.ts'
import { agentKey, readBody, type StoredBody, statusCode, typeCode } from './belief-row.ts'
import { BoundedCache } from './bounded-cache.ts'
import type { Connection } from './connection.ts'

const mostCached = 2_000
const mostStandpoints = 50
/** So many beliefs of a scope are gathered in a few milliseconds. */
const crowd = 5_000

/** A prefix and this sorts after everything that starts with the prefix. */
const lastCharacter = '\u{10ffff}'

const stored = 'beliefs.id, beliefs.crc, beliefs.body FROM beliefs'

/** Reads of beliefs, each by an index. Everything here runs inside the caller's transaction. */
export class BeliefLookups {
  readonly #connection: Connection
  readonly #cache = new BoundedCache<Belief>(mostCached)
  /** What every recall of a conversation asks for again: pinned and standing beliefs, by who asks. */
  readonly #standing = new BoundedCache<readonly Belief[]>(mostStandpoints)
  /** How many each list holds: counting looks at all of them, and whoever turns pages asks again and again. */
  readonly #totals = new BoundedCache<number>(mostStandpoints)

  constructor(connection: Connection) {
    this.#connection = connection
    connection.onChange(() => {
      this.#cache.clear()
      this.#standing.clear()
      this.#totals.clear()
    })
  }

  get(userId: number, id: string): Belief | null {
    const key = `${userId} ${id}`
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const row = this.#connection
      .statement<[number, string], StoredBody>(`SELECT ${stored} WHERE user_id = ? AND id = ?`)
      .get(userId, id)
    if (row === undefined) return null
    const belief = readBody(row)
    this.#cache.set(key, belief)
    return belief
  }

  getMany(userId: number, ids: Iterable<string>): readonly Belief[] {
    return [...new Set(ids)].flatMap((id) => this.get(userId, id) ?? [])
  }

  idsStartingWith(userId: number, prefix: string, limit: number): readonly string[] {
    return this.#connection
      .statement<[number, string, string, number], { id: string }>(
        'SELECT id FROM beliefs WHERE user_id = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?',
      )
      .all(userId, prefix, prefix + lastCharacter, limit)
      .map(({ id }) => id)
  }

  named(userId: number, name: string): readonly Belief[] {
    return this.#connection
      .statement<[number, string], StoredBody>(
        `SELECT ${stored} INDEXED BY beliefs_by_name WHERE user_id = ? AND name_key = ?
         ORDER BY current DESC, updated_at DESC, id`,
      )
      .all(userId, heldName(name))
      .map(readBody)
  }

  holders(userId: number, name: string, scopes: readonly string[]): readonly Belief[] {
    const rows = this.#connection
      .statement<[{ userId: number; name: string; scopes: string }], { belief: string }>(
        `SELECT members.belief FROM json_each(:scopes) AS asked
         CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
         CROSS JOIN members INDEXED BY members_holding_name ON members.user_id = :userId AND members.scope = scopes.id
           AND members.name_key = :name AND members.current = 1`,
      )
      .all({ userId, name: heldName(name), scopes: JSON.stringify(scopes) })
    return [
      ...this.getMany(
        userId,
        rows.map(({ belief }) => belief),
      ),
    ].sort(byUpdate)
  }

  supersededBy(userId: number, id: string): readonly Belief[] {
    return this.#connection
      .statement<[number, string], StoredBody>(`SELECT ${stored} WHERE user_id = ? AND superseded_by = ?`)
      .all(userId, id)
      .map(readBody)
      .sort(byUpdate)
  }

  proposalsFor(userId: number, id: string): readonly Belief[] {
    return this.#connection
      .statement<[number, string], StoredBody>(`SELECT ${stored} WHERE user_id = ? AND proposed_for = ?`)
      .all(userId, id)
      .map(readBody)
      .sort(byUpdate)
  }

  list(userId: number, filter: BeliefFilter, { limit, offset }: { limit: number; offset: number }): Page<Belief> {
    const { conditions, values } = conditionsOf(userId, filter, this.#isCrowded(userId, filter.scopes ?? []))
    const where = ['user_id = ?', ...conditions].join(' AND ')
    const ids = this.#connection
      .statement<unknown[], { id: string }>(
        `SELECT id FROM beliefs WHERE ${where} ORDER BY updated_at DESC, name_key, id LIMIT ? OFFSET ?`,
      )
      .all(userId, ...values, limit, offset)
    return {
      items: this.getMany(
        userId,
        ids.map(({ id }) => id),
      ),
      total: this.#total(userId, filter),
    }
  }

  #total(userId: number, filter: BeliefFilter): number {
    const asked = JSON.stringify([userId, filter])
    const known = this.#totals.get(asked) ?? this.#tally(userId, filter)
    if (known !== undefined) return known
    const { conditions, values } = conditionsOf(userId, filter, false)
    const total = this.#connection
      .statement<unknown[], { total: number }>(
        `SELECT count(*) AS total FROM beliefs WHERE ${['user_id = ?', ...conditions].join(' AND ')}`,
      )
      .get(userId, ...values)?.total
    this.#totals.set(asked, total ?? 0)
    return total ?? 0
  }

  /** What is counted with every commit: the beliefs of one scope, and how many of them are current. */
  #tally(userId: number, { user: _user, scopes, current, ...rest }: BeliefFilter): number | undefined {
    const [scope, ...others] = scopes ?? []
    if (scope === undefined || others.length > 0 || Object.values(rest).some((value) => value !== undefined)) return
    const row = this.#connection
      .statement<[number, string], { beliefs: number; current: number }>(
        'SELECT beliefs, current FROM scopes WHERE user_id = ? AND name = ?',
      )
      .get(userId, scope)
    if (row === undefined) return 0
    return current === undefined ? row.beliefs : current ? row.current : row.beliefs - row.current
  }

  /** Whether so many beliefs are in these scopes that a page of them is found sooner by looking at the latest first. */
  #isCrowded(userId: number, scopes: readonly string[]): boolean {
    if (scopes.length === 0) return false
    const inScopes = this.#connection
      .statement<[number, string], { beliefs: number | null }>(
        'SELECT sum(beliefs) AS beliefs FROM scopes WHERE user_id = ? AND name IN (SELECT value FROM json_each(?))',
      )
      .get(userId, JSON.stringify(scopes))?.beliefs
    return (inScopes ?? 0) > crowd
  }

  scopes(userId: number): readonly { readonly scope: string; readonly beliefs: number }[] {
    return this.#connection
      .statement<[number], { scope: string; beliefs: number }>(
        'SELECT name AS scope, current AS beliefs FROM scopes WHERE user_id = ? ORDER BY name',
      )
      .all(userId)
  }

  pinned(userId: number, view: Viewpoint, editedEverywhere: boolean): readonly Belief[] {
    const asked = JSON.stringify(['pinned', userId, view.agent, view.scopes, editedEverywhere])
    return this.#standing.get(asked) ?? this.#keep(asked, this.#readPinned(userId, view, editedEverywhere))
  }

  standing(userId: number, view: Viewpoint, limit: number): readonly Belief[] {
    const asked = JSON.stringify(['standing', userId, view.agent, view.scopes, limit])
    return this.#standing.get(asked) ?? this.#keep(asked, this.#readStanding(userId, view, limit))
  }

  #keep(asked: string, beliefs: readonly Belief[]): readonly Belief[] {
    this.#standing.set(asked, beliefs)
    return beliefs
  }

  #readPinned(userId: number, view: Viewpoint, editedEverywhere: boolean): readonly Belief[] {
    const agent = agentKey(view.agent)
    const inView = this.#connection
      .statement<[{ userId: number; agent: string; scopes: string }], { belief: string }>(
        `SELECT members.belief FROM json_each(:scopes) AS asked
         CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
         CROSS JOIN members INDEXED BY members_pinned ON members.user_id = :userId AND members.scope = scopes.id
           AND members.agent IN ('', :agent) AND members.pinned = 1`,
      )
      .all({ userId, agent, scopes: JSON.stringify(view.scopes) })
    const edited = this.#connection.statement<[number, string], { belief: string }>(
      `SELECT belief FROM members INDEXED BY members_pinned_edited
       WHERE user_id = ? AND agent IN ('', ?) AND pinned = 1 AND edited = 1`,
    )
    const rows = editedEverywhere ? [...inView, ...edited.all(userId, agent)] : inView
    return [
      ...this.getMany(
        userId,
        rows.map(({ belief }) => belief),
      ),
    ].sort(byReinforcement)
  }

  #readStanding(userId: number, { agent, scopes }: Viewpoint, limit: number): readonly Belief[] {
    const statement = this.#connection.statement<[number, number, string, string, number], { belief: string }>(
      `SELECT belief FROM members INDEXED BY members_standing WHERE user_id = ?
       AND scope = (SELECT id FROM scopes WHERE user_id = ? AND name = ?) AND agent = ? AND shelf IS NOT NULL
       ORDER BY edited DESC, shelf, reinforced DESC, belief LIMIT ?`,
    )
    const owners = agent === null ? [''] : ['', agentKey(agent)]
    const rows = [...new Set([...scopes, universalScope])].flatMap((scope) =>
      owners.flatMap((owner) => statement.all(userId, userId, scope, owner, limit)),
    )
    return [
      ...this.getMany(
        userId,
        rows.map(({ belief }) => belief),
      ),
    ]
      .sort(byStanding)
      .slice(0, limit)
  }
}

/** Does not look at the belief, so that it is worked out once and not for each of them. */
const isAmongMembers = `id IN (SELECT members.belief FROM json_each(?) AS asked
  CROSS JOIN scopes ON scopes.user_id = ? AND scopes.name = asked.value
  CROSS JOIN members ON members.user_id = scopes.user_id AND members.scope = scopes.id)`

/** Looks each belief up, which is less where only the first few are wanted and most are members. */
const isMember = `EXISTS (SELECT 1 FROM json_each(?) AS asked
  CROSS JOIN scopes ON scopes.user_id = ? AND scopes.name = asked.value
  CROSS JOIN members ON members.user_id = scopes.user_id AND members.scope = scopes.id AND members.belief = beliefs.id)`

/** The parts of a query a filter asks for. Lists are passed as JSON, so that there are few different queries. */
function conditionsOf(
  userId: number,
  filter: BeliefFilter,
  isCrowded: boolean,
): { conditions: readonly string[]; values: readonly unknown[] } {
  const { scopes, types, statuses, pinned, current, proposals, candidates } = filter
  const parts: readonly (readonly [isAsked: boolean, condition: string, ...values: unknown[]])[] = [
    [scopes !== undefined, isCrowded ? isMember : isAmongMembers, JSON.stringify(scopes ?? []), userId],
    [types !== undefined, 'type IN (SELECT value FROM json_each(?))', JSON.stringify(types?.map(typeCode) ?? [])],
    [
      statuses !== undefined,
      'status IN (SELECT value FROM json_each(?))',
      JSON.stringify(statuses?.map(statusCode) ?? []),
    ],
    [pinned !== undefined, 'pinned = ?', Number(pinned)],
    [current !== undefined, 'current = ?', Number(current)],
    [proposals === true, 'proposed_for IS NOT NULL'],
    [proposals === false, 'proposed_for IS NULL'],
    [candidates !== undefined, 'candidate = ?', Number(candidates)],
  ]
  const asked = parts.filter(([isAsked]) => isAsked)
  return { conditions: asked.map(([, condition]) => condition), values: asked.flatMap(([, , ...values]) => values) }
}
