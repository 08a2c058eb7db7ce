import type { AccessStore } from '../../beliefs/access-store.ts'
import { sqlAccess } from '../access-sql.ts'
import type { Connection } from './connection.ts'

/** People, tokens and teams, stored in the SQLite file of the memory. */
export function openAccess(connection: Connection): AccessStore {
  return sqlAccess(async <Row>(use: 'read' | 'write', sql: string, values: readonly unknown[]) => {
    const named = Object.fromEntries(values.map((value, index) => [index + 1, value]))
    return connection[use](() => connection.all<Row>(sql.replaceAll('credence.', ''), [named]))
  })
}
