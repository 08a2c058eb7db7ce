import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { newFile, openAt } from './temporary-store.contract.ts'

/** A store that version 0.1 of the program made: some beliefs by its hooks, some by hand, one by an agent. */
function storeOfFirstSchema(): string {
  const file = newFile()
  mkdirSync(dirname(file), { recursive: true })
  const packed = readFileSync(new URL('./migrations/store-schema-1.db.gz', import.meta.url))
  writeFileSync(file, gunzipSync(packed), { mode: 0o600 })
  return file
}

const all = { limit: 50, offset: 0 }

it('what hooks learned by the old rules becomes candidates when an old store is opened', async () => {
  const store = openAt(storeOfFirstSchema())
  const names = async (user: string, candidates: boolean) =>
    (await store.list({ user, candidates }, all)).items.map(({ name }) => name).sort()

  // The person pinned the dentist, the agent wrote down the linter, and the invoices were remembered by hand.
  expect(await names('ada', true)).toEqual(['car', 'staging server', 'we deploy'])
  expect(await names('ada', false)).toEqual(['dentist', 'invoices', 'linter'])
  expect(await names('bob', true)).toEqual(['office'])
  const view = { user: 'ada', agent: null, scopes: ['project:ledger'] }
  expect((await store.postings(view, ['car', 'invoices'])).has('car')).toBe(false)
  expect(await store.population(view)).toBe(3)
  for (const check of await store.verify()) expect(check).toMatchObject({ ok: true })
  await store.close()
})

it('the review is one event of the journal for each user, and happens once', async () => {
  const file = storeOfFirstSchema()
  await openAt(file).close()
  const store = openAt(file)

  const [latest, before] = await store.events('ada', { limit: 2 })

  expect(latest).toMatchObject({ kind: 'review', actor: 'tool', origin: 'credence', beliefCount: 3 })
  expect(before?.kind).not.toBe('review')
  expect(await store.lastUndoable('ada')).toMatchObject({ number: latest?.number })
  await store.close()
})
