import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { compareText } from '../../beliefs/identity.ts'
import type { Announced, Posting } from '../../search/form-index.ts'
import { isOneEditApart, typoProbes } from '../../search/typo.ts'
import { textHash, unpackFlags } from '../belief-row.ts'
import { type BeliefLookups, ownersOf } from './belief-lookups.ts'
import { longTextHash } from './belief-rows.ts'
import type { Connection, Run } from './connection.ts'
import { keyText } from './values.ts'

type FormRow = {
  readonly asked: number
  readonly belief: string
  readonly ordinal: number
  readonly breaks: number
  readonly flags: number
  readonly reinforced: number
}

/** Most beliefs that are loaded before somebody asks for them. */
const mostAhead = 60

// Joined with the keys: for a list of keys, PostgreSQL may read all forms of the owner.
const inView = `owner = $1 AND forms.key = asked.key AND current AND scope = ANY($3::text[]) AND agent = ANY($4::text[])`

/** Reads of the form index. What a snapshot has read once is not read again. */
export class FormLookups {
  readonly #connection: Connection
  readonly #beliefs: BeliefLookups

  constructor(connection: Connection, beliefs: BeliefLookups) {
    this.#connection = connection
    this.#beliefs = beliefs
  }

  /** Everything that a message asks for at first, in one round trip: the results wait in the memo of the snapshot. */
  async prefetch(view: Viewpoint, { words, keys, suspects }: Announced): Promise<void> {
    if (this.#connection.memo === null) return
    const { user } = view
    await this.#connection.read(async (run) => {
      await Promise.all([
        this.#keep(`lengths ${user}`, words, (asked) => this.#readLengths(run, user, asked)),
        this.#keep(`near ${user}`, suspects, (asked) => this.#readNear(run, user, asked)),
        this.#keep(viewKey('postings', view), keys, (asked) => this.#readPostings(run, view, asked)),
        this.#loadFound(run, view, keys),
        this.population(view),
        this.#findTurns(run, user),
      ])
    })
  }

  /** Notes whether the owner has any turns: the quotes of a recall ask for nothing where there are none. */
  async #findTurns(run: Run, user: string): Promise<void> {
    const [owner] = await run<{ next_row: number }>('SELECT next_row FROM credence.owners WHERE owner = $1', [user])
    if ((owner?.next_row ?? 0) === 0) this.#connection.memo?.set(noTurns(user), true)
  }

  formLengths(user: string, words: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.#connection.read((run) =>
      this.#keep(`lengths ${user}`, words, (asked) => this.#readLengths(run, user, asked)),
    )
  }

  postings(view: Viewpoint, keys: readonly string[]): Promise<ReadonlyMap<string, readonly Posting[]>> {
    return this.#connection.read(async (run) => {
      const found = this.#keep(viewKey('postings', view), keys, (asked) => this.#readPostings(run, view, asked))
      // The beliefs are asked for next.
      const [postings] = await Promise.all([found, this.#loadFound(run, view, keys)])
      return postings
    })
  }

  wordsNear(user: string, words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.#connection.read((run) =>
      this.#keep(`near ${user}`, words, (asked) => this.#readNear(run, user, asked)),
    )
  }

  async everyHolder(user: string, keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const asked = [...new Set(keys)]
    const rows = await this.#connection.read((run) =>
      run<{ asked: number; belief: string }>(
        `SELECT DISTINCT asked.at AS asked, belief FROM unnest($2::text[]) WITH ORDINALITY AS asked (key, at)
         JOIN credence.forms ON owner = $1 AND forms.key = asked.key ORDER BY 1, belief`,
        [user, asked.map(storedKey)],
      ),
    )
    return grouped(asked, rows, ({ belief }) => belief)
  }

  async population(view: Viewpoint): Promise<number> {
    const { memo } = this.#connection
    const key = viewKey('population', view)
    const known = memo?.get(key) as Promise<number> | undefined
    const counted = known ?? this.#connection.read((run) => readPopulation(run, view))
    memo?.set(key, counted)
    return counted
  }

  /** The answers for keys: those of the memo, and the others read and kept there. Absent keys have none. */
  async #keep<Item>(
    memoKey: string,
    asked: readonly string[],
    read: (unknown: readonly string[]) => Promise<ReadonlyMap<string, readonly Item[]>>,
  ): Promise<ReadonlyMap<string, readonly Item[]>> {
    const { memo } = this.#connection
    const distinct = [...new Set(asked)]
    if (distinct.length === 0) return new Map()
    if (memo === null) return read(distinct)
    const known = (memo.get(memoKey) as Map<string, readonly Item[]> | undefined) ?? new Map<string, readonly Item[]>()
    memo.set(memoKey, known)
    const unknown = distinct.filter((key) => !known.has(key))
    if (unknown.length > 0) {
      const found = await read(unknown)
      for (const key of unknown) known.set(key, found.get(key) ?? [])
    }
    return new Map(
      distinct.flatMap((key) => (known.get(key)?.length ? [[key, known.get(key) as readonly Item[]]] : [])),
    )
  }

  async #readLengths(run: Run, user: string, words: readonly string[]): Promise<Map<string, readonly number[]>> {
    const rows = await run<{ asked: number; length: number }>(
      `SELECT asked.at AS asked, length FROM unnest($2::text[]) WITH ORDINALITY AS asked (word, at)
       JOIN credence.phrase_prefixes AS prefix ON prefix.owner = $1 AND prefix.word = asked.word ORDER BY 1, length`,
      [user, words.map(storedKey)],
    )
    return grouped(words, rows, ({ length }) => length)
  }

  async #readPostings(run: Run, view: Viewpoint, keys: readonly string[]): Promise<Map<string, readonly Posting[]>> {
    const rows = await run<FormRow>(
      `SELECT DISTINCT ON (asked.at, belief) asked.at AS asked, belief, ordinal, breaks, flags, reinforced
       FROM unnest($2::text[]) WITH ORDINALITY AS asked (key, at) JOIN credence.forms ON ${inView}
       ORDER BY asked.at, belief`,
      [view.user, keys.map(storedKey), view.scopes, ownersOf(view.agent)],
    )
    return grouped(keys, rows, ({ belief, ordinal, breaks, flags, reinforced }) => ({
      beliefId: belief,
      ordinal,
      breaks,
      ...unpackFlags(flags),
      reinforcedAt: reinforced,
    }))
  }

  /** Loads the beliefs that have one of the keys, where they are few. */
  async #loadFound(run: Run, view: Viewpoint, keys: readonly string[]): Promise<void> {
    const { memo } = this.#connection
    if (memo === null || keys.length === 0) return
    const loaded = viewKey('loaded', view)
    const before = (memo.get(loaded) as Set<string> | undefined) ?? new Set<string>()
    memo.set(loaded, before)
    const asked = [...new Set(keys)].filter((key) => !before.has(key))
    if (asked.length === 0) return
    for (const key of asked) before.add(key)
    await this.#beliefs.load(
      run,
      view.user,
      `SELECT id, crc, body FROM credence.beliefs WHERE owner = $1 AND id IN (
         SELECT belief FROM unnest($2::text[]) AS asked (key) JOIN credence.forms ON ${inView} LIMIT ${mostAhead})`,
      [view.user, asked.map(storedKey), view.scopes, ownersOf(view.agent)],
    )
  }

  async #readNear(run: Run, user: string, words: readonly string[]): Promise<Map<string, readonly string[]>> {
    const keys = words.flatMap((written, at) => typoProbes(written).map((probe) => ({ at, key: textHash(probe) })))
    const rows = await run<{ asked: number; word: string }>(
      `SELECT DISTINCT asked.at AS asked, typos.word FROM unnest($2::bigint[], $3::bigint[]) AS asked (key, at)
       JOIN credence.typos ON owner = $1 AND typos.key = asked.key ORDER BY 1, 2`,
      [user, keys.map(({ key }) => key), keys.map(({ at }) => at + 1)],
    )
    const near = grouped(words, rows, ({ word }) => word)
    const meant = [...near].map(([written, found]) => {
      const words = found.filter((word) => isOneEditApart(written, word)).sort(compareText)
      return [written, words] as const
    })
    return new Map(meant.filter(([, words]) => words.length > 0))
  }
}

