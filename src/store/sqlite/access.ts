import type { AccessStore } from '../../beliefs/access-store.ts'
import { sqlAccess } from '../access-sql.ts'
import type { Connection } from './connection.ts'

/** Who may use the memory, kept in its SQLite file. */
export function openAccess(connection: Connection): AccessStore {
  return sqlAccess(async <Row>(use: 'read' | 'write', sql: string, values: readonly unknown[]) => {
    const named = Object.fromEntries(values.map((value, index) => [index + 1, value]))
    return connection[use](() => connection.all<Row>(sql.replaceAll('credence.', ''), [named]))
  })
}
