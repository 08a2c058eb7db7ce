import { mostOccurrences, unitsOf, wordCount } from '../../../search/turns/passages.ts'
import { indexedTerm, isAsWritten, parseBody, statusCode, typeCode } from '../../belief-row.ts'
import { type DerivedBelief, deriveBelief, shelfIn } from '../../derived-belief.ts'
import { textFields } from '../../text-terms.ts'
import { originOf, roleOf } from '../../turn-rows.ts'
import type { Connection } from '../connection.ts'
import { typoHashes } from '../counts.ts'
import { newestTexts, storedTurns } from '../derivation.ts'
import { type Emit, eachStoredRow } from './derived-rows.ts'

/** Beliefs are divided by their ids: those up to `until`, or those after it. Without it, all of them. */
export type Share = { readonly after?: string; readonly until?: string }

/**
 * Every row that the derived tables should have, computed from the journal and the turns without the derived tables and
 * without the code that fills them. Only `typos` and `audience_scopes` are computed from `words` and `audiences`, which
 * are compared with the journal themselves.
 */
export function expectedRows(connection: Connection, emit: Emit, share: Share = {}): void {
  emitBeliefs(connection, emit, share)
  emitKeyedRows(connection, emit)
  emitTurns(connection, emit)
}

/** The rows that a share of the beliefs brings about. */
export function emitBeliefs(connection: Connection, emit: Emit, share: Share = {}): void {
  for (const { id, name } of connection.all<{ id: number; name: string }>('SELECT id, name FROM users')) {
    for (const row of newestTexts(connection, id, share)) {
      // The check of the chain reports such a text; nothing can be derived from it.
      if (row.body === null || !isAsWritten(row)) continue
      const derived = deriveBelief(parseBody(row.body))
      emitOwnRows(name, derived, emit)
      emitCounts(id, name, derived, emit)
    }
  }
}

/** The part of a belief in the counts that it shares with others. */
function emitCounts(userId: number, user: string, derived: DerivedBelief, emit: Emit): void {
  const { agent, audience, words, typoTargets, forms, texts } = derived
  const [current, retired] = derived.current ? [1, 0] : [0, 1]
  for (const scope of derived.scopes) emit('scopes', [user, scope], [1, current])
  emit('audiences', [user, agent, audience], [current, current * words, retired, retired * words])
  for (const form of forms) emit('phrase_prefixes', [user, form.words[0] ?? '', form.words.length], once)
  for (const word of typoTargets) emit('words', [user, word], once)
  for (const [field, fieldWords] of texts.entries())
    for (const [at, word] of fieldWords.entries()) {
      // A word counts as a holder once in each field, and as an occurrence wherever it is.
      const isFirst = fieldWords.indexOf(word) === at
      emit('text_counts', [indexedTerm(userId, word), textFields[field] as string], isFirst ? firstTime : again)
    }
}

const once = [1]
const firstTime = [1, 1]
const again = [0, 1]

/** The rows of the tables that have one row for each row of another one. */
function emitKeyedRows(connection: Connection, emit: Emit): void {
  eachStoredRow(connection, 'words', (_, [user = null, word]) => {
    for (const half of typoHashes(String(word))) emit('typos', [user, half, String(word)])
  })
  eachStoredRow(connection, 'audiences', (_, [user = null, , audience]) => {
    const [, ...scopes] = JSON.parse(String(audience)) as readonly (string | null)[]
    for (const scope of scopes) emit('audience_scopes', [user, scope, String(audience)])
  })
}

function emitOwnRows(user: string, derived: DerivedBelief, emit: Emit): void {
  const { belief, audience, words, nameKey, scopes, agent, reinforced, flags } = derived
  const { id, type, status, supersededBy, proposedFor, updatedAt, version } = belief
  const current = Number(derived.current)
  const codes = [typeCode(type), statusCode(status), Number(belief.pinned), Number(belief.candidate)]
  const links = [supersededBy, proposedFor, updatedAt, version]
  emit('beliefs', [user, id, audience, current, words, nameKey, ...codes, ...links])
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
  const names = connection.all<{ user: string; scope: string }>(
    'SELECT users.name AS user, turn_scopes.name AS scope FROM turn_scopes JOIN users ON users.id = user_id',
  )
  for (const { user, scope } of names) emit('turn_scopes', [user, scope], [1, 0, 0, 0])
  // Rows come in order, so the postings of one block at a time are kept.
  let postings = new Map<string, string>()
  let block = 0
  const finishBlock = (): void => {
    for (const [key, entries] of postings) emit('turn_postings', [...(JSON.parse(key) as string[]), entries])
    postings = new Map()
  }
  for (const { row, user, scope, role, origin, speaker, text } of storedTurns(connection)) {
    const units = unitsOf(text)
    const isPerson = roleOf(role) === 'user' && originOf(origin) === 'person'
    const length = units.reduce((sum, unit) => sum + unit.length, 0)
    emit('turn_scopes', [user, scope], [0, units.length, length, isPerson ? wordCount(text, units) : 0])
    if (speaker !== null) emit('turn_speakers', [user, scope, speaker], once)
    for (const [passage, { counts }] of units.entries()) {
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
}
