import { deletions } from '../../search/typo.ts'
import { checksumOf, statusCode, typeCode } from './belief-row.ts'
import type { Connection } from './connection.ts'
import { type DerivedBelief, deriveBelief, shelfIn } from './derived-belief.ts'
import { Tallies } from './tallies.ts'
import { textHash } from './text-hash.ts'

/** A belief as the derived tables hold it now. */
export type Projected = { readonly row: number; readonly derived: DerivedBelief }

/**
 * Brings the derived tables from one set of beliefs to another, within one transaction. Every belief that changes leaves
 * its scopes before any enters, so that a name can be handed over; counts are added up and written once by `finish`.
 */
export class Projection {
  readonly #connection: Connection
  readonly #userId: number
  readonly #tallies: Tallies
  readonly #forms: { readonly key: string; readonly columns: readonly unknown[] }[] = []

  constructor(connection: Connection, userId: number) {
    this.#connection = connection
    this.#userId = userId
    this.#tallies = new Tallies(connection, userId)
  }

  /** Takes a belief out of its scopes, and with it the name it holds there. */
  leaveScopes({ derived }: Projected): void {
    const statement = this.#connection.statement<[number, number, string]>(
      'DELETE FROM members WHERE user_id = ? AND scope = ? AND belief = ?',
    )
    for (const scope of derived.scopes) statement.run(this.#userId, this.#tallies.scopeId(scope), derived.belief.id)
  }

  /** False when somebody else holds the name in one of the scopes. */
  enterScopes({ belief, nameKey, current, scopes, agent, isPinned, reinforced }: DerivedBelief): boolean {
    const statement = this.#connection.statement<unknown[]>(
      `INSERT INTO members (user_id, scope, belief, name_key, current, agent, pinned, edited, shelf, reinforced)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, scope, name_key) WHERE current = 1 DO NOTHING`,
    )
    const standing = [belief.id, nameKey, Number(current), agent, Number(isPinned), Number(belief.editedByPerson)]
    return scopes.every((scope) => {
      const id = this.#tallies.scopeId(scope)
      return statement.run(this.#userId, id, ...standing, shelfIn(scope, belief), reinforced).changes === 1
    })
  }

  insert(derived: DerivedBelief, body: string): void {
    const row = this.#insertBelief(derived, body)
    this.#insertForms(derived)
    this.#writeText(row, derived)
    this.#tallies.count(derived, 1)
  }

  remove({ row, derived }: Projected): void {
    this.#connection.statement<[number]>('DELETE FROM beliefs WHERE row = ?').run(row)
    this.#deleteForms(derived)
    this.#eraseText(row, derived)
    this.#tallies.count(derived, -1)
  }

  /** Most changes leave most of a belief as it was, so only what differs is written. */
  update({ row, derived: before }: Projected, after: DerivedBelief, body: string): void {
    this.#updateBelief(row, after, body)
    if (!isSame(formsOf(before), formsOf(after))) {
      this.#deleteForms(before)
      this.#insertForms(after)
    }
    if (!isSame(before.texts, after.texts)) {
      this.#eraseText(row, before)
      this.#writeText(row, after)
    }
    this.#tallies.count(before, -1)
    this.#tallies.count(after, 1)
  }

  finish(): void {
    this.#writeForms()
    this.#tallies.write(slipsOf)
  }

