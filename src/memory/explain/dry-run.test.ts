import fc from 'fast-check'
import { expect, it } from 'vitest'
import { about, lasting } from '../../../test/memory/fixtures.ts'
import { belief, portsWith } from '../../../test/recall/fixtures.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { changeFields, type Edits, editBelief } from '../change/edit.ts'
import type { Context } from '../recall/context.ts'
import { recall } from '../recall/recall.ts'
import { withChanged } from './dry-run.ts'

const word = fc.constantFrom(
  'redis',
  'ledger',
  'kubernetes',
  'handling',
  'node.js',
  'alpha',
  '北京',
  'errors',
  'reddis',
)
const form = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
const scope = fc.constantFrom('domain:code', 'domain:code/web', 'project:ledger', 'user:universal')
const scopes = fc.uniqueArray(scope, { minLength: 1, maxLength: 2 })
const message = fc
  .array(fc.oneof(form, fc.constantFrom('how', 'does', 'the', '?', '. So', 'kubernets')), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(' '))

const beliefs = fc
  .uniqueArray(
    fc.record({
      name: form,
      aliases: fc.uniqueArray(form, { maxLength: 3 }),
      scopes,
      pinned: fc.boolean(),
      type: fc.constantFrom('entity' as const, 'open_question' as const, 'preference' as const),
    }),
    { selector: ({ name }) => name.toLowerCase(), minLength: 1, maxLength: 5 },
  )
  .map((all) =>
    all.map((fields, index) =>
      belief({ id: `b${index}`, ...fields, subtype: fields.type === 'preference' ? 'style' : null }),
    ),
  )

const edits: fc.Arbitrary<Edits> = fc.oneof(
  form.map((alias) => ({ addAliases: [alias] })),
  fc.boolean().map((pinned) => ({ pinned })),
  scopes.map((wanted) => ({ scopes: wanted })),
  fc.record({ addAliases: fc.tuple(form), scopes, pinned: fc.boolean() }),
)

/** A context whose beliefs lack the fields that only a real change affects. */
const comparable = ({ pinned, questions, relevant, ...rest }: Context) => ({
  ...rest,
  pinned: pinned.map(lasting),
  questions: questions.map(lasting),
  relevant: relevant.map((one) => ({ ...one, belief: lasting(one.belief) })),
})

it('answers like the store after the change', async () => {
  await fc.assert(
    fc.asyncProperty(beliefs, edits, message, scopes, async (store, change, text, view) => {
      const memory = await portsWith(...store)
      const request = { user: 'ann', scopes: view, message: text, nearMisses: false }
      const before = (await memory.store.get('ann', 'b0')) as Belief
      const changed = { ...before, ...changeFields(before, change), editedByPerson: true }
      const foretold = await withChanged(memory, [changed], (tried) => recall(tried, request)).catch(
        (error: unknown) => error,
      )

      const made = await editBelief(memory, { ...about('b0'), edits: change }).catch((error: unknown) => error)
      // If the name is taken or nothing changes, there is nothing to compare with.
      if (made instanceof MemoryError || (made as { outcome: string }).outcome === 'unchanged') return

      expect(comparable(foretold as Context)).toEqual(comparable(await recall(memory, request)))
    }),
    { numRuns: 400 },
  )
})

it('stores nothing, and cannot be used to write', async () => {
  const memory = await portsWith(belief({ id: 'b0', name: 'redis' }))
  const before = (await memory.store.get('ann', 'b0')) as Belief
  const seen = async ({ store }: typeof memory) => (await store.get('ann', 'b0'))?.name

  expect(await withChanged(memory, [{ ...before, name: 'valkey' }], seen)).toBe('valkey')
  await expect(
    withChanged(memory, [before], (tried) => editBelief(tried, { ...about('b0'), edits: { pinned: true } })),
  ).rejects.toThrow('in use for another change')
  expect(await memory.store.get('ann', 'b0')).toEqual(before)
  expect(await memory.store.history('ann', 'b0')).toHaveLength(1)
})
