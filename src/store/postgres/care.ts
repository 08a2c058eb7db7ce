import { hash } from 'node:crypto'
import type { Finding, OnProgress } from '../../beliefs/store-care.ts'
import { unitsOf } from '../../search/turns/passages.ts'
import { isAsWritten, parseBody } from '../belief-row.ts'
import { deriveBelief } from '../derived-belief.ts'
import { beforeFirst, forgotten, hashBody, hashChanges, hashEvent, toHex, turnBody } from '../journal-chain.ts'
import { type ChangeRow, eventFields } from '../journal-rows.ts'
import { BeliefRows, type BeliefTable, beliefTables, columnsOf, type Row } from './belief-rows.ts'
import { lockOwner, type OwnerRow } from './commit.ts'
import type { Connection, Run } from './connection.ts'
import { deriveOwner, newestTexts, storedTurns } from './derivation.ts'
import { type OwnEventRow, selectChanges, selectEvents } from './journal.ts'
import { readTurns } from './turn-lookups.ts'
import { TurnIndex } from './turn-writes.ts'

const pageSize = 500
const mostExamples = 3

/** Every owner in the order of their names, read in pages. */
export async function* ownersIn(run: Run): AsyncGenerator<{ readonly owner: string } & OwnerRow> {
  for (let last: string | null = null; ; ) {
    const page: readonly ({ readonly owner: string } & OwnerRow)[] = await run(
      `SELECT owner, head, hash, next_row, next_session, analysis FROM credence.owners
       WHERE ($1::text IS NULL OR owner > $1) ORDER BY owner LIMIT ${pageSize}`,
      [last],
    )
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.owner ?? last
  }
}

/** Checks the journal of every owner and everything derived from it, on one state of the store. */
export function verifyStore(
  connection: Connection,
  analysis: number,
  onProgress: OnProgress = () => {},
): Promise<readonly Finding[]> {
  return connection.withSnapshot(() =>
    connection.read(async (run) => {
      const journal: string[] = []
      const index: string[] = []
      let [owners, events, rows, waiting] = [0, 0, 0, 0]
      const [{ total } = { total: 0 }] = await run<{ total: number }>('SELECT count(*) AS total FROM credence.owners')
      for await (const owner of ownersIn(run)) {
        onProgress('journal', owners, total)
        const chain = await verifyChain(run, owner.owner, owner)
        journal.push(...chain.map((complaint) => `${owner.owner}: ${complaint}`))
        // Rows of another version of the analysis are derived again when the user's memory is next used.
        const isOwn = owner.analysis === analysis
        const derived = isOwn ? await verifyDerived(run, owner.owner) : { rows: 0, complaints: [] }
        waiting += Number(!isOwn)
        index.push(...derived.complaints.map((complaint) => `${owner.owner}: ${complaint}`))
        owners += 1
        events += owner.head
        rows += derived.rows
      }
      return [
        await verifySettings(run),
        findingOf('journal', `events: ${events}, users: ${owners}, one chain each`, journal),
        findingOf(
          'index',
          `${rows} rows match the journal${waiting === 0 ? '' : `; ${waiting} users of another version wait to be derived again`}`,
          index,
        ),
      ]
    }),
  )
}

