import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { commitOf, present, sample } from '../sample-beliefs.contract.ts'
import { Connection } from './connection.ts'
import { readersOf } from './store-file.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

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

it('reads that share a transaction see what others write once their caller has waited, although it is not done', async () => {
  const file = newFile()
  const [store, other] = [openAt(file), openAt(file)]
  await store.commit(commitOf([present(sample({ id: 'b1' }))]))

  const found = await store.withSnapshot(async () => {
    const before = await store.getMany('ada', ['b1', 'b2'])
    await other.commit(commitOf([present(sample({ id: 'b2', name: 'Second' }))]))
    let after = before
    while (after.length < 2) {
      await nextTurn()
      after = await store.getMany('ada', ['b1', 'b2'])
    }
    return [before, after].map((beliefs) => beliefs.map(({ id }) => id))
  })

  expect(found).toEqual([['b1'], ['b1', 'b2']])
  await Promise.all([store.close(), other.close()])
})

it('the processes that keep the log from being emptied are found', async (context) => {
  if (!existsSync('/proc/locks')) return context.skip('The system lists no locks.')
  const file = newFile()
  const store = openAt(file)
  await store.commit(commitOf([present(sample({ id: 'b1' }))]))
  const program = `
    const reader = new (require('better-sqlite3'))(${JSON.stringify(file)}, { readonly: true })
    if (process.argv[1] === 'reads') reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM events').get()
    console.log('open')
    process.stdin.resume()`
  const children = ['reads', 'waits'].map((name) => spawn(process.execPath, ['--eval', program, name]))
  for (const { stdout } of children) await once(stdout, 'data')

  const readers = readersOf(file)
  for (const child of children) {
    child.stdin.end()
    await once(child, 'exit')
  }

  expect(readers).toEqual([children[0]?.pid])
  expect(readersOf(file)).toEqual([])
  await store.close()
})
