import { afterEach, expect, it } from 'vitest'
import { describeAccess } from '../access.contract.ts'
import type { SqliteStore } from './sqlite-store.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

const opened: SqliteStore[] = []
const open = (file = newFile()) => {
  const store = openAt(file)
  opened.push(store)
  return store.access()
}
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

describeAccess('The SQLite store', () => open(), 20)

it('shows a change to another connection of the same file at once', async () => {
  const file = newFile()
  const one = await open(file)
  const other = await open(file)
  const createdAt = '2026-05-04T09:00:00.000Z'
  await one.addPerson({ name: 'ana', createdAt })
  await one.addToken(
    { id: 't-1', kind: 'person', person: 'ana', scopes: [], label: '', createdAt, lastUsedAt: null, revokedAt: null },
    'hash',
  )
  expect(await other.findToken({ hash: 'hash' })).not.toBeNull()

  await one.revokeToken('t-1', createdAt)

  expect(await other.findToken({ hash: 'hash' })).toBeNull()
})

it('neither finds nor lists an invite of an older version', async () => {
  const access = await open()
  const createdAt = '2026-05-04T09:00:00.000Z'
  const token = { id: 't-1', person: 'ana', scopes: [], label: '', createdAt, lastUsedAt: null, revokedAt: null }
  await access.addPerson({ name: 'ana', createdAt })
  await access.addToken({ ...token, kind: 'invite' as 'person' }, 'hash')

  expect(await access.findToken({ hash: 'hash' })).toBeNull()
  expect([...(await access.tokens()), ...(await access.tokens('ana'))]).toEqual([])
})
