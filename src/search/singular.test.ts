import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { singular } from './singular.ts'

const listed = readFileSync(new URL('./ordinary-words.txt', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, -1)

const words = (text: string): string[] => text.split(/\s+/)
const pairs = (text: string): string[][] => words(text).map((pair) => pair.split(':'))

const regular = `errors:error exceptions:exception hierarchies:hierarchy queries:query movies:movie cookies:cookie ties:tie
  caches:cache boxes:box indexes:index classes:class branches:branch pushes:push databases:database licenses:license
  notes:note pages:page nodes:node themes:theme sizes:size heroes:hero shoes:shoe aliases:alias lenses:lens buses:bus`
// If both candidates are words, the one with the regular plural wins: not "us", "pars", "to", "passe" or "touche".
const ambiguous = 'uses:use parses:parse browses:browse toes:toe leases:lease passes:pass touches:touch attaches:attach'
const endingLikeLatin = 'menus:menu apis:api wikis:wiki taxis:taxi emojis:emoji'
const unknown = `pods:pod repos:repo kubelets:kubelet subdirectories:subdirectory regexes:regex microservices:microservice
  codebases:codebase dockerfiles:dockerfile iframes:iframe subclasses:subclass superheroes:superhero webcaches:webcache
  monorepos:monorepo subschemas:subschema submenus:submenu tokenizes:tokenize multiplexes:multiplex`

const notPlural = `class access status virus redis analysis basis this alias canvas chaos always perhaps series species news
  kudos lens mathematics physics does goes less https devops theses`
const names = 'redis kubernetes postgres prometheus axios macos keras lucas texas carlos nodejs nextjs hermes'
const untouched = "as is us gas bus its has dbs ios css dns aws error x utf8s don's redis's cafés Errors v1s s ss"

describe('singular', () => {
  it.each(pairs(regular))('%s -> %s', (plural, one) => {
    expect(singular(plural as string)).toBe(one)
  })

  it.each(pairs(ambiguous))('%s -> %s, although another cut also leaves a word', (plural, one) => {
    expect(singular(plural as string)).toBe(one)
  })

  it.each(pairs(endingLikeLatin))('%s -> %s, because the rest is an ordinary word', (plural, one) => {
    expect(singular(plural as string)).toBe(one)
  })

  it.each(pairs(unknown))('%s -> %s, even if the dictionary has neither or only the end', (plural, one) => {
    expect(singular(plural as string)).toBe(one)
  })

  it.each(words(notPlural))('does not change "%s", which only looks plural', (word) => {
    expect(singular(word)).toBe(word)
  })

  it.each(words(names))('does not change the name "%s"', (word) => {
    expect(singular(word)).toBe(word)
  })

  it.each(pairs('mice:mouse children:child feet:foot ids:id ups:up knives:knife elves:elf'))(
    '%s -> %s, one of the few with another ending or very short',
    (plural, one) => {
      expect(singular(plural as string)).toBe(one)
    },
  )

  it.each(words(untouched))('does not change "%s": too short, not ending in s, or not plain letters', (word) => {
    expect(singular(word)).toBe(word)
  })

  it('does not change words far longer than any English one', () => {
    const endless = 'ses'.repeat(100_000)

    expect(singular(endless)).toBe(endless)
  })

  it('does not change again after one step, for every ordinary word', () => {
    const unsettled = listed.filter((word) => singular(singular(word)) !== singular(word))

    expect(unsettled).toEqual([])
  })

  describe('for any word', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abehiosuxyz'), minLength: 1, maxLength: 12 })
    const ending = fc.constantFrom('s', 'es', 'ies', 'ses', 'ss', 'xes', 'ches', '')
    const madeUp = fc.tuple(letters, ending).map((parts) => parts.join(''))
    const doubled = fc.tuple(fc.constantFrom(...listed), ending).map((parts) => parts.join(''))
    const anyWord = fc.oneof(madeUp, doubled, fc.string())

    it('only cuts the end: never empty, never longer, the same first letters', () => {
      fc.assert(
        fc.property(anyWord, (word) => {
          const one = singular(word)

          expect(one.length).toBeLessThanOrEqual(word.length)
          expect(one === word || one.length >= 2).toBe(true)
          expect(word.startsWith(one.replace(/y$/, ''))).toBe(true)
        }),
        { numRuns: 2_000 },
      )
    })

    it('does not change again after one step', () => {
      fc.assert(
        fc.property(anyWord, (word) => {
          const one = singular(word)

          expect(singular(one)).toBe(one)
        }),
        { numRuns: 2_000 },
      )
    })
  })
})
