import { typoKeys } from '../../search/typo.ts'
import { textHash } from '../belief-row.ts'
import type { DerivedBelief } from '../derived-belief.ts'
import type { Connection } from './connection.ts'

type ScopeCounts = { readonly id: number; beliefs: number; current: number }
type AudienceCounts = {
  readonly id: number
  current: number
  currentWords: number
  retired: number
  retiredWords: number
}

/**
 * The counts over many beliefs of one user. Changes are collected and written once per transaction. A row whose count reaches zero is
 * deleted, so that adding and then removing a belief leaves the tables unchanged.
 */
export function openCounts(connection: Connection, userId: number) {
  const scopeCounts = new Map<string, ScopeCounts>()
  const audienceCounts = new Map<string, AudienceCounts>()
  /** The number of forms by first word, then by number of words. */
  const prefixes = new Map<string, Map<number, number>>()
  const wordCounts = new Map<string, number>()

  const scopeId = (name: string): number => scopeOf(name).id
  const audienceId = (derived: DerivedBelief): number => audienceOf(derived).id

  function count(derived: DerivedBelief, step: 1 | -1): void {
    for (const name of derived.scopes) {
      const scope = scopeOf(name)
      scope.beliefs += step
      if (derived.current) scope.current += step
    }
    const audience = audienceOf(derived)
    if (derived.current) {
      audience.current += step
      audience.currentWords += step * derived.words
    } else {
      audience.retired += step
      audience.retiredWords += step * derived.words
    }
    for (const { words } of derived.forms) {
      const first = words[0] ?? ''
      const lengths = prefixes.get(first) ?? new Map<number, number>()
      prefixes.set(first, lengths)
      lengths.set(words.length, (lengths.get(words.length) ?? 0) + step)
    }
    for (const word of derived.typoTargets) wordCounts.set(word, (wordCounts.get(word) ?? 0) + step)
  }

  function write(): void {
    writePrefixes()
    writeWords()
    writeAudiences()
    writeScopes()
  }

  function scopeOf(name: string): ScopeCounts {
    const known = scopeCounts.get(name)
    if (known !== undefined) return known
    const find = 'SELECT id FROM scopes WHERE user_id = ? AND name = ?'
    const add = 'INSERT INTO scopes (user_id, name, beliefs, current) VALUES (?, ?, 0, 0) RETURNING id'
    const key = [userId, name]
    const id = connection.value<number>(find, key) ?? (connection.value(add, key) as number)
    const counts = { id, beliefs: 0, current: 0 }
    scopeCounts.set(name, counts)
    return counts
  }

  function audienceOf(derived: DerivedBelief): AudienceCounts {
    const known = audienceCounts.get(derived.audience)
    if (known !== undefined) return known
    const find = 'SELECT id FROM audiences WHERE user_id = ? AND label = ?'
    const id = connection.value<number>(find, [userId, derived.audience]) ?? addAudience(derived)
    const counts = { id, current: 0, currentWords: 0, retired: 0, retiredWords: 0 }
    audienceCounts.set(derived.audience, counts)
    return counts
  }

  function addAudience({ agent, audience, scopes }: DerivedBelief): number {
    const id = connection.value(
      `INSERT INTO audiences (user_id, agent, label, current, current_words, retired, retired_words)
       VALUES (?, ?, ?, 0, 0, 0, 0) RETURNING id`,
      [userId, agent, audience],
    ) as number
    const addScope = 'INSERT INTO audience_scopes (user_id, scope, audience) VALUES (?, ?, ?)'
    for (const scope of scopes) connection.run(addScope, [userId, scopeId(scope), id])
    return id
  }

  function writePrefixes(): void {
    const upsert = connection.statement(
      `INSERT INTO phrase_prefixes (user_id, word, length, count) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id, word, length) DO UPDATE SET count = count + excluded.count`,
    )
    const drop = connection.statement(
      'DELETE FROM phrase_prefixes WHERE user_id = ? AND word = ? AND length = ? AND count <= 0',
    )
    for (const [word, lengths] of inKeyOrder(prefixes)) {
      for (const [length, count] of lengths) {
        if (count !== 0) upsert.run(userId, word, length, count)
        if (count < 0) drop.run(userId, word, length)
      }
    }
  }

  function writeWords(): void {
    const count = connection.statement(addToWord)
    const add = connection.statement('INSERT INTO words (user_id, word, count) VALUES (?, ?, ?)')
    const added: (readonly [userId: number, half: number, word: string])[] = []
    for (const [word, change] of inKeyOrder(wordCounts)) {
      if (change < 0) removeWord(word, change)
      else if (change > 0 && count.run(change, userId, word).changes === 0) {
        add.run(userId, word, change)
        for (const half of typoHashes(word)) added.push([userId, half, word])
      }
    }
    const inIndexOrder = added.sort(([, a], [, b]) => a - b)
    connection.insertMany('typos (user_id, half, word)', inIndexOrder)
  }

  function removeWord(word: string, change: number): void {
    const key = [userId, word]
    connection.run(addToWord, [change, ...key])
    if (connection.run('DELETE FROM words WHERE user_id = ? AND word = ? AND count <= 0', key).changes === 0) return
    const drop = connection.statement('DELETE FROM typos WHERE user_id = ? AND half = ? AND word = ?')
    for (const half of typoHashes(word)) drop.run(userId, half, word)
  }

  function writeAudiences(): void {
    for (const [label, { id, current, currentWords, retired, retiredWords }] of audienceCounts) {
      if ([current, currentWords, retired, retiredWords].every((change) => change === 0)) continue
      connection.run(
        `UPDATE audiences SET current = current + ?, current_words = current_words + ?, retired = retired + ?,
         retired_words = retired_words + ? WHERE id = ?`,
        [current, currentWords, retired, retiredWords, id],
      )
      const isEmpty = 'SELECT 1 FROM audiences WHERE id = ? AND current + retired <= 0'
      if (current + retired >= 0 || connection.value(isEmpty, [id]) === undefined) continue
      const drop = 'DELETE FROM audience_scopes WHERE user_id = ? AND scope = ? AND audience = ?'
      const [, ...scopes] = JSON.parse(label) as [unknown, ...string[]]
      for (const scope of scopes) connection.run(drop, [userId, scopeId(scope), id])
      connection.run('DELETE FROM audiences WHERE id = ?', [id])
    }
  }

  function writeScopes(): void {
    for (const { id, beliefs, current } of scopeCounts.values()) {
      if (beliefs === 0 && current === 0) continue
      const add = 'UPDATE scopes SET beliefs = beliefs + ?, current = current + ? WHERE id = ?'
      connection.run(add, [beliefs, current, id])
      if (beliefs < 0) connection.run('DELETE FROM scopes WHERE id = ? AND beliefs <= 0', [id])
    }
  }

  return { scopeId, audienceId, count, write }
}

/** Does not use `RETURNING`: SQLite would create a temporary table for it, which takes longer than the update itself. */
const addToWord = 'UPDATE words SET count = count + ? WHERE user_id = ? AND word = ?'

/** The keys under which a word with a typo is found. */
export const typoHashes = (word: string): ReadonlySet<number> => new Set(typoKeys(word).map(textHash))

/** Sorts entries as the index does, so that each page is written once. */
const inKeyOrder = <Value>(entries: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
