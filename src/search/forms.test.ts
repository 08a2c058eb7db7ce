import { describe, expect, it } from 'vitest'
import { sample } from '../store/sample-beliefs.contract.ts'
import { beliefFormKeys, formKeys, isSurfaceForm } from './forms.ts'

const by = (actor: 'person' | 'agent' | 'document') =>
  sample({
    id: 'b',
    provenance: { actor, origin: 'test', sourceId: null, model: null, at: '2026-03-01T12:00:00.000Z' },
  })

const keys = (form: string): readonly string[] => formKeys(form).map(({ key }) => key)

describe('formKeys', () => {
  it.each([
    ['redis_cache', ['redis cache']],
    ['Redis', ['redis']],
    ['error handling', ['error handling']],
    ['exceptions', ['exceptions', 'exception']],
    ['class hierarchies', ['class hierarchies', 'class hierarchy']],
    ['node.js', ['node js', 'nodejs']],
    ['try-catch', ['try catch', 'trycatch']],
    ['e-mail', ['e mail', 'email']],
    ['x-ray', ['x ray', 'xray']],
    ["O'Connor", ["o'connor", 'oconnor']],
    ['A/B test', ['a b test']],
    ['redisCache', ['rediscache', 'redis cache']],
    ['form 1040', ['form 1040']],
    ['北京', ['北 京']],
  ])('finds %j by %j', (form, expected) => {
    expect(keys(form)).toEqual(expected)
  })

  it('does not find a proper name that looks like a plural by its singular', () => {
    expect(keys('Teams')).toEqual(['teams'])
    expect(keys('HTTPS')).toEqual(['https'])
  })

  it('does not join an abbreviation into an everyday word', () => {
    expect(keys('U.S.')).toEqual(['u s'])
    expect(keys('re-sort')).toEqual(['re sort'])
  })

  it('does not split a brand into the everyday words inside it', () => {
    expect(keys('FastAPI')).toEqual(['fastapi'])
    expect(keys('LinkedIn')).toEqual(['linkedin'])
  })

  it('records the end of the form in a phrase', () => {
    expect(formKeys('Dr. Elena Vasquez')[0]?.breaks).toBe(0b01)
    expect(formKeys('error handling')[0]?.breaks).toBe(0)
  })

  it('gives the name precedence over an equal alias', () => {
    expect(beliefFormKeys({ ...by('person'), name: 'redis', aliases: ['Redis', 'cache'] })).toMatchObject([
      { key: 'redis', ordinal: 0 },
      { key: 'cache', ordinal: 2 },
    ])
  })

  it('omits the number of a name, for statements of a person only', () => {
    const said = (actor: 'person' | 'agent' | 'document') =>
      beliefFormKeys({ ...by(actor), name: 'staging port (2)', aliases: [] }).map(({ key, ordinal }) => [key, ordinal])

    expect(said('person')).toEqual([
      ['staging port', 0],
      ['staging port 2', 0],
    ])
    for (const actor of ['agent', 'document'] as const) expect(said(actor)).toEqual([['staging port 2', 0]])
    expect(beliefFormKeys({ ...by('agent'), editedByPerson: true, name: 'port (2)', aliases: [] })).toHaveLength(2)
  })

  it('refuses a text without a letter or digit', () => {
    expect(isSurfaceForm('— 🚀 !')).toBe(false)
    expect(isSurfaceForm('C')).toBe(true)
  })
})
