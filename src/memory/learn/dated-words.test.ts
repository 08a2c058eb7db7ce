import { expect, it } from 'vitest'
import { datedWords } from './learn.ts'

// A Sunday.
const at = '2026-05-03T22:00:00.000Z'

it.each([
  ['The demo is tomorrow.', 'The demo is tomorrow [2026-05-04].'],
  ['We met last Friday at 3pm.', 'We met last Friday at 3pm [2026-05-01].'],
  ['The lease ends in two weeks', 'The lease ends in two weeks [2026-05-17]'],
  ['Frozen until next month, then open', 'Frozen until next month [2026-06], then open'],
  ['The due date is 12 June.', 'The due date is 12 June [2026-06-12].'],
  ['Ana arrives on 12 June.', 'Ana arrives on 12 June [2026-06-12].'],
])('%s', async (said, dated) => {
  expect(await datedWords(said, at)).toBe(dated)
})

it.each([
  'From now on use tabs.',
  'The office closes at 17:00 on Fridays.',
  'We deploy every Tuesday.',
  'Any day of the week will do.',
  'It started on 2024-01-15.',
  'The port is 5433.',
  'Call me at 9 am.',
  'It takes 2 weeks to ship.',
  'I want at least 30 minutes each day for a walk.',
  '明天的会议取消了。',
])('leaves as it is: %s', async (said) => {
  expect(await datedWords(said, at)).toBe(said)
})
