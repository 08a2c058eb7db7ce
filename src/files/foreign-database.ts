import { DatabaseSync } from 'node:sqlite'

/** How long to wait while another program has locked its database. */
const maxWaitMs = 2_000

/** The rows of a query on another program's SQLite database, which is opened read-only. */
export function* readForeignRows(file: string, sql: string): Generator<Readonly<Record<string, unknown>>> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: maxWaitMs })
  try {
    yield* database.prepare(sql).iterate()
  } finally {
    database.close()
  }
}

/** Whether a file is a database with all of these tables. */
export function hasTables(file: string, names: readonly string[]): boolean {
  try {
    const tables = new Set([...readForeignRows(file, 'SELECT name FROM sqlite_schema')].map(({ name }) => name))
    return names.every((name) => tables.has(name))
  } catch {
    // The file is not a database, or is unreadable.
    return false
  }
}
