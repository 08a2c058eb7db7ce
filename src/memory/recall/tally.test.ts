import { expect, it } from 'vitest'
import { person, ports } from '../../../test/recall/fixtures.ts'
import type { RecallTally } from '../../beliefs/recall-counts.ts'
import { memoryFrom } from '../memory.ts'
import { RecallCounter } from './tally.ts'

it('counts every belief of a context once, including the preferences in the prelude', async () => {
  const tallies: RecallTally[] = []
  const counter = new RecallCounter({ countRecalls: async (_user, noted) => void tallies.push(...noted) })
  const standpoint = { user: 'ann', scopes: ['user:universal'], agent: null, author: person }
  const memory = memoryFrom({ ...ports(), counter }, standpoint)
  const style = { type: 'preference', subtype: 'style' } as const
  const { belief: told } = await memory.remember({ name: 'answers', content: 'Short ones.', ...style })
  const { belief: named } = await memory.remember({ name: 'harbour', content: 'Closed on Mondays.' })

  await memory.recall('Is the harbour open?')
  await counter.flush()

  expect(tallies.map(({ beliefIds }) => [...beliefIds].sort())).toEqual([[told.id, named.id].sort()])
})