export const noTurns = (user: string): string => `no turns ${user}`

export const storedKey = (key: string): string => keyText(key, longTextHash)

// As JSON, so that no name of an agent can produce the key of another view.
const viewKey = (what: string, { user, agent, scopes }: Viewpoint): string =>
  JSON.stringify([what, user, agent, scopes])

/** Rows by what was asked: `asked` is the place in the list, from 1. */
function grouped<Row extends { readonly asked: number }, Item>(
  asked: readonly string[],
  rows: readonly Row[],
  itemOf: (row: Row) => Item,
): Map<string, Item[]> {
  const found = new Map<string, Item[]>()
  for (const row of rows) {
    const key = asked[row.asked - 1] as string
    const items = found.get(key)
    if (items === undefined) found.set(key, [itemOf(row)])
    else items.push(itemOf(row))
  }
  return found
}

async function readPopulation(run: Run, { user, agent, scopes }: Viewpoint): Promise<number> {
  const [row] = await run<{ population: number | null }>(
    `SELECT sum(current) AS population FROM credence.audiences WHERE owner = $1 AND agent = ANY($3::text[])
     AND audience IN (SELECT audience FROM credence.audience_scopes WHERE owner = $1 AND scope = ANY($2::text[]))`,
    [user, scopes, ownersOf(agent)],
  )
  return Number(row?.population ?? 0)
}
