import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newestFirst } from './newest-first.ts'
import { parseQuestion } from './question.ts'

type Note = { readonly text: string; readonly at: number; readonly session: string }

/** Each in a session of its own, the later the newer. */
const notes = (...texts: readonly string[]): readonly Note[] =>
  texts.map((text, at) => ({ text, at, session: `s${at}` }))

const reorder = (ranked: readonly Note[], question: string) =>
  newestFirst(
    ranked,
    (note) => note,
    parseQuestion(question).terms,
    () => true,
  )

describe('the newest first', () => {
  it('puts the last word on the same thing first and marks the older one', () => {
    const [old, latest] = notes('My shoe size for the Brooks is 42.', 'My shoe size for the Brooks is 43 now.')

    expect(reorder([old, latest] as Note[], 'What is my shoe size for the Brooks?')).toEqual([
      { item: latest, isEarlier: false },
      { item: old, isEarlier: true },
    ])
  })

  it('keeps the best first when the newer one lacks a telling word of the question', () => {
    // Alike as texts, but about another book.
    const ranked = notes(
      'I just finished listening to the audiobook of The Nightingale, what a novel.',
      'I just finished listening to the audiobook of Sapiens, what a history.',
    )

    const ordered = reorder(ranked, 'When did I finish listening to The Nightingale?')

    expect(ordered).toEqual(ranked.map((item) => ({ item, isEarlier: false })))
  })

  it('asks of the newer one only the words that the best one holds', () => {
    const [old, latest] = notes('The Nightingale: I am on page 120.', 'The Nightingale: I am on page 250.')

    const ordered = reorder([old, latest] as Note[], 'How many pages of The Nightingale are left to read this winter?')

    expect(ordered[0]?.item).toBe(latest)
  })

  it('takes the best of several turns of the newest session', () => {
    const [old, best, last] = [
      { text: 'The kayak is red.', at: 1, session: 'a' },
      { text: 'The kayak is blue.', at: 2, session: 'b' },
      { text: 'The kayak, the kayak.', at: 3, session: 'b' },
    ]

    expect(reorder([old, best, last] as Note[], 'kayak').map(({ item }) => item)).toEqual([best, old, last])
  })

  it('moves one at most, to the front, and marks only what is older than it', () => {
    const word = fc.constantFrom('kayak', 'norway', 'rent', 'soup', 'blue')
    const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '))
    const note = fc.record({ text, at: fc.nat(5), session: fc.constantFrom('a', 'b', 'c') })

    fc.assert(
      fc.property(fc.array(note, { minLength: 1, maxLength: 8 }), text, (ranked, question) => {
        const ordered = reorder(ranked, question)
        const lead = ordered[0]?.item as Note

        expect(ordered.slice(1).map(({ item }) => item)).toEqual(ranked.filter((item) => item !== lead))
        for (const { item, isEarlier } of ordered) if (isEarlier) expect(item.at).toBeLessThan(lead.at)
      }),
    )
  })
})
