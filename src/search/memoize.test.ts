import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { memoize } from './memoize.ts'

it('computes a word once', () => {
  const computed: string[] = []
  const lengthOf = memoize((word) => computed.push(word) && word.length)

  expect([
    lengthOf('kayak'),
    lengthOf('kayak'),
    lengthOf('internationalisation'),
    lengthOf('internationalisation'),
  ]).toEqual([5, 5, 20, 20])
  expect(computed).toEqual(['kayak', 'internationalisation'])
})

it('does not keep the texts of which its words are parts', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heap = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const same = memoize((word) => word)
  const before = heap()

  for (let number = 0; number < 200; number += 1)
    same(Buffer.alloc(200_000, `a word that is long ${number} `).toString('latin1').slice(0, 24))

  // The texts have 40 MB in total.
  expect(heap() - before).toBeLessThan(10_000_000)
})
