import { hash } from 'node:crypto'
import { conflict } from '../../errors.ts'
import type { JournalRecord, RecordJournal, TurnColumn } from '../journal-record.ts'

/** The source or target of a copy: a journal, and the people, tokens and teams of its store. */
export type JournalTransfer = RecordJournal & AccessTransfer & { close(): Promise<void> }

/** Extends a hash by all fields of records except `doubtful`, which each store determines itself for old turns. */
const extendDigest = (previous: string, records: readonly JournalRecord[]): string =>
  records.reduce(
    (sum, record) =>
      hash(
        'sha256',
        JSON.stringify([sum, record], (key, value: unknown) => {
          if (key === ('doubtful' satisfies TurnColumn)) return undefined
          // The drivers return bytes in different array types.
          return value instanceof Uint8Array ? Buffer.from(value).toJSON() : value
        }),
      ),
    previous,
  )

/** The tables in insertion order: each comes after the tables that it refers to. */
const tables = {
  people: ['name', 'created_at'],
  teams: ['name', 'created_at'],
  team_members: ['person', 'team', 'role'],
  tokens: ['hash', 'id', 'kind', 'person', 'scopes', 'label', 'created_at', 'last_used_at', 'revoked_at'],
} as const
type Table = keyof typeof tables
const names = Object.keys(tables) as readonly Table[]

/** The sorted rows of each table. A row is a list of its values, in the order of the columns in `tables`. */
type AccessRows = Readonly<Record<Table, readonly (readonly (string | null)[])[]>>
type AccessTransfer = {
  access(): Promise<AccessRows>
  /** Replaces all rows in one transaction. */
  replaceAccess(rows: AccessRows): Promise<void>
}

/** Reads every row of the tables. `select` runs one SELECT. */
export async function readAccess(
  select: (sql: string) => Promise<readonly Readonly<Record<string, string | null>>[]>,
): Promise<AccessRows> {
  const read = async (table: Table) => {
    const found = await select(`SELECT ${tables[table].join(', ')} FROM credence.${table}`)
    const rows = found.map((row) => tables[table].map((column) => row[column] ?? null))
    return rows.map((row) => JSON.stringify(row)).sort()
  }
  const entries: [Table, unknown][] = []
  for (const table of names) entries.push([table, (await read(table)).map((row) => JSON.parse(row) as unknown)])
  return Object.fromEntries(entries) as AccessRows
}

/** The statements that replace every row. Each table is emptied before the tables that it refers to, and filled after them. */
export function* replaceStatements(
  rows: AccessRows,
): Generator<readonly [sql: string, values: readonly (string | null)[]]> {
  for (const table of names.toReversed()) yield [`DELETE FROM credence.${table}`, []]
  for (const table of names) {
    const columns = tables[table]
    const places = columns.map((_, at) => `$${at + 1}`).join(', ')
    const sql = `INSERT INTO credence.${table} (${columns.join(', ')}) VALUES (${places})`
    for (const row of rows[table]) yield [sql, row]
  }
}

/**
 * Replaces the people, tokens and teams of the target with those of the source, so that a token revoked during the copy is revoked in both.
 * Throws if the target has people or teams that the source lacks. If the source has no people, tokens or teams, those of the target stay.
 * Returns the numbers of copied rows. Revoked tokens are copied too, but not counted.
 */
export async function copyAccess(from: AccessTransfer, to: AccessTransfer) {
  const rows = await from.access()
  const there = await to.access()
  const valid = rows.tokens.filter((token) => token[tables.tokens.indexOf('revoked_at')] === null)
  const copied = { people: rows.people.length, tokens: valid.length, teams: rows.teams.length }
  if (copied.people + copied.tokens + copied.teams === 0) return copied
  for (const table of ['people', 'teams'] as const) {
    const known = new Set(rows[table].map(([name]) => name))
    const others = there[table].flatMap(([name]) => (known.has(name ?? null) ? [] : [name]))
    if (others.length > 0)
      throw conflict(
        `The target has ${table} that the source does not have: ${others.join(', ').slice(0, 200)}.`,
        `Remove them there with \`credence ${table === 'people' ? 'people' : 'team'} remove\`, or copy to an empty store. The memories are copied already.`,
      )
  }
  await to.replaceAccess(rows)
  if (JSON.stringify(await to.access()) !== JSON.stringify(rows))
    throw conflict('People, tokens and teams changed while they were copied.', 'Run the copy again.')
  return copied
}

const pageSize = 200

type CopiedUser = {
  readonly user: string
  readonly events: number
  /** The number of events that an earlier copy had already transferred. */
  readonly before: number
}

/**
 * Copies the journals of all users, resumes an interrupted copy, and compares everything afterwards. If a user's history in the target
 * contradicts that in the source, the copy fails and does not change it.
 */
export async function copyJournals(
  from: JournalTransfer,
  to: JournalTransfer,
  onProgress: (user: string, done: number, total: number) => void,
): Promise<readonly CopiedUser[]> {
  const copied: CopiedUser[] = []
  for (const user of await from.users()) {
    const events = await from.count(user)
    const before = await to.count(user)
    await requireSameBeginning(from, to, user, before)
    for (let done = before; done < events; ) {
      const records = await from.read(user, done, pageSize)
      if (records.length === 0) break
      await to.append(user, records)
      done += records.length
      onProgress(user, done, events)
    }
    if ((await to.count(user)) !== events || (await from.count(user)) !== events)
      throw conflict(
        `The memory of "${user}" changed while it was copied.`,
        'Stop the programs that write to it, and run the copy again.',
      )
    await to.setPlaces(user, await from.places(user))
    const one = await digestOfUser(from, user)
    const other = await digestOfUser(to, user)
    if (one !== other)
      throw conflict(`The copy of the memory of "${user}" differs from the original.`, 'Use an empty target.')
    copied.push({ user, events, before })
  }
  return copied
}

async function requireSameBeginning(
  from: JournalTransfer,
  to: JournalTransfer,
  user: string,
  count: number,
): Promise<void> {
  if (count === 0) return
  const [one] = await from.read(user, count - 1, 1)
  const [other] = await to.read(user, count - 1, 1)
  const isSame =
    one !== undefined &&
    other !== undefined &&
    one.at === other.at &&
    Buffer.compare(one.changesHash, other.changesHash) === 0
  if (!isSame)
    throw conflict(
      `The target contains another memory of "${user}" (events: ${count}).`,
      'Copy to an empty store, or forget that memory first.',
    )
}

async function digestOfUser(journal: JournalTransfer, user: string): Promise<string> {
  let digest = ''
  for (let done = 0; ; ) {
    const records = await journal.read(user, done, pageSize)
    if (records.length === 0) return digest
    digest = extendDigest(digest, records)
    done += records.length
  }
}
