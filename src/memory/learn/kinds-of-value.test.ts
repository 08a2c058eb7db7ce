import { describe, expect, it } from 'vitest'
import { kindsOfValue } from './kinds-of-value.ts'

describe('kinds of value', () => {
  it.each([
    ['Ida is six.', ['age']],
    ['Ida turned seven yesterday', ['age']],
    ['Choir is on Mondays.', ['weekday']],
    ['The train leaves at 9:05.', ['clock']],
    ['I take 2.5 mg of it.', ['weight']],
    ['The rate is £285.', ['money']],
    ["Paul's number is 0151 496 0022.", ['phone']],
    ['The exam is on 4 May.', ['day']],
    ['Ida likes tea.', []],
  ])('%s', (text, kinds) => {
    expect(kindsOfValue(text)).toEqual(kinds)
  })
})
