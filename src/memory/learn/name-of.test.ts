import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse } from '../../search/analyse.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { nameStatement, openingOf, statementNameOf } from './name-of.ts'

it.each<readonly [string, string, readonly string[]]>([
  ['our staging port is 5433.', 'staging port', []],
  ['the release train leaves on Wednesdays', 'release train', ['release train leaves']],
  ['the audit_events table must be partitioned', 'audit_events table', ['audit_events']],
  ['PRs need two approvals.', 'PRs', []],
  ['Kofi has the badge for node.js', 'node.js', ['Kofi']],
  ['the last good build was commit 9f2c1e7ab34d', 'good build', ['9f2c1e7ab34d']],
  ['our backups go to the bucket in New York', 'New York', ['York']],
  ['we meet Ruby at the Slack office', 'Slack office', ['Ruby', 'Slack']],
  ['THE BOILER IS IN THE CELLAR', 'THE BOILER IS IN THE CELLAR', []],
  ['cetirizine makes me sleepy', 'cetirizine', []],
  ['our fiscal year starts in April', 'fiscal year', ['fiscal year starts']],
  ["I've been there before", "I've been there before", []],
  ['we never deploy on Fridays', 'we never deploy on Fridays', []],
  ['the door is red', 'the door is red', []],
  ['My dentist is Dr. Okafor.', 'Dr. Okafor', ['Okafor']],
  ['our vendor Acme Inc. ships on Fridays', 'vendor Acme Inc', ['Acme Inc']],
])('names the sentence: %s', (sentence, name, aliases) => {
  expect(statementNameOf(sentence)).toEqual({ name, aliases })
})

it.each([
  ['From now on run the linter before every commit.', 'From now on run the linter'],
  ['From now on, call yourself Biscuit when you talk to me.', 'call yourself Biscuit'],
  ['As I said: please always use metric units.', 'please always use metric units'],
  ['When I ask for a summary, give me five points.', 'When I ask for a summary'],
  ['Never push to main without a review.', 'Never push to main'],
  ['Never propose pellets; count six weeks.', 'Never propose pellets'],
  ['From now on, do not.', 'From now on do not'],
  ['My dentist is Dr. Okafor.', 'My dentist is Dr Okafor'],
])('the opening of %j is %j', (sentence, name) => {
  expect(openingOf(sentence)).toBe(name)
})

it('a name is never one everyday word, and neither is an alias', () => {
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
      const { name, aliases } = statementNameOf(sentence.join(' '))
      for (const form of [name, ...aliases]) {
        const found = analyse(form)
        expect(found.length > 1 || !isOrdinaryWord(found[0]?.word ?? '')).toBe(true)
      }
    }),
  )
})

it('a name can be found if the sentence has a letter or a digit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (sentence) => {
      const { name, aliases } = statementNameOf(sentence)
      expect(!isSurfaceForm(sentence) || [name, ...aliases].every(isSurfaceForm)).toBe(true)
    }),
  )
})

describe('the name of a statement', () => {
  it.each([
    ['payment terms: 14 days', 'payment terms', '14 days'],
    ['Deadline — 4 May', 'Deadline', '4 May'],
    ['The staging server is at 10.0.0.4.', 'staging server', null],
    ['Anna Schmidt is our lawyer', 'Anna Schmidt', null],
    ['I prefer dark mode in every editor', 'dark mode', null],
    ['We use PostgreSQL for storage', 'PostgreSQL', null],
    ['Prefer tabs over spaces', 'Prefer tabs over spaces', null],
    ["Don't use semicolons", "Don't use semicolons", null],
    ['`npm run build` builds it', 'npm run build', null],
    ['Which backup tool do we use?', 'backup tool', null],
    ['Note: the build is slow', 'the build is slow', null],
    ['I park my car in the garage.', 'I park my car', null],
    ['We keep the money at Stripe.', 'We keep the money at Stripe', null],
    ['**Queue** We use NATS.', 'Queue', 'We use NATS.'],
    ['**NATS** is our queue.', 'NATS', null],
    ['**Never** Push to main.', 'Push', null],
    ['We deploy with Kamal to Hetzner.', 'We deploy with Kamal', null],
    ['My car is a 2014 Skoda Fabia.', 'My car', null],
    ["Nele's birthday is 12 December.", "Nele's birthday", null],
    ["My sister's husband works at Siemens.", "My sister's husband", null],
    ['The API key rotates every 90 days.', 'API key', null],
    ['Our nightly database backups are in S3.', 'nightly database backups', null],
    ['We meet Mr. Jones at 9 a.m.', 'Mr. Jones', null],
  ])('of %j is %j', (statement, name, value) => {
    expect(nameStatement(statement)).toMatchObject({ name, content: value ?? statement, isGiven: value !== null })
  })

  it('has the emphasised words of the statement as aliases, but no everyday word', () => {
    expect(nameStatement('We **never** deploy with `fly deploy` to **Fly.io**.').aliases).toEqual([
      'fly deploy',
      'Fly.io',
    ])
  })

  it('is found in any text, is always the same, and drops no word of the statement', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const named = nameStatement(text)

        expect(nameStatement(text)).toEqual(named)
        expect(text.trim().endsWith(named.content)).toBe(true)
        if (!named.isGiven) expect(named.content).toBe(text.trim())
      }),
    )
  })
})
