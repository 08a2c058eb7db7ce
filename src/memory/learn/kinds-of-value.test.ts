import { describe, expect, it } from 'vitest'
import { kindsOfValue, valuesIn } from './kinds-of-value.ts'

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

describe('the values of a text', () => {
  it.each([
    ['The hearing is on 14 April 2026 at 10:30.', ['clock: 10:30', 'day: 14 April 2026']],
    ['We train on Mondays, Wednesdays and Fridays.', ['weekday: Mondays, Wednesdays and Fridays']],
    ['It costs 870 euros a month.', ['money: 870 euros']],
    ['The tank holds 90 litres and weighs 12.5 kg.', ['measure: litre: 90 litres', 'measure: kg: 12.5 kg']],
    ['Write to ada@example.org', ['mail: ada@example.org']],
    ['Quay Street 88b, flat 3', []],
  ])('%s', (text, values) => {
    expect(valuesIn(text).map(({ kind, text: value }) => `${kind}: ${value}`)).toEqual(values)
  })
})
