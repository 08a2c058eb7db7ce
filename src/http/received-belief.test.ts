import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeBelief, messageFor } from '../eval/system/outside/http-contract.ts'
import { type BeliefRecord, parseRecord } from '../memory/transfer/belief-record.ts'
import { parseBelief } from './recall-app.ts'

const at = '2026-01-01T00:00:00.000Z'
const surroundings = { known: undefined, at, newId: () => 'made-up' }

const belief = (fields: Partial<BeliefRecord> & { readonly name: string }): BeliefRecord => ({
  ...parseRecord(
    { id: 'm-1', content: 'Feeds it every Thursday.', ...fields },
    { user: 'ada', scopes: ['domain:kitchen'], origin: 'http', at, newId: () => 'unused' },
  ).record,
  ...fields,
})

describe('a belief sent with all its metadata', () => {
  it('is received unchanged', () => {
    const sent = belief({
      name: 'sourdough_starter',
      aliases: ['levain', 'Gertrude'],
      why: 'Plan around it.',
      type: 'relation',
      scopes: ['domain:bread', 'domain:kitchen'],
      status: 'superseded',
      confidence: 0.4,
      pinned: true,
      editedByPerson: true,
      supersededBy: 'm-2',
      resolvedAt: at,
      resolvedBy: 'm-3',
      proposedFor: 'm-4',
      participants: ['m-5', 'focaccia'],
      relation: 'uses',
      agent: 'baker',
      expertise: { domain: 'bread', depth: 'deep' },
      reinforcement: { count: 7, at: '2025-07-03T09:00:00.000Z' },
    })

    const received = parseBelief(messageFor(describeBelief(sent), { full: true }), surroundings)

    // The provenance depends on the channel, not on the sent value.
    expect({ ...received, provenance: null }).toEqual({ ...sent, provenance: null })
    expect(received.provenance).toMatchObject({ actor: 'document', origin: 'http' })
  })
})

describe('a belief sent with all its metadata, much of it empty', () => {
  it('is received unchanged', () => {
    const sent = belief({ name: 'levain', aliases: [], why: '' })

    expect(parseBelief(messageFor(describeBelief(sent), { full: true }), surroundings)).toEqual(sent)
  })
})

describe('a belief sent with few fields', () => {
  it('is named by the text before the aliases', () => {
    const sent = belief({ name: 'sourdough_starter', aliases: ['levain', 'wild yeast'], why: '' })

    const received = parseBelief(messageFor(describeBelief(sent), { full: false }), surroundings)

    expect(received).toMatchObject({
      id: 'm-1',
      user: 'ada',
      name: 'sourdough starter',
      aliases: ['levain', 'wild yeast'],
      content: 'sourdough starter levain wild yeast Feeds it every Thursday.',
      scopes: ['domain:kitchen'],
      type: 'entity',
      status: 'active',
    })
  })

  it('is named by its id if there is no text before the aliases', () => {
    const message = { text: 'Feeds it every Thursday.', user_id: 'ada', aliases: ['levain', 'Gertrude'] }

    expect(parseBelief(message, surroundings)).toMatchObject({
      id: 'made-up',
      name: 'made-up',
      aliases: ['levain', 'Gertrude'],
      content: 'Feeds it every Thursday.',
      scopes: ['user:universal'],
    })
  })

  it.each([
    ['it is a whole sentence', 'This is what we said when the baker asked us about levain and so on'],
    ['the alias is only part of a word', 'the levains'],
  ])('is not named by the text before the aliases if %s', (_when, text) => {
    expect(parseBelief({ text, user_id: 'ada', aliases: ['levain'] }, surroundings).name).toBe('made-up')
  })

  it('is named by its id without aliases', () => {
    const message = { text: 'Tea at four.', user_id: 'ada', metadata: { beliefId: 'tea-time' } }

    expect(parseBelief(message, surroundings)).toMatchObject({ id: 'tea-time', name: 'tea-time' })
  })

  it('uses the metadata that is present, in either spelling', () => {
    const metadata = {
      beliefId: 'm-1',
      scope: 'domain:code',
      type: 'decision',
      superseded_by: 'm-2',
      epistemic_status: 'superseded',
    }

    expect(parseBelief({ text: 'Tea.', user_id: 'ada', metadata }, surroundings)).toMatchObject({
      scopes: ['domain:code'],
      type: 'decision',
      supersededBy: 'm-2',
      status: 'superseded',
    })
  })

  it('keeps its name and aliases, whatever they are', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/u)
    const form = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(form, fc.array(form, { minLength: 1, maxLength: 4 }), (name, aliases) => {
        const sent = belief({ name, aliases })
        fc.pre(!` ${name}`.includes(` ${aliases[0]}`))

        const received = parseBelief(messageFor(describeBelief(sent), { full: false }), surroundings)

        expect(received.name).toBe(name)
        expect(received.aliases.every((alias) => aliases.includes(alias))).toBe(true)
      }),
    )
  })
})

