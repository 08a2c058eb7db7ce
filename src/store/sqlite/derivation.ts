import { unavailable } from '../../errors.ts'
import { runToEnd } from '../../next-turn.ts'
import { unitsOf } from '../../search/turns/passages.ts'
import { isAsWritten, parseBody } from '../belief-row.ts'
import { deriveBelief } from '../derived-belief.ts'
import { type ChangeRow, damagedJournal } from '../journal-rows.ts'
import { originOf, roleOf } from '../turn-rows.ts'
import { type Connection, pageSize, readPages } from './connection.ts'
import { selectChanges } from './journal.ts'
import { openProjection } from './projections.ts'
import { openTurnIndexer } from './turns/turn-writing.ts'

const derivedTables =
  'beliefs members forms phrase_prefixes typos words audience_scopes audiences scopes turn_postings turn_speakers'

/** Rebuilds the derived tables from the journal and the turns, inside the caller's transaction. */
export function deriveAgain(connection: Connection, analysis: string): void {
  // New row numbers, so that no process uses a cached row that has changed.
  const lastRow = connection.value<number | null>('SELECT max(row) FROM beliefs') ?? 0
  // The vectors of beliefs belong to row numbers, and are computed again in the background.
  for (const table of [...derivedTables.split(' '), 'belief_vectors']) connection.run(`DELETE FROM ${table}`)
  connection.run(`INSERT INTO texts (texts) VALUES ('delete-all')`)
  deriveRows(connection, () => {}, lastRow)
  connection.run('INSERT OR REPLACE INTO derivation (id, analysis) VALUES (1, ?)', [analysis])
}

/** Fills empty derived tables from the journal and the turns. The row numbers of beliefs start after `lastRow`. */
export function deriveRows(connection: Connection, onDerived: (beliefs: number) => void, lastRow = 0): void {
  let row = lastRow
  for (const userId of connection.column<number>('SELECT id FROM users ORDER BY id')) {
    const projection = openProjection(connection, userId)
    for (const body of newestBodies(connection, userId)) {
      const derived = deriveBelief(parseBody(body))
      if (!projection.enterScopes(derived)) {
        const problem = `gives the name "${derived.nameKey}" to ${derived.belief.id} and to another belief`
        throw unavailable(`The journal of ${connection.file} ${problem}.`, 'Nothing was changed. Restore a backup.')
      }
      if ((row - lastRow) % pageSize === 0) onDerived(row - lastRow)
      row += 1
      projection.insert(derived, row)
    }
    projection.finish()
  }
  indexTurns(connection)
}

/**
 * The current text of each belief of a user, according to the journal, in the order of their ids. A text that does not match its hash is
 * an error. Read in pages, because there may be many.
 */
function* newestBodies(connection: Connection, userId: number): Generator<string> {
  const newest = `${selectChanges} AS newest WHERE user_id = ? AND belief_id > ? AND outcome = 'present' AND event = (
    SELECT max(event) FROM changes WHERE user_id = newest.user_id AND belief_id = newest.belief_id)
    ORDER BY belief_id LIMIT ?`
  const rows = readPages<ChangeRow>((last, size) => connection.all(newest, [userId, last?.belief ?? '', size]))
  for (const row of rows) {
    const { body } = row
    if (body === null || !isAsWritten(row)) throw damagedJournal(connection.file, row)
    yield body
  }
}

type StoredTurn = {
  readonly row: number
  readonly scope: number
  readonly role: number
  readonly origin: number
  readonly speaker: string | null
  readonly text: string
}

/** Every turn that has a text, in the order of the rows. */
const storedTurns = (connection: Connection): Generator<StoredTurn> =>
  readPages((last, size) =>
    connection.all(
      `SELECT row, scope, role, origin, speaker, text FROM turns JOIN turn_texts USING (row)
       WHERE row > ? ORDER BY row LIMIT ?`,
      [last?.row ?? -1, size],
    ),
  )

function indexTurns(connection: Connection): void {
  connection.run('UPDATE turn_scopes SET units = 0, length = 0, human_words = 0')
  const setLengths = connection.statement('UPDATE turns SET lengths = ? WHERE row = ?')
  const index = openTurnIndexer(connection)
  let collected = 0
  for (const { row, scope, role, origin, speaker, text } of storedTurns(connection)) {
    const units = unitsOf(text)
    setLengths.run(units.map(({ length }) => length).join(','), row)
    const turn = { role: roleOf(role), origin: originOf(origin), speaker, text }
    runToEnd(index.add({ row, scope, units, turn }))
    collected += 1
    if (collected % pageSize === 0) runToEnd(index.finish())
  }
  runToEnd(index.finish())
}
