import type { Finding, OnProgress } from '../../../beliefs/store-care.ts'
import { MemoryError } from '../../../errors.ts'
import { codeOf } from '../../../files/leftovers.ts'
import { isAsWritten } from '../../belief-row.ts'
import { beforeFirst, forgotten, hashBody, hashChanges, hashEvent, turnBody } from '../../journal-chain.ts'
import { eventFields } from '../../journal-rows.ts'
import { type Connection, logTooLong } from '../connection.ts'
import { longestLog, safeSettings, sqliteCode, translateSqliteError } from '../database.ts'
import { type OwnChangeRow, type OwnEventRow, selectChanges, selectEvents } from '../journal.ts'
import { readTurn } from '../turns/turn-lookups.ts'
import { type DerivedTable, derivedTables, type Emit, eachStoredRow, RowSums, storedSums } from './derived-rows.ts'
import { emitBeliefs, expectedRows, type Share } from './expected-rows.ts'
import { anchorProblem, readAnchor } from './journal-anchor.ts'
import { remainsOf } from './scrub.ts'
import { forbidsWriting } from './unused-space.ts'

const mostExamples = 3

/** Half of the checks of a store. */
export type Half = 'journal' | 'index'

/** A larger store is checked in two threads. */
export const largeStore = 32 * 2 ** 20

/**
 * Checks the settings, the file, the journal and everything derived from it, or half of that, on one state of the store.
 * `index` is the result of the check of the derived tables, where that has been made already.
 */
export function verifyStore(
  connection: Connection,
  onProgress: OnProgress = () => {},
  half?: Half,
  index?: CheckResult,
): readonly Finding[] {
  const anchor = readAnchor(connection.file)
  const first = (): readonly Finding[] => [
    finding(connection, 'settings', verifySettings),
    finding(connection, 'file', () => verifyFile(connection, onProgress)),
    finding(connection, 'journal', () => verifyChain(connection, anchor, onProgress)),
  ]
  const second = (): readonly Finding[] => [
    finding(connection, 'index', () => index ?? verifyDerived(connection, onProgress)),
    finding(connection, 'forgotten', verifyForgotten),
    finding(connection, 'log', verifyLog),
  ]
  return connection.read(() => [...(half === 'index' ? [] : first()), ...(half === 'journal' ? [] : second())])
}

/** The thread checks the file and the journal, and then its share of the beliefs. */
export type VerifyingThread = {
  journal(): Promise<readonly Finding[]>
  shareOfIndex(share: Share): Promise<ShareOfIndex>
}

/** The rows that a share of the beliefs adds to the derived tables, after an event. */
export type ShareOfIndex = { readonly event: number; readonly sums: ReturnType<RowSums['values']> }

export const shareOfIndex = (connection: Connection, share: Share): ShareOfIndex =>
  connection.read(() => {
    const sums = new RowSums()
    emitBeliefs(connection, sums.add, share)
    return { event: newestEvent(connection), sums: sums.values() }
  })

/** The same as `verifyStore`, in about half the time where a second processor is free. */
export async function verifyWithThread(
  connection: Connection,
  onProgress: OnProgress = () => {},
  thread: VerifyingThread,
): Promise<readonly Finding[]> {
  const middle = connection.read(() => middleBelief(connection))
  const journal = thread.journal()
  const theirs = thread.shareOfIndex({ after: middle }).catch(() => null)
  const index = await derivedInShares(connection, onProgress, middle, theirs)
  return [...(await journal), ...verifyStore(connection, onProgress, 'index', index)]
}

/** This thread also reads the tables, the other one also the journal. */
const ownShare = 0.35

const middleBelief = (connection: Connection): string => {
  const beliefs = connection.value<number>('SELECT count(*) FROM beliefs') ?? 0
  const place = 'SELECT id FROM beliefs ORDER BY id LIMIT 1 OFFSET ?'
  return connection.value<string>(place, [Math.floor(beliefs * ownShare)]) ?? ''
}

/** Undefined unless all is well on one state of the store: then a check in one thread has to say what is wrong. */
async function derivedInShares(
  connection: Connection,
  onProgress: OnProgress,
  middle: string,
  theirs: Promise<ShareOfIndex | null>,
): Promise<CheckResult | undefined> {
  try {
    const { event, sums, stored } = connection.read(() => ({
      event: newestEvent(connection),
      sums: expectedSums(connection, onProgress, { until: middle }),
      stored: storedSums(connection),
    }))
    const other = await theirs
    if (other === null || other.event !== event) return undefined
    sums.addSums(other.sums)
    return wrongTables(sums, stored).length === 0 ? { detail: derivedDetail(stored), complaints: [] } : undefined
  } catch {
    return undefined
  }
}

const newestEvent = (connection: Connection): number =>
  connection.value<number | null>('SELECT max(number) FROM events') ?? 0

/** Checks the pages and the journal of a copy, from which everything else can be derived. */
export const verifyBackup = (connection: Connection): readonly Finding[] =>
  connection.read(() => [
    finding(connection, 'file', () => verifyFile(connection, () => {})),
    finding(connection, 'journal', () => verifyChain(connection, null, () => {})),
  ])

/** The complaints of a check, none if all is well. `detail` says what was checked. */
type CheckResult = { readonly detail: string; readonly complaints: readonly string[] }