describe('a belief sent again', () => {
  it('keeps fields that the message omits', () => {
    const known = belief({ name: 'levain', aliases: ['Gertrude'], type: 'decision', pinned: true })

    const received = parseBelief(
      { text: 'Feed on Fridays.', user_id: 'ada', beliefId: 'm-1' },
      { ...surroundings, known },
    )

    expect(received).toEqual({ ...known, content: 'Feed on Fridays.' })
  })

  it('loses fields that the message sets to empty', () => {
    const known = belief({ name: 'levain', aliases: ['Gertrude', 'starter'], supersededBy: 'm-2' })
    const message = { text: 'x', user_id: 'ada', id: 'm-1', aliases: ['Gertrude'], metadata: { superseded_by: null } }

    expect(parseBelief(message, { ...surroundings, known })).toMatchObject({
      name: 'levain',
      aliases: ['Gertrude'],
      supersededBy: null,
    })
  })
})

describe('an invalid belief', () => {
  it.each([
    [{ metadata: { scope: 'everywhere' } }, /"everywhere" is not a scope/u],
    [{ metadata: { type: 'fact' } }, /type is "fact"/u],
    [{ metadata: { beliefId: 7 } }, /metadata\.beliefId is 7/u],
    [{ beliefId: 'has spaces' }, /is not valid/u],
    [{ aliases: ['...'] }, /No message can match/u],
  ])('is refused: %j', (fields, reason) => {
    expect(() => parseBelief({ text: 'x', user_id: 'ada', ...fields }, surroundings)).toThrow(reason)
  })
})

describe('a known belief that is sent again with only its text', () => {
  const known = belief({ name: 'redis_cache', aliases: ['Redis'], content: 'Redis is our cache and rate limiter.' })
  const sent = (text: string, fields: object = {}) =>
    parseBelief({ text, user_id: 'ada', beliefId: 'm-1', ...fields }, { ...surroundings, known })

  it('gets the new words of the text as aliases', () => {
    const text = 'redis_cache Redis allkeys-lru eviction policy maxmemory maxmemory, (volatile-lru).'

    expect(sent(text).aliases).toEqual(expect.arrayContaining(['Redis', 'allkeys-lru', 'maxmemory', 'volatile-lru']))
    expect(sent(text).aliases).not.toContain('policy')
    expect(sent(text)).toMatchObject({ id: 'm-1', name: 'redis_cache' })
  })

  it('gets no alias from known words, everyday words or numbers', () => {
    expect(sent('redis cache Redis: our rate limiter').aliases).toEqual(['Redis'])
    expect(sent('redis_cache, Redis and the other things of 2024').aliases).toEqual(['Redis'])
  })

  it('gets no alias from a text that does not repeat its name and aliases: that is its new content', () => {
    expect(sent('The limiter moved to Valkey.').aliases).toEqual(['Redis'])
  })

  it('uses the aliases of the message if it has any', () => {
    expect(sent('redis_cache Redis allkeys-lru', { aliases: ['Redis'] }).aliases).toEqual(['Redis'])
  })

  it('never loses a surface form', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(sent(`redis_cache ${text}`).aliases).toEqual(expect.arrayContaining(['Redis']))
      }),
    )
  })
})
