import { deletions } from '../../search/typo.ts'
import { textFields } from '../text-terms.ts'
import { checksumOf, parseBody, statusCode, typeCode } from './belief-row.ts'
import type { Connection } from './connection.ts'
import { newestBodies } from './derivation.ts'
import { type DerivedBelief, deriveBelief, shelfIn } from './derived-belief.ts'
import { type DerivedRow, type DerivedTable, encodeLengths } from './derived-rows.ts'
import { indexedTerm } from './projections.ts'
import { textHash } from './text-hash.ts'
import { expectedTurnRows } from './turn-care.ts'

type Emit = (table: DerivedTable, row: DerivedRow) => void

/**
 * Every row the derived tables should have, worked out from the journal without looking at them and without the code
 * that fills them.
 */
export function expectedRows(connection: Connection, emit: Emit): void {
  const users = connection.statement<[], { id: number; name: string }>('SELECT id, name FROM users').all()
  for (const { id, name } of users) {
    const totals = new Totals(id, name)
    for (const page of newestBodies(connection, id)) {
      for (const { body } of page) {
        const derived = deriveBelief(parseBody(body))
        emitOwnRows(name, derived, body, emit)
        totals.count(derived)
      }
    }
    totals.emit(emit)
  }
  expectedTurnRows(connection, emit)
}

function emitOwnRows(user: string, derived: DerivedBelief, body: string, emit: Emit): void {
  const { belief, audience, words, nameKey, scopes, agent, reinforced, flags } = derived
  const { id, type, status, supersededBy, proposedFor, updatedAt, version } = belief
  const current = Number(derived.current)
  const pinned = Number(belief.pinned)
  const codes = [typeCode(type), statusCode(status), pinned, Number(belief.candidate)]
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

/** What the beliefs of one user add up to. */
class Totals {
  readonly #userId: number
  readonly #user: string
  readonly #scopes = new Map<string, { beliefs: number; current: number }>()
  readonly #audiences = new Map<
    string,
    { readonly derived: DerivedBelief; readonly counts: [number, number, number, number] }
  >()
  readonly #heads = new Map<string, number>()
  readonly #words = new Map<string, number>()
  /** By term and field: how many beliefs have it there, how often in all, and which one was counted last. */
  readonly #terms = new Map<string, readonly { holders: number; occurrences: number; lastHolder: number }[]>()
  #beliefs = 0

  constructor(userId: number, user: string) {
    this.#userId = userId
    this.#user = user
  }

  count(derived: DerivedBelief): void {
    this.#beliefs += 1
    const current = Number(derived.current)
    for (const name of derived.scopes) {
      const scope = this.#scopes.get(name) ?? { beliefs: 0, current: 0 }
      this.#scopes.set(name, scope)
      scope.beliefs += 1
      scope.current += current
    }
    const audience = this.#audiences.get(derived.audience) ?? { derived, counts: [0, 0, 0, 0] }
    this.#audiences.set(derived.audience, audience)
    audience.counts[derived.current ? 0 : 2] += 1
    audience.counts[derived.current ? 1 : 3] += derived.words
    for (const { words } of derived.forms) increase(this.#heads, JSON.stringify([words[0] ?? '', words.length]))
    for (const word of derived.typoTargets) increase(this.#words, word)
    for (const [field, words] of derived.texts.entries()) this.#countTerms(field, words)
  }

  emit(emit: Emit): void {
    const user = this.#user
    for (const [scope, { beliefs, current }] of this.#scopes) emit('scopes', [user, scope, beliefs, current])
    for (const [label, { derived, counts }] of this.#audiences) {
      emit('audiences', [user, derived.agent, label, ...counts])
      for (const scope of derived.scopes) emit('audience_scopes', [user, scope, label])
    }
    for (const [head, count] of this.#heads)
      emit('form_heads', [user, ...(JSON.parse(head) as [string, number]), count])
    for (const [word, count] of this.#words) {
      emit('words', [user, word, count])
      for (const slip of new Set(deletions(word).map(textHash))) emit('slips', [user, slip, word])
    }
    for (const [word, fields] of this.#terms) {
      for (const [field, { holders, occurrences }] of fields.entries()) {
        const column = textFields[field] ?? ''
        if (holders > 0) emit('text_counts', [indexedTerm(this.#userId, word), column, holders, occurrences])
      }
    }
  }

  #countTerms(field: number, words: readonly string[]): void {
    for (const word of words) {
      const fields = this.#terms.get(word) ?? textFields.map(() => ({ holders: 0, occurrences: 0, lastHolder: 0 }))
      this.#terms.set(word, fields)
      const counts = fields[field]
      if (counts === undefined) continue
      counts.occurrences += 1
      if (counts.lastHolder !== this.#beliefs) counts.holders += 1
      counts.lastHolder = this.#beliefs
    }
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