  #insertBelief(derived: DerivedBelief, body: string): number {
    const result = this.#connection
      .statement<unknown[]>(
        `INSERT INTO beliefs (user_id, id, audience, current, words, name_key, type, status, pinned, candidate,
         superseded_by, proposed_for, updated_at, version, crc, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(this.#userId, derived.belief.id, ...this.#columns(derived, body))
    return Number(result.lastInsertRowid)
  }

  #updateBelief(row: number, derived: DerivedBelief, body: string): void {
    this.#connection
      .statement<unknown[]>(
        `UPDATE beliefs SET audience = ?, current = ?, words = ?, name_key = ?, type = ?, status = ?, pinned = ?, candidate = ?,
         superseded_by = ?, proposed_for = ?, updated_at = ?, version = ?, crc = ?, body = ? WHERE row = ?`,
      )
      .run(...this.#columns(derived, body), row)
  }

  #columns(derived: DerivedBelief, body: string): readonly unknown[] {
    const { type, status, pinned, candidate, supersededBy, proposedFor, updatedAt, version } = derived.belief
    return [
      this.#tallies.audienceId(derived),
      Number(derived.current),
      derived.words,
      derived.nameKey,
      typeCode(type),
      statusCode(status),
      Number(pinned),
      Number(candidate),
      supersededBy,
      proposedFor,
      updatedAt,
      version,
      checksumOf(body),
      body,
    ]
  }

  /** Written by `finish`, or before when there are very many. */
  #insertForms(derived: DerivedBelief): void {
    const { agent, belief, flags, reinforced } = derived
    const current = Number(derived.current)
    for (const scope of derived.scopes.map((name) => this.#tallies.scopeId(name))) {
      for (const { key, ordinal, breaks } of derived.forms) {
        const columns = [this.#userId, key, current, scope, agent, belief.id, ordinal, breaks, flags, reinforced]
        this.#forms.push({ key, columns })
      }
    }
    if (this.#forms.length >= mostFormsKept) this.#writeForms()
  }

  /** In the order of the index, so that each page of it is touched once, and many rows a statement. */
  #writeForms(): void {
    const forms = this.#forms.splice(0).sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    const insert = (rows: number) =>
      this.#connection.statement<unknown[]>(
        `INSERT INTO forms (user_id, key, current, scope, agent, belief, ordinal, breaks, flags, reinforced)
         VALUES ${Array(rows).fill('(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      )
    const whole = forms.length - (forms.length % formsAtOnce)
    for (let from = 0; from < whole; from += formsAtOnce)
      insert(formsAtOnce).run(...forms.slice(from, from + formsAtOnce).flatMap(({ columns }) => columns))
    for (const { columns } of forms.slice(whole)) insert(1).run(...columns)
  }

  #deleteForms(derived: DerivedBelief): void {
    const statement = this.#connection.statement<unknown[]>(
      'DELETE FROM forms WHERE user_id = ? AND key = ? AND current = ? AND scope = ? AND agent = ? AND belief = ?',
    )
    const { agent, belief } = derived
    const current = Number(derived.current)
    for (const scope of derived.scopes.map((name) => this.#tallies.scopeId(name))) {
      for (const { key } of derived.forms) statement.run(this.#userId, key, current, scope, agent, belief.id)
    }
  }

  #writeText(row: number, { texts }: DerivedBelief): void {
    this.#connection
      .statement<unknown[]>('INSERT INTO texts (rowid, name, aliases, content, why) VALUES (?, ?, ?, ?, ?)')
      .run(row, ...this.#indexedTexts(texts))
  }

  /** The index keeps no copy of the text, so it has to be told again what to take out. */
  #eraseText(row: number, { texts }: DerivedBelief): void {
    this.#connection
      .statement<unknown[]>(
        `INSERT INTO texts (texts, rowid, name, aliases, content, why) VALUES ('delete', ?, ?, ?, ?, ?)`,
      )
      .run(row, ...this.#indexedTexts(texts))
  }

  #indexedTexts(texts: DerivedBelief['texts']): readonly string[] {
    return texts.map((words) => words.reduce((text, word) => `${text} ${indexedTerm(this.#userId, word)}`, ''))
  }
}

const formsAtOnce = 16
const mostFormsKept = 200_000

/** One user's words are other words than another's, so no search ever passes over foreign rows. */
export const indexedTerm = (userId: number, word: string): string => `${userId}:${word}`

/** What a belief with this text would be in the derived tables. */
export const projected = (row: number, belief: DerivedBelief['belief']): Projected => ({
  row,
  derived: deriveBelief(belief),
})

const slipsOf = (word: string): ReadonlySet<number> => new Set(deletions(word).map(textHash))

const formsOf = ({ forms, scopes, agent, current, flags, reinforced }: DerivedBelief): unknown => [
  forms,
  scopes,
  agent,
  current,
  flags,
  reinforced,
]

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
