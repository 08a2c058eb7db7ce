import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../test/full-counts.ts'
import { type Belief, beliefTypes, statuses } from '../beliefs/belief.ts'
import type { CommitResult } from '../beliefs/belief-store.ts'
import type { Commit } from '../beliefs/journal.ts'
import { MemoryError } from '../errors.ts'
import { type AnyStore, sample } from './sample-beliefs.contract.ts'

const users = ['ada', 'bob'] as const
const agents = [null, 'codex', 'cursor'] as const
const beliefIds = ['b1', 'b2', 'b3', 'b4', 'b5', 'c\u{1f600}', 'c\uffee'] as const
const scopes = ['user:universal', 'project:ledger', 'domain:code', 'domain:code/typescript'] as const
// Names that share keys, words, first words and typos, in several scripts.
const names = [
  'Redis',
  'redis cache',
  'redisCache',
  'Reddis',
  'Postgres',
  'PostgreSQL',
  'node.js',
  'Node',
  'deploy-scripts',
  'Dr. Vasquez',
  "O'Neil",
  '数据库',
  'हिन्दी',
  'Crème brûlée',
  '⑴ plan',
  'C++',
  'kubernetes cluster',
  'Kubernetes',
  'Release Process',
  '\ud800 half',
] as const
const texts = [
  'Use redis caches for it.',
  'Never deploy on Fridays, never.',
  'C++ and node.js at 10:30',
  '',
  '数据库 redis',
  'ﷺ ⑴ ½',
] as const
const times = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', 'never'] as const
const words = [
  'redis',
  'reddis',
  'rediss',
  'cache',
  'redi',
  'postgres',
  'postgresql',
  'postgress',
  'node',
  'node.js',
  'nodejs',
  'dr',
  'vasquez',
  'deploy',
  'friday',
  'c++',
  '10:30',
  "o'neil",
  '数',
  'हिन्दी',
  'creme',
  'kubernete',
  'kubernetes',
  'kubernets',
  'release',
  '(1)',
  '½',
] as const
const keys = [
  ...words,
  'redis cache',
  'dr vasquez',
  'node js',
  'deploy script',
  'deployscripts',
  'kubernetes cluster',
  '数 据 库',
] as const

const mostlyNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })

const beliefFields = fc.record({
  agent: fc.constantFrom(...agents),
  type: fc.constantFrom(...beliefTypes),
  subtype: fc.constantFrom(null, 'expertise' as const, 'style' as const, 'instruction' as const),
  name: fc.constantFrom(...names),
  aliases: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 }),
  content: fc.constantFrom(...texts),
  why: fc.constantFrom(...texts),
  scopes: fc.array(fc.constantFrom(...scopes), { minLength: 1, maxLength: 3 }),
  status: fc.constantFrom(...statuses),
  pinned: fc.boolean(),
  editedByPerson: fc.boolean(),
  supersededBy: mostlyNull(fc.constantFrom(...beliefIds)),
  proposedFor: mostlyNull(fc.constantFrom(...beliefIds)),
  candidate: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  resolvedAt: mostlyNull(fc.constantFrom(...times)),
  reinforcement: fc.record({ count: fc.nat(3), at: fc.constantFrom(...times) }),
  updatedAt: fc.constantFrom(...times),
})

const change = fc.record({
  beliefId: fc.constantFrom(...beliefIds),
  outcome: fc.constantFrom(
    'present' as const,
    'present' as const,
    'present' as const,
    'absent' as const,
    'erased' as const,
  ),
  fields: beliefFields,
})

/** A request for changes, usually based on the latest state, but not always. */
const request = fc.record({
  user: fc.constantFrom(...users, 'ada' as const),
  changes: fc.uniqueArray(change, { maxLength: 4, selector: ({ beliefId }) => beliefId }),
  isCareless: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  key: mostlyNull(fc.record({ value: fc.constantFrom('k1', 'k2'), fingerprint: fc.constantFrom('f1', 'f2') })),
  undoes: mostlyNull(fc.integer({ min: 1, max: 8 })),
})

export type StoreRequest = typeof request extends fc.Arbitrary<infer Value> ? Value : never

/** Any history of valid and invalid requests. */
export const requests: fc.Arbitrary<readonly StoreRequest[]> = fc.array(request, { maxLength: 14, size: 'max' })

/** Fits the request to the current content of `store`, so that most requests are accepted. */
export async function commitFor(
  store: AnyStore,
  { user, changes, isCareless, key, undoes }: StoreRequest,
): Promise<Commit> {
  const fitted = changes.map(async ({ beliefId, outcome, fields }) => {
    const history = await store.history(user, beliefId)
    const expectedVersion = (history.at(-1)?.version ?? 0) + Number(isCareless)
    if (outcome !== 'present' && history.length > 0) return { beliefId, expectedVersion, outcome, after: null }
    const after: Belief = sample({ id: beliefId, user, ...fields, version: expectedVersion + 1 })
    return { beliefId, expectedVersion, outcome: 'present' as const, after }
  })
  const at = '2026-03-01T12:00:00.000Z'
  const kind = undoes === null ? 'remember' : 'undo'
  return { user, kind, actor: 'person', origin: 'test', at, key, undoes, changes: await Promise.all(fitted) }
}

