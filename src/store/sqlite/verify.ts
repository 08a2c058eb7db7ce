import type { Finding } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import { Connection } from './connection.ts'
import { openScratchDatabase, safeSettings } from './database.ts'
import { deriveInto } from './derivation.ts'
import { remainsOf } from './scrub.ts'
import { sqliteCode, translateSqliteError } from './sqlite-errors.ts'
import { digestedTables, digestOf, rowsOf } from './table-digests.ts'
import { verifyChain } from './verify-chain.ts'

const mostExamples = 3

/** Checks the settings, the file, the journal and everything derived from it, on one state of the store. */
export function verifyStore(connection: Connection): readonly Finding[] {
  return connection.read(() => [
    ...finding(connection, 'settings', verifySettings),
    ...finding(connection, 'file', verifyFile),
    ...finding(connection, 'journal', verifyChain),
    ...finding(connection, 'index', verifyDerived),
    ...finding(connection, 'forgotten', verifyForgotten),
  ])
}

/** What a check complains about; nothing if all is well. `detail` says what was looked at. */
export type CheckResult = { readonly detail: string; readonly complaints: readonly string[] }

/** A check that cannot be carried out has found something. */
function finding(
  connection: Connection,
  check: string,
  verify: (connection: Connection) => CheckResult,
): readonly Finding[] {
  try {
    const { detail, complaints } = verify(connection)
    if (complaints.length === 0) return [{ check, ok: true, detail }]
    const shown = complaints.slice(0, mostExamples)
    const rest = complaints.length - shown.length
    return [{ check, ok: false, detail: [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ') }]
  } catch (error) {
    const known = sqliteCode(error) === null ? error : translateSqliteError(error, connection.file)
    if (known instanceof MemoryError) return [{ check, ok: false, detail: known.message }]
    if (sqliteCode(error) !== null || error instanceof SyntaxError) return [{ check, ok: false, detail: String(error) }]
    throw error
  }
}

function verifySettings(connection: Connection): CheckResult {
  const complaints = safeSettings.flatMap(([name, wanted]) => {
    const found = Object.values(connection.statement<[], object>(`PRAGMA ${name}`).get() ?? {})[0]
    return found === wanted ? [] : [`${name} is ${found}, not ${wanted}`]
  })
  return { detail: safeSettings.map(([name, value]) => `${name} ${value}`).join(', '), complaints }
}

/** Includes the structure of the full-text index, which SQLite checks along with the rest. */
function verifyFile(connection: Connection): CheckResult {
  const messages = connection
    .statement<[], { integrity_check: string }>('PRAGMA integrity_check(100)')
    .all()
    .map((row) => row.integrity_check)
    .filter((message) => message !== 'ok')
  const orphans = connection.statement<[], object>('PRAGMA foreign_key_check').all().length
  return {
    detail: 'every page, index and reference is sound',
    complaints: orphans === 0 ? messages : [...messages, `${orphans} rows refer to rows that are not there`],
  }
}

/** Derives everything once more, elsewhere, and compares. */
function verifyDerived(connection: Connection): CheckResult {
  const scratch = new Connection({ file: '', isReadonly: false, open: openScratchDatabase })
  try {
    const users = connection.statement<[], { id: number; name: string }>('SELECT id, name FROM users').all()
    scratch.write(() => {
      const insert = scratch.statement<[number, string]>('INSERT INTO users (id, name) VALUES (?, ?)')
      for (const { id, name } of users) insert.run(id, name)
      deriveInto(connection, scratch)
    })
    let rows = 0
    const complaints = digestedTables.flatMap((table) => {
      const found = digestOf(connection, table)
      const wanted = digestOf(scratch, table)
      rows += found.rows
      if (found.sum === wanted.sum && found.rows === wanted.rows) return []
      return [`${table} differs from the journal in ${differences(connection, scratch, table)}`]
    })
    return { detail: `${rows} rows of ${digestedTables.length} tables say what the journal says`, complaints }
  } finally {
    scratch.close()
  }
}

function verifyForgotten(connection: Connection): CheckResult {
  const event = remainsOf(connection)
  return {
    detail: 'nothing that was forgotten is left in the file',
    complaints:
      event === null ? [] : [`text forgotten by event ${event} may lie in unused parts of the file; scrub it`],
  }
}

function differences(connection: Connection, scratch: Connection, table: string): string {
  const surplus = new Map<string, number>()
  for (const row of rowsOf(connection, table)) surplus.set(row, (surplus.get(row) ?? 0) + 1)
  for (const row of rowsOf(scratch, table)) surplus.set(row, (surplus.get(row) ?? 0) - 1)
  const counts = [...surplus.values()]
  const extra = counts.reduce((total, count) => total + Math.max(0, count), 0)
  const missing = counts.reduce((total, count) => total + Math.max(0, -count), 0)
  const [example] = [...surplus].find(([, count]) => count !== 0) ?? ['']
  return `${missing} missing and ${extra} surplus rows, such as ${example.slice(0, 120)}`
}
