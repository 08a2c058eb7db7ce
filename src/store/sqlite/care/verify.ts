import { findingOf, type OnProgress, type StoreFinding } from '../../../beliefs/store-care.ts'
import { MemoryError } from '../../../errors.ts'
import { codeOf } from '../../../files/leftovers.ts'
import { isAsWritten } from '../../belief-row.ts'
import { beforeFirst, hashBody, hashChanges, hashEvent, sealForgotten, turnBody } from '../../journal-chain.ts'
import { eventFields } from '../../journal-rows.ts'
import { type Connection, logTooLong, pageSize, readPages } from '../connection.ts'
import { maxLogBytes, safeSettings, sqliteCode, translateSqliteError } from '../database.ts'
import { type OwnChangeRow, type OwnEventRow, selectChanges, selectEvents } from '../journal.ts'
import { readTurn } from '../turns/turn-lookups.ts'
import { compareDerived } from './derived-tables.ts'
import { headProblem, readHead } from './journal-head.ts'
import { findRemains } from './scrub.ts'

/** Checks the settings, the file, the journal and everything derived from it, on one snapshot of the store. */
export function verifyStore(connection: Connection, onProgress: OnProgress = () => {}): readonly StoreFinding[] {
  const head = readHead(connection.file)
  const isWritable = mayWrite(connection)
  return connection.read(() => [
    examine(connection, 'settings', () => verifySettings(connection, isWritable)),
    examine(connection, 'file', () => verifyFile(connection, onProgress)),
    examine(connection, 'journal', () => verifyChain(connection, head, onProgress)),
    // From here to the end of the transaction, the names of derived tables refer to temporary ones.
    examine(connection, 'index', () => withWrites(connection, () => compareDerived(connection, onProgress))),
    examine(connection, 'forgotten', verifyForgotten),
    examine(connection, 'log', verifyLog),
  ])
}

/** Checks the pages and the journal of a copy, from which everything else can be derived. */
export const verifyBackup = (connection: Connection): readonly StoreFinding[] =>
  connection.read(() => [
    examine(connection, 'file', () => verifyFile(connection, () => {})),
    examine(connection, 'journal', () => verifyChain(connection, null, () => {})),
  ])

/** The complaints of a check, empty if it passed. `detail` describes what was checked. */
type CheckResult = { readonly detail: string; readonly complaints: readonly string[] }

/** Runs one check. A check that fails to run is a finding too. */
function examine(connection: Connection, check: string, verify: (connection: Connection) => CheckResult): StoreFinding {
  try {
    const { detail, complaints } = verify(connection)
    return findingOf(check, detail, complaints)
  } catch (error) {
    const known = sqliteCode(error) === null ? error : translateSqliteError(error, connection.file)
    if (known instanceof MemoryError) return { check, ok: false, detail: known.message }
    if (sqliteCode(error) !== null || error instanceof SyntaxError) return { check, ok: false, detail: String(error) }
    // A flipped bit can change a text or hash into a number, which no function here accepts.
    if (codeOf(error) === 'ERR_INVALID_ARG_TYPE')
      return { check, ok: false, detail: 'a row contains a value of the wrong type for its column' }
    throw error
  }
}

/** False if the header of the file forbids writing, which no PRAGMA reports. True for a file opened for reading, which cannot be tested. */
function mayWrite(connection: Connection): boolean {
  if (!connection.isOpenForWriting) return true
  try {
    connection.read(() => withWrites(connection, () => connection.run('UPDATE derivation SET id = id WHERE false')))
    return true
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return sqliteCode(error.cause) !== 'SQLITE_READONLY'
  }
}

/** Runs statements that write, also on a store that is open for reading only, in a transaction that is rolled back. */
function withWrites<Result>(connection: Connection, work: () => Result): Result {
  const queryOnly = connection.value<number>('PRAGMA query_only') ?? 0
  connection.run('PRAGMA query_only = 0')
  try {
    return work()
  } finally {
    connection.run(`PRAGMA query_only = ${queryOnly}`)
  }
}

function verifySettings(connection: Connection, isWritable: boolean): CheckResult {
  if (connection.value('PRAGMA journal_mode') === 'memory')
    return { detail: 'a copy in memory, since the directory cannot be written to', complaints: [] }
  // Skips the journal mode of a read-only store, because a restored backup has a different one until it is opened for writing.
  const settings = safeSettings.filter(([name]) => !connection.isReadonly || name !== 'journal_mode')
  const complaints = settings.flatMap(([name, wanted]) => {
    const found = connection.value(`PRAGMA ${name}`)
    return found === wanted ? [] : [`${name} is ${found}, not ${wanted}`]
  })
  if (!isWritable) complaints.push('the header of the file forbids writing')
  return { detail: `all ${settings.length} SQLite safety settings are on`, complaints }
}

