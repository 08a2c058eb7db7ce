import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { compareText } from '../../beliefs/identity.ts'
import type { FormIndex, Posting } from '../../search/form-index.ts'
import { isOneEditApart, typoProbes } from '../../search/typo.ts'
import { agentKey, textHash, unpackFlags } from '../belief-row.ts'
import { BoundedCache } from '../bounded-cache.ts'
import type { Connection, ReadForUser } from './connection.ts'

const maxViews = 50
const maxWords = 20_000

type FormRow = {
  readonly key: string
  readonly belief: string
  readonly ordinal: number
  readonly breaks: number
  readonly flags: number
  readonly reinforced: number
}

type FormReads = Pick<FormIndex, 'formLengths' | 'everyHolder' | 'postings' | 'wordsNear' | 'population'>

/**
 * Functions that read the form index by key. Results for words, including empty results, are cached until the store changes, because
 * messages of one conversation share most of their words.
 */
export function formReads(connection: Connection, reading: ReadForUser): FormReads {
  const lengths = new BoundedCache<readonly number[]>(maxWords)
  const near = new BoundedCache<readonly string[]>(maxWords)
  const wordPostings = new BoundedCache<readonly Posting[]>(maxWords)
  const populations = new BoundedCache<number>(maxViews)
  connection.onChange(() => {
    for (const cache of [lengths, near, wordPostings, populations]) cache.clear()
  })

  const scopeIds = (userId: number, { scopes }: Viewpoint): readonly number[] => {
    const named = 'SELECT id FROM scopes WHERE user_id = ? AND name = ?'
    return [...new Set(scopes)].flatMap((scope) => connection.column<number>(named, [userId, scope]))
  }

  function readPostings(userId: number, view: Viewpoint, scopes: readonly number[], keys: readonly string[]) {
    // The postings by key, then by belief. A belief in several visible scopes has a row for each; the rows differ only in the scope.
    const read = new Map<string, Map<string, Posting>>()
    // One query per owner: with both owners in one query, SQLite would scan the rows of both for every key.
    const owners = [...new Set([agentKey(null), agentKey(view.agent)])]
    const places = scopes.flatMap((scope) => owners.map((owner) => [scope, owner] as const))
    for (const [scope, owner] of places) {
      for (const batch of batchesOf([...new Set(keys)])) {
        const rows = connection.all<FormRow>(
          `WITH asked (value) AS (VALUES ${slots})
           SELECT key, belief, ordinal, breaks, flags, reinforced FROM asked
           CROSS JOIN forms ON user_id = ? AND key = asked.value AND current = 1 AND scope = ? AND agent = ?`,
          [...batch, userId, scope, owner],
        )
        for (const { key, belief, ordinal, breaks, flags, reinforced } of rows) {
          const postings = read.get(key) ?? new Map<string, Posting>()
          read.set(key, postings)
          postings.set(belief, { beliefId: belief, ordinal, breaks, ...unpackFlags(flags), reinforcedAt: reinforced })
        }
      }
    }
    const byId = (a: Posting, b: Posting): number => compareText(a.beliefId, b.beliefId)
    return collectFound(keys, (key) => [...(read.get(key)?.values() ?? [])].sort(byId))
  }

  function readNear(userId: number, words: readonly string[]) {
    const probes = [...new Set(words)].flatMap((written) =>
      typoProbes(written).map((half) => ({ written, half: textHash(half) })),
    )
    const writtenAs = Map.groupBy(probes, ({ half }) => half)
    const meant = new Map<string, Set<string>>()
    for (const batch of batchesOf([...writtenAs.keys()])) {
      const rows = connection.all<{ half: number; word: string }>(
        `WITH asked (value) AS (VALUES ${slots})
         SELECT half, word FROM asked CROSS JOIN typos ON user_id = ? AND half = asked.value`,
        [...batch, userId],
      )
      for (const { half, word } of rows)
        for (const { written } of writtenAs.get(half) ?? [])
          if (isOneEditApart(written, word)) meant.set(written, (meant.get(written) ?? new Set()).add(word))
    }
    return collectFound(words, (written) => [...(meant.get(written) ?? [])].sort(compareText))
  }

  function populationOf(userId: number, view: Viewpoint): number {
    const asked = JSON.stringify([userId, view.agent, view.scopes])
    const known = populations.get(asked)
    if (known !== undefined) return known
    const sum = `SELECT sum(current) FROM audiences WHERE agent IN ('', ?) AND id IN (
      SELECT audience FROM audience_scopes WHERE user_id = ? AND scope IN (SELECT value FROM json_each(?)))`
    const values = [agentKey(view.agent), userId, JSON.stringify(scopeIds(userId, view))]
    return populations.set(asked, connection.value<number | null>(sum, values) ?? 0)
  }

  return {
    formLengths: (user, words) => {
      const withWord = 'SELECT length FROM phrase_prefixes WHERE user_id = ? AND word = ? ORDER BY length'
      return reading(user, new Map(), (userId) =>
        cacheLookup(lengths, `${userId}`, words, (unknown) =>
          collectFound(unknown, (word) => connection.column<number>(withWord, [userId, word])),
        ),
      )
    },
    everyHolder: (user, keys) => {
      const holding = 'SELECT DISTINCT belief FROM forms WHERE user_id = ? AND key = ? ORDER BY belief'
      return reading(user, new Map(), (userId) =>
        collectFound(keys, (key) => connection.column<string>(holding, [userId, key])),
      )
    },
    postings: (view, keys) =>
      reading(view.user, new Map(), (userId) => {
        const scopes = scopeIds(userId, view)
        // As JSON, so that no name of an agent can produce the key of another view.
        const seenFrom = JSON.stringify([userId, view.agent, scopes])
        return cacheLookup(wordPostings, seenFrom, keys, (unknown) => readPostings(userId, view, scopes, unknown))
      }),
    wordsNear: (user, words) =>
      reading(user, new Map(), (userId) =>
        cacheLookup(near, `${userId}`, words, (unknown) => readNear(userId, unknown)),
      ),
    population: (view) => reading(view.user, 0, (userId) => populationOf(userId, view)),
  }
}

