import { expect, it } from 'vitest'
import { memoryFrom } from '../../src/memory/memory.ts'
import { syncMirror } from '../../src/memory/mirror/sync.ts'
import { syncOnCommit } from '../../src/memory/mirror/sync-on-commit.ts'
import { openPorts } from '../../src/open-memory.ts'
import { mirroredMemory } from './mirrored-memory.ts'

it('writes the file a few times for many concurrent changes, and each change is in it when its call returns', async () => {
  await using mirrored = mirroredMemory()
  await mirrored.memory.remember({ name: 'first', content: 'There is a file.' })
  const opened = openPorts(mirrored.dir)
  let looks = 0
  // Counts syncs: each one reads the journal for changes since the previous sync.
  const events: typeof opened.store.events = (user, page) => {
    looks += 1
    return opened.store.events(user, page)
  }
  const options = { dir: mirrored.dir, user: 'local', authority: 'document', make: false, onProblem: () => {} } as const
  const ports = syncOnCommit({ ...opened, store: { ...opened.store, events } }, options)
  const author = { actor: 'person', origin: 'test' } as const
  const memory = memoryFrom(ports, { user: 'local', scopes: ['user:universal'], agent: null, author })
  await syncMirror(ports, { dir: mirrored.dir, user: 'local' })
  const before = looks
  await memory.remember({ name: 'alone', content: 'One change.' })
  const looksForOne = looks - before

  const isThere = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      await memory.remember({ name: `item ${index}q`, content: `Number ${index}.` })
      return mirrored.text().includes(`item ${index}q`)
    }),
  )

  expect(isThere).toEqual(isThere.map(() => true))
  expect(looks - before - looksForOne).toBeLessThan(10 * looksForOne)
  await ports.store.close()
})

it('lets a program that makes many changes in a row handle its events', async () => {
  await using mirrored = mirroredMemory()
  let isHandled = false
  setImmediate(() => {
    isHandled = true
  })

  for (let index = 0; index < 5; index += 1) await mirrored.memory.remember({ name: 'a', content: `what ${index} is` })

  expect(isHandled).toBe(true)
})
