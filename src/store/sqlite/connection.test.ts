import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { Connection } from './connection.ts'

const opened = (): Connection => {
  const open = (): Database.Database => new Database(':memory:')
  return new Connection({ file: ':memory:', isReadonly: false, busyTimeoutMs: 0, open })
}

it('a write that is not synced leaves the ones after it synced, also when it fails', () => {
  const connection = opened()

  connection.write(() => connection.run('CREATE TABLE kept (id INTEGER)'), { isSynced: false })
  const afterSuccess = connection.value('PRAGMA synchronous')
  const failing = () =>
    connection.write(
      () => {
        throw new Error('stopped')
      },
      { isSynced: false },
    )

  expect(failing).toThrow('stopped')
  expect([afterSuccess, connection.value('PRAGMA synchronous')]).toEqual([2, 2])
})
