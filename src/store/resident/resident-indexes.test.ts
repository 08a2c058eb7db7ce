import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ResidentIndexes } from './resident-indexes.ts'

it('makes an index once, however often it is asked for while its source is slow', async () => {
  let starts = 0
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const source = {
    start: async () => {
      starts += 1
      await answered
      return { beliefs: 0, event: 1 }
    },
    forms: () => [],
  }
  const indexes = new ResidentIndexes<string>(source, 2 ** 20)

  for (let asked = 0; asked < 5; asked += 1) indexes.find('ada')
  answer()
  while (indexes.find('ada') === null) await pause(1)

  expect(starts).toBe(1)
  indexes.close()
})
