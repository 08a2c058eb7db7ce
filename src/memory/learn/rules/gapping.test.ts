import { describe, expect, it } from 'vitest'
import { gapIn } from './gapping.ts'

describe('a clause without words of the one before it', () => {
  it.each([
    ['Jonah has to be home by 21:00', 'Freya by 23:00.', 'Freya has to be home by 23:00', 'has to be home'],
    ['Hanneke drinks rooibos', 'Laszlo black coffee', 'Laszlo drinks black coffee', 'drinks'],
    ['Kevin owes me 40 euros', 'Laura 25', 'Laura owes 25', 'owes'],
    ['Dinah is allergic to latex', 'Eamon to penicillin', 'Eamon is allergic to penicillin', 'is allergic'],
    ['I am 34 weeks pregnant', 'due on 12 December', 'I am due on 12 December', 'I am'],
    ['Anna cooks on Mondays', 'I do Fridays', 'I cook on Fridays', 'cook'],
    [
      'The data owner for orders is Priyanka',
      "for inventory it's Matteo",
      'The data owner for inventory is Matteo',
      'The data owner',
    ],
  ])('%s, %s', (left, right, plain, missing) => {
    expect(gapIn(left, right)).toMatchObject({ plain, missing })
  })

  it.each([
    ['Ana lives in Porto', 'Northern Portugal'],
    ['Tom works at Google', 'Dublin office'],
    ['Ida married Jonas', "Tom's brother"],
    ['I met Anna', 'Bob and Carl'],
    ['Anna plays the cello', 'Bo plays the piano'],
    ['My dentist is Dr. Lee', 'Hove branch'],
  ])('has all its words, or is none: %s, %s', (left, right) => {
    expect(gapIn(left, right)).toBeNull()
  })
})
