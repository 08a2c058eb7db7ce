import { describe, expect, it } from 'vitest'
import { forgetRequestIn } from './forget-requests.ts'

describe('a request to forget', () => {
  it.each([
    ['Forget what I told you about my knee.', 'my knee'],
    ['You can forget the thing about the loan.', 'the loan'],
    ['Please delete everything you know about my sister!', 'my sister'],
    ['could you forget everything about the Harrow account?', 'the Harrow account'],
    ['Remove my locker number from your memory, please', 'my locker number'],
    ['Erase the notes you have about Omar', 'Omar'],
    ['Forget that I like jazz', 'I like jazz'],
    ['Please forget my address.', 'my address'],
  ])('%s', (text, about) => {
    expect(forgetRequestIn(text)).toBe(about)
  })

  it.each([
    "Don't forget my birthday.",
    'Never forget what I told you about trust.',
    'I always forget my keys.',
    'Forget it.',
    'Forget what I just said.',
    'Remove the unused import.',
    'Drop the table and delete the index.',
    'Forget the dishes.',
  ])('is none: %s', (text) => {
    expect(forgetRequestIn(text)).toBeNull()
  })
})
