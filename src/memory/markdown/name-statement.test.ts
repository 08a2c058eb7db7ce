import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameStatement } from './name-statement.ts'

describe('the name of a statement', () => {
  it.each([
    ['payment terms: 14 days', 'payment terms', '14 days'],
    ['Deadline — 4 May', 'Deadline', '4 May'],
    ['The staging server is at 10.0.0.4.', 'staging server', null],
    ['Anna Schmidt is our lawyer', 'Anna Schmidt', null],
    ['I prefer dark mode in every editor', 'dark mode', null],
    ['We use PostgreSQL for storage', 'PostgreSQL', null],
    ['Prefer tabs over spaces', 'tabs', null],
    ["Don't use semicolons", 'semicolons', null],
    ['`npm run build` builds it', 'npm run build', null],
    ['Which backup tool do we use?', 'backup tool', null],
    ['Note: the build is slow', 'build', null],
    ['**Queue** We use NATS.', 'Queue', 'We use NATS.'],
    ['**NATS** is our queue.', 'NATS', null],
    ['**Never** Push to main.', 'Push', null],
  ])('%j is %j', (statement, name, value) => {
    expect(nameStatement(statement)).toMatchObject({ name, content: value ?? statement, isGiven: value !== null })
  })

  it('keeps what is stressed inside the statement as other words for it', () => {
    expect(nameStatement('We deploy with `fly deploy` to **Fly.io**.').aliases).toEqual(['fly deploy', 'Fly.io'])
  })

  it('is found in any text, is the same every time, and leaves no word of the statement out', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const named = nameStatement(text)

        expect(nameStatement(text)).toEqual(named)
        expect(text.trim().endsWith(named.content)).toBe(true)
        if (!named.isGiven) expect(named.content).toBe(text.trim())
      }),
    )
  })
})
