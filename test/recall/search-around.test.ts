import { expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'

/** A conversation with a tool step between a question and its answer, and one turn in a different scope. */
async function withConversation(place: ReturnType<typeof createSandbox>): Promise<void> {
  const texts = [
    ['user', 'Good morning.'],
    ['user', 'Where did we moor the kayak?'],
    ['tool', 'Bash {"command":"ls"}'],
    ['assistant', 'At the northern jetty.'],
    ['user', 'Thanks, that helps.'],
  ]
  const lines = texts.map(([role, text], index) => ({
    session: 's1',
    role,
    at: `2026-05-03T10:0${index}:00Z`,
    text,
    scope: index === 4 ? 'project:other' : 'user:universal',
  }))
  const stdin = lines.map((line) => JSON.stringify(line)).join('\n')
  await place.runWith({ stdin }, 'hear', '-')
}

const around = (answer: { quotes: { around?: { text: string }[] }[] }) =>
  answer.quotes[0]?.around?.map(({ text }) => text)

it('a search returns the turns around a quote on request, without tool steps and other scopes', async () => {
  using place = createSandbox()
  await withConversation(place)
  const question = ['search', 'Where did we moor the kayak?', '--in', 'turns', '--limit', '1'] as const

  const plain = await place.json(...question)
  const one = await place.json(...question, '--around', '1')
  const own = await place.json(...question, '--around', '5', '--scope', 'user:universal')
  const printed = await place.run(...question, '--around', '1')
  const wrong = await place.run(...question, '--around', '11')

  expect(around(plain)).toBeUndefined()
  expect(around(one)).toEqual(['Good morning.', 'At the northern jetty.'])
  expect(around(own)).toEqual(['Good morning.', 'At the northern jetty.'])
  expect(printed.stdout).toContain('assistant: At the northern jetty.')
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('from 0 to 10') })
})
