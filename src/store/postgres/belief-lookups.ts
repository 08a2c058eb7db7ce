import { type Belief, byStanding } from '../../beliefs/belief.ts'
import type { BeliefFilter, BeliefOrder, Page, Viewpoint } from '../../beliefs/belief-store.ts'
import { universalScope } from '../../beliefs/scope.ts'
import { agentKey, byReinforcement, byUpdate, heldName, statusCode, typeCode } from '../belief-row.ts'
import { longTextHash } from './belief-rows.ts'
import type { Connection, Run } from './connection.ts'
import { readBody, type StoredBody } from './stored-body.ts'
import { keyText } from './values.ts'

/** A prefix followed by this sorts after every text that starts with the prefix. */
export const lastCharacter = '\u{10ffff}'

const stored = 'SELECT id, crc, body FROM credence.beliefs WHERE owner = $1'

const beliefsIn = (rows: readonly StoredBody[]): Belief[] => rows.map(readBody)

/** The key under which a name is held, as the tables have it. */
export const storedNameKey = (name: string): string => keyText(heldName(name), longTextHash)

/** Reads of beliefs, each by an index that begins with the owner. */
export class BeliefLookups {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Beliefs that earlier reads of the same snapshot have loaded. */
  #known(user: string): Map<string, Belief> | null {
    const { memo } = this.#connection
    if (memo === null) return null
    const key = `beliefs ${user}`
    const known = (memo.get(key) as Map<string, Belief> | undefined) ?? new Map<string, Belief>()
    memo.set(key, known)
    return known
  }

  /** Loads the beliefs that a query names, together with other reads of the same round trip. */
  async load(run: Run, user: string, sql: string, values: readonly unknown[]): Promise<readonly Belief[]> {
    const beliefs = beliefsIn(await run<StoredBody>(sql, values))
    const known = this.#known(user)
    if (known !== null) for (const belief of beliefs) known.set(belief.id, belief)
    return beliefs
  }

  async getMany(user: string, ids: readonly string[]): Promise<readonly Belief[]> {
    const asked = [...new Set(ids)]
    const known = this.#known(user)
    const unknown = known === null ? asked : asked.filter((id) => !known.has(id))
    const found = new Map(known)
    if (unknown.length > 0)
      for (const belief of await this.#connection.read((run) =>
        this.load(run, user, `${stored} AND id = ANY($2::text[])`, [user, unknown]),
      ))
        found.set(belief.id, belief)
    return asked.flatMap((id) => found.get(id) ?? [])
  }

  idsStartingWith(user: string, prefix: string, limit: number): Promise<readonly string[]> {
    return this.#connection.read(async (run) => {
      const rows = await run<{ id: string }>(
        'SELECT id FROM credence.beliefs WHERE owner = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4',
        [user, prefix, prefix + lastCharacter, limit],
      )
      return rows.map(({ id }) => id)
    })
  }

  named(user: string, name: string): Promise<readonly Belief[]> {
    const sql = `${stored} AND name_key = $2 ORDER BY current DESC, updated_at DESC, id`
    return this.#connection.read((run) => this.load(run, user, sql, [user, storedNameKey(name)]))
  }

  async holders(user: string, name: string, scopes: readonly string[]): Promise<readonly Belief[]> {
    const sql = `${stored} AND id IN (SELECT belief FROM credence.members
      WHERE owner = $1 AND scope = ANY($2::text[]) AND name_key = $3 AND current)`
    const found = await this.#connection.read((run) => this.load(run, user, sql, [user, scopes, storedNameKey(name)]))
    return [...found].sort(byUpdate)
  }

  async linkedTo(user: string, column: 'superseded_by' | 'proposed_for', id: string): Promise<readonly Belief[]> {
    const found = await this.#connection.read((run) => this.load(run, user, `${stored} AND ${column} = $2`, [user, id]))
    return [...found].sort(byUpdate)
  }

  async list(
    filter: BeliefFilter,
    { limit, offset, order = 'updated' }: { limit: number; offset: number; order?: BeliefOrder },
  ): Promise<Page<Belief>> {
    const { user } = filter
    const { where, values } = conditionsOf(filter)
    const [most, from] = [`$${values.length + 1}`, `$${values.length + 2}`]
    return this.#connection.read(async (run) => {
      const [items, counted] = await Promise.all([
        this.load(
          run,
          user,
          `SELECT id, crc, body FROM credence.beliefs WHERE ${where}
           ORDER BY ${orders[order]}updated_at DESC, name_key, id LIMIT ${most} OFFSET ${from}`,
          [...values, limit, offset],
        ),
        run<{ total: number }>(`SELECT count(*) AS total FROM credence.beliefs WHERE ${where}`, values),
      ])
      return { items, total: counted[0]?.total ?? 0 }
    })
  }

  scopes(user: string): Promise<readonly { readonly scope: string; readonly beliefs: number }[]> {
    const sql = 'SELECT scope, current AS beliefs FROM credence.scopes WHERE owner = $1 ORDER BY scope'
    return this.#connection.read((run) => run(sql, [user]))
  }

  async pinned({ user, agent, scopes }: Viewpoint, editedEverywhere: boolean): Promise<readonly Belief[]> {
    const sql = `${stored} AND id IN (
      SELECT belief FROM credence.members
      WHERE owner = $1 AND scope = ANY($2::text[]) AND agent = ANY($3::text[]) AND pinned
      UNION ALL SELECT belief FROM credence.members
      WHERE owner = $1 AND agent = ANY($3::text[]) AND pinned AND edited AND $4)`
    const values = [user, scopes, ownersOf(agent), editedEverywhere]
    const found = await this.#connection.read((run) => this.load(run, user, sql, values))
    return [...found].sort(byReinforcement)
  }

  async standing({ user, agent, scopes }: Viewpoint, limit: number): Promise<readonly Belief[]> {
    const sql = `${stored} AND id IN (
      SELECT standing.belief FROM unnest($2::text[]) AS asked (scope) CROSS JOIN unnest($3::text[]) AS seen (agent)
      CROSS JOIN LATERAL (SELECT belief FROM credence.members
        WHERE owner = $1 AND members.scope = asked.scope AND members.agent = seen.agent AND shelf IS NOT NULL
        ORDER BY edited DESC, shelf, reinforced DESC, belief LIMIT $4) AS standing)`
    const values = [user, [...new Set([...scopes, universalScope])], ownersOf(agent), limit]
    const found = await this.#connection.read((run) => this.load(run, user, sql, values))
    return [...found].sort(byStanding).slice(0, limit)
  }
}

