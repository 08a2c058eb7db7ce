import { describe, expect, it } from 'vitest'
import type { Belief } from '../beliefs/belief.ts'
import type { Viewpoint } from '../beliefs/belief-store.ts'
import { type Commit, maxListedBeliefs } from '../beliefs/journal.ts'
import type { ModelOptions } from './model-beliefs.contract.ts'
import { type AnyStore, commitOf, erasedChange, nextVersion, presentChange, sample } from './sample-beliefs.contract.ts'
import { describeIndexes } from './store-index.contract.ts'
import { commitTo, storesFrom } from './test-stores.contract.ts'
import { describeTurns } from './turn-store.contract.ts'

const ids = (beliefs: readonly Belief[]): readonly string[] => beliefs.map(({ id }) => id)

/** Every store, including its indexes, passes this suite. To test a new store, call this function. `open` returns an empty store. */
export function describeStore(
  name: string,
  open: () => AnyStore,
  { journals = 'one' }: Pick<ModelOptions, 'journals'> = {},
): void {
  const { empty, storeWith } = storesFrom(open)
  describeIndexes(name, open)
  describeTurns(name, open)

  describe(`${name} commits`, () => {
    it('a belief that reads exactly as it was written', async () => {
      const belief = sample({
        id: 'b1',
        name: 'Crème "Brûlée" — 数据库',
        aliases: ['O’Neil', '\u{1f600} smile'],
        content: 'line one\nline two\t\u2028',
        confidence: 0.1 + 0.2,
        expertise: { domain: 'go', depth: 'deep' },
      })

      const store = await storeWith(belief)

      expect(await store.get('ada', 'b1')).toEqual(belief)
    })

    it('no part of a change in which one belief has another version', async () => {
      const store = await storeWith(sample({ id: 'b1' }))

      const stale = await store.commit(
        commitOf([presentChange(sample({ id: 'b2' })), presentChange(sample({ id: 'b1', version: 3 }))]),
      )

      expect(stale).toEqual({ outcome: 'stale' })
      expect(await store.get('ada', 'b2')).toBeNull()
      expect((await store.get('ada', 'b1'))?.version).toBe(1)
      expect(await store.events('ada', { limit: 10 })).toHaveLength(1)
    })

    it('version 0 only for a belief that never existed', async () => {
      const born = sample({ id: 'b1' })
      const store = await storeWith(born)
      await commitTo(store, commitOf([erasedChange(born, 'absent')]))

      expect(await store.commit(commitOf([presentChange(born)]))).toEqual({ outcome: 'stale' })
    })

    it.each(['absent', 'erased'] as const)('no change that was read before the belief became %s', async (outcome) => {
      const born = sample({ id: 'b1' })
      const store = await storeWith(born)
      await commitTo(store, commitOf([erasedChange(born, outcome)]))

      expect(await store.commit(commitOf([presentChange(nextVersion(born, { content: 'Late.' }))]))).toEqual({
        outcome: 'stale',
      })
      expect(await store.get('ada', 'b1')).toBeNull()
    })

    it('a withdrawn belief again if the version of its removal is expected', async () => {
      const born = sample({ id: 'b1' })
      const store = await storeWith(born)
      await commitTo(store, commitOf([erasedChange(born, 'absent')]))

      const again = nextVersion(nextVersion(born, {}), { content: 'Back.' })
      await commitTo(store, commitOf([presentChange(again)]))

      expect(await store.get('ada', 'b1')).toEqual(again)
    })

    it('one effect for one key, and refuses the key for another request', async () => {
      const store = empty()
      const key = { value: 'k1', fingerprint: 'f1' }
      const first = await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))], { key }))

      const repeated = await store.commit(commitOf([presentChange(sample({ id: 'b2', name: 'Other' }))], { key }))

      expect(repeated).toEqual({ outcome: 'replayed', event: first })
      expect(await store.get('ada', 'b2')).toBeNull()
      expect(await store.eventByKey('ada', key)).toEqual(first)
      const reused = commitOf([], { key: { value: 'k1', fingerprint: 'f2' } })
      await expect(store.commit(reused)).rejects.toMatchObject({ code: 'conflict' })
      const ofAnother = await store.commit(commitOf([], { user: 'bob', key: { value: 'k1', fingerprint: 'f2' } }))
      expect(ofAnother.outcome).toBe('committed')
    })

    it('no second belief with the same name in a scope', async () => {
      const store = await storeWith(
        sample({ id: 'b1', name: 'Main Database', scopes: ['project:ledger', 'domain:code'] }),
      )
      const rival = sample({ id: 'b2', name: 'main_database', scopes: ['domain:code'] })

      expect(await store.commit(commitOf([presentChange(rival)]))).toEqual({ outcome: 'stale' })
      expect(await store.commit(commitOf([presentChange({ ...rival, proposedFor: 'b1' })]))).toMatchObject({
        outcome: 'committed',
      })
      const elsewhere = sample({ id: 'b3', name: 'main_database', scopes: ['domain:law'] })
      expect(await store.commit(commitOf([presentChange(elsewhere)]))).toMatchObject({ outcome: 'committed' })
    })

    it('a name that moves to another belief within one commit, in either order', async () => {
      for (const order of [1, -1]) {
        const old = sample({ id: 'old', name: 'Database' })
        const store = await storeWith(old)
        const replaced = nextVersion(old, { status: 'superseded', supersededBy: 'new' })
        const changes = [presentChange(replaced), presentChange(sample({ id: 'new', name: 'Database' }))]

        await commitTo(store, commitOf(order === 1 ? changes : changes.reverse()))

        expect(ids(await store.holders('ada', 'database', ['project:ledger']))).toEqual(['new'])
        expect(ids(await store.supersededBy('ada', 'new'))).toEqual(['old'])
      }
    })

    it('no change that contradicts itself', async () => {
      const belief = sample({ id: 'b1' })
      const store = await storeWith(belief)
      const broken: readonly Commit[] = [
        commitOf([presentChange(nextVersion(belief, {})), erasedChange(belief, 'absent')]),
        commitOf([{ beliefId: 'b1', expectedVersion: 1, outcome: 'present', after: null }]),
        commitOf([{ beliefId: 'b1', expectedVersion: 1, outcome: 'absent', after: nextVersion(belief, {}) }]),
        commitOf([{ beliefId: 'b2', expectedVersion: 0, outcome: 'present', after: belief }]),
        commitOf([{ beliefId: 'b2', expectedVersion: 0, outcome: 'erased', after: null }]),
        commitOf([presentChange(sample({ id: 'b2', user: 'bob' }))]),
        commitOf([presentChange(sample({ id: 'b2', scopes: [] }))]),
        commitOf([presentChange(belief, 1)]),
      ]

      for (const commit of broken) await expect(store.commit(commit)).rejects.toMatchObject({ code: 'invalid' })
      expect(await store.events('ada', { limit: 10 })).toHaveLength(1)
    })

    it('an event without changes', async () => {
      const store = empty()

      const event = await commitTo(store, commitOf([]))

      expect(event).toMatchObject({ number: 1, beliefIds: [] })
      expect(await store.revisions('ada', 1)).toEqual([])
    })
  })

  describe(`${name} keeps a journal`, () => {
    it('of numbered events, each with its own hash', async () => {
      const store = await storeWith(sample({ id: 'b1' }), sample({ id: 'b2', user: 'bob' }), sample({ id: 'b3' }))

      const events = await store.events('ada', { limit: 10 })
      const newest = journals === 'one' ? 3 : 2

      expect(events.map(({ number }) => number)).toEqual([newest, 1])
      expect(events[1]).toMatchObject({
        user: 'ada',
        kind: 'remember',
        actor: 'person',
        origin: 'test',
        beliefIds: ['b1'],
      })
      expect(new Set(events.map(({ hash }) => hash)).size).toBe(2)
      for (const { hash } of events) expect(hash).toMatch(/^[0-9a-f]{64}$/)
      expect(await store.events('ada', { limit: 1 })).toEqual([events[0]])
      expect(await store.events('ada', { limit: 10, before: newest })).toEqual([events[1]])
      expect(await store.event('ada', journals === 'one' ? 2 : 3)).toBeNull()
    })

    it('whose lists name the first beliefs of an event and count the rest', async () => {
      const store = empty()
      const beliefs = Array.from({ length: maxListedBeliefs + 5 }, (_, index) => sample({ id: `b${index}` }))
      await commitTo(
        store,
        commitOf(
          beliefs.map((belief) => presentChange(belief)),
          { kind: 'import' },
        ),
      )
      const listed = { beliefIds: ids(beliefs).slice(0, maxListedBeliefs), beliefCount: beliefs.length }

      expect(await store.events('ada', { limit: 1 })).toMatchObject([listed])
      expect(await store.history('ada', 'b3')).toMatchObject([{ event: listed }])
      expect((await store.revisions('ada', 1)).at(-1)).toMatchObject({ beliefId: beliefs.at(-1)?.id, event: listed })
      expect((await store.event('ada', 1))?.beliefIds).toEqual(ids(beliefs))
      await commitTo(store, commitOf([]))
      expect(await store.events('ada', { limit: 1 })).toMatchObject([{ beliefIds: [], beliefCount: 0 }])
    })

    it('of every earlier version of a belief', async () => {
      const first = sample({ id: 'b1', content: 'First.' })
      const second = nextVersion(first, { content: 'Second.' })
      const store = await storeWith(first)
      await commitTo(store, commitOf([presentChange(second), presentChange(sample({ id: 'b2' }))], { kind: 'edit' }))
      await commitTo(store, commitOf([erasedChange(second, 'absent')], { kind: 'undo' }))

      const history = await store.history('ada', 'b1')

      expect(history.map(({ event, outcome, belief }) => [event.number, outcome, belief?.content ?? null])).toEqual([
        [1, 'present', 'First.'],
        [2, 'present', 'Second.'],
        [3, 'absent', null],
      ])
      expect((await store.revisions('ada', 2)).map(({ beliefId }) => beliefId)).toEqual(['b1', 'b2'])
      expect(await store.revisions('bob', 2)).toEqual([])
      expect(await store.history('bob', 'b1')).toEqual([])
    })

    it('without erased texts', async () => {
      const first = sample({ id: 'b1', content: 'Secret one.' })
      const second = nextVersion(first, { content: 'Secret two.' })
      const store = await storeWith(first, sample({ id: 'b2', content: 'Kept.' }))
      await commitTo(store, commitOf([presentChange(second)]))
      const before = await store.events('ada', { limit: 10 })

      await commitTo(store, commitOf([erasedChange(second, 'erased')], { kind: 'forget' }))

      expect(await store.get('ada', 'b1')).toBeNull()
      const history = await store.history('ada', 'b1')
      expect(history.map(({ outcome, belief }) => [outcome, belief])).toEqual([
        ['present', null],
        ['present', null],
        ['erased', null],
      ])
      expect((await store.revisions('ada', 2))[0]?.belief?.content).toBe('Kept.')
      expect((await store.events('ada', { limit: 10 })).slice(1)).toEqual(before)
    })

    it('that records which events were undone and redone', async () => {
      const belief = sample({ id: 'b1' })
      const store = await storeWith(sample({ id: 'b0' }), belief)
      const undone = commitOf([erasedChange(belief, 'absent')], { kind: 'undo', undoes: 2 })
      await commitTo(store, undone)

      expect((await store.event('ada', 2))?.undoneBy).toBe(3)
      expect((await store.lastUndoable('ada'))?.number).toBe(1)
      expect(await store.commit(commitOf([], { kind: 'undo', undoes: 2 }))).toEqual({ outcome: 'stale' })
      await commitTo(
        store,
        commitOf([presentChange(nextVersion(nextVersion(belief, {}), {}))], { kind: 'undo', undoes: 3 }),
      )
      expect((await store.event('ada', 2))?.undoneBy).toBeNull()
      expect((await store.event('ada', 3))?.undoneBy).toBe(4)
      expect((await store.lastUndoable('ada'))?.number).toBe(2)
    })

    it('in which users cannot undo events of other users', async () => {
      const store = await storeWith(sample({ id: 'b1' }))

      const foreign = commitOf([], { user: 'bob', kind: 'undo', undoes: 1 })

      await expect(store.commit(foreign)).rejects.toMatchObject({ code: 'not_found' })
      expect(await store.lastUndoable('bob')).toBeNull()
    })
  })

  describe(`${name} finds beliefs`, () => {
    it('by id, in the requested order, each once', async () => {
      const store = await storeWith(
        sample({ id: 'ab1' }),
        sample({ id: 'ab2' }),
        sample({ id: 'b' }),
        sample({ id: 'ab3', user: 'bob' }),
      )

      expect(ids(await store.getMany('ada', ['b', 'nope', 'ab1', 'b', 'ab3']))).toEqual(['b', 'ab1'])
      expect(await store.idsStartingWith('ada', 'ab', 10)).toEqual(['ab1', 'ab2'])
      expect(await store.idsStartingWith('ada', '', 2)).toEqual(['ab1', 'ab2'])
      expect(await store.idsStartingWith('ada', 'ab%', 10)).toEqual([])
    })

    it('by name, current ones first, then the newest', async () => {
      const day = (number: number): string => `2026-03-0${number}T00:00:00.000Z`
      const store = await storeWith(
        sample({ id: 'b1', name: 'Rust', status: 'superseded', supersededBy: 'b3', updatedAt: day(4) }),
        sample({ id: 'b2', name: 'rust', status: 'superseded', supersededBy: 'b3', updatedAt: day(5) }),
        sample({ id: 'b3', name: 'RUST', updatedAt: day(1) }),
        sample({ id: 'b4', name: 'Rust', aliases: ['x'], scopes: ['domain:law'], updatedAt: day(2) }),
        sample({ id: 'b5', name: 'Iron', aliases: ['rust'] }),
      )

      expect(ids(await store.named('ada', ' rust '))).toEqual(['b4', 'b3', 'b2', 'b1'])
      expect(ids(await store.holders('ada', 'rust', ['project:ledger', 'domain:none']))).toEqual(['b3'])
      expect(ids(await store.supersededBy('ada', 'b3'))).toEqual(['b2', 'b1'])
      expect(await store.named('bob', 'rust')).toEqual([])
    })

    it('that are proposed to replace another', async () => {
      const store = await storeWith(
        sample({ id: 'b1' }),
        sample({ id: 'p1', proposedFor: 'b1' }),
        sample({ id: 'p2', proposedFor: 'b2' }),
      )

      expect(ids(await store.proposalsFor('ada', 'b1'))).toEqual(['p1'])
    })

    it('by every field of a filter, in pages', async () => {
      const store = await storeWith(
        sample({ id: 'b1', updatedAt: '2026-03-01T00:00:00.000Z', scopes: ['domain:a', 'domain:b'] }),
        sample({ id: 'b2', updatedAt: '2026-03-03T00:00:00.000Z', type: 'decision', pinned: true }),
        sample({ id: 'b3', updatedAt: '2026-03-02T00:00:00.000Z', status: 'inferred', scopes: ['domain:b'] }),
        sample({
          id: 'b4',
          updatedAt: '2026-03-02T00:00:00.000Z',
          name: 'Another',
          status: 'superseded',
          supersededBy: 'b3',
        }),
        sample({ id: 'b5', updatedAt: '2026-02-01T00:00:00.000Z', proposedFor: 'b1' }),
        sample({ id: 'b6', user: 'bob' }),
      )
      const listed = async (filter: object): Promise<readonly string[]> =>
        ids((await store.list({ user: 'ada', ...filter }, { limit: 10, offset: 0 })).items)

      expect(await listed({})).toEqual(['b2', 'b4', 'b3', 'b1', 'b5'])
      expect(await listed({ scopes: ['domain:a', 'domain:b'] })).toEqual(['b3', 'b1'])
      expect(await listed({ scopes: [] })).toEqual([])
      expect(await listed({ types: ['decision'] })).toEqual(['b2'])
      expect(await listed({ statuses: ['inferred', 'superseded'] })).toEqual(['b4', 'b3'])
      expect(await listed({ pinned: false, current: true })).toEqual(['b3', 'b1'])
      expect(await listed({ current: false })).toEqual(['b4', 'b5'])
      expect(await listed({ proposals: true })).toEqual(['b5'])
      expect(await listed({ proposals: false, current: false })).toEqual(['b4'])
      const page = await store.list({ user: 'ada' }, { limit: 2, offset: 1 })
      expect([ids(page.items), page.total]).toEqual([['b4', 'b3'], 5])
    })

    it('in every scope with a belief, and counts the current ones', async () => {
      const store = await storeWith(
        sample({ id: 'b1', scopes: ['domain:b', 'domain:a'] }),
        sample({ id: 'b2', scopes: ['domain:b'] }),
        sample({ id: 'b3', scopes: ['domain:old'], resolvedAt: '2026-03-01T00:00:00.000Z' }),
        sample({ id: 'b4', user: 'bob', scopes: ['domain:bob'] }),
      )

      expect(await store.scopes('ada')).toEqual([
        { scope: 'domain:a', beliefs: 1 },
        { scope: 'domain:b', beliefs: 2 },
        { scope: 'domain:old', beliefs: 0 },
      ])
    })

    it('that are pinned and in view', async () => {
      const pin = (id: string, fields: Partial<Belief>): Belief => sample({ id, pinned: true, ...fields })
      const store = await storeWith(
        pin('p1', {}),
        pin('p2', { type: 'open_question', scopes: ['user:universal', 'project:ledger'] }),
        pin('p3', { scopes: ['domain:law'], editedByPerson: true }),
        pin('p4', { scopes: ['domain:law'] }),
        pin('p5', { agent: 'codex' }),
        pin('p6', { status: 'superseded', supersededBy: 'p1' }),
        pin('p7', { scopes: ['domain:law'], editedByPerson: true, agent: 'codex' }),
        pin('p8', { proposedFor: 'p1' }),
        pin('p9', { user: 'bob', editedByPerson: true }),
        sample({ id: 'b1', editedByPerson: true }),
      )
      const view: Viewpoint = { user: 'ada', agent: null, scopes: ['project:ledger', 'user:universal'] }
      const seen = async (agent: string | null, editedEverywhere: boolean): Promise<readonly string[]> =>
        ids(await store.pinned({ ...view, agent }, { editedEverywhere }))

      expect(await seen(null, false)).toEqual(['p1', 'p2'])
      expect(await seen(null, true)).toEqual(['p1', 'p2', 'p3'])
      expect(await seen('codex', false)).toEqual(['p1', 'p2', 'p5'])
      expect(await seen('codex', true)).toEqual(['p1', 'p2', 'p3', 'p5', 'p7'])
      expect(await seen('other', true)).toEqual(['p1', 'p2', 'p3'])
    })

    it('that belong to every context: instructions in view, and universal preferences', async () => {
      const preference = (id: string, fields: Partial<Belief>): Belief =>
        sample({ id, type: 'preference', scopes: ['user:universal'], ...fields })
      const recent = { reinforcement: { count: 1, at: '2026-04-01T00:00:00.000Z' } }
      const instruction = { subtype: 'instruction', scopes: ['project:ledger'] } as const
      const store = await storeWith(
        preference('rest', {}),
        preference('edited', { editedByPerson: true }),
        preference('recent', recent),
        preference('style', { subtype: 'style' }),
        preference('told', { ...instruction }),
        preference('told-everywhere', { subtype: 'instruction', ...recent }),
        preference('told-elsewhere', { ...instruction, scopes: ['domain:law'] }),
        preference('liked-here', { scopes: ['project:ledger'] }),
        preference('private', { agent: 'codex' }),
        preference('old', { status: 'superseded', supersededBy: 'told' }),
        preference('candidate', { candidate: true }),
        sample({ id: 'fact', scopes: ['user:universal'] }),
        sample({ id: 'question', type: 'open_question', scopes: ['user:universal'] }),
      )
      const standing = async (scopes: readonly string[], agent: string | null, limit = 20) =>
        ids(await store.standing({ user: 'ada', agent, scopes }, limit))

      const here = ['edited', 'told-everywhere', 'told', 'recent', 'rest', 'style']
      expect(await standing(['project:ledger'], null)).toEqual(here)
      expect(await standing(['project:ledger', 'user:universal'], null)).toEqual(here)
      expect(await standing(['project:ledger'], null, 2)).toEqual(here.slice(0, 2))
      expect(await standing(['project:ledger'], 'codex')).toEqual([...here.slice(0, 4), 'private', 'rest', 'style'])
      expect(await standing([], null)).toEqual(here.filter((id) => id !== 'told'))
      expect(await store.standing({ user: 'bob', agent: null, scopes: ['project:ledger'] }, 9)).toEqual([])
    })

    it('that are candidates separately from recalled ones, and lets them reserve no name', async () => {
      const store = await storeWith(
        sample({ id: 'held', name: 'port' }),
        sample({ id: 'found', name: 'port', candidate: true, pinned: true }),
      )
      const view: Viewpoint = { user: 'ada', agent: null, scopes: ['project:ledger'] }
      const listed = async (candidates: boolean) =>
        ids((await store.list({ user: 'ada', candidates }, { limit: 9, offset: 0 })).items)

      expect([await listed(true), await listed(false)]).toEqual([['found'], ['held']])
      expect(ids(await store.holders('ada', 'port', ['project:ledger']))).toEqual(['held'])
      expect(ids(await store.pinned(view, { editedEverywhere: true }))).toEqual([])
      expect((await store.postings(view, ['port'])).get('port')?.map(({ beliefId }) => beliefId)).toEqual(['held'])
      expect(await store.population(view)).toBe(1)
    })
  })

  describe(`${name} with a snapshot`, () => {
    it('reads the same as single reads, also after a failure or a write in between', async () => {
      const store = await storeWith(sample({ id: 'b1' }))
      const wrote = async () => commitTo(store, commitOf([presentChange(sample({ id: 'b2', name: 'Second' }))]))

      const [first, second] = await store.withSnapshot(async () => {
        const before = await store.getMany('ada', ['b1', 'b2'])
        await expect(store.withSnapshot(() => Promise.reject(new Error('inner')))).rejects.toThrow('inner')
        await wrote()
        return [before, await store.getMany('ada', ['b1', 'b2'])]
      })

      expect([ids(first as Belief[]), ids(second as Belief[])]).toEqual([['b1'], ['b1', 'b2']])
      await expect(store.withSnapshot(() => Promise.reject(new Error('outer')))).rejects.toThrow('outer')
      await commitTo(store, commitOf([presentChange(sample({ id: 'b3', name: 'Third' }))]))
      expect((await store.list({ user: 'ada' }, { limit: 9, offset: 0 })).total).toBe(3)
    })
  })
}
