import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { actorKinds, authorityOf, isCurrent, mayChange } from '../../src/beliefs/belief.ts'
import { isSameStatement, mergeAliases, nameKey } from '../../src/beliefs/identity.ts'
import { parseScope, parseScopes, universalScope, visibleScopes, withAncestors } from '../../src/beliefs/scope.ts'
import { belief } from '../recall/fixtures.ts'

const text = fc.string({ unit: 'binary', maxLength: 20 })

describe('a name', () => {
  it.each([
    ['Main Database', 'main_database'],
    ['main  database ', ' MAIN\tDATABASE'],
    ['ｍａｉｎ', 'main'],
    ['re\u200bdis', 'redis'],
    ['\ufeffredis', 'redis'],
    ['Café', 'Cafe\u0301'],
  ])('is the same name in another spelling: %j and %j', (a, b) => {
    expect(nameKey(a)).toBe(nameKey(b))
  })

  it.each([
    ['node', 'node.js'],
    ['C', 'C++'],
    ['Müller', 'Muller'],
    ['a-b', 'a b'],
  ])('is another name: %j and %j', (a, b) => {
    expect(nameKey(a)).not.toBe(nameKey(b))
  })

  it('has a key that does not change when computed again', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(nameKey(nameKey(name))).toBe(nameKey(name))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a statement', () => {
  it('is the same apart from case, spacing and final punctuation, and nothing else', () => {
    expect(isSameStatement('Use tabs.', 'use  TABS')).toBe(true)
    expect(isSameStatement('Use tabs!', ' use tabs;\n')).toBe(true)
    expect(isSameStatement('Use tabs?', 'Use tabs')).toBe(false)
    expect(isSameStatement('Use C++', 'Use C')).toBe(false)
    expect(isSameStatement('10² bar', '102 bar')).toBe(false)
    expect(isSameStatement('Never use tabs', 'Use tabs')).toBe(false)
    expect(isSameStatement('Port 80', 'Port 8.0')).toBe(false)
  })
})

describe('aliases', () => {
  it('are merged in order, each once, without the name', () => {
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 6 }), fc.array(text, { maxLength: 6 }), (name, known, added) => {
        const merged = mergeAliases(name, known, added)
        const keys = merged.map(nameKey)

        expect(new Set([nameKey(name), '', ...keys]).size).toBe(keys.length + (nameKey(name) === '' ? 1 : 2))
        expect(mergeAliases(name, merged, [...known, ...added])).toEqual(merged)
        for (const alias of [...known, ...added]) expect([nameKey(name), '', ...keys]).toContain(nameKey(alias))
      }),
    )
  })
})

describe('a scope', () => {
  it.each(['user:universal', 'domain:code/typescript', 'project:ledger-1a2b', 'team:Ünï/北京', 'x:a.b_c'])(
    'may be %s',
    (scope) => {
      expect(parseScope(` ${scope} `)).toBe(scope)
    },
  )

  it.each([
    '',
    'code',
    ':x',
    'domain:',
    'domain:/a',
    'domain:a/',
    'Domain:a',
    'domain:a:b',
    'domain:a b',
    'domain:a\n/b',
  ])('may not be %j', (scope) => {
    expect(() => parseScope(scope)).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it('covers itself and its ancestors, never siblings or descendants', () => {
    expect(withAncestors('domain:code/ts/react')).toEqual(['domain:code/ts/react', 'domain:code/ts', 'domain:code'])
    expect(withAncestors(universalScope)).toEqual([universalScope])
    expect(visibleScopes(['domain:code/ts', 'domain:code/js', 'project:x'])).toEqual([
      'domain:code',
      'domain:code/js',
      'domain:code/ts',
      'project:x',
    ])
    expect(parseScopes(['b:x', 'a:y', 'b:x'])).toEqual(['a:y', 'b:x'])
  })
})

describe('authority', () => {
  it('ranks a person over a document over a model or a tool', () => {
    const rank = { person: 3, document: 2, agent: 1, tool: 1, model: 1 }
    for (const actor of actorKinds) {
      for (const author of actorKinds) {
        const written = { ...belief({ name: 'a' }), version: 1 }
        const by = { ...written, provenance: { ...written.provenance, actor: author } }

        const own = { actor, origin: by.provenance.origin }
        const isPeer = ['agent', 'tool', 'model'].includes(actor) && rank[actor] === rank[author]
        expect(mayChange(own, by)).toBe(isPeer ? actor === author : rank[actor] >= rank[author])
        expect(mayChange({ actor, origin: 'another' }, by)).toBe(!isPeer && rank[actor] >= rank[author])
        expect(mayChange(own, { ...by, editedByPerson: true })).toBe(actor === 'person')
        expect(authorityOf(by)).toBe(author)
      }
    }
  })

  it('applies to current beliefs: not replaced, resolved or merely proposed', () => {
    const plain = { ...belief({ name: 'a' }), version: 1 }

    expect(isCurrent(plain)).toBe(true)
    expect(isCurrent({ ...plain, status: 'exploratory' })).toBe(true)
    for (const retired of [{ supersededBy: 'b' }, { status: 'superseded' }, { resolvedAt: 'x' }, { proposedFor: 'b' }])
      expect(isCurrent({ ...plain, ...(retired as object) })).toBe(false)
  })
})
