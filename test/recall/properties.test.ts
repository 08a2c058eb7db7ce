import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recall } from '../../src/memory/recall/recall.ts'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'
import { recompute } from '../../src/search/explanation.ts'
import { isOrdinaryWord } from '../../src/search/ordinary-words.ts'
import { belief, portsWith } from './fixtures.ts'

const vocabulary = [
  'redis',
  'cache',
  'ledger',
  'error',
  'handling',
  'kubernetes',
  'pods',
  'biome',
  'alpha',
  'b2',
  'node.js',
  'C++',
  '北京',
  'Müller',
]
const word = fc.constantFrom(...vocabulary)
const form = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
const filler = fc.constantFrom(
  'how',
  'does',
  'the',
  'work',
  'with',
  'and',
  'reach',
  'help',
  'next',
  'today',
  'please',
  '—',
  '?',
  '. So',
)
const message = fc.array(fc.oneof(form, filler), { minLength: 1, maxLength: 12 }).map((parts) => parts.join(' '))

const beliefs = fc
  .uniqueArray(fc.record({ name: form, aliases: fc.uniqueArray(form, { maxLength: 4 }) }), {
    selector: ({ name }) => name.toLowerCase(),
    minLength: 1,
    maxLength: 6,
  })
  .map((all) => all.map(({ name, aliases }, index) => belief({ id: `b${index}`, name, aliases })))

const view = { user: 'ann', scopes: ['domain:code'] }
const budget = { maxBeliefs: 1_000 }
const found = async (store: readonly BeliefRecord[], text: string) => {
  const { relevant } = await recall(await portsWith(...store), { ...view, message: text, budget })
  return relevant.map(({ belief: { name }, score }) => ({ name, score }))
}

describe('recall', () => {
  it('returns every score as the sum of its explanation', async () => {
    await fc.assert(
      fc.asyncProperty(beliefs, message, async (store, text) => {
        const { relevant } = await recall(await portsWith(...store), { ...view, message: text, budget })

        for (const { score, explanation, matches } of relevant) {
          expect(recompute(explanation)).toBe(score)
          expect(score).toBeGreaterThan(0)
          expect(matches.reduce((total, match) => total + match.explanation.value, 0)).toBeCloseTo(score, 12)
        }
      }),
    )
  })

  it('finds every belief whose name is in the message, whatever is around it and whoever wrote it', async () => {
    const surroundings = fc.constantFrom(
      ['(', ')'],
      ['"', '"'],
      ['**', '**'],
      ['`', '`'],
      ['“', '”,'],
      ['see: ', '…'],
      ['', '?!'],
      ['/', '/'],
      ['— ', ' —'],
      ['[', '](link)'],
    )
    const rest = fc.oneof(fc.constant(''), filler, message)
    const author = fc.constantFrom('person' as const, 'document' as const, 'agent' as const, 'tool' as const)
    await fc.assert(
      fc.asyncProperty(beliefs, surroundings, rest, rest, author, async (store, [before, after], start, end, actor) => {
        const written = store.map((one) => ({ ...one, provenance: { ...one.provenance, actor } }))
        const target = written[0] as BeliefRecord
        const hits = await found(written, `${start} ${before}${target.name}${after} ${end}`)

        expect(hits.map(({ name }) => name)).toContain(target.name)
      }),
    )
  })

  it('never hides a belief, or lowers its score, if it gets another alias', async () => {
    await fc.assert(
      fc.asyncProperty(beliefs, form, message, async (store, alias, text) => {
        const target = store[0] as BeliefRecord
        const before = (await found(store, text)).find(({ name }) => name === target.name)
        const richer = [{ ...target, aliases: [...target.aliases, alias] }, ...store.slice(1)]
        const after = (await found(richer, text)).find(({ name }) => name === target.name)

        expect(after?.score ?? 0).toBeGreaterThanOrEqual((before?.score ?? 0) - 1e-12)
      }),
      { numRuns: 300 },
    )
  })

  it('is not affected by other users, other scopes, superseded, resolved, proposed or other agents’ beliefs', async () => {
    await fc.assert(
      fc.asyncProperty(beliefs, beliefs, message, async (store, others, text) => {
        const disguises: ((record: BeliefRecord) => BeliefRecord)[] = [
          (record) => ({ ...record, user: 'bob' }),
          (record) => ({ ...record, scopes: ['domain:cooking'] }),
          (record) => ({ ...record, scopes: ['domain:code/deeper'] }),
          (record) => ({ ...record, status: 'superseded', supersededBy: 'b0' }),
          (record) => ({ ...record, resolvedAt: record.createdAt }),
          (record) => ({ ...record, proposedFor: 'b0' }),
          (record) => ({ ...record, agent: 'other-agent' }),
        ]
        const alone = await found(store, text)
        for (const [kind, disguise] of disguises.entries()) {
          const hidden = others.map((record, index) =>
            disguise({ ...record, id: `hidden-${kind}-${index}`, name: `${record.name}${kind === 6 ? ' x' : ''}` }),
          )

          expect(await found([...store, ...hidden], text)).toEqual(alone)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('returns the same beliefs from a small store and a large one', async () => {
    const crowd = Array.from({ length: 300 }, (_, index) =>
      belief({ id: `crowd-${index}`, name: `crowd member ${index}`, aliases: [`member number ${index}`] }),
    )
    await fc.assert(
      fc.asyncProperty(beliefs, message, async (store, text) => {
        const few = (await found(store, text)).map(({ name }) => name).sort()
        const many = (await found([...store, ...crowd], text)).map(({ name }) => name).sort()

        expect(many).toEqual(few)
      }),
      { numRuns: 20 },
    )
  })

  it('does not depend on ids or on the order in which beliefs were remembered', async () => {
    await fc.assert(
      fc.asyncProperty(beliefs, message, async (store, text) => {
        const renamed = store.map((record, index) => ({ ...record, id: `z${store.length - index}` })).reverse()

        expect(await found(renamed, text)).toEqual(await found(store, text))
      }),
    )
  })

  it('never treats an everyday word as a typo', async () => {
    const everyday = 'reach bread light quiet table horse plant sound river stone clear bring think house trace'.split(
      ' ',
    )
    const letters = 'abcdefghijklmnopqrstuvwxyz'.split('')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...everyday),
        fc.nat(),
        fc.constantFrom(...letters),
        async (written, seed, letter) => {
          const at = 2 + (seed % (written.length - 2))
          const name = written.slice(0, at) + letter + written.slice(at + 1)
          fc.pre(name !== written && isOrdinaryWord(written))

          expect(await found([belief({ name })], `please ${written} it`)).toEqual([])
        },
      ),
    )
  })

  it('counts each word of the message once for a belief', async () => {
    const one = await found([belief({ name: 'redis cache' })], 'our redis cache')
    const both = await found([belief({ name: 'redis cache', aliases: ['redis'] })], 'our redis cache')

    expect(both).toEqual(one)
  })

  it('returns nothing, without an error, for an empty store and an empty message', async () => {
    const empty = await recall(await portsWith(), { ...view, message: 'anything?' })

    expect(empty).toEqual({
      user: 'ann',
      agent: null,
      scopes: ['domain:code'],
      prelude: null,
      pinned: [],
      relevant: [],
      questions: [],
      quotes: [],
      perhaps: [],
      isMessageCut: false,
    })
    expect(await found([belief({ name: 'redis' })], '')).toEqual([])
  })
})
