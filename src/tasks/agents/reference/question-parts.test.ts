import { describe, expect, it } from 'vitest'
import { questionParts } from './question-parts.ts'

describe('the questions of a sentence', () => {
  it.each<[string, readonly string[]]>([
    ['What is it called, and what does it do?', ['What is it called', 'what does it do?']],
    ['When and where is the rehearsal?', ['When is the rehearsal?', 'where is the rehearsal?']],
    ['where do we eat and when', ['where do we eat', 'when do we eat']],
    ['Who takes insulin, and at what time of day?', ['Who takes insulin', 'at what time of day, takes insulin']],
    [
      'How many chairs do they need, and until when?',
      ['How many chairs do they need', 'until when chairs do they need'],
    ],
    ['Who is my dentist?', ['Who is my dentist?']],
    ['How high is the rent, and who lives upstairs?', ['How high is the rent', 'who lives upstairs?']],
  ])('%s', (text, expected) => {
    expect(questionParts(text).map((part) => part.text)).toEqual(expected)
  })

  it('are remembered as they were put', () => {
    expect(questionParts('Which one is it, and why?').map(({ said, goesOn }) => [said, goesOn])).toEqual([
      ['Which one is it', false],
      ['why', true],
    ])
  })
})
