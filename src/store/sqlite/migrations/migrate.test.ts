import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { columnOf } from '../../../../test/column-of.ts'
import { linkMessage } from '../../../search/link.ts'
import { scoreLink } from '../../../search/score.ts'
import { commitOf, sampleTurn } from '../../sample-beliefs.contract.ts'
import { newFile, openAt } from '../temporary-store.contract.ts'
import { schemaNames } from './migrate.ts'

/**
 * A store that an earlier version created. Schema 1: some beliefs from hooks, some entered by hand, one from an agent. Schema 3: beliefs
 * with aliases, an erased belief, and two turns.
 */
function storeOfSchema(schema: 1 | 3): string {
  const file = newFile()
  mkdirSync(dirname(file), { recursive: true })
  const packed = readFileSync(new URL(`./store-schema-${schema}.db.gz`, import.meta.url))
  writeFileSync(file, gunzipSync(packed), { mode: 0o600 })
  return file
}

const all = { limit: 50, offset: 0 }

it('a store of schema 1 keeps its beliefs, and verifies', async () => {
  const store = openAt(storeOfSchema(1))

  const { items } = await store.list({ user: 'ada' }, all)

  expect(items.map(({ name }) => name).sort()).toEqual([
    'car',
    'dentist',
    'invoices',
    'linter',
    'staging server',
    'we deploy',
  ])
  const view = { user: 'ada', agent: null, scopes: ['project:ledger'] }
  expect((await store.postings(view, ['invoices'])).has('invoices')).toBe(true)
  for (const check of await store.verify()) expect(check).toMatchObject({ ok: true })
  await store.close()
})

it.each([
  // The scores computed by the version that created the store.
  ['Is the Redis cache behind kubernets?', { b1: 0.891662957, b2: 0.792589295 }],
  ['Move the postgresqll cluster off the main database', { b3: 1.24832814 }],
  ['nothing here', {}],
])('a store of schema 3 recalls the same after its tables were renamed: %s', async (message, expected) => {
  const store = openAt(storeOfSchema(3))
  const view = { user: 'ada', agent: null, scopes: ['project:ledger', 'user:universal'] }

  const { links, population } = await linkMessage(message, view, store)

  const scores = links.map((link) => [link.posting.beliefId, scoreLink(link, population).value])
  const close = Object.entries(expected).map(([id, score]) => [id, expect.closeTo(score, 8)])
  expect(Object.fromEntries(scores)).toEqual(Object.fromEntries(close))
  await store.close()
})

it('a store of schema 3 stays complete: journal, index, turns, even after a rebuild', async () => {
  const store = openAt(storeOfSchema(3))

  expect(await store.head()).toEqual({
    number: 5,
    hash: 'e6556253b9b58b38dcb1ebe390cab4b8faecd3d80fc753d5efe647b5587737bc',
  })
  for (const check of await store.verify()) expect(check).toMatchObject({ ok: true })
  const turns = (await store.listTurns({ user: 'ada', session: 's1' }, all)).items
  expect(turns).toMatchObject([
    { id: 't1', utcOffset: null },
    { id: 't2', utcOffset: null },
  ])
  const before = await store.fingerprint()
  await store.rebuild()
  expect(await store.fingerprint()).toBe(before)
  await store.close()
})

it('the hash of a turn covers its UTC offset', async () => {
  const file = storeOfSchema(3)
  const store = openAt(file)
  const turns = [sampleTurn('In the evening.', { utcOffset: -240 }), sampleTurn('At noon.')]
  await store.commit(commitOf([], { kind: 'hear', turns }))
  for (const check of await store.verify()) expect(check).toMatchObject({ ok: true })
  await store.close()
  const db = new DatabaseSync(file)
  db.prepare('UPDATE turns SET utc_offset = 0 WHERE id = ?').run(turns[0]?.id ?? '')
  db.close()

  const changed = openAt(file)

  expect((await changed.verify()).filter(({ ok }) => !ok)).toHaveLength(1)
  await changed.close()
})

it('the names that are checked when a store is opened are all tables and indexes of the newest schema', async () => {
  const file = newFile()
  await openAt(file).close()
  const db = new DatabaseSync(file, { readOnly: true })
  const names = `SELECT name FROM sqlite_schema WHERE type <> 'trigger' AND name NOT LIKE 'sqlite_%' ORDER BY name`

  expect([...schemaNames].sort()).toEqual(columnOf(db, names))
  db.close()
})
