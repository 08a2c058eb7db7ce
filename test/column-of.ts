import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** The first column of every row of a query on a raw database. */
export const columnOf = <Value extends SQLInputValue>(
  db: DatabaseSync,
  sql: string,
  ...values: readonly SQLInputValue[]
): Value[] =>
  db
    .prepare(sql)
    .all(...values)
    .map((row) => Object.values(row)[0] as Value)
