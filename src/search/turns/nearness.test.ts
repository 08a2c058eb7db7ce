import { expect, it } from 'vitest'
import { ports } from '../../../test/recall/fixtures.ts'
import { embedTexts, meaningOf } from '../../memory/conversation/meaning.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { openMiniLm } from '../minilm/minilm.ts'
import { findCandidates } from './candidates.ts'
import { nearnessOf } from './nearness.ts'
import { parseQuestion } from './question.ts'

const scopes = ['project:ledger']
const view = { user: 'ann', scopes }

/** The nearness of each text to a message, with each text stored as a turn. */
async function nearnessTo(message: string, texts: readonly string[]) {
  const model = await openMiniLm()
  const { store, ...others } = ports()
  const author = { actor: 'person', origin: 'test' } as const
  const memory = memoryFrom({ store, ...others }, { user: 'ann', scopes, agent: null, author })
  const heard = texts.map((text, day) => ({
    session: `s${day}`,
    at: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
    text,
  }))
  await memory.hear(heard, { learn: 'nothing' })
  await embedTexts({ store, embedder: async () => model }, { user: 'ann' })
  const question = parseQuestion(message)
  const meaning = await meaningOf(model, question, message)
  const { messages, terms } = await findCandidates(store, { view, question, dates: null, meaning })
  const found = (await nearnessOf(store, { view, meaning }, messages, terms)) ?? []
  const without = await nearnessOf(
    store,
    { view, meaning: { ...meaning, wordsOf: async () => undefined } },
    messages,
    terms,
  )
  return { of: new Map(messages.map(({ turn }, at) => [turn.text, found[at]])), without }
}

it('is larger for a sentence that has every requested detail, even in other words', async () => {
  const answer = 'The vet said our dog must not eat grapes.'
  const other = 'Our dog sleeps on the sofa.'
  const { of, without } = await nearnessTo('Which fruit is the puppy forbidden to eat?', [answer, other])

  expect(of.get(answer)?.value).toBeGreaterThan(of.get(other)?.value ?? 0)
  expect(new Map(of.get(answer)?.pairs).get('puppy')).toBe('dog')
  expect(new Map(of.get(answer)?.pairs).get('fruit')).toBe('grapes')
  expect(without).toBeNull()
})
