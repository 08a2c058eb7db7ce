import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { memoryFrom } from '../memory.ts'

it('finds a turn by the beginning of its id, unless several turns match', async () => {
  const ids = ['b-ab', 'b-ab1', 'b-cd1']
  const ports = {
    store: openSqliteStore({ file: inMemory, random: randomBytes }),
    now: () => new Date('2026-03-06T10:00:00Z'),
    newId: () => ids.shift() ?? '',
  }
  const author = { actor: 'person', origin: 'test' } as const
  const memory = memoryFrom(ports, { user: 'ada', scopes: ['user:universal'], agent: null, author })
  await memory.hear(['one', 'two', 'three'].map((text) => ({ text, session: text })))

  expect(await memory.turn('t-cd')).toMatchObject({ text: 'three' })
  expect(await memory.turn('t-ab')).toMatchObject({ text: 'one' })
  await expect(memory.turn('t-a')).rejects.toMatchObject({ code: 'not_found' })
  await memory.forgetTurns({ turn: 't-ab' })
  expect(await memory.turn('t-ab')).toMatchObject({ text: 'two' })
  ids.push('b-ab2')
  await memory.hear({ text: 'four', session: 'four' })
  await expect(memory.turn('t-ab')).rejects.toMatchObject({ code: 'conflict' })
})
