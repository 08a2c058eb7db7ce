import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { compareText } from '../../beliefs/identity.ts'
import type { FormIndex, Posting } from '../../search/form-index.ts'
import { isOneEditApart, typoProbes } from '../../search/typo.ts'
import { agentKey, textHash, unpackFlags } from '../belief-row.ts'
import { BoundedCache } from '../resident/bounded-cache.ts'
import type { Connection, Reading } from './connection.ts'

const mostViews = 50

type FormRow = {
  readonly key: string
  readonly belief: string
  readonly ordinal: number
  readonly breaks: number
  readonly flags: number
  readonly reinforced: number
}

type FormReads = Pick<FormIndex, 'formLengths' | 'everyHolder' | 'postings' | 'wordsNear' | 'population'>

/** Reads of the form index, each by a key, for processes that recall once: others have the forms in memory. */
export function formReads(connection: Connection, reading: Reading): FormReads {
  /** Asked for by every recall, also where the forms are in memory. */
  const populations = new BoundedCache<number>(mostViews)
  connection.onChange(() => populations.clear())

  const scopeIds = (userId: number, { scopes }: Viewpoint): readonly number[] => {
    const named = 'SELECT id FROM scopes WHERE user_id = ? AND name = ?'
    return [...new Set(scopes)].flatMap((scope) => connection.column<number>(named, [userId, scope]))
  }

  function readPostings(userId: number, view: Viewpoint, keys: readonly string[]) {
    // By key, then by belief: one in several visible scopes has a row for each, and all are equal but for the scope.
    const read = new Map<string, Map<string, Posting>>()
    // One query per owner: with both in one query SQLite steps through the rows of both for every key.
    const owners = [...new Set([agentKey(null), agentKey(view.agent)])]
    const places = scopeIds(userId, view).flatMap((scope) => owners.map((owner) => [scope, owner] as const))
    for (const [scope, owner] of places) {
      for (const batch of batches([...new Set(keys)])) {
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
    const byId = (one: Posting, other: Posting): number => compareText(one.beliefId, other.beliefId)
    return found(keys, (key) => [...(read.get(key)?.values() ?? [])].sort(byId))
  }

  function readNear(userId: number, words: readonly string[]) {
    const probes = [...new Set(words)].flatMap((written) =>
      typoProbes(written).map((half) => ({ written, half: textHash(half) })),
    )
    const writtenAs = Map.groupBy(probes, ({ half }) => half)
    const near = new Map<string, Set<string>>()
    for (const batch of batches([...writtenAs.keys()])) {
      const rows = connection.all<{ half: number; word: string }>(
        `WITH asked (value) AS (VALUES ${slots})
         SELECT half, word FROM asked CROSS JOIN typos ON user_id = ? AND half = asked.value`,
        [...batch, userId],
      )
      for (const { half, word } of rows)
        for (const { written } of writtenAs.get(half) ?? [])
          if (isOneEditApart(written, word)) near.set(written, (near.get(written) ?? new Set()).add(word))
    }
    return found(words, (written) => [...(near.get(written) ?? [])].sort(compareText))
  }

  function populationOf(userId: number, view: Viewpoint): number {
    const asked = JSON.stringify([userId, view.agent, view.scopes])
    const known = populations.get(asked)
    if (known !== undefined) return known
    const sum = `SELECT sum(current) FROM audiences WHERE agent IN ('', ?) AND id IN (
      SELECT audience FROM audience_scopes WHERE user_id = ? AND scope IN (SELECT value FROM json_each(?)))`
    const values = [agentKey(view.agent), userId, JSON.stringify(scopeIds(userId, view))]
    const population = connection.value<number | null>(sum, values) ?? 0
    populations.set(asked, population)
    return population
  }

  return {
    formLengths: (user, words) => {
      const withWord = 'SELECT length FROM phrase_prefixes WHERE user_id = ? AND word = ? ORDER BY length'
      return reading(user, new Map(), (userId) =>
        found(words, (word) => connection.column<number>(withWord, [userId, word])),
      )
    },
    everyHolder: (user, keys) => {
      const holding = 'SELECT DISTINCT belief FROM forms WHERE user_id = ? AND key = ? ORDER BY belief'
      return reading(user, new Map(), (userId) =>
        found(keys, (key) => connection.column<string>(holding, [userId, key])),
      )
    },
    postings: (view, keys) => reading(view.user, new Map(), (userId) => readPostings(userId, view, keys)),
    wordsNear: (user, words) => reading(user, new Map(), (userId) => readNear(userId, words)),
    population: (view) => reading(view.user, 0, (userId) => populationOf(userId, view)),
  }
}

/** The items of every key that has some. */
const found = <Item>(
  keys: readonly string[],
  read: (key: string) => readonly Item[],
): ReadonlyMap<string, readonly Item[]> =>
  new Map([...new Set(keys)].map((key) => [key, read(key)] as const).filter(([, items]) => items.length > 0))

const batchSize = 32
const slots = Array<string>(batchSize).fill('(?)').join(', ')

/** Splits values into lists of one length, for one prepared statement. Nulls, which match nothing, fill the last one. */
function* batches<Value extends number | string>(values: readonly Value[]): Generator<readonly (Value | null)[]> {
  for (let from = 0; from < values.length; from += batchSize) {
    const batch: (Value | null)[] = values.slice(from, from + batchSize)
    while (batch.length < batchSize) batch.push(null)
    yield batch
  }
}
