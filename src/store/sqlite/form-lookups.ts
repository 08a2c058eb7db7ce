import type { Viewpoint } from '../../beliefs/belief-store.ts'
import type { Posting } from '../../search/form-index.ts'
import { slipKeys } from '../../search/index-entries.ts'
import { isOneEditApart } from '../../search/typo.ts'
import { compareText } from '../text-order.ts'
import { agentKey, unpackFlags } from './belief-row.ts'
import { BoundedCache } from './bounded-cache.ts'
import type { Connection } from './connection.ts'
import { textHash } from './text-hash.ts'

const mostWords = 20_000
const mostStandpoints = 50

type FormRow = {
  readonly key: string
  readonly belief: string
  readonly ordinal: number
  readonly breaks: number
  readonly flags: number
  readonly reinforced: number
}

/**
 * Reads of the form index, each by a key. Everything here runs inside the caller's transaction. What was found, and
 * what was not, is kept until the store changes: messages of one conversation share most of their words.
 */
export class FormLookups {
  readonly #connection: Connection
  readonly #lengths = new BoundedCache<readonly number[]>(mostWords)
  readonly #near = new BoundedCache<readonly string[]>(mostWords)
  readonly #postings = new BoundedCache<readonly Posting[]>(mostWords)
  readonly #populations = new BoundedCache<number>(mostStandpoints)
  readonly #scopes = new BoundedCache<readonly number[]>(mostStandpoints)

  constructor(connection: Connection) {
    this.#connection = connection
    connection.onChange(() => {
      this.#lengths.clear()
      this.#near.clear()
      this.#postings.clear()
      this.#populations.clear()
      this.#scopes.clear()
    })
  }

  formLengths(userId: number, heads: readonly string[]): ReadonlyMap<string, readonly number[]> {
    const found = new Map<string, readonly number[]>()
    for (const head of new Set(heads)) {
      const lengths = this.#lengthsOf(userId, head)
      if (lengths.length > 0) found.set(head, lengths)
    }
    return found
  }

  postings(userId: number, view: Viewpoint, keys: readonly string[]): ReadonlyMap<string, readonly Posting[]> {
    const scopes = this.#scopeIds(userId, view.scopes)
    // As JSON, so that no agent can be named to look like another one somewhere else.
    const seenFrom = JSON.stringify([userId, view.agent, scopes])
    const found = new Map<string, readonly Posting[]>()
    const unknown: string[] = []
    for (const key of new Set(keys)) {
      // Words come again in a conversation; phrases that mean nothing hardly do, and would crowd them out.
      const known = key.includes(' ') ? undefined : this.#postings.get(`${seenFrom}\n${key}`)
      if (known === undefined) unknown.push(key)
      else if (known.length > 0) found.set(key, known)
    }
    const read = this.#readPostings(userId, view.agent, scopes, unknown)
    for (const key of unknown) {
      const postings = inOrder([...(read.get(key)?.values() ?? [])])
      if (!key.includes(' ')) this.#postings.set(`${seenFrom}\n${key}`, postings)
      if (postings.length > 0) found.set(key, postings)
    }
    return found
  }

