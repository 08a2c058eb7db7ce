import fc from 'fast-check'
import { expect, it } from 'vitest'
import { analyse } from '../../search/analyse.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { nameOf } from './name-of.ts'

it.each<readonly [string, string, readonly string[]]>([
  ['our staging port is 5433.', 'staging port', []],
  ['the release train leaves on Wednesdays', 'release train', ['release train leaves']],
  ['the audit_events table must be partitioned', 'audit_events table', ['audit_events']],
  ['PRs need two approvals.', 'PRs', []],
  ['Kofi has the badge for node.js', 'node.js', ['Kofi']],
  ['our fiscal year starts in April', 'fiscal year', ['fiscal year starts']],
  ["I've been there before", "I've been there before", []],
  ['we never deploy on Fridays', 'we never deploy on Fridays', []],
  ['the door is red', 'the door is red', []],
])('%s', (sentence, name, aliases) => {
  expect(nameOf(sentence)).toEqual({ name, aliases })
})

it('is never one everyday word, and an alias never is either', () => {
  const words = fc.constantFrom(
    'the',
    'our',
    'port',
    'is',
    'red',
    'train',
    'leaves',
    'Redis',
    'and',
    'on',
    '7',
    "don't",
  )
  fc.assert(
    fc.property(fc.array(words, { minLength: 2, maxLength: 12 }), (sentence) => {
      const { name, aliases } = nameOf(sentence.join(' '))
      for (const form of [name, ...aliases]) {
        const found = analyse(form)
        expect(found.length > 1 || !isOrdinaryWord(found[0]?.word ?? '')).toBe(true)
      }
    }),
  )
})

it('can be found wherever the sentence has a letter or a digit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (sentence) => {
      const { name, aliases } = nameOf(sentence)
      expect(!isSurfaceForm(sentence) || [name, ...aliases].every(isSurfaceForm)).toBe(true)
    }),
  )
})
