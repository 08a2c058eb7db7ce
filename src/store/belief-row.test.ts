import { expect, it } from 'vitest'
import { readText, textHash } from './belief-row.ts'
import { hashBody } from './journal-chain.ts'
import { sample } from './sample-beliefs.contract.ts'

it('gives different integers that fit a database key for different short texts', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const texts = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => `${one}${two}${three}`)))

  const hashes = texts.map(textHash)

  expect(new Set(hashes).size).toBe(texts.length)
  expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true)
})

it.each([0, 7, Buffer.from('{}')])('reports a column with %s instead of a text as damaged', (value) => {
  // A flipped bit in a row's header can change a text into any type, whatever the column's type.
  const damaged = value as unknown as string
  const body = JSON.stringify(sample({ id: 'b1' }))
  const salt = Buffer.alloc(16)
  const body_hash = Buffer.from(hashBody(salt, body))
  const row = { outcome: 'present', body, salt, body_hash }

  expect(readText('b1', row)?.id).toBe('b1')
  expect(() => readText('b1', { ...row, body: damaged })).toThrow('is damaged')
  expect(() => readText('b1', { ...row, salt: 7 as unknown as Buffer })).toThrow('is damaged')
})
