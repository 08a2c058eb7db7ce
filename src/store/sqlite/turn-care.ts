import { type Turn, turnOrigins, turnRoles } from '../../beliefs/turn.ts'
import { mostOccurrences, unitsOf, wordCount } from '../../search/turns/passages.ts'
import { hashBody, type SealedTurn, turnBody } from '../journal-hash.ts'
import type { Connection } from './connection.ts'
import type { DerivedRow } from './derived-rows.ts'
import { readTurn } from './turn-lookups.ts'
import { TurnIndexer } from './turn-writing.ts'

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

const pageSize = 500

/** Every turn that has its text, in the order of the rows, a few at a time. */
function* storedTurns(connection: Connection): Generator<StoredTurn> {
  const statement = connection.statement<[number, number], StoredTurn>(
    `SELECT turns.row, users.name AS user, turns.scope AS scope_id, turn_scopes.name AS scope, role, origin, speaker, text
     FROM turns JOIN turn_texts USING (row) JOIN users ON users.id = turns.user_id
     JOIN turn_scopes ON turn_scopes.id = turns.scope WHERE turns.row > ? ORDER BY turns.row LIMIT ?`,
  )
  for (let last = -1; ; ) {
    const page = statement.all(last, pageSize)
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.row ?? last
  }
}

/** Fills the index of turns anew from what was said, inside the caller's transaction. */
export function indexTurnsAgain(connection: Connection): void {
  connection.statement<[]>('DELETE FROM turn_postings').run()
  connection.statement<[]>('DELETE FROM turn_speakers').run()
  connection.statement<[]>('UPDATE turn_scopes SET units = 0, length = 0, human_words = 0').run()
  const setLengths = connection.statement<[string, number]>('UPDATE turns SET lengths = ? WHERE row = ?')
  let index = new TurnIndexer(connection)
  let collected = 0
  for (const { row, scope_id, role, origin, speaker, text } of storedTurns(connection)) {
    const units = unitsOf(text)
    setLengths.run(units.map(({ length }) => length).join(','), row)
    const turn = { role: roleOf(role), origin: originOf(origin), speaker, text }
    index.add({ row, scope: scope_id, units, turn })
    collected += 1
    if (collected % pageSize !== 0) continue
    index.finish()
    index = new TurnIndexer(connection)
  }
  index.finish()
}

const roleOf = (code: number): Turn['role'] => turnRoles[code] as Turn['role']
const originOf = (code: number): Turn['origin'] => turnOrigins[code] as Turn['origin']

/** As many rows as a block of the index has. */
const blockSize = 4_096

/** Every row that the index of turns should have, worked out from the texts without the code that fills it. */
export function expectedTurnRows(
  connection: Connection,
  emit: (table: 'turn_scopes' | 'turn_speakers' | 'turn_postings', row: DerivedRow) => void,
): void {
  const scopes = new Map<string, { user: string; scope: string; units: number; length: number; words: number }>()
  const names = connection
    .statement<[], { user: string; scope: string }>(
      'SELECT users.name AS user, turn_scopes.name AS scope FROM turn_scopes JOIN users ON users.id = user_id',
    )
    .all()
  for (const { user, scope } of names)
    scopes.set(JSON.stringify([user, scope]), { user, scope, units: 0, length: 0, words: 0 })
  const speakers = new Map<string, number>()
  let blocks = new Map<string, string>()
  let block = 0
  const finishBlock = (): void => {
    for (const [key, entries] of blocks) emit('turn_postings', [...(JSON.parse(key) as string[]), entries])
    blocks = new Map()
  }
  for (const { row, user, scope, role, origin, speaker, text } of storedTurns(connection)) {
    const total = scopes.get(JSON.stringify([user, scope]))
    if (total === undefined) continue
    if (roleOf(role) === 'user' && originOf(origin) === 'person') total.words += wordCount(text)
    if (speaker !== null) {
      const key = JSON.stringify([user, scope, speaker])
      speakers.set(key, (speakers.get(key) ?? 0) + 1)
    }
    for (const [passage, { counts, length }] of unitsOf(text).entries()) {
      total.units += 1
      total.length += length
      const own = Math.floor((row + passage) / blockSize)
      if (own !== block) finishBlock()
      block = own
      for (const [term, count] of counts) {
        const place = (row + passage) % blockSize
        const entry = Buffer.from([place & 0xff, place >> 8, Math.min(count, mostOccurrences)]).toString('hex')
        const key = JSON.stringify([user, scope, term, block])
        blocks.set(key, `${blocks.get(key) ?? ''}${entry.toUpperCase()}`)
      }
    }
  }
  finishBlock()
  for (const { user, scope, units, length, words } of scopes.values())
    emit('turn_scopes', [user, scope, units, length, words])
  for (const [key, turns] of speakers) emit('turn_speakers', [...(JSON.parse(key) as string[]), turns])
}

/** What an event did to turns, in the order in which its hash has them. */
export const turnsOfEvent = (connection: Connection, event: number): readonly SealedTurn[] => [
  ...connection
    .statement<[number], { id: string; hash: Buffer }>('SELECT id, hash FROM turns WHERE event = ? ORDER BY ordinal')
    .all(event),
  ...connection
    .statement<[number], { id: string }>('SELECT id FROM turns WHERE erased_by = ? ORDER BY erased_order')
    .all(event)
    .map(({ id }) => ({ id, hash: null })),
]

/** What is wrong with the turns that an event kept: texts that are not those that were said, or that nobody forgot. */
export function complaintsAboutTurns(connection: Connection, event: number): readonly string[] {
  const rows = connection
    .statement<[number], { row: number; id: string; hash: Buffer; salt: Buffer | null; erased_by: number | null }>(
      'SELECT row, id, hash, salt, erased_by FROM turns WHERE event = ? ORDER BY ordinal',
    )
    .all(event)
  return rows.flatMap(({ row, id, hash, salt, erased_by }) => {
    const turn = readTurn(connection, row)
    if (turn === null)
      return erased_by === null ? [`the turn ${id} of event ${event} is gone, although nobody forgot it`] : []
    if (salt !== null && Buffer.compare(hashBody(salt, turnBody(turn)), hash) === 0) return []
    return [`the turn ${id} of event ${event} was altered`]
  })
}
