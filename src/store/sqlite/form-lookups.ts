import type { Viewpoint } from '../../beliefs/belief-store.ts'
import type { Posting } from '../../search/form-index.ts'
import { deletions, isOneEditApart } from '../../search/typo.ts'
import { compareText } from '../text-order.ts'
import { agentKey, unpackFlags } from './belief-row.ts'
import { BoundedCache, CachePerOwner } from './bounded-cache.ts'
import type { Connection } from './connection.ts'
import { textHash } from './text-hash.ts'

const mostWords = 20_000
const mostStandpoints = 50

/** A word asked about this often in one state of the store will be asked about again. */
const oftenAsked = 3
/** A word that begins more forms than this tells little by what may follow it. */
const mostSeconds = 512

/** What is known of a word as the first of forms. */
type Head = {
  readonly lengths: readonly number[]
  asked: number
  /** Null when not read, or too many. */
  seconds: ReadonlySet<string> | null
}

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
  readonly #heads = new CachePerOwner<number, Head>(mostWords)
  readonly #near = new CachePerOwner<number, readonly string[]>(mostWords)
  /** By where it is seen from. */
  readonly #postings = new CachePerOwner<string, readonly Posting[]>(mostWords)
  readonly #populations = new BoundedCache<number>(mostStandpoints)
  readonly #scopes = new BoundedCache<readonly number[]>(mostStandpoints)

  constructor(connection: Connection) {
    this.#connection = connection
    connection.onChange(() => {
      this.#heads.clear()
      this.#near.clear()
      this.#postings.clear()
      this.#populations.clear()
      this.#scopes.clear()
    })
  }

  formLengths(userId: number, heads: readonly string[]): ReadonlyMap<string, readonly number[]> {
    const found = new Map<string, readonly number[]>()
    const cache = this.#heads.of(userId)
    for (const word of heads) {
      const { lengths } = cache.get(word) ?? this.#readHead(userId, word, cache)
      if (lengths.length > 0) found.set(word, lengths)
    }
    return found
  }

  /** For words that keep coming; reading them for every word would cost more than it saves. */
  secondWords(userId: number, heads: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
    const found = new Map<string, ReadonlySet<string>>()
    const cache = this.#heads.of(userId)
    for (const word of heads) {
      const head = cache.get(word)
      if (head === undefined) continue
      head.asked += 1
      if (head.asked === oftenAsked) head.seconds = this.#readSeconds(userId, word)
      if (head.seconds !== null) found.set(word, head.seconds)
    }
    return found
  }

  postings(userId: number, view: Viewpoint, keys: readonly string[]): ReadonlyMap<string, readonly Posting[]> {
    const scopes = this.#scopeIds(userId, view.scopes)
    // As JSON, so that no agent can be named to look like another one somewhere else.
    const seenFrom = JSON.stringify([userId, view.agent, scopes])
    const found = new Map<string, readonly Posting[]>()
    const unknown: string[] = []
    const cache = this.#postings.of(seenFrom)
    for (const key of new Set(keys)) {
      // Words come again in a conversation; phrases that mean nothing hardly do, and would crowd them out.
      const known = key.includes(' ') ? undefined : cache.get(key)
      if (known === undefined) unknown.push(key)
      else if (known.length > 0) found.set(key, known)
    }
    const read = this.#readPostings(userId, view.agent, scopes, unknown)
    for (const key of unknown) {
      const postings = inOrder([...(read.get(key)?.values() ?? [])])
      if (!key.includes(' ')) cache.set(key, postings)
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
    const found = new Map<string, readonly string[]>()
    const cache = this.#near.of(userId)
    for (const written of new Set(words)) {
      const known = cache.get(written)
      if (known !== undefined) {
        if (known.length > 0) found.set(written, known)
        continue
      }
      near.set(written, new Set())
      for (const slip of deletions(written).map(textHash)) {
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
    for (const [written, meant] of near) {
      const sorted = [...meant].sort(compareText)
      cache.set(written, sorted)
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

  #readHead(userId: number, word: string, cache: BoundedCache<Head>): Head {
    const lengths = this.#connection
      .statement<[number, string], number>(
        'SELECT length FROM form_heads WHERE user_id = ? AND head = ? ORDER BY length',
      )
      .pluck()
      .all(userId, word)
    const head = { lengths, asked: 0, seconds: null }
    cache.set(word, head)
    return head
  }

  #readSeconds(userId: number, head: string): ReadonlySet<string> | null {
    // Between the words of a key there is one space, and nothing sorts between it and "!".
    const keys = this.#connection
      .statement<[number, string, string, number], string>(
        'SELECT key FROM forms WHERE user_id = ? AND key >= ? AND key < ? LIMIT ?',
      )
      .pluck()
      .all(userId, `${head} `, `${head}!`, mostSeconds + 1)
    return keys.length > mostSeconds ? null : new Set(keys.map((key) => key.split(' ', 2)[1] as string))
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
