import type { Connection } from './connection.ts'
import type { DerivedBelief } from './derived-belief.ts'

type ScopeTally = { readonly id: number; beliefs: number; current: number }
type AudienceTally = {
  readonly id: number
  current: number
  currentWords: number
  retired: number
  retiredWords: number
}

/**
 * The counts of one user that many beliefs share. Changes are collected and written once per transaction; whatever
 * reaches zero leaves no row behind, so that adding and removing a belief is the same as doing neither.
 */
export class Tallies {
  readonly #connection: Connection
  readonly #userId: number
  readonly #scopes = new Map<string, ScopeTally>()
  readonly #audiences = new Map<string, AudienceTally>()
  /** By first word, then by number of words. */
  readonly #heads = new Map<string, Map<number, number>>()
  readonly #words = new Map<string, number>()

  constructor(connection: Connection, userId: number) {
    this.#connection = connection
    this.#userId = userId
  }

  scopeId(name: string): number {
    return this.#scope(name).id
  }

  audienceId(derived: DerivedBelief): number {
    return this.#audience(derived).id
  }

  count(derived: DerivedBelief, step: 1 | -1): void {
    for (const name of derived.scopes) {
      const scope = this.#scope(name)
      scope.beliefs += step
      if (derived.current) scope.current += step
    }
    const audience = this.#audience(derived)
    if (derived.current) {
      audience.current += step
      audience.currentWords += step * derived.words
    } else {
      audience.retired += step
      audience.retiredWords += step * derived.words
    }
    for (const { words } of derived.forms) {
      const head = words[0] ?? ''
      const { length } = words
      const lengths = this.#heads.get(head)
      if (lengths === undefined) this.#heads.set(head, new Map([[length, step]]))
      else lengths.set(length, (lengths.get(length) ?? 0) + step)
    }
    for (const word of derived.typoTargets) this.#words.set(word, (this.#words.get(word) ?? 0) + step)
  }

  write(slipsOf: (word: string) => Iterable<number>): void {
    this.#writeHeads()
    this.#writeWords(slipsOf)
    this.#writeAudiences()
    this.#writeScopes()
  }