/** The outcome of a commit, including errors. */
export async function outcomeOf(store: AnyStore, commit: Commit): Promise<CommitResult | string> {
  try {
    return await store.commit(commit)
  } catch (error) {
    if (error instanceof MemoryError) return error.code
    throw error
  }
}

/** A store's answers to every read, for all values that these histories may contain. */
export async function everyAnswer(store: AnyStore): Promise<unknown> {
  const answers: unknown[] = []
  for (const user of users) {
    answers.push(await store.getMany(user, [...beliefIds, 'none']))
    answers.push(await store.idsStartingWith(user, 'b', 3), await store.idsStartingWith(user, '', 100))
    answers.push(await store.scopes(user), await store.lastUndoable(user))
    answers.push(await store.events(user, { limit: 5 }), await store.events(user, { limit: 50, before: 6 }))
    for (const number of [1, 2, 3, 4, 99])
      answers.push(await store.event(user, number), await store.revisions(user, number))
    for (const value of ['k1', 'k2'])
      for (const fingerprint of ['f1', 'f2'])
        answers.push(await store.eventByKey(user, { value, fingerprint }).catch(({ code }: MemoryError) => code))
    for (const id of beliefIds) {
      answers.push(await store.get(user, id), await store.history(user, id))
      answers.push(await store.supersededBy(user, id), await store.proposalsFor(user, id))
    }
    for (const name of names)
      answers.push(await store.named(user, name), await store.holders(user, name, scopes.slice(1)))
    answers.push(await everyList(store, user), await everyView(store, user))
    answers.push(
      await store.formLengths(user, words),
      await store.everyHolder(user, keys),
      await store.wordsNear(user, words),
    )
  }
  return answers
}

async function everyList(store: AnyStore, user: string): Promise<unknown> {
  const filters = [
    {},
    { scopes: ['domain:code', 'user:universal'] },
    { types: ['decision', 'open_question'] as const, pinned: true },
    { statuses: ['superseded'] as const },
    { current: true },
    { current: false, proposals: false },
    { proposals: true },
    { candidates: true },
    { candidates: false, current: false },
  ]
  const pages = filters.flatMap((filter) => [
    store.list({ user, ...filter }, { limit: 50, offset: 0 }),
    store.list({ user, ...filter }, { limit: 2, offset: 1 }),
  ])
  return Promise.all(pages)
}

async function everyView(store: AnyStore, user: string): Promise<unknown> {
  const answers: unknown[] = []
  for (const agent of agents) {
    for (const inView of [[], ['project:ledger'], ['domain:code', 'user:universal', 'domain:none'], [...scopes]]) {
      const view = { user, agent, scopes: inView }
      answers.push(await store.standing(view, 2), await store.standing(view, 50))
      answers.push(
        await store.pinned(view, { editedEverywhere: false }),
        await store.pinned(view, { editedEverywhere: true }),
      )
      answers.push(await store.postings(view, keys), await store.population(view))
    }
    for (const includeRetired of [true, false, 'only'] as const) {
      for (const inView of [null, ['domain:code', 'user:universal']]) {
        answers.push(await store.matchText({ user, agent, scopes: inView, words, includeRetired, limit: 50 }))
        answers.push(await store.matchText({ user, agent, scopes: inView, words: ['redis'], includeRetired, limit: 2 }))
        const several = { user, agent, scopes: inView, words, includeRetired, limit: 50 }
        for (const atLeast of [2, 3]) answers.push(await store.matchText({ ...several, atLeast }))
        for (const beginning of ['r', 'red', 'no'])
          answers.push(
            await store.matchText({
              user,
              agent,
              scopes: inView,
              words: ['redis'],
              beginning,
              includeRetired,
              limit: 9,
            }),
          )
      }
    }
  }
  return answers
}

/** Tests that two stores with the same history give the same answers to every read. */
export function describeAgreement(
  name: string,
  open: () => AnyStore,
  openOther: () => AnyStore,
  { runs = tries(60), timeoutMs = 600_000 }: { readonly runs?: number; readonly timeoutMs?: number } = {},
): void {
  describe(name, () => {
    it('return equal answers after any history', { timeout: timeoutMs }, async () => {
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(requests, async (history) => {
          const one = open()
          const other = openOther()
          for (const asked of history) {
            const commit = await commitFor(one, asked)
            const outcome = await outcomeOf(one, commit)
            expect(await outcomeOf(other, commit)).toEqual(outcome)
            if (typeof outcome !== 'string' && outcome.outcome === 'committed') accepted += 1
          }
          expect(await everyAnswer(other)).toEqual(await everyAnswer(one))
          await one.close()
          await other.close()
        }),
        { numRuns: runs },
      )
      // Guards the test: a history of refusals would prove nothing.
      expect(accepted).toBeGreaterThan(1.6 * runs)
    })
  })
}
