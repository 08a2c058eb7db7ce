import { DatabaseSync } from 'node:sqlite'
import { create, insertMultiple, search } from '@orama/orama'
import FlexSearch from 'flexsearch'
import MiniSearch from 'minisearch'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'

/** A search library that indexes the names and aliases of beliefs, the same texts that our recall searches. */
export type FormIndexPeer = {
  readonly name: string
  /** Max beliefs to measure: as many as the library indexes in about a minute. */
  readonly maxBeliefs: number
  build(beliefs: Iterable<BeliefRecord>): Promise<FormSearch> | FormSearch
}
export type FormSearch = { search(message: string): unknown; close(): void }

const formsOf = ({ id, name, aliases }: BeliefRecord) => ({ id, name, aliases: aliases.join(' | ') })
const maxHits = 20

/**
 * Prefix search and typo tolerance are off wherever they are optional, so that each library does the minimum of work.
 */
export const formIndexPeers: readonly FormIndexPeer[] = [
  {
    name: 'minisearch',
    maxBeliefs: 100_000,
    build: (beliefs) => {
      const index = new MiniSearch<ReturnType<typeof formsOf>>({ fields: ['name', 'aliases'] })
      for (const belief of beliefs) index.add(formsOf(belief))
      return { search: (message) => index.search(message, { boost: { name: 2 } }).slice(0, maxHits), close: () => {} }
    },
  },
  {
    name: 'sqlite fts5',
    maxBeliefs: 1_000_000,
    build: (beliefs) => {
      const db = new DatabaseSync(':memory:')
      db.exec("CREATE VIRTUAL TABLE forms USING fts5(name, aliases, tokenize = 'unicode61')")
      const insert = db.prepare('INSERT INTO forms (name, aliases) VALUES (?, ?)')
      db.exec('BEGIN')
      for (const belief of beliefs) {
        const { name, aliases } = formsOf(belief)
        insert.run(name, aliases)
      }
      db.exec('COMMIT')
      const match = db.prepare(
        `SELECT rowid FROM forms WHERE forms MATCH ? ORDER BY bm25(forms, 2.0, 1.0) LIMIT ${maxHits}`,
      )
      const anyOf = (message: string): string =>
        [...new Set(message.split(/\W+/u))].map((word) => `"${word}"`).join(' OR ')
      return { search: (message) => match.all(anyOf(message)), close: () => db.close() }
    },
  },
  {
    name: 'flexsearch',
    maxBeliefs: 100_000,
    build: (beliefs) => {
      const index = new FlexSearch.Document({ document: { id: 'id', index: ['name', 'aliases'] }, tokenize: 'strict' })
      for (const belief of beliefs) index.add(formsOf(belief))
      return { search: (message) => index.search(message, { suggest: true, limit: maxHits }), close: () => {} }
    },
  },
  {
    name: 'orama',
    maxBeliefs: 100_000,
    build: async (beliefs) => {
      const index = create({ schema: { name: 'string', aliases: 'string' } as const })
      await insertMultiple(index, [...beliefs].map(formsOf), 1_000)
      return {
        search: (message) => search(index, { term: message, boost: { name: 2 }, limit: maxHits }),
        close: () => {},
      }
    },
  },
]
