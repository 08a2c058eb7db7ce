import { MemoryError } from '../../errors.ts'
import { unitsOf } from '../../search/turns/passages.ts'
import { deriveBelief, parseBody } from './belief-row.ts'
import type { Connection } from './connection.ts'
import { type ChangeRow, damagedJournal, isAsWritten, selectChanges } from './journal.ts'
import { Projection } from './projections.ts'
import { originOf, roleOf } from './turn-lookups.ts'
import { TurnIndexer } from './turn-writing.ts'

/**
 * Identifies the text analysis that the derived tables were filled with. A store with another version is derived again
 * when it is opened, since entries of other rules could be neither found nor removed. A test tells when this must change.
 */
export const analysisVersion = 'b0dc478bbf674b64'

/**
 * Derives the tables again if they were filled with another text analysis, and keeps watching for another version of
 * the program that fills them differently in the meantime.
 */
export function requireOwnDerivation(connection: Connection, isReadonly: boolean): void {
  const isOwn = (): boolean => connection.value<string>('SELECT analysis FROM derivation') === analysisVersion
  if (!connection.read(isOwn)) {
    if (isReadonly) throw otherVersion(connection.file)
    // Checked again under the lock: another process may have derived them in the meantime.
    connection.write(() => isOwn() || deriveAgain(connection))
  }
  connection.onForeignChange(() => {
    if (!isOwn()) throw otherVersion(connection.file)
  })
}

const derivedTables =
  'beliefs members forms phrase_prefixes typos words audience_scopes audiences scopes turn_postings turn_speakers'

/** Empties the derived tables and fills them from the journal and the turns, inside the caller's transaction. */
export function deriveAgain(connection: Connection): void {
  for (const table of derivedTables.split(' ')) connection.run(`DELETE FROM ${table}`)
  connection.run(`INSERT INTO texts (texts) VALUES ('delete-all')`)
  for (const userId of connection.column<number>('SELECT id FROM users ORDER BY id')) {
    const projection = new Projection(connection, userId)
    for (const body of newestBodies(connection, userId)) {
      const derived = deriveBelief(parseBody(body))
      if (!projection.enterScopes(derived)) {
        const problem = `gives the name "${derived.nameKey}" to ${derived.belief.id} and to another belief`
        throw new MemoryError('unavailable', `The journal of ${connection.file} ${problem}.`, {
          hint: 'Nothing was changed. Restore a backup.',
        })
      }
      projection.insert(derived, body)
    }
    projection.finish()
  }
  indexTurns(connection)
  connection.run('INSERT OR REPLACE INTO derivation (id, analysis) VALUES (1, ?)', [analysisVersion])
}

const pageSize = 500

/** The current text of each belief of a user, according to the journal. Read in pages, since there may be millions. */
export function* newestBodies(connection: Connection, userId: number): Generator<string> {
  for (let last = ''; ; ) {
    const page = connection.all<ChangeRow>(
      `${selectChanges} AS newest WHERE user_id = ? AND belief_id > ? AND outcome = 'present' AND event = (
         SELECT max(event) FROM changes WHERE user_id = newest.user_id AND belief_id = newest.belief_id)
       ORDER BY belief_id LIMIT ?`,
      [userId, last, pageSize],
    )
    for (const row of page) {
      const { event, belief_id, body } = row
      if (body === null || !isAsWritten(row)) throw damagedJournal(connection.file, event, belief_id)
      yield body
      last = belief_id
    }
    if (page.length < pageSize) return
  }
}

type StoredTurn = {
  readonly row: number
  readonly user: string
  readonly scope_id: number
  readonly scope: string
  readonly role: number
  readonly origin: number
  readonly speaker: string | null
  readonly text: string
}

/** Every turn that has a text, in the order of the rows. */
export function* storedTurns(connection: Connection): Generator<StoredTurn> {
  for (let last = -1; ; ) {
    const page = connection.all<StoredTurn>(
      `SELECT turns.row, users.name AS user, turns.scope AS scope_id, turn_scopes.name AS scope, role, origin, speaker,
         text FROM turns JOIN turn_texts USING (row) JOIN users ON users.id = turns.user_id
       JOIN turn_scopes ON turn_scopes.id = turns.scope WHERE turns.row > ? ORDER BY turns.row LIMIT ?`,
      [last, pageSize],
    )
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.row ?? last
  }
}

function indexTurns(connection: Connection): void {
  connection.run('UPDATE turn_scopes SET units = 0, length = 0, human_words = 0')
  const setLengths = connection.statement('UPDATE turns SET lengths = ? WHERE row = ?')
  const index = new TurnIndexer(connection)
  let collected = 0
  for (const { row, scope_id, role, origin, speaker, text } of storedTurns(connection)) {
    const units = unitsOf(text)
    setLengths.run(units.map(({ length }) => length).join(','), row)
    index.add({ row, scope: scope_id, units, turn: { role: roleOf(role), origin: originOf(origin), speaker, text } })
    collected += 1
    if (collected % pageSize === 0) index.finish()
  }
  index.finish()
}

const otherVersion = (file: string): MemoryError =>
  new MemoryError('unavailable', `The index of ${file} was made by another version of Credence.`, {
    hint: 'Run one version only; start this program again.',
  })
