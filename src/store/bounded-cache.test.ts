import { expect, it } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

it('keeps recently used entries, drops others, and never has more than twice its limit', () => {
  const cache = new BoundedCache<number>(10)
  cache.set('used', 0)
  cache.set('unused', 0)

  for (let index = 0; index < 100; index += 1) {
    cache.set(`new ${index}`, index)
    cache.get('used')
  }

  expect(cache.get('used')).toBe(0)
  expect(cache.get('unused')).toBeUndefined()
  expect(cache.get('new 99')).toBe(99)
  const held = Array.from({ length: 100 }, (_, index) => `new ${index}`).filter((key) => cache.get(key) !== undefined)
  expect(held.length).toBeLessThan(20)
})

it('is empty after it was cleared', () => {
  const cache = new BoundedCache<number>(2)
  cache.set('a', 1)

  cache.clear()

  expect(cache.get('a')).toBeUndefined()
})
