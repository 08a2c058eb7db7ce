import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { type Memory, openMemory } from '../../src/index.ts'
import { storeFile } from '../../src/open-memory.ts'
import { columnOf } from '../column-of.ts'
import { count } from '../full-counts.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const codes = Array.from({ length: count(10_000) }, (_, index) => String(10_000 + index))
const secret = codes[Math.floor(codes.length / 3)] as string
const request = (code: string) => ({ name: 'door', content: `The code of the door is ${code}.`, key: 'k-door' })

/** The codes that a thief of the files cannot rule out: a request with such a code and the same key is not refused. */
async function guessed(memory: Memory): Promise<readonly string[]> {
  const possible: string[] = []
  for (const code of codes) {
    const outcome = await memory.remember(request(code)).then(
      () => 'replayed',
      (error) => error.code,
    )
    if (outcome !== 'conflict') possible.push(code)
  }
  return possible
}

it('a dictionary attack on the fingerprint of a forgotten request cannot distinguish codes', async () => {
  using directory = temporaryDirectory()
  const dir = join(directory.path, 'memory')
  await using memory = withClose(await openMemory({ dir }))
  const { belief } = await memory.remember(request(secret))
  expect(await guessed(memory)).toEqual([secret])

  await memory.forget(belief.id)

  expect(await guessed(memory)).toEqual(codes)
  const db = new DatabaseSync(storeFile(dir), { readOnly: true })
  const salts = columnOf(db, 'SELECT event FROM request_salts')
  db.close()
  expect(salts).toEqual([])
})

it('a retry of a forgotten request has no second effect', async () => {
  using directory = temporaryDirectory()
  await using memory = withClose(await openMemory({ dir: join(directory.path, 'memory') }))
  const { belief } = await memory.remember(request(secret))
  await memory.remember({ name: 'window', content: 'The window is open.' })
  const receipt = await memory.forget(belief.id, { key: 'k-forget' })

  await expect(memory.remember(request(secret))).rejects.toMatchObject({ code: 'not_found' })

  expect(await memory.list()).toMatchObject({ total: 1 })
  expect(await memory.forget(belief.id, { key: 'k-forget' })).toEqual(receipt)
  await expect(memory.forget('window', { key: 'k-forget' })).rejects.toMatchObject({ code: 'conflict' })
  await expect(memory.forget('window', { key: 'k-door' })).rejects.toMatchObject({ code: 'conflict' })
  expect(await memory.list()).toMatchObject({ total: 1 })
})

it('a request that forgets turns by their words leaves no fingerprint of the words', async () => {
  using directory = temporaryDirectory()
  await using memory = withClose(await openMemory({ dir: join(directory.path, 'memory') }))
  await memory.hear({ text: `The code is ${secret}.`, role: 'user', session: 's' })
  await memory.hear({ text: 'Elm Street is closed.', role: 'user', session: 's' })
  const receipt = await memory.forgetTurns({ containing: secret }, { key: 'k' })

  const others = codes.filter((code) => code !== secret).slice(0, 20)
  for (const code of [secret, ...others])
    expect(await memory.forgetTurns({ containing: code }, { key: 'k' })).toMatchObject({ event: receipt.event })

  await expect(memory.forgetTurns({ containing: 'Elm' }, { key: 'k' })).rejects.toMatchObject({ code: 'conflict' })
})

const withClose = (memory: Memory): Memory & AsyncDisposable => ({
  ...memory,
  [Symbol.asyncDispose]: () => memory.close(),
})
