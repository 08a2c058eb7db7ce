import { expect, it } from 'vitest'
import { tell } from '../../../../test/memory/fixtures.ts'
import { ports } from '../../../../test/recall/fixtures.ts'
import { hear } from '../../../memory/conversation/hear.ts'
import { memoryFrom } from '../../../memory/memory.ts'
import type { Session } from '../../session.ts'
import { recall } from './recall.ts'

const author = { actor: 'person', origin: 'test' } as const

it('runs one recall for a message that names no belief, regardless of the number of stored prompts', async () => {
  const made = ports()
  let recalls = 0
  const standing: typeof made.store.standing = (...given) => {
    recalls += 1
    return made.store.standing(...given)
  }
  const memory = memoryFrom(
    { ...made, store: { ...made.store, standing } },
    { user: 'ann', scopes: ['domain:code'], author, agent: null },
  )
  await tell(made, 'release day', 'Releases go out on Tuesdays.')
  const turns = Array.from({ length: 20 }, (_, index) => ({ text: `Prompt number ${index}`, session: 's', index }))
  const where = { scopes: ['domain:code'], view: ['domain:code'] }
  await hear(made, { user: 'ann', author, agent: null, ...where, turns, learn: 'nothing' })
  const session = {
    memories: { reading: async () => memory },
    places: { formerProjectNotes: async () => [] },
  } as unknown as Session

  const { document, notes } = await recall.run(
    { args: { message: ['Can we ship the release?'] }, options: {} },
    session,
  )

  expect(document).toMatchObject({ relevant: [], suggestions: [{ name: 'release day', alias: 'release' }] })
  expect(notes.join('\n')).toContain('add "release"')
  expect(recalls).toBe(1)
})
