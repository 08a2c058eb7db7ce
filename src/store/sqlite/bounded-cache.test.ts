import { expect, it } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

it('drops what was used longest ago', () => {
  const cache = new BoundedCache<number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.get('a')

  cache.set('c', 3)

  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
})

it('holds nothing after it was cleared', () => {
  const cache = new BoundedCache<number>(2)
  cache.set('a', 1)

  cache.clear()

  expect(cache.get('a')).toBeUndefined()
})
