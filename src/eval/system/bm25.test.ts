import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openStore } from '../../../test/eval/sample-corpus.ts'
import { loadPack } from '../runners/retrieval/pack.ts'
import { bm25System } from './bm25.ts'

const { pack } = loadPack(new URL('../../../packs/retrieval-hard', import.meta.url).pathname)
const users = [...new Set(pack.beliefs.map(({ user }) => user))]
const scopes = [...new Set(pack.beliefs.flatMap((belief) => belief.scopes))]

const formsOf = (user: string): readonly string[] =>
  pack.beliefs
    .filter((belief) => belief.user === user)
    .flatMap(({ name, aliases }) => [name.replaceAll('_', ' '), ...aliases])

/** A form with one letter doubled: often accepted as a typo. */
const typoOf = (form: string, at: number): string => {
  const place = at % form.length
  return form.slice(0, place + 1) + form.slice(place)
}

/** A user, and a message made of the names and aliases of their beliefs. */
const question = fc.constantFrom(...users).chain((user) => {
  const form = fc.constantFrom(...formsOf(user))
  const slip = fc.tuple(form, fc.nat()).map(([written, at]) => typoOf(written, at))
  const word = fc.oneof(form, slip, fc.constantFrom('the', 'and', '.', '?'))
  return fc.record({ user: fc.constant(user), words: fc.array(word, { maxLength: 12 }) })
})

it('every score is the sum of its clauses, for any message', async () => {
  const system = bm25System({ openStore, version: 'test' })
  await system.ingest(pack.beliefs)
  let scored = 0

  await fc.assert(
    fc.asyncProperty(question, fc.subarray(scopes, { minLength: 4 }), async ({ user, words }, active) => {
      const { relevant } = await system.recall({
        user,
        scopes: active,
        message: words.join(' '),
        budget: {},
        recall: {},
      })

      for (const { score, clauses = [] } of relevant) {
        expect(clauses.reduce((total, clause) => total + clause.score, 0)).toBe(score)
        if (clauses.length > 1) scored += 1
      }
    }),
    { numRuns: 300 },
  )

  // Guards the test: enough hits must have had more than one clause.
  expect(scored).toBeGreaterThan(50)
})
