import { conflict } from '../../errors.ts'

/** In an order in which rows can be added: what a row refers to comes before it. */
const tables = {
  people: ['name', 'created_at'],
  teams: ['name', 'created_at'],
  team_members: ['person', 'team', 'role'],
  tokens: ['hash', 'id', 'kind', 'person', 'scopes', 'label', 'created_at', 'last_used_at', 'revoked_at'],
} as const
type Table = keyof typeof tables
const names = Object.keys(tables) as readonly Table[]

/** The rows of people, teams, members and tokens, each a list of the values of its columns, sorted. */
export type AccessRows = Readonly<Record<Table, readonly (readonly (string | null)[])[]>>
export type AccessTransfer = {
  access(): Promise<AccessRows>
  /** Replaces all of them, in one transaction. */
  replaceAccess(rows: AccessRows): Promise<void>
}

/** Reads every row with a function that runs a SELECT. */
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

/** The statements that replace every row. Removing people and teams removes what refers to them. */
export function* replacing(rows: AccessRows): Generator<readonly [sql: string, values: readonly (string | null)[]]> {
  for (const table of names.toReversed()) yield [`DELETE FROM credence.${table}`, []]
  for (const table of names) {
    const columns = tables[table]
    const places = columns.map((_, at) => `$${at + 1}`).join(', ')
    const sql = `INSERT INTO credence.${table} (${columns.join(', ')}) VALUES (${places})`
    for (const row of rows[table]) yield [sql, row]
  }
}

/** How many there are; revoked tokens are copied too, and not counted. */
export type CopiedAccess = { readonly people: number; readonly tokens: number; readonly teams: number }

/**
 * Makes people, tokens and teams of the target those of the source, so that a token that was revoked meanwhile is revoked in both.
 * A target with people or teams of its own is an error. A source without any leaves those of the target as they are.
 */
export async function copyAccess(from: AccessTransfer, to: AccessTransfer): Promise<CopiedAccess> {
  const [rows, there] = [await from.access(), await to.access()]
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
