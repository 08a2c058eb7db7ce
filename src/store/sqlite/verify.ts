import type { Finding } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import {
  beforeFirst,
  forgotten,
  hashBody,
  hashChanges,
  hashEvent,
  type SealedTurn,
  turnBody,
} from '../journal-chain.ts'
import type { Connection } from './connection.ts'
import { safeSettings, sqliteCode, translateSqliteError } from './database.ts'
import { type DerivedRow, type DerivedTable, derivedTables, RowSum, storedRows, sumOf } from './derived-rows.ts'
import { expectedRows } from './expected-rows.ts'
import { type ChangeRow, type EventRow, eventFields, isAsWritten, selectChanges, selectEvents } from './journal.ts'
import { remainsOf } from './scrub.ts'
import { readTurn } from './turn-lookups.ts'

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

/** The complaints of a check, none if all is well. `detail` says what was checked. */
type CheckResult = { readonly detail: string; readonly complaints: readonly string[] }

/** Runs one check. A check that fails to run is a finding too. */
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
    const found = connection.value(`PRAGMA ${name}`)
    return found === wanted ? [] : [`${name} is ${found}, not ${wanted}`]
  })
  return { detail: safeSettings.map(([name, value]) => `${name} ${value}`).join(', '), complaints }
}

/** Includes the structure of the full-text index, which SQLite checks along with the rest. */
function verifyFile(connection: Connection): CheckResult {
  const messages = connection.column<string>('PRAGMA integrity_check(100)').filter((message) => message !== 'ok')
  const orphans = connection.all('PRAGMA foreign_key_check').length
  return {
    detail: 'every page, index and reference is sound',
    complaints: orphans === 0 ? messages : [...messages, `${orphans} rows refer to rows that are not there`],
  }
}

/** Recomputes the hash of every event and of every text that has not been erased. */
function verifyChain(connection: Connection): CheckResult {
  const complaints: string[] = []
  let previous: Uint8Array = beforeFirst
  let number = 0
  let texts = 0
  let changes = 0
  for (const event of eventsOf(connection)) {
    number += 1
    if (event.number !== number) complaints.push(`event ${number} is missing`)
    number = event.number
    const rows = connection.all<ChangeRow>(`${selectChanges} WHERE event = ? ORDER BY ordinal`, [event.number])
    changes += rows.length
    texts += rows.filter(({ body }) => body !== null).length
    if (!isEqual(event.previous_hash, previous)) complaints.push(`event ${number} does not follow the one before it`)
    complaints.push(...complaintsAbout(connection, event, rows))
    previous = event.hash
  }
  const written = connection.value<number>('SELECT count(*) FROM changes') ?? 0
  if (written !== changes) complaints.push(`${written - changes} changes belong to no event`)
  return { detail: `${number} events in one chain, ${texts} texts as written`, complaints }
}

function complaintsAbout(connection: Connection, event: EventRow, rows: readonly ChangeRow[]): readonly string[] {
  const { number } = event
  const complaints = [
    ...rows.flatMap((row) => complaintsAboutText(connection, event, row)),
    ...complaintsAboutTurns(connection, number),
  ]
  const sealed = rows.map(({ belief_id, version, outcome, body_hash }) => ({
    beliefId: belief_id,
    version,
    outcome,
    bodyHash: body_hash,
  }))
  if (!isEqual(hashChanges(sealed, turnsOfEvent(connection, number)), event.changes_hash))
    complaints.push(`the changes of event ${number} were altered`)
  const expected = hashEvent(eventFields(event), event.changes_hash, event.previous_hash)
  if (!isEqual(expected, event.hash)) complaints.push(`event ${number} was altered`)
  return complaints
}

function complaintsAboutText(connection: Connection, event: EventRow, row: ChangeRow): string[] {
  const place = `the text of ${row.belief_id} in event ${event.number}`
  if (row.user_id !== event.user_id) return [`${place} belongs to another user than the event`]
  if (!isAsWritten(row)) return [`${place} was altered`]
  if (row.body !== null || row.outcome !== 'present') return []
  const erased = connection.value(
    `SELECT 1 FROM changes WHERE user_id = ? AND belief_id = ? AND event > ? AND outcome = 'erased' LIMIT 1`,
    [row.user_id, row.belief_id, event.number],
  )
  return erased === undefined ? [`${place} is gone, although nobody forgot it`] : []
}

/** What an event did to turns, in the order of its hash. */
const turnsOfEvent = (connection: Connection, event: number): readonly SealedTurn[] => [
  ...connection.all<{ id: string; hash: Buffer }>('SELECT id, hash FROM turns WHERE event = ? ORDER BY ordinal', [
    event,
  ]),
  ...forgotten(connection.column('SELECT id FROM turns WHERE erased_by = ? ORDER BY erased_order', [event])),
]

/** Turns of an event whose text was altered, or is missing although no event erased it. */
function complaintsAboutTurns(connection: Connection, event: number): readonly string[] {
  const rows = connection.all<{ row: number; id: string; hash: Buffer; salt: Buffer | null; erased_by: number | null }>(
    'SELECT row, id, hash, salt, erased_by FROM turns WHERE event = ? ORDER BY ordinal',
    [event],
  )
  return rows.flatMap(({ row, id, hash, salt, erased_by }) => {
    const turn = readTurn(connection, row)
    if (turn === null)
      return erased_by === null ? [`the turn ${id} of event ${event} is gone, although nobody forgot it`] : []
    return salt !== null && isEqual(hashBody(salt, turnBody(turn)), hash)
      ? []
      : [`the turn ${id} of event ${event} was altered`]
  })
}

const pageSize = 500

/** Every event of the journal, read in pages. */
function* eventsOf(connection: Connection): Generator<EventRow> {
  for (let last = 0; ; ) {
    const page = connection.all<EventRow>(`${selectEvents} WHERE number > ? ORDER BY number LIMIT ?`, [last, pageSize])
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.number ?? last
  }
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/** Compares the contents of every derived table with what the journal and the turns say. */
function verifyDerived(connection: Connection): CheckResult {
  const expected = new Map(derivedTables.map((table) => [table, new RowSum()]))
  expectedRows(connection, (table, row) => expected.get(table)?.add(row))
  let rows = 0
  const complaints = derivedTables.flatMap((table) => {
    const found = sumOf(connection, table)
    rows += found.rows
    return expected.get(table)?.text() === found.text() ? [] : [`${table}: ${differences(connection, table)}`]
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
