import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { compareText } from '../../beliefs/identity.ts'
import type { Posting } from '../../search/form-index.ts'
import { isOneEditApart, typoProbes } from '../../search/typo.ts'
import { agentKey, textHash, unpackFlags } from '../belief-row.ts'
import { BoundedCache, CachePerOwner } from '../resident/bounded-cache.ts'
import type { Connection } from './connection.ts'

const mostWords = 20_000
const mostViews = 50

/** The second words of phrases are read when a first word was asked for this often in one state of the store. */
const oftenAsked = 3
/** Second words are not read for a word that begins more forms than this. */
const mostSeconds = 512

/** What is known of a word as the first word of forms. */
type FirstWord = {
  readonly lengths: readonly number[]
  asked: number
  /** Null when not read, or when there are too many. */
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
 * Reads of the form index, each by a key. Everything here runs inside the caller's transaction. Results, empty ones
 * too, are cached until the store changes: messages of one conversation share most of their words.
 */
export class FormLookups {
  readonly #connection: Connection
  readonly #firstWords = new CachePerOwner<number, FirstWord>(mostWords)
  readonly #near = new CachePerOwner<number, readonly string[]>(mostWords)
  /** By user, agent and scopes. */
  readonly #postings = new CachePerOwner<string, readonly Posting[]>(mostWords)
  readonly #populations = new BoundedCache<number>(mostViews)
  readonly #scopes = new BoundedCache<readonly number[]>(mostViews)

  constructor(connection: Connection) {
    this.#connection = connection
    const caches = [this.#firstWords, this.#near, this.#postings, this.#populations, this.#scopes]
    connection.onChange(() => {
      for (const cache of caches) cache.clear()
    })
  }

  formLengths(userId: number, words: readonly string[]): ReadonlyMap<string, readonly number[]> {
    const found = new Map<string, readonly number[]>()
    const cache = this.#firstWords.of(userId)
    for (const word of words) {
      const { lengths } = cache.get(word) ?? this.#readFirstWord(userId, word, cache)
      if (lengths.length > 0) found.set(word, lengths)
    }
    return found
  }

  /** For words that are asked for often; to read them for every word would cost more than it saves. */
  secondWords(userId: number, words: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
    const found = new Map<string, ReadonlySet<string>>()
    const cache = this.#firstWords.of(userId)
    for (const word of words) {
      const first = cache.get(word)
      if (first === undefined) continue
      first.asked += 1
      if (first.asked === oftenAsked) first.seconds = this.#readSeconds(userId, word)
      if (first.seconds !== null) found.set(word, first.seconds)
    }
    return found
  }

  postings(userId: number, view: Viewpoint, keys: readonly string[]): ReadonlyMap<string, readonly Posting[]> {
    const scopes = this.#scopeIds(userId, view.scopes)
    // As JSON, so that no name of an agent can produce the key of another view.
    const seenFrom = JSON.stringify([userId, view.agent, scopes])
    const found = new Map<string, readonly Posting[]>()
    const unknown: string[] = []
    const cache = this.#postings.of(seenFrom)
    for (const key of new Set(keys)) {
      // Single words come again in a conversation. Most phrases do not, and would evict the words.
      const known = key.includes(' ') ? undefined : cache.get(key)
      if (known === undefined) unknown.push(key)
      else if (known.length > 0) found.set(key, known)
    }
    const read = this.#readPostings(userId, view.agent, scopes, unknown)
    for (const key of unknown) {
      const postings = [...(read.get(key)?.values() ?? [])].sort((one, other) =>
        compareText(one.beliefId, other.beliefId),
      )
      if (!key.includes(' ')) cache.set(key, postings)
      if (postings.length > 0) found.set(key, postings)
    }
    return found
  }

  everyHolder(userId: number, keys: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const holding = 'SELECT DISTINCT belief FROM forms WHERE user_id = ? AND key = ? ORDER BY belief'
    const found = new Map<string, readonly string[]>()
    for (const key of new Set(keys)) {
      const holders = this.#connection.column<string>(holding, [userId, key])
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
      for (const half of typoProbes(written).map(textHash)) {
        const others = writtenAs.get(half)
        if (others === undefined) writtenAs.set(half, [written])
        else others.push(written)
      }
    }
    for (const batch of batches([...writtenAs.keys()])) {
      const rows = this.#connection.all<{ half: number; word: string }>(
        `WITH asked (value) AS (VALUES ${places})
         SELECT half, word FROM asked CROSS JOIN typos ON user_id = ? AND half = asked.value`,
        [...batch, userId],
      )
      for (const { half, word } of rows)
        for (const written of writtenAs.get(half) ?? []) if (isOneEditApart(written, word)) near.get(written)?.add(word)
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
    const sum = `SELECT sum(current) FROM audiences WHERE agent IN ('', ?) AND id IN (
      SELECT audience FROM audience_scopes WHERE user_id = ? AND scope IN (SELECT value FROM json_each(?)))`
    const values = [agentKey(view.agent), userId, JSON.stringify(this.#scopeIds(userId, view.scopes))]
    const population = this.#connection.value<number | null>(sum, values) ?? 0
    this.#populations.set(asked, population)
    return population
  }

  #readPostings(
    userId: number,
    agent: string | null,
    scopes: readonly number[],
    keys: readonly string[],
  ): ReadonlyMap<string, Map<string, Posting>> {
    const found = new Map<string, Map<string, Posting>>()
    // One query per owner: with both in one query SQLite steps through the rows of both for every key.
    const owners = [...new Set([agentKey(null), agentKey(agent)])]
    for (const [scope, owner] of scopes.flatMap((scope) => owners.map((owner) => [scope, owner] as const))) {
      for (const batch of batches(keys)) {
        const rows = this.#connection.all<FormRow>(
          `WITH asked (value) AS (VALUES ${places})
           SELECT key, belief, ordinal, breaks, flags, reinforced FROM asked
           CROSS JOIN forms ON user_id = ? AND key = asked.value AND current = 1 AND scope = ? AND agent = ?`,
          [...batch, userId, scope, owner],
        )
        for (const { key, belief, ordinal, breaks, flags, reinforced } of rows) {
          // A belief in several visible scopes has one row for each, and all are equal but for the scope.
          const postings = found.get(key) ?? new Map<string, Posting>()
          found.set(key, postings)
          postings.set(belief, { beliefId: belief, ordinal, breaks, ...unpackFlags(flags), reinforcedAt: reinforced })
        }
      }
    }
    return found
  }

  #readFirstWord(userId: number, word: string, cache: BoundedCache<FirstWord>): FirstWord {
    const withWord = 'SELECT length FROM phrase_prefixes WHERE user_id = ? AND word = ? ORDER BY length'
    const first = { lengths: this.#connection.column<number>(withWord, [userId, word]), asked: 0, seconds: null }
    cache.set(word, first)
    return first
  }

  #readSeconds(userId: number, first: string): ReadonlySet<string> | null {
    // The words of a key are separated by one space, and "!" is the character after it.
    const keys = this.#connection.column<string>(
      'SELECT key FROM forms WHERE user_id = ? AND key >= ? AND key < ? LIMIT ?',
      [userId, `${first} `, `${first}!`, mostSeconds + 1],
    )
    return keys.length > mostSeconds ? null : new Set(keys.map((key) => key.split(' ', 2)[1] as string))
  }

  #scopeIds(userId: number, scopes: readonly string[]): readonly number[] {
    const asked = JSON.stringify([userId, scopes])
    const known = this.#scopes.get(asked)
    if (known !== undefined) return known
    const named = 'SELECT id FROM scopes WHERE user_id = ? AND name = ?'
    const ids = [...new Set(scopes)].flatMap((scope) => this.#connection.column<number>(named, [userId, scope]))
    this.#scopes.set(asked, ids)
    return ids
  }
}

const batchSize = 32
const places = Array<string>(batchSize).fill('(?)').join(', ')

/** Splits values into lists of one length, for one prepared statement. Nulls, which match nothing, fill the last one. */
function* batches<Value extends number | string>(values: readonly Value[]): Generator<readonly (Value | null)[]> {
  for (let from = 0; from < values.length; from += batchSize) {
    const batch: (Value | null)[] = values.slice(from, from + batchSize)
    while (batch.length < batchSize) batch.push(null)
    yield batch
  }
}
