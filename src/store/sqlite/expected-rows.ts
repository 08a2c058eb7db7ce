import { mostOccurrences, unitsOf, wordCount } from '../../search/turns/passages.ts'
import { textFields } from '../text-terms.ts'
import {
  checksumOf,
  type DerivedBelief,
  deriveBelief,
  indexedTerm,
  parseBody,
  shelfIn,
  statusCode,
  typeCode,
} from './belief-row.ts'
import type { Connection } from './connection.ts'
import { deletionHashes } from './counts.ts'
import { newestBodies, storedTurns } from './derivation.ts'
import type { DerivedRow, DerivedTable } from './derived-rows.ts'
import { originOf, roleOf } from './turn-lookups.ts'

type Emit = (table: DerivedTable, row: DerivedRow) => void

/**
 * Every row that the derived tables should have, computed from the journal and the turns without the derived tables and
 * without the code that fills them.
 */
export function expectedRows(connection: Connection, emit: Emit): void {
  for (const { id, name } of connection.all<{ id: number; name: string }>('SELECT id, name FROM users'))
    emitBeliefs(connection, id, name, emit)
  emitTurns(connection, emit)
}

/** Numbers by a key of several parts. */
class Totals {
  readonly #totals = new Map<string, number[]>()

  add(key: readonly (string | number)[], ...amounts: readonly number[]): void {
    const text = JSON.stringify(key)
    const totals = this.#totals.get(text)
    if (totals === undefined) this.#totals.set(text, [...amounts])
    else for (const [at, amount] of amounts.entries()) totals[at] = (totals[at] ?? 0) + amount
  }

  /** The parts of each key and its totals. */
  *rows(): Generator<(string | number)[]> {
    for (const [key, totals] of this.#totals) yield [...(JSON.parse(key) as (string | number)[]), ...totals]
  }
}

function emitBeliefs(connection: Connection, userId: number, user: string, emit: Emit): void {
  const scopes = new Totals()
  const audiences = new Totals()
  const audienceScopes = new Totals()
  const prefixes = new Totals()
  const words = new Map<string, number>()
  /** By field and word: the number of beliefs that hold it, and of its occurrences. */
  const terms = textFields.map(() => new Map<string, { holders: number; occurrences: number }>())
  for (const body of newestBodies(connection, userId)) {
    const derived = deriveBelief(parseBody(body))
    emitOwnRows(user, derived, body, emit)
    const { agent, audience, typoTargets, forms, texts } = derived
    const [current, retired] = derived.current ? [1, 0] : [0, 1]
    for (const scope of derived.scopes) {
      scopes.add([scope], 1, current)
      audienceScopes.add([scope, audience])
    }
    audiences.add([agent, audience], current, current * derived.words, retired, retired * derived.words)
    for (const form of forms) prefixes.add([form.words[0] ?? '', form.words.length], 1)
    for (const word of typoTargets) words.set(word, (words.get(word) ?? 0) + 1)
    for (const [field, fieldWords] of texts.entries()) {
      const seen = new Set<string>()
      for (const word of fieldWords) {
        const counts = terms[field]?.get(word) ?? { holders: 0, occurrences: 0 }
        terms[field]?.set(word, counts)
        counts.occurrences += 1
        if (!seen.has(word)) counts.holders += 1
        seen.add(word)
      }
    }
  }
  for (const row of scopes.rows()) emit('scopes', [user, ...row])
  for (const row of audiences.rows()) emit('audiences', [user, ...row])
  for (const row of audienceScopes.rows()) emit('audience_scopes', [user, ...row])
  for (const row of prefixes.rows()) emit('phrase_prefixes', [user, ...row])
  for (const [field, counts] of terms.entries())
    for (const [word, { holders, occurrences }] of counts)
      emit('text_counts', [indexedTerm(userId, word), textFields[field] as string, holders, occurrences])
  for (const [word, count] of words) {
    emit('words', [user, word, count])
    for (const deletion of deletionHashes(word)) emit('typos', [user, deletion, word])
  }
}

function emitOwnRows(user: string, derived: DerivedBelief, body: string, emit: Emit): void {
  const { belief, audience, words, nameKey, scopes, agent, reinforced, flags } = derived
  const { id, type, status, supersededBy, proposedFor, updatedAt, version } = belief
  const current = Number(derived.current)
  const codes = [typeCode(type), statusCode(status), Number(belief.pinned), Number(belief.candidate)]
  const links = [supersededBy, proposedFor, updatedAt, version]
  emit('beliefs', [user, id, audience, current, words, nameKey, ...codes, ...links, checksumOf(body), body])
  emit('text_lengths', [user, id, encodeLengths(derived.texts.map(({ length }) => length))])
  for (const scope of scopes) {
    const standing = [Number(derived.isPinned), Number(belief.editedByPerson), shelfIn(scope, belief), reinforced]
    emit('members', [user, scope, id, nameKey, current, agent, ...standing])
    for (const { key, ordinal, breaks } of derived.forms) {
      emit('forms', [user, key, current, scope, agent, id, ordinal, breaks, flags, reinforced])
    }
  }
}

/** The lengths of a belief's fields in the encoding of the full-text index: SQLite's variable-length integers, in hex. */
function encodeLengths(lengths: readonly number[]): string {
  const bytes = lengths.flatMap((length) => {
    const septets = [length & 0x7f]
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) septets.unshift((rest & 0x7f) | 0x80)
    return septets
  })
  return Buffer.from(bytes).toString('hex').toUpperCase()
}

/** The number of rows in a block of turn postings. */
const blockSize = 4_096

function emitTurns(connection: Connection, emit: Emit): void {
  const scopes = new Totals()
  const speakers = new Totals()
  const names = connection.all<{ user: string; scope: string }>(
    'SELECT users.name AS user, turn_scopes.name AS scope FROM turn_scopes JOIN users ON users.id = user_id',
  )
  for (const { user, scope } of names) scopes.add([user, scope], 0, 0, 0)
  // Rows come in order, so the postings of one block at a time are kept.
  let postings = new Map<string, string>()
  let block = 0
  const finishBlock = (): void => {
    for (const [key, entries] of postings) emit('turn_postings', [...(JSON.parse(key) as string[]), entries])
    postings = new Map()
  }
  for (const { row, user, scope, role, origin, speaker, text } of storedTurns(connection)) {
    if (roleOf(role) === 'user' && originOf(origin) === 'person') scopes.add([user, scope], 0, 0, wordCount(text))
    if (speaker !== null) speakers.add([user, scope, speaker], 1)
    for (const [passage, { counts, length }] of unitsOf(text).entries()) {
      scopes.add([user, scope], 1, length, 0)
      const own = Math.floor((row + passage) / blockSize)
      if (own !== block) finishBlock()
      block = own
      const place = (row + passage) % blockSize
      for (const [term, count] of counts) {
        const entry = Buffer.from([place & 0xff, place >> 8, Math.min(count, mostOccurrences)]).toString('hex')
        const key = JSON.stringify([user, scope, term, block])
        postings.set(key, `${postings.get(key) ?? ''}${entry.toUpperCase()}`)
      }
    }
  }
  finishBlock()
  for (const row of scopes.rows()) emit('turn_scopes', row)
  for (const row of speakers.rows()) emit('turn_speakers', row)
}
