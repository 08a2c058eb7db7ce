import type { Finding } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { safeSettings } from './database.ts'
import { type DerivedRow, type DerivedTable, derivedTables, RowSum, storedRows, sumOf } from './derived-rows.ts'
import { expectedRows } from './expected-rows.ts'
import { remainsOf } from './scrub.ts'
import { sqliteCode, translateSqliteError } from './sqlite-errors.ts'
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

/** Works out from the journal what every derived table should say, and compares. */
function verifyDerived(connection: Connection): CheckResult {
  const expected = new Map(derivedTables.map((table) => [table, new RowSum()]))
  expectedRows(connection, (table, row) => expected.get(table)?.add(row))
  let rows = 0
  const complaints = derivedTables.flatMap((table) => {
    const found = sumOf(connection, table)
    rows += found.rows
    return expected.get(table)?.isEqual(found) ? [] : [`${table}: ${differences(connection, table)}`]
  })
  return { detail: `${rows} rows of ${derivedTables.length} tables say what the journal says`, complaints }
}

function verifyForgotten(connection: Connection): CheckResult {
  const event = remainsOf(connection)
  return {
    detail: 'nothing that was forgotten is left in the file',
    complaints:
      event === null ? [] : [`text forgotten by event ${event} may lie in unused parts of the file; scrub it`],
  }
}

function differences(connection: Connection, table: DerivedTable): string {
  const surplus = new Map<string, number>()
  const count = (row: DerivedRow, step: number): void => {
    const text = JSON.stringify(row)
    surplus.set(text, (surplus.get(text) ?? 0) + step)
  }
  for (const row of storedRows(connection, table)) count(row, 1)
  expectedRows(connection, (name, row) => {
    if (name === table) count(row, -1)
  })
  const wrong = [...surplus].filter(([, number]) => number !== 0)
  const missing = wrong.filter(([, number]) => number < 0).length
  const [example] = wrong[0] ?? ['']
  return `${missing} rows are missing and ${wrong.length - missing} too many, such as ${example.slice(0, 120)}`
}