  #scope(name: string): ScopeTally {
    const known = this.#scopes.get(name)
    if (known !== undefined) return known
    const found = this.#connection
      .statement<[number, string], { id: number }>('SELECT id FROM scopes WHERE user_id = ? AND name = ?')
      .get(this.#userId, name)
    const tally = { id: found?.id ?? this.#insertScope(name), beliefs: 0, current: 0 }
    this.#scopes.set(name, tally)
    return tally
  }

  #insertScope(name: string): number {
    const statement = this.#connection.statement<[number, string]>(
      'INSERT INTO scopes (user_id, name, beliefs, current) VALUES (?, ?, 0, 0)',
    )
    return Number(statement.run(this.#userId, name).lastInsertRowid)
  }

  #audience(derived: DerivedBelief): AudienceTally {
    const known = this.#audiences.get(derived.audience)
    if (known !== undefined) return known
    const found = this.#connection
      .statement<[number, string], { id: number }>('SELECT id FROM audiences WHERE user_id = ? AND label = ?')
      .get(this.#userId, derived.audience)
    const id = found?.id ?? this.#insertAudience(derived)
    const tally = { id, current: 0, currentWords: 0, retired: 0, retiredWords: 0 }
    this.#audiences.set(derived.audience, tally)
    return tally
  }

  #insertAudience({ agent, audience, scopes }: DerivedBelief): number {
    const result = this.#connection
      .statement<[number, string, string]>(
        `INSERT INTO audiences (user_id, agent, label, current, current_words, retired, retired_words)
         VALUES (?, ?, ?, 0, 0, 0, 0)`,
      )
      .run(this.#userId, agent, audience)
    const id = Number(result.lastInsertRowid)
    const statement = this.#connection.statement<[number, number, number]>(
      'INSERT INTO audience_scopes (user_id, scope, audience) VALUES (?, ?, ?)',
    )
    for (const scope of scopes) statement.run(this.#userId, this.scopeId(scope), id)
    return id
  }

  #writeHeads(): void {
    const upsert = this.#connection.statement<[number, string, number, number]>(
      `INSERT INTO form_heads (user_id, head, length, count) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id, head, length) DO UPDATE SET count = count + excluded.count`,
    )
    const drop = this.#connection.statement<[number, string, number]>(
      'DELETE FROM form_heads WHERE user_id = ? AND head = ? AND length = ? AND count <= 0',
    )
    for (const [head, lengths] of inKeyOrder(this.#heads)) {
      for (const [length, count] of lengths) {
        if (count !== 0) upsert.run(this.#userId, head, length, count)
        if (count < 0) drop.run(this.#userId, head, length)
      }
    }
  }

  #writeWords(slipsOf: (word: string) => Iterable<number>): void {
    const recount = this.#connection.statement<[number, number, string]>(
      'UPDATE words SET count = count + ? WHERE user_id = ? AND word = ?',
    )
    const add = this.#connection.statement<[number, string, number], { id: number; count: number }>(
      `INSERT INTO words (user_id, word, count) VALUES (?, ?, ?)
       ON CONFLICT (user_id, word) DO UPDATE SET count = count + excluded.count RETURNING id, count`,
    )
    const added: (readonly [slip: number, word: number])[] = []
    for (const [word, change] of inKeyOrder(this.#words)) {
      if (change < 0) {
        recount.run(change, this.#userId, word)
        this.#dropUnusedWord(word, slipsOf)
      } else if (change > 0) {
        const row = add.get(this.#userId, word, change)
        // A word that was there before counts more than was added now.
        if (row?.count === change) for (const slip of slipsOf(word)) added.push([slip, row.id])
      }
    }
    this.#insertSlips(added.sort(([one], [other]) => one - other))
  }

  #dropUnusedWord(word: string, slipsOf: (word: string) => Iterable<number>): void {
    const row = this.#connection
      .statement<[number, string], { id: number }>('SELECT id FROM words WHERE user_id = ? AND word = ? AND count <= 0')
      .get(this.#userId, word)
    if (row === undefined) return
    const dropSlip = this.#connection.statement<[number, number, number]>(
      'DELETE FROM slips WHERE user_id = ? AND slip = ? AND word = ?',
    )
    for (const slip of slipsOf(word)) dropSlip.run(this.#userId, slip, row.id)
    this.#connection.statement<[number]>('DELETE FROM words WHERE id = ?').run(row.id)
  }

  /** Many rows a statement: there are ten slips to a new word, and each statement has its price. */
  #insertSlips(slips: readonly (readonly [slip: number, word: number])[]): void {
    for (let from = 0; from < slips.length; from += slipsAtOnce) {
      const some = slips.slice(from, from + slipsAtOnce)
      const insert = (rows: number) =>
        this.#connection.statement<number[]>(
          `INSERT INTO slips (user_id, slip, word) VALUES ${Array(rows).fill('(?, ?, ?)').join(', ')}`,
        )
      if (some.length === slipsAtOnce)
        insert(slipsAtOnce).run(...some.flatMap(([slip, word]) => [this.#userId, slip, word]))
      else for (const [slip, word] of some) insert(1).run(this.#userId, slip, word)
    }
  }

  #writeAudiences(): void {
    const update = this.#connection.statement<number[], { current: number; retired: number }>(
      `UPDATE audiences SET current = current + ?, current_words = current_words + ?, retired = retired + ?,
       retired_words = retired_words + ? WHERE id = ? RETURNING current, retired`,
    )
    for (const [label, { id, current, currentWords, retired, retiredWords }] of this.#audiences) {
      const row = update.get(current, currentWords, retired, retiredWords, id)
      if (row === undefined || row.current + row.retired > 0) continue
      const drop = this.#connection.statement<[number, number, number]>(
        'DELETE FROM audience_scopes WHERE user_id = ? AND scope = ? AND audience = ?',
      )
      const [, ...scopes] = JSON.parse(label) as [unknown, ...string[]]
      for (const scope of scopes) drop.run(this.#userId, this.scopeId(scope), id)
      this.#connection.statement<[number]>('DELETE FROM audiences WHERE id = ?').run(id)
    }
  }

  #writeScopes(): void {
    const update = this.#connection.statement<number[], { beliefs: number }>(
      'UPDATE scopes SET beliefs = beliefs + ?, current = current + ? WHERE id = ? RETURNING beliefs',
    )
    for (const { id, beliefs, current } of this.#scopes.values()) {
      const row = update.get(beliefs, current, id)
      if (row !== undefined && row.beliefs <= 0)
        this.#connection.statement<[number]>('DELETE FROM scopes WHERE id = ?').run(id)
    }
  }
}

const slipsAtOnce = 32

/** Neighbours in the index are written one after the other, so that each of its pages is touched once. */
const inKeyOrder = <Value>(entries: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] =>
  [...entries].sort(([one], [other]) => (one < other ? -1 : 1))
