import type { AccessStore } from '../../beliefs/access-store.ts'
import { sqlAccess } from '../access-sql.ts'
import type { PostgresConnection } from './connection.ts'

/** People, tokens and teams, stored in the PostgreSQL database of the memory. */
export const openAccess = (connection: PostgresConnection): AccessStore =>
  sqlAccess(<Row>(use: 'read' | 'write', sql: string, values: readonly unknown[]) => {
    if (use === 'read') return connection.read((run) => run<Row>(sql, values))
    let earlier: readonly Row[] = []
    return connection.write(async (run) => {
      const rows = await run<Row>(sql, values)
      // If a repeated statement changes no row, an earlier attempt was committed, so the rows of that attempt are the result.
      if (rows.length > 0) earlier = rows
      await run('COMMIT')
      return earlier
    })
  })
