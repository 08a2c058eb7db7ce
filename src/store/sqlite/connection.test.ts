import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { commitOf, presentChange, sample } from '../sample-beliefs.contract.ts'
import { logTooLong } from './connection.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

it('reads that share a transaction see writes of others after their caller waited, although the transaction is still open', async () => {
  const file = newFile()
  const store = openAt(file)
  const other = openAt(file)
  await store.commit(commitOf([presentChange(sample({ id: 'b1' }))]))

  const found = await store.withSnapshot(async () => {
    const before = await store.getMany('ada', ['b1', 'b2'])
    await other.commit(commitOf([presentChange(sample({ id: 'b2', name: 'Second' }))]))
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

it.skipIf(process.platform !== 'linux')('names the programs that are reading while the log is too long', async () => {
  const file = newFile()
  await openAt(file).close()
  const read = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]); db.exec('PRAGMA journal_mode = wal; BEGIN; SELECT 1'); console.log('open'); setInterval(() => {}, 1000)`
  const reader = spawn(process.execPath, ['-e', read, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(reader.stdout, 'data')

  const warning = logTooLong(file, 2 ** 27)
  reader.kill('SIGKILL')
  await once(reader, 'exit')

  expect(warning).toMatch(new RegExp(`has 128 MiB.* \\S+ \\(${reader.pid}\\)`, 'u'))
  expect(logTooLong(file, 2 ** 27)).not.toContain(String(reader.pid))
})