/** Runs one check. A check that fails to run is a finding too. */
function finding(connection: Connection, check: string, verify: (connection: Connection) => CheckResult): Finding {
  try {
    const { detail, complaints } = verify(connection)
    if (complaints.length === 0) return { check, ok: true, detail }
    const shown = complaints.slice(0, mostExamples)
    const rest = complaints.length - shown.length
    return { check, ok: false, detail: [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ') }
  } catch (error) {
    const known = sqliteCode(error) === null ? error : translateSqliteError(error, connection.file)
    if (known instanceof MemoryError) return { check, ok: false, detail: known.message }
    if (sqliteCode(error) !== null || error instanceof SyntaxError) return { check, ok: false, detail: String(error) }
    // A flipped bit can turn a text or a hash into a number, which no function here takes.
    if (codeOf(error) === 'ERR_INVALID_ARG_TYPE')
      return { check, ok: false, detail: 'a row holds a value of a type that its column never has' }
    throw error
  }
}

function verifySettings(connection: Connection): CheckResult {
  if (connection.value('PRAGMA journal_mode') === 'memory')
    return { detail: 'a copy in memory, since the directory cannot be written to', complaints: [] }
  // A backup that was put in place has another journal mode until it is opened for writing.
  const settings = safeSettings.filter(([name]) => !connection.isReadonly || name !== 'journal_mode')
  const complaints = settings.flatMap(([name, wanted]) => {
    const found = connection.value(`PRAGMA ${name}`)
    return found === wanted ? [] : [`${name} is ${found}, not ${wanted}`]
  })
  if (forbidsWriting(connection.file)) complaints.push('the header of the file forbids writing')
  return { detail: `all ${settings.length} SQLite safety settings are on`, complaints }
}

/** Includes the structure of the full-text index, which SQLite checks along with the rest. */
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
function verifyChain(
  connection: Connection,
  anchor: ReturnType<typeof readAnchor>,
  onProgress: OnProgress,
): CheckResult {
  const total = connection.value<number | null>('SELECT max(number) FROM events') ?? 0
  const cut = anchorProblem(connection, anchor)
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
  if (!isEqual(hashChanges(sealed, [...turns, ...forgotten(erased)]), event.changes_hash))
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
  return erased === undefined ? [`${place} is gone, although nobody forgot it`] : []
}

type StoredTurn = {
  readonly row: number
  readonly id: string
  readonly hash: Buffer
  readonly salt: Buffer | null
  readonly erased_by: number | null
}

/** Its text was altered, or is missing although no event erased it. */
function complaintsAboutTurn(connection: Connection, event: number, stored: StoredTurn): readonly string[] {
  const { row, id, hash, salt, erased_by } = stored
  const turn = readTurn(connection, row)
  if (turn === null)
    return erased_by === null ? [`the turn ${id} of event ${event} is gone, although nobody forgot it`] : []
  const isAsSaid = salt !== null && isEqual(hashBody(salt, turnBody(turn)), hash)
  return isAsSaid ? [] : [`the turn ${id} of event ${event} was altered`]
}

const pageSize = 500

/** Every event of the journal, read in pages. */
function* eventsOf(connection: Connection): Generator<OwnEventRow> {
  for (let last = 0; ; ) {
    const page = connection.all<OwnEventRow>(`${selectEvents} WHERE number > ? ORDER BY number LIMIT ?`, [
      last,
      pageSize,
    ])
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.number ?? last
  }
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0

/** Compares the contents of every derived table with what the journal and the turns say. */
function verifyDerived(connection: Connection, onProgress: OnProgress): CheckResult {
  const expected = expectedSums(connection, onProgress)
  const stored = storedSums(connection)
  const complaints = wrongTables(expected, stored).map((table) => `${table}: ${differences(connection, table)}`)
  return { detail: derivedDetail(stored), complaints }
}

function expectedSums(connection: Connection, onProgress: OnProgress, share: Share = {}): RowSums {
  const sums = new RowSums()
  const total =
    (connection.value<number>('SELECT count(*) FROM beliefs') ?? 0) * (share.until === undefined ? 1 : ownShare)
  let done = 0
  const emit: Emit = (table, key, counts) => {
    sums.add(table, key, counts)
    if (table !== 'beliefs') return
    if (done % pageSize === 0) onProgress('index', done, Math.ceil(total))
    done += 1
  }
  expectedRows(connection, emit, share)
  return sums
}

function wrongTables(expected: RowSums, stored: RowSums): readonly DerivedTable[] {
  const [should, is] = [expected.values(), stored.values()]
  return derivedTables.filter((table) => should[table].join() !== is[table].join())
}

const derivedDetail = ({ rows }: RowSums): string => `${rows} rows of ${derivedTables.length} tables match the journal`

function verifyLog({ file, logSize }: Connection): CheckResult {
  const complaints = logSize > longestLog ? [logTooLong(file, logSize)] : []
  return { detail: `${Math.ceil(logSize / 1024)} KiB in the write-ahead log`, complaints }
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
  const surplus = new Map<string, number[]>()
  const count =
    (step: number): Emit =>
    (name, key, counts = [1]) => {
      if (name !== table) return
      const text = JSON.stringify(key)
      const known = surplus.get(text) ?? counts.map(() => 0)
      surplus.set(
        text,
        known.map((number, at) => number + step * (counts[at] ?? 0)),
      )
    }
  eachStoredRow(connection, table, count(1))
  expectedRows(connection, count(-1))
  const wrong = [...surplus].filter(([, counts]) => counts.some((number) => number !== 0))
  const missing = wrong.filter(([, counts]) => counts.some((number) => number < 0)).length
  const [example] = wrong[0] ?? ['']
  return `${missing} rows are missing and ${wrong.length - missing} too many, such as ${example.slice(0, 120)}`
}
