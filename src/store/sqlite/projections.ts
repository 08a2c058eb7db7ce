import { indexedTerm, statusCode, typeCode } from '../belief-row.ts'
import { type DerivedBelief, standingRank } from '../derived-belief.ts'
import type { Connection } from './connection.ts'
import { openCounts } from './counts.ts'

/** A belief in the derived tables. */
export type Projected = { readonly row: number; readonly derived: DerivedBelief }

/**
 * Updates the derived tables within one transaction. All changed beliefs leave their scopes before any enters one, so that a name can
 * move between beliefs. `finish` writes the forms and the counts.
 */
export function openProjection(connection: Connection, userId: number) {
  const counts = openCounts(connection, userId)
  const waitingForms: { readonly key: string; readonly columns: readonly unknown[] }[] = []

  /** Removes a belief from its scopes, which frees its name there. */
  function leaveScopes({ derived }: Projected): void {
    const remove = connection.statement('DELETE FROM members WHERE user_id = ? AND scope = ? AND belief = ?')
    for (const scope of derived.scopes) remove.run(userId, counts.scopeId(scope), derived.belief.id)
  }

  /** False if another belief has the name in one of the scopes. */
  function enterScopes({ belief, nameKey, current, scopes, agent, isPinned, reinforced }: DerivedBelief): boolean {
    const insert = connection.statement(
      `INSERT INTO members (user_id, scope, belief, name_key, current, agent, pinned, edited, shelf, reinforced)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, scope, name_key) WHERE current = 1 DO NOTHING`,
    )
    const common = [belief.id, nameKey, Number(current), agent, Number(isPinned), Number(belief.editedByPerson)]
    return scopes.every((scope) => {
      const id = counts.scopeId(scope)
      return insert.run(userId, id, ...common, standingRank(scope, belief), reinforced).changes === 1
    })
  }

  /** `row` is the row number for the belief; null takes the next free one. */
  function insert(derived: DerivedBelief, row: number | null = null): void {
    const { lastInsertRowid } = connection.run(
      `INSERT INTO beliefs (row, user_id, id, audience, current, words, name_key, type, status, pinned, candidate,
       superseded_by, proposed_for, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [row, userId, derived.belief.id, ...columnsOf(derived)],
    )
    insertForms(derived)
    writeText(Number(lastInsertRowid), derived)
    counts.count(derived, 1)
  }

  function remove({ row, derived }: Projected): void {
    connection.run('DELETE FROM beliefs WHERE row = ?', [row])
    deleteForms(derived)
    eraseText(row, derived)
    counts.count(derived, -1)
  }

  /** Most changes affect a small part of a belief, so only the differences are written. */
  function update({ row, derived: before }: Projected, after: DerivedBelief): void {
    connection.run(
      `UPDATE beliefs SET audience = ?, current = ?, words = ?, name_key = ?, type = ?, status = ?, pinned = ?,
       candidate = ?, superseded_by = ?, proposed_for = ?, updated_at = ?, version = ? WHERE row = ?`,
      [...columnsOf(after), row],
    )
    if (!isSame(formsOf(before), formsOf(after))) {
      deleteForms(before)
      insertForms(after)
    }
    if (!isSame(before.texts, after.texts)) {
      eraseText(row, before)
      writeText(row, after)
    }
    counts.count(before, -1)
    counts.count(after, 1)
  }

  function finish(): void {
    writeForms()
    counts.write()
  }

  function columnsOf(derived: DerivedBelief): readonly unknown[] {
    const { type, status, pinned, candidate, supersededBy, proposedFor, updatedAt, version } = derived.belief
    const keys = [counts.audienceId(derived), Number(derived.current), derived.words, derived.nameKey]
    const codes = [typeCode(type), statusCode(status), Number(pinned), Number(candidate)]
    return [...keys, ...codes, supersededBy, proposedFor, updatedAt, version]
  }

  /** Collects the rows of forms. `finish` writes them, or this function does when there are very many. */
  function insertForms(derived: DerivedBelief): void {
    const { agent, belief, flags, reinforced } = derived
    const current = Number(derived.current)
    for (const scope of derived.scopes.map((name) => counts.scopeId(name))) {
      for (const { key, ordinal, breaks } of derived.forms) {
        const columns = [userId, key, current, scope, agent, belief.id, ordinal, breaks, flags, reinforced]
        waitingForms.push({ key, columns })
      }
    }
    if (waitingForms.length >= maxFormsKept) writeForms()
  }

  /** Writes in the order of the index, so that each page is written once. */
  function writeForms(): void {
    const forms = waitingForms.splice(0).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    connection.insertMany(
      'forms (user_id, key, current, scope, agent, belief, ordinal, breaks, flags, reinforced)',
      forms.map(({ columns }) => columns),
    )
  }

  function deleteForms({ forms, scopes, agent, belief, current }: DerivedBelief): void {
    const remove = connection.statement(
      'DELETE FROM forms WHERE user_id = ? AND key = ? AND current = ? AND scope = ? AND agent = ? AND belief = ?',
    )
    for (const scope of scopes.map((name) => counts.scopeId(name))) {
      for (const { key } of forms) remove.run(userId, key, Number(current), scope, agent, belief.id)
    }
  }

  function writeText(row: number, { texts }: DerivedBelief): void {
    connection.run('INSERT INTO texts (rowid, name, aliases, content, why) VALUES (?, ?, ?, ?, ?)', [
      row,
      ...indexedTexts(texts),
    ])
  }

  /** The full-text index stores no copy of the text, so a removal must pass the text. */
  function eraseText(row: number, { texts }: DerivedBelief): void {
    connection.run('DELETE FROM belief_vectors WHERE item = ?', [row])
    connection.run(`INSERT INTO texts (texts, rowid, name, aliases, content, why) VALUES ('delete', ?, ?, ?, ?, ?)`, [
      row,
      ...indexedTexts(texts),
    ])
  }

  function indexedTexts(texts: DerivedBelief['texts']): readonly string[] {
    return texts.map((words) => words.reduce((text, word) => `${text} ${indexedTerm(userId, word)}`, ''))
  }

  return { leaveScopes, enterScopes, insert, remove, update, finish }
}

const maxFormsKept = 200_000

const formsOf = ({ forms, scopes, agent, current, flags, reinforced }: DerivedBelief): unknown => [
  forms,
  scopes,
  agent,
  current,
  flags,
  reinforced,
]

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
