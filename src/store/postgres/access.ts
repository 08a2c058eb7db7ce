import type { AccessStore } from '../../beliefs/access-store.ts'
import { sqlAccess } from '../access-sql.ts'
import type { Connection } from './connection.ts'

/** Who may use the memory, kept in its PostgreSQL database. */
export const openAccess = (connection: Connection): AccessStore =>
  sqlAccess(<Row>(use: 'read' | 'write', sql: string, values: readonly unknown[]) =>
    use === 'read'
      ? connection.readByKey<Row>(sql, values)
      : connection.write(async (run) => {
          const rows = await run<Row>(sql, values)
          await run('COMMIT')
          return rows
        }),
  )