/** The agents whose beliefs are in view: every agent's, and the asking agent's own. */
export const ownersOf = (agent: string | null): readonly string[] => [...new Set([agentKey(null), agentKey(agent)])]

const recallsOf = 'FROM credence.recall_counts WHERE recall_counts.owner = $1 AND recall_counts.belief = beliefs.id'

/** What comes before the time of the last change. */
const orders: Readonly<Record<BeliefOrder, string>> = {
  updated: '',
  name: 'name_key, ',
  recalled: `coalesce((SELECT count ${recallsOf}), 0) DESC, `,
}

/** The WHERE clause of a filter. */
function conditionsOf(filter: BeliefFilter): { readonly where: string; readonly values: readonly unknown[] } {
  const { user, scopes, types, statuses, pinned, current, proposals, candidates, recalled } = filter
  const conditions = ['owner = $1']
  const values: unknown[] = [user]
  const add = (condition: string, value: unknown): void => {
    values.push(value)
    conditions.push(condition.replace('?', `$${values.length}`))
  }
  if (scopes !== undefined)
    add('id IN (SELECT belief FROM credence.members WHERE owner = $1 AND scope = ANY(?::text[]))', scopes)
  if (types !== undefined) add('type = ANY(?::smallint[])', types.map(typeCode))
  if (statuses !== undefined) add('status = ANY(?::smallint[])', statuses.map(statusCode))
  if (pinned !== undefined) add('pinned = ?', pinned)
  if (current !== undefined) add('current = ?', current)
  if (proposals !== undefined) conditions.push(proposals ? 'proposed_for IS NOT NULL' : 'proposed_for IS NULL')
  if (recalled !== undefined) conditions.push(`${recalled ? '' : 'NOT '}EXISTS (SELECT 1 ${recallsOf})`)
  if (candidates !== undefined) add('candidate = ?', candidates)
  return { where: conditions.join(' AND '), values }
}
