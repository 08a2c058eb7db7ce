import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { create, insertMultiple, search } from '@orama/orama'
import FlexSearch from 'flexsearch'
import MiniSearch from 'minisearch'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'
import type { Peer } from './ranker.ts'

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version

/** The fields of a belief for each library. The name counts double, as recommended for titles. */
const documentOf = ({ id, name, aliases, content, why }: BeliefRecord) => ({
  id,
  name,
  aliases: aliases.join(' | '),
  content,
  why,
})
const fields = ['name', 'aliases', 'content', 'why'] as const

/** More than the number of beliefs in any pack. */
const unlimited = 1_000_000

export const miniSearch: Peer = {
  name: 'minisearch',
  version: versionOf('minisearch'),
  settings: 'BM25+, prefix search, fuzzy 0.2, name boosted by 2 (its README)',
  hasScores: true,
  index: (beliefs) => {
    const index = new MiniSearch<ReturnType<typeof documentOf>>({ fields: [...fields] })
    index.addAll(beliefs.map(documentOf))
    return {
      rank: (message) =>
        index
          .search(message, { boost: { name: 2 }, prefix: true, fuzzy: 0.2 })
          .map(({ id, score }) => ({ id: String(id), score })),
    }
  },
}

export const orama: Peer = {
  name: 'orama',
  version: versionOf('@orama/orama'),
  settings: 'BM25, English stemming, tolerance 1, name boosted by 2 (its documentation)',
  hasScores: true,
  index: async (beliefs) => {
    const schema = { name: 'string', aliases: 'string', content: 'string', why: 'string' } as const
    const index = create({ schema, components: { tokenizer: { stemming: true, language: 'english' } } })
    await insertMultiple(index, beliefs.map(documentOf))
    return {
      rank: async (message) => {
        const { hits } = await search(index, { term: message, boost: { name: 2 }, tolerance: 1, limit: unlimited })
        return hits.map(({ id, score }) => ({ id: String(id), score }))
      },
    }
  },
}

export const flexSearch: Peer = {
  name: 'flexsearch',
  version: versionOf('flexsearch'),
  settings: 'Document index, forward tokens, suggestions on, fields merged (its README); has no scores',
  hasScores: false,
  index: (beliefs) => {
    const index = new FlexSearch.Document({
      document: { id: 'id', index: [...fields] },
      tokenize: 'forward',
      encoder: FlexSearch.Charset.LatinBalance,
    })
    for (const belief of beliefs) index.add(documentOf(belief))
    return {
      rank: (message) => {
        const found = index.search(message, { suggest: true, limit: 1_000, merge: true })
        return found.map(({ id }, position) => ({ id: String(id), score: 1 / (position + 1) }))
      },
    }
  },
}

export const fts5: Peer = {
  name: 'sqlite fts5',
  version: String(process.versions.sqlite),
  settings: 'bm25() with the name weighted by 2, Porter stemming, any word may match',
  hasScores: true,
  index: (beliefs) => {
    const db = new DatabaseSync(':memory:')
    db.exec(`CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, ${fields.join(', ')}, tokenize = 'porter unicode61')`)
    const insert = db.prepare('INSERT INTO texts VALUES (@id, @name, @aliases, @content, @why)')
    db.exec('BEGIN')
    for (const belief of beliefs) insert.run(documentOf(belief))
    db.exec('COMMIT')
    const match = db.prepare(
      'SELECT id, -bm25(texts, 0, 2, 1, 1, 1) AS score FROM texts WHERE texts MATCH ? ORDER BY score DESC',
    )
    return {
      rank: (message) => {
        const words = [...new Set(message.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
        const hits = words.length === 0 ? [] : match.all(words.map((word) => `"${word}"`).join(' OR '))
        return hits.map(({ id, score }) => ({ id: String(id), score: Number(score) }))
      },
      close: () => db.close(),
    }
  },
}

export const libraries: readonly Peer[] = [miniSearch, orama, flexSearch, fts5]