  everyHolder(userId: number, keys: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const statement = this.#connection.statement<[number, string], { belief: string }>(
      'SELECT DISTINCT belief FROM forms WHERE user_id = ? AND key = ? ORDER BY belief',
    )
    const found = new Map<string, readonly string[]>()
    for (const key of new Set(keys)) {
      const holders = statement.all(userId, key).map(({ belief }) => belief)
      if (holders.length > 0) found.set(key, holders)
    }
    return found
  }

  wordsNear(userId: number, words: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const writtenAs = new Map<number, string[]>()
    const near = new Map<string, Set<string>>()
    for (const written of new Set(words)) {
      const known = this.#near.get(`${userId} ${written}`)
      if (known !== undefined) {
        if (known.length > 0) near.set(written, new Set(known))
        continue
      }
      near.set(written, new Set())
      for (const slip of slipKeys(written).map(textHash)) {
        const others = writtenAs.get(slip)
        if (others === undefined) writtenAs.set(slip, [written])
        else others.push(written)
      }
    }
    for (const asked of batches([...writtenAs.keys()])) {
      const rows = this.#connection
        .statement<(number | null)[], { slip: number; word: string }>(
          `WITH asked (value) AS (VALUES ${asked.places})
           SELECT slips.slip, words.word FROM asked
           CROSS JOIN slips ON slips.user_id = ? AND slips.slip = asked.value
           CROSS JOIN words ON words.id = slips.word`,
        )
        .all(...asked.values, userId)
      for (const { slip, word } of rows) {
        for (const written of writtenAs.get(slip) ?? []) if (isOneEditApart(written, word)) near.get(written)?.add(word)
      }
    }
    const found = new Map<string, readonly string[]>()
    for (const [written, meant] of near) {
      const sorted = [...meant].sort(compareText)
      this.#near.set(`${userId} ${written}`, sorted)
      if (sorted.length > 0) found.set(written, sorted)
    }
    return found
  }

  population(userId: number, view: Viewpoint): number {
    const asked = JSON.stringify([userId, view.agent, view.scopes])
    const known = this.#populations.get(asked)
    if (known !== undefined) return known
    const population = this.#readPopulation(userId, view)
    this.#populations.set(asked, population)
    return population
  }

  #readPopulation(userId: number, view: Viewpoint): number {
    const row = this.#connection
      .statement<[string, number, string], { population: number | null }>(
        `SELECT sum(current) AS population FROM audiences WHERE agent IN ('', ?) AND id IN (
           SELECT audience FROM audience_scopes WHERE user_id = ? AND scope IN (SELECT value FROM json_each(?)))`,
      )
      .get(agentKey(view.agent), userId, JSON.stringify(this.#scopeIds(userId, view.scopes)))
    return row?.population ?? 0
  }

  #readPostings(
    userId: number,
    agent: string | null,
    scopes: readonly number[],
    keys: readonly string[],
  ): ReadonlyMap<string, Map<string, Posting>> {
    const found = new Map<string, Map<string, Posting>>()
    // One look-up per owner: asking for either at once makes SQLite step through both for every key.
    const owners = [...new Set([agentKey(null), agentKey(agent)])]
    for (const [scope, owner] of scopes.flatMap((scope) => owners.map((owner) => [scope, owner] as const))) {
      for (const asked of batches(keys)) {
        const rows = this.#connection
          .statement<(number | string | null)[], FormRow>(
            `WITH asked (value) AS (VALUES ${asked.places})
             SELECT key, belief, ordinal, breaks, flags, reinforced FROM asked
             CROSS JOIN forms ON user_id = ? AND key = asked.value AND current = 1 AND scope = ? AND agent = ?`,
          )
          .all(...asked.values, userId, scope, owner)
        for (const { key, belief, ordinal, breaks, flags, reinforced } of rows) {
          // A belief in several visible scopes has a row for each, all of them saying the same.
          const postings = found.get(key) ?? new Map<string, Posting>()
          found.set(key, postings)
          postings.set(belief, { beliefId: belief, ordinal, breaks, ...unpackFlags(flags), reinforcedAt: reinforced })
        }
      }
    }
    return found
  }

  #lengthsOf(userId: number, head: string): readonly number[] {
    const key = `${userId} ${head}`
    const known = this.#lengths.get(key)
    if (known !== undefined) return known
    const lengths = this.#connection
      .statement<[number, string], { length: number }>(
        'SELECT length FROM form_heads WHERE user_id = ? AND head = ? ORDER BY length',
      )
      .all(userId, head)
      .map(({ length }) => length)
    this.#lengths.set(key, lengths)
    return lengths
  }

  #scopeIds(userId: number, scopes: readonly string[]): readonly number[] {
    const asked = JSON.stringify([userId, scopes])
    const known = this.#scopes.get(asked)
    if (known !== undefined) return known
    const statement = this.#connection.statement<[number, string], { id: number }>(
      'SELECT id FROM scopes WHERE user_id = ? AND name = ?',
    )
    const ids = [...new Set(scopes)].flatMap((scope) => statement.get(userId, scope)?.id ?? [])
    this.#scopes.set(asked, ids)
    return ids
  }
}

const inOrder = (postings: Posting[]): readonly Posting[] =>
  postings.sort((one, other) => compareText(one.beliefId, other.beliefId))

const batchSize = 32

/** Splits values into lists of one length, so that one prepared statement serves all; nulls fill up the last and match nothing. */
function* batches<Value extends number | string>(
  values: readonly Value[],
): Generator<{ places: string; values: readonly (Value | null)[] }> {
  for (let from = 0; from < values.length; from += batchSize) {
    const batch: (Value | null)[] = values.slice(from, from + batchSize)
    while (batch.length < batchSize) batch.push(null)
    yield { places, values: batch }
  }
}

const places = Array<string>(batchSize).fill('(?)').join(', ')
