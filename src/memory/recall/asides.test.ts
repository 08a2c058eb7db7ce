import { describe, expect, it } from 'vitest'
import { agent, importer, tell } from '../../../test/memory/at-hand.ts'
import { ports } from '../../../test/recall/beliefs-at-hand.ts'
import { recall } from './recall.ts'

type Writer = typeof agent | typeof importer | null

/** Whether the message recalls the one belief, or else why not. */
async function recalled(message: string, name: string, content: string, author: Writer) {
  const memory = ports()
  await tell(memory, name, content, author === null ? {} : { author })
  const view = { user: 'ann', scopes: ['domain:code', 'user:universal'] }
  const { relevant, nearMisses } = await recall(memory, { ...view, message, nearMisses: true })
  return relevant.length > 0 || nearMisses?.map(({ reason }) => reason.kind)
}

describe('a name that is said like a greeting', () => {
  const cases = [
    ['good morning, can you shorten my letter?', 'Good Morning', 'Good Morning is a café, ink at inkharbour.example.'],
    ['Guten Tag! Kannst du mir helfen?', 'Guten Tag', 'Guten Tag is the toner shop.'],
    ['天気を教えて、お願いします', 'お願いします', 'お願いします is the order form.'],
    ['my letter is ready\nbest wishes', 'best wishes', 'Best Wishes is a flower service.'],
  ] as const

  it.each(cases)('does not ask for what an agent or a document called so: %s', async (message, name, content) => {
    expect(await recalled(message, name, content, agent)).toEqual(['aside'])
    expect(await recalled(message, name, content, importer)).toEqual(['aside'])
    expect(await recalled(message, name, content, null)).toBe(true)
  })

  it.each([
    'is the café Good Morning open?',
    'good morning',
    'Good Morning???!!! again???',
    'good morning, where is that café?',
    'Good Morning: how long do they stay open?',
    'compare tea, good morning, and cake',
  ])('asks for it inside a message, nearly alone, or with another word of the belief: %s', async (message) => {
    expect(await recalled(message, 'Good Morning', 'Good Morning is the café next door.', agent)).toBe(true)
  })

  it('asks for it in a list of names', async () => {
    const memory = ports()
    for (const name of ['residuals', 'governing law']) await tell(memory, name, `See ${name}.md.`, { author: agent })

    const message = 'residuals, governing law and so on'
    const { relevant } = await recall(memory, { user: 'ann', scopes: ['domain:code'], message })

    expect(relevant.map(({ belief }) => belief.name).sort()).toEqual(['governing law', 'residuals'])
  })
})
