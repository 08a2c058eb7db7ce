import { expect, it } from 'vitest'
import { textHash } from './belief-row.ts'

it('gives short texts different whole numbers that a database key can hold', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const texts = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => `${one}${two}${three}`)))

  const hashes = texts.map(textHash)

  expect(new Set(hashes).size).toBe(texts.length)
  expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true)
})
