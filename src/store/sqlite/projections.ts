import { indexedTerm, statusCode, typeCode } from '../belief-row.ts'
import { type DerivedBelief, shelfIn } from '../derived-belief.ts'
import type { Connection } from './connection.ts'
import { Counts } from './counts.ts'

/** A belief as the derived tables hold it now. */
export type Projected = { readonly row: number; readonly derived: DerivedBelief }

/**
 * Brings the derived tables from one set of beliefs to another, within one transaction. Every belief that changes leaves
 * its scopes before any enters, so that a name can be handed over. `finish` writes the forms and the counts.
 */
export class Projection {
  readonly #connection: Connection
  readonly #userId: number
  readonly #counts: Counts
  readonly #forms: { readonly key: string; readonly columns: readonly unknown[] }[] = []

  constructor(connection: Connection, userId: number) {
    this.#connection = connection
    this.#userId = userId
    this.#counts = new Counts(connection, userId)
  }

  /** Takes a belief out of its scopes, and with it the name it holds there. */
  leaveScopes({ derived }: Projected): void {
    const remove = this.#connection.statement('DELETE FROM members WHERE user_id = ? AND scope = ? AND belief = ?')
    for (const scope of derived.scopes) remove.run(this.#userId, this.#counts.scopeId(scope), derived.belief.id)
  }

  /** False when another belief holds the name in one of the scopes. */
  enterScopes({ belief, nameKey, current, scopes, agent, isPinned, reinforced }: DerivedBelief): boolean {
    const insert = this.#connection.statement(
      `INSERT INTO members (user_id, scope, belief, name_key, current, agent, pinned, edited, shelf, reinforced)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, scope, name_key) WHERE current = 1 DO NOTHING`,
    )
    const common = [belief.id, nameKey, Number(current), agent, Number(isPinned), Number(belief.editedByPerson)]
    return scopes.every((scope) => {
      const id = this.#counts.scopeId(scope)
      return insert.run(this.#userId, id, ...common, shelfIn(scope, belief), reinforced).changes === 1
    })
  }

  /** `row` is the number of its row; null for the next one. */
  insert(derived: DerivedBelief, row: number | null = null): void {
    const { lastInsertRowid } = this.#connection.run(
      `INSERT INTO beliefs (row, user_id, id, audience, current, words, name_key, type, status, pinned, candidate,
       superseded_by, proposed_for, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [row, this.#userId, derived.belief.id, ...this.#columns(derived)],
    )
    this.#insertForms(derived)
    this.#writeText(Number(lastInsertRowid), derived)
    this.#counts.count(derived, 1)
  }

  remove({ row, derived }: Projected): void {
    this.#connection.run('DELETE FROM beliefs WHERE row = ?', [row])
    this.#deleteForms(derived)
    this.#eraseText(row, derived)
    this.#counts.count(derived, -1)
  }

  /** Most changes leave most of a belief as it was, so only what differs is written. */
  update({ row, derived: before }: Projected, after: DerivedBelief): void {
    this.#connection.run(
      `UPDATE beliefs SET audience = ?, current = ?, words = ?, name_key = ?, type = ?, status = ?, pinned = ?,
       candidate = ?, superseded_by = ?, proposed_for = ?, updated_at = ?, version = ? WHERE row = ?`,
      [...this.#columns(after), row],
    )
    if (!isSame(formsOf(before), formsOf(after))) {
      this.#deleteForms(before)
      this.#insertForms(after)
    }
    if (!isSame(before.texts, after.texts)) {
      this.#eraseText(row, before)
      this.#writeText(row, after)
    }
    this.#counts.count(before, -1)
    this.#counts.count(after, 1)
  }

  finish(): void {
    this.#writeForms()
    this.#counts.write()
  }

  #columns(derived: DerivedBelief): readonly unknown[] {
    const { type, status, pinned, candidate, supersededBy, proposedFor, updatedAt, version } = derived.belief
    const keys = [this.#counts.audienceId(derived), Number(derived.current), derived.words, derived.nameKey]
    const codes = [typeCode(type), statusCode(status), Number(pinned), Number(candidate)]
    return [...keys, ...codes, supersededBy, proposedFor, updatedAt, version]
  }

  /** Rows are written by `finish`, or earlier when there are very many. */
  #insertForms(derived: DerivedBelief): void {
    const { agent, belief, flags, reinforced } = derived
    const current = Number(derived.current)
    for (const scope of derived.scopes.map((name) => this.#counts.scopeId(name))) {
      for (const { key, ordinal, breaks } of derived.forms) {
        const columns = [this.#userId, key, current, scope, agent, belief.id, ordinal, breaks, flags, reinforced]
        this.#forms.push({ key, columns })
      }
    }
    if (this.#forms.length >= mostFormsKept) this.#writeForms()
  }

  /** Writes in the order of the index, so that each of its pages is touched once. */
  #writeForms(): void {
    const forms = this.#forms.splice(0).sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    this.#connection.insertMany(
      'forms (user_id, key, current, scope, agent, belief, ordinal, breaks, flags, reinforced)',
      forms.map(({ columns }) => columns),
    )
  }

  #deleteForms({ forms, scopes, agent, belief, current }: DerivedBelief): void {
    const remove = this.#connection.statement(
      'DELETE FROM forms WHERE user_id = ? AND key = ? AND current = ? AND scope = ? AND agent = ? AND belief = ?',
    )
    for (const scope of scopes.map((name) => this.#counts.scopeId(name))) {
      for (const { key } of forms) remove.run(this.#userId, key, Number(current), scope, agent, belief.id)
    }
  }

  #writeText(row: number, { texts }: DerivedBelief): void {
    this.#connection.run('INSERT INTO texts (rowid, name, aliases, content, why) VALUES (?, ?, ?, ?, ?)', [
      row,
      ...this.#indexedTexts(texts),
    ])
  }

  /** The full-text index keeps no copy of the text, so a removal has to give the text again. */
  #eraseText(row: number, { texts }: DerivedBelief): void {
    this.#connection.run(
      `INSERT INTO texts (texts, rowid, name, aliases, content, why) VALUES ('delete', ?, ?, ?, ?, ?)`,
      [row, ...this.#indexedTexts(texts)],
    )
  }

  #indexedTexts(texts: DerivedBelief['texts']): readonly string[] {
    return texts.map((words) => words.reduce((text, word) => `${text} ${indexedTerm(this.#userId, word)}`, ''))
  }
}

const mostFormsKept = 200_000

const formsOf = ({ forms, scopes, agent, current, flags, reinforced }: DerivedBelief): unknown => [
  forms,
  scopes,
  agent,
  current,
  flags,
  reinforced,
]

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