/** Checks every page, including the structure of the full-text index. */
function verifyFile(connection: Connection, onProgress: OnProgress): CheckResult {
  onProgress('file', 0, 1)
  const messages = connection.column<string>('PRAGMA integrity_check(100)').filter((message) => message !== 'ok')
  const orphans = connection.all('PRAGMA foreign_key_check').length
  return {
    detail: 'every page, index and reference is sound',
    complaints: orphans === 0 ? messages : [...messages, `${orphans} rows refer to rows that are not there`],
  }
}

/** Recomputes the hash of every event and of every text that has not been erased. */
function verifyChain(connection: Connection, head: ReturnType<typeof readHead>, onProgress: OnProgress): CheckResult {
  const total = connection.value<number | null>('SELECT max(number) FROM events') ?? 0
  const cut = headProblem(connection, head)
  const complaints: string[] = cut === null ? [] : [cut]
  let previous: Uint8Array = beforeFirst
  let number = 0
  let texts = 0
  let changes = 0
  for (const event of eventsOf(connection)) {
    if (number % pageSize === 0) onProgress('journal', number, total)
    number += 1
    if (event.number !== number) complaints.push(`event ${number} is missing`)
    number = event.number
    const rows = connection.all<OwnChangeRow>(`${selectChanges} WHERE event = ? ORDER BY ordinal`, [event.number])
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

function complaintsAbout(connection: Connection, event: OwnEventRow, rows: readonly OwnChangeRow[]): readonly string[] {
  const { number } = event
  const turns = connection.all<StoredTurn>(
    'SELECT row, id, hash, salt, erased_by FROM turns WHERE event = ? ORDER BY ordinal',
    [number],
  )
  const erased = connection.column<string>('SELECT id FROM turns WHERE erased_by = ? ORDER BY erased_order', [number])
  const complaints = [
    ...rows.flatMap((row) => complaintsAboutText(connection, event, row)),
    ...turns.flatMap((turn) => complaintsAboutTurn(connection, number, turn)),
  ]
  const sealed = rows.map(({ belief, version, outcome, body_hash }) => ({
    beliefId: belief,
    version,
    outcome,
    bodyHash: body_hash,
  }))
  if (!isEqual(hashChanges(sealed, [...turns, ...sealForgotten(erased)]), event.changes_hash))
    complaints.push(`the changes of event ${number} were altered`)
  const expected = hashEvent(eventFields(event.user, event), event.changes_hash, event.previous_hash)
  if (!isEqual(expected, event.hash)) complaints.push(`event ${number} was altered`)
  return complaints
}

function complaintsAboutText(connection: Connection, event: OwnEventRow, row: OwnChangeRow): string[] {
  const place = `the text of ${row.belief} in event ${event.number}`
  if (row.user_id !== event.user_id) return [`${place} belongs to another user than the event`]
  if (!isAsWritten(row)) return [`${place} was altered`]
  if (row.body !== null || row.outcome !== 'present') return []
  const erased = connection.value(
    `SELECT 1 FROM changes WHERE user_id = ? AND belief_id = ? AND event > ? AND outcome = 'erased' LIMIT 1`,
    [row.user_id, row.belief, event.number],
  )
  return erased === undefined ? [`${place} is missing, although it was not forgotten`] : []
}

type StoredTurn = {
  readonly row: number
  readonly id: string
  readonly hash: Uint8Array
  readonly salt: Uint8Array | null
  readonly erased_by: number | null
}

/** Complains if the text of a turn was altered, or is null although no event erased it. */
function complaintsAboutTurn(connection: Connection, event: number, stored: StoredTurn): readonly string[] {
  const { row, id, hash, salt, erased_by } = stored
  const turn = readTurn(connection, row)
  if (turn === null)
    return erased_by === null ? [`the turn ${id} of event ${event} is missing, although it was not forgotten`] : []
  const isAsSaid = salt !== null && isEqual(hashBody(salt, turnBody(turn)), hash)
  return isAsSaid ? [] : [`the turn ${id} of event ${event} was altered`]
}

/** Every event of the journal. */
const eventsOf = (connection: Connection): Generator<OwnEventRow> =>
  readPages((last, size) =>
    connection.all(`${selectEvents} WHERE number > ? ORDER BY number LIMIT ?`, [last?.number ?? 0, size]),
  )

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0

function verifyLog({ file, logSize }: Connection): CheckResult {
  const complaints = logSize > maxLogBytes ? [logTooLong(file, logSize)] : []
  return { detail: `${Math.ceil(logSize / 1024)} KiB in the write-ahead log`, complaints }
}

function verifyForgotten(connection: Connection): CheckResult {
  const event = findRemains(connection)
  return {
    detail: 'nothing that was forgotten is left in the file',
    complaints:
      event === null
        ? []
        : [`text forgotten by event ${event} may be left in unused parts of the file; \`credence doctor\` removes it`],
  }
}
