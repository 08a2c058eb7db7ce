import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sentencesOf } from './sentences.ts'

const textsOf = (text: string): readonly string[] => sentencesOf(text).map((sentence) => sentence.text)

describe('sentences', () => {
  it('end at full stops, exclamation and question marks', () => {
    expect(textsOf('I moved. Really! Did you know? Yes…')).toEqual(['I moved.', 'Really!', 'Did you know?', 'Yes…'])
  })

  it('do not end at abbreviations, initials and numbers', () => {
    expect(textsOf('Dr. Rao is on ward 3.5 now. Ask J. Smith, e.g. by mail.')).toEqual([
      'Dr. Rao is on ward 3.5 now.',
      'Ask J. Smith, e.g. by mail.',
    ])
    expect(textsOf('It is in box HH.d. 21407. See p.m. notes.')).toEqual([
      'It is in box HH.d. 21407.',
      'See p.m. notes.',
    ])
    expect(textsOf('Read example.com. It is 3.5. Go.')).toEqual(['Read example.com.', 'It is 3.5.', 'Go.'])
    expect(textsOf('It is you and I. She left.')).toEqual(['It is you and I.', 'She left.'])
  })

  it('end at line breaks, and keep closing quotes', () => {
    expect(textsOf('- eggs\n- milk\n\nHe said "go." Then left.')).toEqual([
      '- eggs',
      '- milk',
      'He said "go."',
      'Then left.',
    ])
  })

  it('end without a space in scripts without spaces', () => {
    expect(textsOf('我叫小明。你好！')).toEqual(['我叫小明。', '你好！'])
  })

  it('have exact positions, in order, and omit only white space', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const sentences = sentencesOf(text)
        let end = 0
        for (const sentence of sentences) {
          expect(text.slice(end, sentence.start).trim()).toBe('')
          expect(text.slice(sentence.start, sentence.end)).toBe(sentence.text)
          end = sentence.end
        }
        expect(text.slice(end).trim()).toBe('')
      }),
    )
  })
})
