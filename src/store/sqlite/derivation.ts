import { MemoryError } from '../../errors.ts'
import { parseBody } from './belief-row.ts'
import type { Connection } from './connection.ts'
import { deriveBelief } from './derived-belief.ts'
import { damagedJournal, isAsWritten } from './journal.ts'
import { Projection } from './projections.ts'
import { readingMark } from './reading-mark.ts'
import { indexTurnsAgain } from './turn-care.ts'

/**
 * Makes sure the derived tables were filled by a program that reads texts as this one does; otherwise what was indexed
 * could be neither found nor removed. Keeps watching for another version that fills them differently meanwhile.
 */
export function requireOwnDerivation(connection: Connection, isReadonly: boolean): void {
  if (connection.read(() => storedMark(connection)) !== readingMark) {
    if (isReadonly) throw otherVersion(connection.file)
    connection.write(() => {
      // Looked up again under the lock: another process may have been faster.
      if (storedMark(connection) !== readingMark) deriveAgain(connection)
    })
  }
  connection.onForeignChange(() => {
    if (storedMark(connection) !== readingMark) throw otherVersion(connection.file)
  })
}

/** Empties the derived tables and fills them from the journal, inside the caller's transaction. */
export function deriveAgain(connection: Connection): void {
  for (const table of emptiedTables) connection.statement<[]>(`DELETE FROM ${table}`).run()
  connection.statement<[]>(`INSERT INTO texts (texts) VALUES ('delete-all')`).run()
  fill(connection)
  indexTurnsAgain(connection)
  connection.statement<[string]>('INSERT OR REPLACE INTO derivation (id, analysis) VALUES (1, ?)').run(readingMark)
}

const emptiedTables = [
  'beliefs',
  'members',
  'forms',
  'form_heads',
  'slips',
  'words',
  'audience_scopes',
  'audiences',
  'scopes',
] as const

/** Fills the empty derived tables with what the journal says. */
function fill(connection: Connection): void {
  const users = connection.statement<[], { id: number }>('SELECT id FROM users ORDER BY id').all()
  for (const { id } of users) {
    const projection = new Projection(connection, id)
    for (const page of newestBodies(connection, id)) {
      for (const { belief_id, body } of page) {
        const derived = deriveBelief(parseBody(body))
        if (!projection.enterScopes(derived)) throw twoHolders(connection.file, belief_id, derived.nameKey)
        projection.insert(derived, body)
      }
    }
    projection.finish()
  }
}

type NewestBody = { readonly belief_id: string; readonly body: string }
type NewestRow = {
  readonly event: number
  readonly belief_id: string
  readonly body: string | null
  readonly body_hash: Buffer | null
  readonly salt: Buffer | null
}

const pageSize = 500

/** What each belief of a user reads now, according to the journal, a page at a time. */
export function* newestBodies(connection: Connection, userId: number): Generator<readonly NewestBody[]> {
  const statement = connection.statement<[number, string, number], NewestRow>(
    `SELECT event, belief_id, body, body_hash, salt FROM changes AS newest
     WHERE user_id = ? AND belief_id > ? AND outcome = 'present' AND event = (
       SELECT max(event) FROM changes WHERE user_id = newest.user_id AND belief_id = newest.belief_id)
     ORDER BY belief_id LIMIT ?`,
  )
  for (let last = ''; ; ) {
    const page = statement.all(userId, last, pageSize)
    yield page.map((row) => {
      const { event, belief_id, body } = row
      if (body === null || !isAsWritten(row)) throw damagedJournal(connection.file, event, belief_id)
      return { belief_id, body }
    })
    if (page.length < pageSize) return
    last = page.at(-1)?.belief_id ?? ''
  }
}

const storedMark = (connection: Connection): string | null =>
  connection.statement<[], { analysis: string }>('SELECT analysis FROM derivation').get()?.analysis ?? null

const otherVersion = (file: string): MemoryError =>
  new MemoryError('unavailable', `The index of ${file} was made by another version of Credence.`, {
    hint: 'Run one version only; start this program again.',
  })

const twoHolders = (file: string, beliefId: string, name: string): MemoryError =>
  new MemoryError(
    'unavailable',
    `The journal of ${file} gives the name "${name}" to ${beliefId} and to another belief.`,
    {
      hint: 'Nothing was changed. Restore a backup.',
    },
  )
