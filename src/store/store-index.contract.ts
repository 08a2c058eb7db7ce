import { describe, expect, it } from 'vitest'
import type { Viewpoint } from '../beliefs/belief-store.ts'
import { type AnyStore, commitOf, erasedChange, nextVersion, presentChange, sample } from './sample-beliefs.contract.ts'
import { commitTo, storesFrom } from './test-stores.contract.ts'

/** Tests that every store finds the same beliefs by form and by text. */
export function describeIndexes(name: string, open: () => AnyStore): void {
  const { storeWith } = storesFrom(open)

  describe(`${name} looks up surface forms`, () => {
    const view: Viewpoint = { user: 'ada', agent: null, scopes: ['project:ledger'] }

    it('by key, for current beliefs in view', async () => {
      const store = await storeWith(
        sample({ id: 'b1', name: 'Main database', aliases: ['Postgres'], scopes: ['project:ledger', 'domain:code'] }),
        sample({ id: 'b2', name: 'postgres', type: 'preference', subtype: 'style', pinned: true }),
        sample({ id: 'b3', name: 'Postgres', scopes: ['domain:law'] }),
        sample({ id: 'b4', name: 'Elephant', aliases: ['postgres'], status: 'superseded', supersededBy: 'b1' }),
        sample({ id: 'b5', name: 'Other', aliases: ['postgres'], agent: 'codex' }),
        sample({ id: 'b6', name: 'postgres', user: 'bob' }),
      )

      const found = await store.postings({ ...view, scopes: [...view.scopes, 'domain:code'] }, ['postgres', 'nothing'])

      const at = Date.parse('2026-03-01T12:00:00.000Z')
      expect([...found.keys()]).toEqual(['postgres'])
      expect(found.get('postgres')).toEqual([
        { beliefId: 'b1', ordinal: 1, breaks: 0, type: 'entity', subtype: null, pinned: false, reinforcedAt: at },
        { beliefId: 'b2', ordinal: 0, breaks: 0, type: 'preference', subtype: 'style', pinned: true, reinforcedAt: at },
      ])
      const private_ = await store.postings({ ...view, agent: 'codex' }, ['postgres'])
      expect(private_.get('postgres')?.map(({ beliefId }) => beliefId)).toEqual(['b1', 'b2', 'b5'])
      const everyone = await store.everyHolder('ada', ['postgres', 'nothing'])
      expect([...everyone]).toEqual([['postgres', ['b1', 'b2', 'b3', 'b4', 'b5']]])
    })

    it('for the requesting agent, whatever the names of agents are', async () => {
      const store = await storeWith(
        sample({ id: 'b1', name: 'Postgres', scopes: ['domain:a'], agent: 'x' }),
        sample({ id: 'b2', name: 'Postgres', scopes: ['domain:b'], agent: 'x 1' }),
        sample({ id: 'b3', name: 'Postgres', scopes: ['domain:c'], agent: '' }),
      )
      const seen = async (agent: string | null, ...scopes: readonly string[]): Promise<readonly string[]> =>
        ((await store.postings({ user: 'ada', agent, scopes }, ['postgres'])).get('postgres') ?? []).map(
          ({ beliefId }) => beliefId,
        )

      expect(await seen('x 1', 'domain:b')).toEqual(['b2'])
      expect(await seen('x', 'domain:a', 'domain:b')).toEqual(['b1'])
      expect(await seen('', 'domain:c')).toEqual(['b3'])
      expect(await seen(null, 'domain:c')).toEqual([])
    })

    it('by their first word, until the last form with this word is gone', async () => {
      const two = sample({ id: 'b1', name: 'Main database', aliases: ['main'] })
      const store = await storeWith(two, sample({ id: 'b2', name: 'Main branch rules', user: 'ada' }))

      expect([...(await store.formLengths('ada', ['main', 'database']))]).toEqual([['main', [1, 2, 3]]])
      await commitTo(store, commitOf([presentChange(nextVersion(two, { aliases: [] }))]))
      expect([...(await store.formLengths('ada', ['main']))]).toEqual([['main', [2, 3]]])
      await commitTo(store, commitOf([erasedChange(nextVersion(two, {}), 'absent')]))
      expect([...(await store.formLengths('ada', ['main']))]).toEqual([['main', [3]]])
      expect([...(await store.formLengths('bob', ['main']))]).toEqual([])
    })

    it('by a word with a typo', async () => {
      const kept = sample({ id: 'b1', name: 'Kubernetes' })
      const store = await storeWith(
        kept,
        sample({ id: 'b2', name: 'Postgres cluster' }),
        sample({ id: 'b3', name: 'Terraform', user: 'bob' }),
      )

      const near = await store.wordsNear('ada', ['kubernets', 'postgrse', 'kubernetes', 'teraform', 'cat'])

      expect([...near]).toEqual([
        ['kubernets', ['kubernetes']],
        ['postgrse', ['postgres']],
      ])
      await commitTo(store, commitOf([erasedChange(kept, 'erased')]))
      expect([...(await store.wordsNear('ada', ['kubernets']))]).toEqual([])
    })

    it('and counts each belief in view once', async () => {
      const store = await storeWith(
        sample({ id: 'b1', scopes: ['project:ledger', 'domain:code'] }),
        sample({ id: 'b2', scopes: ['domain:code'] }),
        sample({ id: 'b3', scopes: ['domain:law'] }),
        sample({ id: 'b4', agent: 'codex' }),
        sample({ id: 'b5', resolvedAt: '2026-03-01T00:00:00.000Z' }),
        sample({ id: 'b6', user: 'bob' }),
      )

      expect(await store.population(view)).toBe(1)
      expect(await store.population({ ...view, scopes: ['project:ledger', 'domain:code', 'domain:code'] })).toBe(2)
      expect(await store.population({ ...view, agent: 'codex' })).toBe(2)
      expect(await store.population({ ...view, scopes: [] })).toBe(0)
    })
  })

  describe(`${name} matches text`, () => {
    const base = { user: 'ada', agent: null, scopes: null, includeRetired: false, limit: 10 }

    it('anywhere in a belief, names before the rest', async () => {
      const store = await storeWith(
        sample({ id: 'why', why: 'Because of invoices.', content: 'Something.' }),
        sample({ id: 'name', name: 'Invoices', content: 'Something.' }),
        sample({ id: 'content', content: 'The invoice is late.' }),
        sample({ id: 'none' }),
        sample({ id: 'foreign', user: 'bob', name: 'Invoices' }),
      )

      const hits = await store.matchText({ ...base, words: ['invoice'] })

      expect(hits.map(({ beliefId }) => beliefId)).toEqual(['name', 'content', 'why'])
      expect(await store.matchText({ ...base, words: ['invoice'], limit: 1 })).toEqual(hits.slice(0, 1))
      expect(await store.matchText({ ...base, words: [] })).toEqual([])
    })

    it('that begins with the last word, which may be incomplete', async () => {
      const store = await storeWith(
        sample({ id: 'whole', content: 'The post is late.' }),
        sample({ id: 'longer', content: 'Postgres 16 in the basement.' }),
        sample({ id: 'twice', name: 'Postgres', content: 'Postgres and postage.' }),
        sample({ id: 'inside', content: 'A compost heap.' }),
        sample({ id: 'first', content: 'Green tea.' }),
      )
      const found = async (words: readonly string[], beginning: string): Promise<readonly string[]> =>
        (await store.matchText({ ...base, words, beginning })).map(({ beliefId }) => beliefId)

      expect(await found(['post'], 'post')).toEqual(['twice', 'whole', 'longer'])
      expect(await found(['postgre'], 'postgres')).toEqual(['twice', 'longer'])
      expect(await found(['gree', 'tea'], 'tea')).toEqual(['first'])
      expect(await found(['nothing'], 'nothing')).toEqual([])
    })

    it('with at least the requested number of words, however often one of them occurs', async () => {
      const store = await storeWith(
        sample({ id: 'one', content: 'Tea, tea, and more tea.' }),
        sample({ id: 'two', content: 'Green tea.' }),
        sample({ id: 'three', name: 'Green', why: 'Tea with milk.' }),
      )
      const having = async (atLeast: number): Promise<readonly string[]> =>
        (await store.matchText({ ...base, words: ['tea', 'green', 'milk'], atLeast })).map(({ beliefId }) => beliefId)

      expect([...(await having(1))].sort()).toEqual(['one', 'three', 'two'])
      expect([...(await having(2))].sort()).toEqual(['three', 'two'])
      expect(await having(3)).toEqual(['three'])
    })

    it('of beliefs in view, and of retired ones only on request', async () => {
      const old = sample({ id: 'old', content: 'Tea.', status: 'superseded', supersededBy: 'new' })
      const store = await storeWith(
        old,
        sample({ id: 'new', content: 'Tea.' }),
        sample({ id: 'law', content: 'Tea.', scopes: ['domain:law'] }),
        sample({ id: 'private', content: 'Tea.', agent: 'codex' }),
      )
      const matched = async (query: object): Promise<readonly string[]> =>
        (await store.matchText({ ...base, words: ['tea'], ...query })).map(({ beliefId }) => beliefId).sort()

      expect(await matched({})).toEqual(['law', 'new'])
      expect(await matched({ scopes: ['domain:law', 'domain:none'] })).toEqual(['law'])
      expect(await matched({ agent: 'codex' })).toEqual(['law', 'new', 'private'])
      expect(await matched({ includeRetired: true })).toEqual(['law', 'new', 'old'])
      await commitTo(store, commitOf([erasedChange(old, 'erased')]))
      expect(await matched({ includeRetired: true })).toEqual(['law', 'new'])
    })

    it('with scores that beliefs out of view cannot change', async () => {
      const store = await storeWith(
        sample({ id: 'b1', content: 'Green tea.' }),
        sample({ id: 'b2', content: 'Black tea, and tea.' }),
      )
      const query = { ...base, scopes: ['project:ledger'], words: ['tea', 'green'] }
      const before = await store.matchText(query)

      for (const [index, fields] of [
        { user: 'bob' },
        { scopes: ['domain:law'] },
        { agent: 'codex' },
        { proposedFor: 'b1' },
      ].entries()) {
        const outside = sample({ id: `o${index}`, content: 'Green tea, green tea, and more.', ...fields })
        await commitTo(store, commitOf([presentChange(outside)], { user: outside.user }))
      }

      expect(before.map(({ beliefId }) => beliefId)).toEqual(['b1', 'b2'])
      expect(await store.matchText(query)).toEqual(before)
    })

    it('of whole words that contain punctuation', async () => {
      const store = await storeWith(sample({ id: 'b1', content: "C++ and .NET and O'Neil at 10:30, हिन्दी, 数" }))

      for (const word of ['c++', '.net', "o'neil", '10:30', 'हिन्दी', '数']) {
        expect((await store.matchText({ ...base, words: [word] })).map(({ beliefId }) => beliefId)).toEqual(['b1'])
      }
      for (const word of ['c', 'net', 'neil', '30', "' OR 1", '"']) {
        expect(await store.matchText({ ...base, words: [word] })).toEqual([])
      }
    })
  })
}
