import type { Connection } from '../connection.ts'

/**
 * FTS5 keeps the beginning of a term for each page of its index, to find the page by, also when the term was deleted.
 * Replaces those that are the beginning of one of these terms by the first term that is still on the page. Inside the
 * transaction that deleted the terms. https://sqlite.org/fts5.html#fts5_data_structures
 */
export function dropSeparators(connection: Connection, terms: ReadonlySet<string>): void {
  // A read of the vocabulary makes FTS5 write what it has collected in memory.
  connection.value(`SELECT 1 FROM text_counts WHERE term = ''`)
  const keys = JSON.stringify([...terms].map((term) => Buffer.from(`${mainIndex}${term}`).toString('hex')))
  for (const { segment, page, term } of connection.all<Separator>(separatorsOf, [keys])) {
    const leaf = connection.value<Buffer>('SELECT block FROM texts_data WHERE id = ?', [segment * 2 ** 37 + page])
    const first = leaf === undefined ? null : firstTerm(leaf)
    if (first !== null && !isBeginning(term, first)) connection.runUnguarded(replace, [first, segment, term])
  }
}

type Separator = { readonly segment: number; readonly page: number; readonly term: Buffer }

/** FTS5 puts this before every term that is not a prefix. */
const mainIndex = '0'

const replace = 'UPDATE texts_idx SET term = ? WHERE segid = ? AND term = ?'

/** Of each segment the last separator up to each term, if the term begins with it. Without reading the whole table. */
const separatorsOf = `WITH RECURSIVE segments (id) AS (
    SELECT min(segid) FROM texts_idx
    UNION ALL SELECT (SELECT min(segid) FROM texts_idx WHERE segid > segments.id) FROM segments WHERE id IS NOT NULL),
  terms (key) AS MATERIALIZED (SELECT unhex(value) FROM json_each(?))
  SELECT segid AS segment, pgno / 2 AS page, term
  FROM segments CROSS JOIN terms CROSS JOIN texts_idx ON segid = segments.id
    AND term = (SELECT max(term) FROM texts_idx WHERE segid = segments.id AND term <= key)
  WHERE substr(key, 1, length(term)) = term`

const isBeginning = (beginning: Buffer, of: Buffer): boolean => of.subarray(0, beginning.length).equals(beginning)

/** The first term that begins on a leaf page; null if none does. */
function firstTerm(leaf: Buffer): Buffer | null {
  const footer = leaf.readUInt16BE(2)
  if (footer >= leaf.length) return null
  const at = readVarint(leaf, readVarint(leaf, footer).value)
  return leaf.subarray(at.end, at.end + at.value)
}

/** Of at most three bytes, which is enough for offsets and lengths on a page. */
function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0
  for (let at = start; ; at += 1) {
    const byte = bytes.readUInt8(at)
    value = value * 128 + (byte & 127)
    if (byte < 128) return { value, end: at + 1 }
  }
}