/** The items of each key, from the cache or with one query. Keys without items are left out. */
function cacheLookup<Item>(
  cache: BoundedCache<readonly Item[]>,
  owner: string,
  keys: readonly string[],
  read: (unknown: readonly string[]) => ReadonlyMap<string, readonly Item[]>,
): ReadonlyMap<string, readonly Item[]> {
  // Single words recur in a conversation. Most phrases do not, and would evict the words.
  const known = new Map(keys.map((key) => [key, key.includes(' ') ? undefined : cache.get(`${owner} ${key}`)] as const))
  const unknown = [...known].flatMap(([key, items]) => (items === undefined ? [key] : []))
  const fresh = read(unknown)
  for (const key of unknown) if (!key.includes(' ')) cache.set(`${owner} ${key}`, fresh.get(key) ?? [])
  return collectFound(keys, (key) => known.get(key) ?? fresh.get(key) ?? [])
}

/** The items of each key. Keys without items are left out. */
const collectFound = <Item>(
  keys: readonly string[],
  read: (key: string) => readonly Item[],
): ReadonlyMap<string, readonly Item[]> =>
  new Map([...new Set(keys)].map((key) => [key, read(key)] as const).filter(([, items]) => items.length > 0))

const batchSize = 32
const slots = Array<string>(batchSize).fill('(?)').join(', ')

/** Splits values into lists of one length, for one prepared statement. Nulls, which match nothing, fill the last one. */
function* batchesOf<Value extends number | string>(values: readonly Value[]): Generator<readonly (Value | null)[]> {
  for (let from = 0; from < values.length; from += batchSize) {
    const batch: (Value | null)[] = values.slice(from, from + batchSize)
    while (batch.length < batchSize) batch.push(null)
    yield batch
  }
}
