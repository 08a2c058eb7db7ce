import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AccessStore, type AccessToken, roles, tokenKinds } from '../beliefs/access-store.ts'
import { openMemoryAccess } from './access-model.contract.ts'

const at = '2026-05-04T09:00:00.000Z'
const later = '2026-05-04T10:00:00.000Z'
const tokenOf = (id: string, person: string | null, more: Partial<AccessToken> = {}): AccessToken => ({
  id,
  kind: 'person',
  person,
  scopes: [],
  label: '',
  createdAt: at,
  lastUsedAt: null,
  revokedAt: null,
  ...more,
})

type Call = (store: AccessStore) => Promise<unknown>

const name = fc.constantFrom('ana', 'ben', 'Ana', "o'neil")
const team = fc.constantFrom('platform', 'design')
const id = fc.constantFrom('t-1', 't-2', 't-3')
const hashes: Readonly<Record<string, string>> = { 't-1': 'hash 1', 't-2': 'hash 2', 't-3': 'hash 3' }

/** Any call with any arguments. Each id has a fixed hash, like a real token. */
const anyCall: fc.Arbitrary<readonly [string, Call]> = fc.oneof(
  name.map((one) => [`add ${one}`, (store: AccessStore) => store.addPerson({ name: one, createdAt: at })] as const),
  name.map((one) => [`remove ${one}`, (store: AccessStore) => store.removePerson(one)] as const),
  fc.tuple(id, fc.option(name), fc.constantFrom(...tokenKinds)).map(([one, person, kind]) => {
    const token = tokenOf(one, person, { kind, scopes: kind === 'agent' ? ['domain:code'] : [] })
    return [`token ${one} of ${person}`, (store: AccessStore) => store.addToken(token, hashes[one] ?? '')] as const
  }),
  fc
    .tuple(id, fc.constantFrom(at, later))
    .map(([one, when]) => [`revoke ${one} ${when}`, (store: AccessStore) => store.revokeToken(one, when)] as const),
  id.map((one) => [`use ${one}`, (store: AccessStore) => store.noteUse(one, later)] as const),
  team.map((one) => [`team ${one}`, (store: AccessStore) => store.addTeam({ name: one, createdAt: at })] as const),
  team.map((one) => [`no team ${one}`, (store: AccessStore) => store.removeTeam(one)] as const),
  fc
    .tuple(team, name, fc.constantFrom(...roles))
    .map(([to, who, role]) => [`${who} ${role}`, (store: AccessStore) => store.setMember(to, who, role)] as const),
  fc
    .tuple(team, name)
    .map(([from, who]) => [`${who} leaves`, (store: AccessStore) => store.removeMember(from, who)] as const),
)

const stateOf = async (store: AccessStore): Promise<unknown> => ({
  people: await store.people(),
  tokens: await store.tokens(),
  ofAna: await store.tokens('ana'),
  teams: await store.teams(),
  found: [
    await store.findToken({ hash: 'hash 1' }),
    await store.findToken({ id: 't-2' }),
    await store.findToken({ id: '' }),
  ],
})

/** Every AccessStore passes this suite. `open` makes an empty one. */
export function describeAccess(store: string, open: () => Promise<AccessStore>, runs = 60): void {
  describe(`${store} stores who may use a memory`, () => {
    it('finds a token by its hash with the teams of its person, and nothing by another hash', async () => {
      const access = await open()
      await access.addPerson({ name: 'ana', createdAt: at })
      const agent = tokenOf('t-1', 'ana', { kind: 'agent', scopes: ['domain:code', 'team:platform'], label: 'laptop' })
      await access.addToken(agent, 'hash 1')
      await access.addTeam({ name: 'platform', createdAt: at })
      await access.setMember('platform', 'ana', 'writer')

      expect(await access.findToken({ hash: 'hash 1' })).toEqual({
        ...agent,
        teams: [{ team: 'platform', role: 'writer' }],
      })
      expect(await access.findToken({ hash: 't-1' })).toBeNull()
      expect(await access.findToken({ hash: 'hash' })).toBeNull()
    })

    it('records when a token was used and revoked, lists it afterwards, and no longer finds it', async () => {
      const access = await open()
      await access.addPerson({ name: 'ana', createdAt: at })
      await access.addToken(tokenOf('t-1', 'ana'), 'hash 1')

      await access.noteUse('t-1', at)
      expect(await access.findToken({ hash: 'hash 1' })).toMatchObject({ lastUsedAt: at, revokedAt: null })
      expect(await access.revokeToken('t-1', later)).toBe(true)
      expect(await access.revokeToken('t-1', at)).toBe(false)
      await access.noteUse('t-1', later)

      expect(await access.findToken({ hash: 'hash 1' })).toBeNull()
      expect(await access.findToken({ id: 't-1' })).toBeNull()
      expect(await access.tokens('ana')).toEqual([tokenOf('t-1', 'ana', { lastUsedAt: at, revokedAt: later })])
    })

    it('removes the tokens and memberships of a person with the person', async () => {
      const access = await open()
      for (const person of ['ana', 'ben']) {
        await access.addPerson({ name: person, createdAt: at })
        await access.addToken(tokenOf(`t-${person}`, person), person)
      }
      await access.addTeam({ name: 'platform', createdAt: at })
      await access.setMember('platform', 'ana', 'owner')
      await access.setMember('platform', 'ben', 'reader')

      expect(await access.removePerson('ana')).toBe(true)
      expect(await access.findToken({ hash: 'ana' })).toBeNull()
      expect((await access.tokens()).map(({ person }) => person)).toEqual(['ben'])
      expect(await access.teams()).toMatchObject([{ members: [{ person: 'ben', role: 'reader' }] }])
    })

    it('answers like the model store, for any sequence of calls', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyCall, { maxLength: 25 }), async (calls) => {
          const access = await open()
          const model = openMemoryAccess()
          for (const [, call] of calls) expect(await call(access)).toEqual(await call(model))

          expect(await stateOf(access)).toEqual(await stateOf(model))
        }),
        { numRuns: runs },
      )
    })
  })
}