function findingOf(check: string, detail: string, complaints: readonly string[]): Finding {
  if (complaints.length === 0) return { check, ok: true, detail }
  const shown = complaints.slice(0, mostExamples)
  const rest = complaints.length - shown.length
  return { check, ok: false, detail: [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ') }
}

/** A commit is acknowledged after it is on the disk, unless somebody has switched that off. */
async function verifySettings(run: Run): Promise<Finding> {
  const rows = await run<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name`,
  )
  const complaints = rows.filter(({ setting }) => setting === 'off').map(({ name }) => `${name} is off`)
  return findingOf('settings', rows.map(({ name, setting }) => `${name} ${setting}`).join(', '), complaints)
}

/** Recomputes the hash of every event and of every text that has not been erased. */
async function verifyChain(run: Run, user: string, { head, hash: newest }: OwnerRow): Promise<readonly string[]> {
  const complaints: string[] = []
  let previous: Uint8Array = beforeFirst
  let number = 0
  for (let last = 0; ; ) {
    const page = await run<OwnEventRow>(`${selectEvents} AND number > $2 ORDER BY number LIMIT ${pageSize}`, [
      user,
      last,
    ])
    const numbers = page.map((event) => event.number)
    const [changes, kept, erased] = await Promise.all([
      run<ChangeRow>(`${selectChanges} AND event = ANY($2::bigint[]) ORDER BY event, ordinal`, [user, numbers]),
      run<TurnHash>(
        `SELECT event, id, row, hash, salt, erased_by FROM credence.turns
         WHERE owner = $1 AND event = ANY($2::bigint[]) ORDER BY event, ordinal`,
        [user, numbers],
      ),
      run<{ event: number; id: string }>(
        `SELECT erased_by AS event, id FROM credence.turns
         WHERE owner = $1 AND erased_by = ANY($2::bigint[]) ORDER BY erased_by, erased_order`,
        [user, numbers],
      ),
    ])
    complaints.push(
      ...(await complaintsAboutTexts(run, user, changes)),
      ...(await complaintsAboutTurns(run, user, kept)),
    )
    for (const event of page) {
      number += 1
      if (event.number !== number) complaints.push(`event ${number} is missing`)
      number = event.number
      if (!isEqual(event.previous_hash, previous)) complaints.push(`event ${number} does not follow the one before it`)
      const sealed = changes
        .filter((change) => change.event === number)
        .map(({ belief, version, outcome, body_hash }) => ({ beliefId: belief, version, outcome, bodyHash: body_hash }))
      const turns = [
        ...kept.filter((turn) => turn.event === number),
        ...forgotten(erased.filter((turn) => turn.event === number).map(({ id }) => id)),
      ]
      if (!isEqual(hashChanges(sealed, turns), event.changes_hash))
        complaints.push(`the changes of event ${number} were altered`)
      if (!isEqual(hashEvent(eventFields(user, event), event.changes_hash, event.previous_hash), event.hash))
        complaints.push(`event ${number} was altered`)
      previous = event.hash
    }
    if (page.length < pageSize) break
    last = numbers.at(-1) ?? last
  }
  if (number !== head || !isEqual(previous, newest)) complaints.push(`the newest event is ${number}, not ${head}`)
  return complaints
}

type TurnHash = {
  readonly event: number
  readonly id: string
  readonly row: number
  readonly hash: Buffer
  readonly salt: Buffer | null
  readonly erased_by: number | null
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

async function complaintsAboutTexts(run: Run, user: string, changes: readonly ChangeRow[]): Promise<readonly string[]> {
  const altered = changes.filter((change) => !isAsWritten(change))
  const gone = changes.filter(({ body, outcome }) => body === null && outcome === 'present')
  const erased = await run<{ belief: string; event: number }>(
    `SELECT belief, max(event) AS event FROM credence.changes
     WHERE owner = $1 AND belief = ANY($2::text[]) AND outcome = 'erased' GROUP BY belief`,
    [user, gone.map(({ belief }) => belief)],
  )
  const erasedBy = new Map(erased.map(({ belief, event }) => [belief, event]))
  const lost = gone.filter(({ belief, event }) => (erasedBy.get(belief) ?? 0) < event)
  return [
    ...altered.map(({ belief, event }) => `the text of ${belief} in event ${event} was altered`),
    ...lost.map(({ belief, event }) => `the text of ${belief} in event ${event} is gone, although nobody forgot it`),
  ]
}

async function complaintsAboutTurns(run: Run, user: string, kept: readonly TurnHash[]): Promise<readonly string[]> {
  if (kept.length === 0) return []
  const turns = await readTurns(run, 'turns.row = ANY($2::integer[])', [user, kept.map(({ row }) => row)])
  const byRow = new Map(turns.map((turn) => [turn.row, turn]))
  return kept.flatMap(({ row, id, event, hash: written, salt, erased_by }) => {
    const turn = byRow.get(row)
    if (turn === undefined)
      return erased_by === null ? [`the turn ${id} of event ${event} is gone, although nobody forgot it`] : []
    const isSame = salt !== null && isEqual(hashBody(salt, turnBody(turn)), written)
    return isSame ? [] : [`the turn ${id} of event ${event} was altered`]
  })
}

type TableName = BeliefTable | 'turn_postings' | 'turn_scopes' | 'turn_speakers'

const turnTables = {
  turn_postings: `scope, term, block, encode(entries, 'hex') AS entries`,
  turn_scopes: 'scope, units, length, human_words',
  turn_speakers: 'scope, name, turns',
} as const

/** Compares the derived tables of an owner with what the journal and the turns say. */
async function verifyDerived(run: Run, owner: string): Promise<{ rows: number; complaints: readonly string[] }> {
  const expected = new Map<TableName, Map<string, number>>()
  const count = (table: TableName, row: Row, step: number): void => {
    const counts = expected.get(table) ?? new Map<string, number>()
    expected.set(table, counts)
    const text = JSON.stringify(row)
    counts.set(text, (counts.get(text) ?? 0) + step)
  }
  const beliefRows = new BeliefRows()
  for await (const { body } of newestTexts(run, owner))
    if (body !== null) beliefRows.add(deriveBelief(parseBody(body)), body, 1)
  for (const [table, row] of beliefRows.all()) count(table, row, 1)
  const index = new TurnIndex()
  for await (const turn of storedTurns(run, owner))
    index.add({ row: turn.row, turn, units: unitsOf(turn.text), step: 1 })
  for (const { scope, term, block, entries } of index.draft.take())
    count('turn_postings', [scope, term, block, sortedEntries(entries.toString('hex'))], 1)
  for (const [scope, totals] of index.scopes) count('turn_scopes', [scope, ...totals], 1)
  for (const [key, turns] of index.speakers) count('turn_speakers', [...(JSON.parse(key) as Row), turns], 1)

  let rows = 0
  const complaints: string[] = []
  for (const table of [...beliefTables, ...(Object.keys(turnTables) as (keyof typeof turnTables)[])]) {
    const columns =
      table in turnTables ? turnTables[table as keyof typeof turnTables] : columnsOf(table as BeliefTable).join(', ')
    const stored = await run<Record<string, Row[number]>>(`SELECT ${columns} FROM credence.${table} WHERE owner = $1`, [
      owner,
    ])
    rows += stored.length
    for (const row of stored) {
      // A scope without turns keeps a row of zeros.
      if (table === 'turn_scopes' && row.units === 0) continue
      const values = Object.values(row)
      if (table === 'turn_postings') values[3] = sortedEntries(values[3] as string)
      count(table, values, -1)
    }
    const wrong = [...(expected.get(table) ?? [])].filter(([, number]) => number !== 0)
    const missing = wrong.filter(([, number]) => number > 0).length
    if (wrong.length > 0)
      complaints.push(
        `${table}: ${missing} rows are missing and ${wrong.length - missing} too many, such as ${wrong[0]?.[0].slice(0, 120)}`,
      )
  }
  return { rows, complaints }
}

/** Entries of a block in one order: forgetting and keeping turns leaves them in any. */
const sortedEntries = (hex: string): string => (hex.match(/.{6}/gu) ?? []).sort().join('')

/** Derives everything again from the journal, owner by owner. */
export async function rebuild(connection: Connection, analysis: number): Promise<void> {
  const owners: string[] = []
  await connection.read(async (run) => {
    owners.splice(0)
    for await (const { owner } of ownersIn(run)) owners.push(owner)
  })
  for (const owner of owners)
    await connection.write(async (run) => {
      await lockOwner(run, owner, analysis)
      await deriveOwner(run, owner, analysis)
      await run('COMMIT')
    })
}

/** A hash over everything derived from the journals. */
export function fingerprint(connection: Connection): Promise<string> {
  return connection.withSnapshot(() =>
    connection.read(async (run) => {
      const sums: unknown[] = []
      for (const table of [...beliefTables, ...Object.keys(turnTables)])
        sums.push(
          await run(
            `SELECT count(*) AS rows, coalesce(sum(hashtextextended(rows::text, 0)), 0)::text AS sum FROM credence.${table} AS rows`,
          ),
        )
      return hash('sha256', JSON.stringify(sums))
    }),
  )
}

/** The number of all events, and a hash over the newest of every owner. */
export function headOf(connection: Connection): Promise<{ readonly number: number; readonly hash: string }> {
  return connection.withSnapshot(() =>
    connection.read(async (run) => {
      let [number, sum] = [0, toHex(beforeFirst)]
      for await (const owner of ownersIn(run)) {
        number += owner.head
        sum = hash('sha256', JSON.stringify([sum, owner.owner, owner.head, toHex(owner.hash)]))
      }
      return { number, hash: sum }
    }),
  )
}

/** Removes the row versions that a forget has left behind. Every table is read, so this is for maintenance. */
export function vacuum(connection: Connection): Promise<void> {
  return connection.read(async (run) => {
    for (const table of ['changes', 'events', 'turns', ...beliefTables, ...Object.keys(turnTables), 'turn_vectors'])
      await run(`VACUUM credence.${table}`)
  })
}
