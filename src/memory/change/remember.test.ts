import { describe, expect, it } from 'vitest'
import {
  about,
  addAliases,
  agent,
  everything,
  importer,
  lasting,
  now,
  otherAgent,
  pin,
  tell,
} from '../../../test/memory/fixtures.ts'
import { person, ports } from '../../../test/recall/fixtures.ts'
import { recall } from '../recall/recall.ts'
import { renderContext } from '../recall/render.ts'
import { accept, listProposals } from './proposals.ts'
import { remember } from './remember.ts'

const names = async (memory: ReturnType<typeof ports>, message: string, scopes = ['domain:code']) =>
  (await recall(memory, { user: 'ann', scopes, message })).relevant.map(({ belief }) => belief.content)

describe('remembering without a name', () => {
  const say = (memory: ReturnType<typeof ports>, content: string, key?: string) =>
    remember(memory, {
      user: 'ann',
      author: person,
      draft: { content, scopes: ['domain:code'] },
      ...(key === undefined ? {} : { key }),
    })

  it('derives the name, and a derived name never replaces another belief', async () => {
    const memory = ports()
    await tell(memory, 'PostgreSQL', 'Runs on port 5432.')

    const { outcome, belief } = await say(memory, 'We use PostgreSQL for storage.')

    expect({ outcome, name: belief.name }).toEqual({ outcome: 'remembered', name: 'PostgreSQL (2)' })
    expect(await names(memory, 'postgresql 2?')).toContain('We use PostgreSQL for storage.')
    expect(await everything(memory)).toHaveLength(2)
  })

  it.each([
    ['I live in Oslo.', 'Will it rain in Oslo?'],
    ['Dr. Amari is my dentist, in Harbour Street.', 'Which bus goes to Harbour Street?'],
    ['The nightly job runs in k8s at noon.', 'Is k8s down?'],
    ['Our invoice template is in the shared folder.', 'Where is the shared folder?'],
  ])('finds a statement without a name by its names and phrases: %s', async (content, message) => {
    const memory = ports()
    await say(memory, content)

    expect(await names(memory, message)).toEqual([content])
  })

  it.each([
    ['Our Redis cache on port 6380 needs error handling', 'There is an error in my tax form'],
    ['Our Redis cache on port 6380 needs error handling', 'Which port does the ferry leave from?'],
    ['I park my car in the garage next to the bakery.', 'Is the garage band still playing?'],
    ['Tests have to pass before lunch.', 'Which blood tests do I need?'],
    ['The piano was tuned to 432 Hz.', 'Write a piano piece in C.'],
    ['We use tabs in the firmware.', 'Close all browser tabs.'],
    ['Our boiler is from 1998.', 'How does a boiler work?'],
    ['our exports are json', 'How do I parse json?'],
    ['The **deploy** is on Tuesday.', 'How do I deploy a website?'],
  ])('does not find it by one everyday word: %s', async (content, message) => {
    const memory = ports()
    await say(memory, content)

    expect(await names(memory, message)).toEqual([])
  })

  it('recalls every statement under one name by that name, newest first', async () => {
    const memory = ports()
    const statements = [5433, 5434, 5435].map((port) => `The staging port is ${port}.`)
    for (const content of statements) await say(memory, content)

    expect(await names(memory, 'What is the staging port?')).toEqual(statements.toReversed())
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'What is the staging port?' })
    expect(renderContext(context).match(/^- .*$/gmu)).toEqual([
      '- (stated 2026-03-01) staging port: The staging port is 5435.',
      '- (earlier, stated 2026-03-01) staging port: The staging port is 5434.',
      '- (earlier, stated 2026-03-01) staging port: The staging port is 5433.',
    ])
  })

  it("does not mark a person's statement as earlier because of a later one of an agent", async () => {
    const memory = ports()
    await say(memory, 'The staging port is 5433.')
    await tell(memory, 'staging port (2)', 'The staging port is 9999.', { author: agent })

    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'What is the staging port?' })

    expect(context.relevant.map(({ belief }) => belief.content)).toEqual(['The staging port is 5433.'])
    expect(renderContext(context)).toContain('- staging port: The staging port is 5433.')
  })

  it.each(['Always answer in British English.', 'From now on give all dates in ISO format.', "Don't use em dashes."])(
    'stores a standing instruction as such, so that it applies without being named: %s',
    async (content) => {
      const memory = ports()

      const { belief } = await say(memory, content)

      expect(belief).toMatchObject({ type: 'preference', subtype: 'instruction', content })
    },
  )

  it('stores a fact with "always" as a fact, and keeps a given type', async () => {
    const memory = ports()
    const draft = { content: 'Always answer in French.', type: 'decision' as const, scopes: ['domain:code'] }

    const fact = await say(memory, 'The nightly build always takes an hour.')
    const given = await remember(memory, { user: 'ann', author: person, draft })

    expect([fact.belief.subtype, given.belief.type, given.belief.subtype]).toEqual([null, 'decision', null])
  })

  it('reinforces the same statement under its existing name', async () => {
    const memory = ports()
    await tell(memory, 'the database', 'We use PostgreSQL for storage.')

    const { outcome, belief } = await say(memory, 'We use PostgreSQL for storage.')

    expect({ outcome, name: belief.name }).toEqual({ outcome: 'reinforced', name: 'the database' })
  })

  it('has one effect for one key', async () => {
    const memory = ports()

    const first = await say(memory, 'We use PostgreSQL for storage.', 'k')

    expect(await say(memory, 'We use PostgreSQL for storage.', 'k')).toEqual(first)
    await expect(say(memory, 'We use MySQL for storage.', 'k')).rejects.toMatchObject({ code: 'conflict' })
  })

  it.each(['', ' \n', '!!!'])('refuses %j', async (content) => {
    await expect(say(ports(), content)).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('remembering another value of the same thing', () => {
  const say = (memory: ReturnType<typeof ports>, content: string, { replace = false, scope = 'domain:code' } = {}) =>
    remember(memory, { user: 'ann', author: person, draft: { content, scopes: [scope] }, replace })

  it.each([
    ['The build server is larch.', 'The build server is birch.'],
    ['I take 5 mg of cetirizine.', 'I take 10 mg of cetirizine now.'],
    ['The gym opens at 06:30 in winter.', 'The gym opens at 07:00 in winter.'],
  ])('stores a second belief and returns the first: %s', async (first, second) => {
    const memory = ports()
    const { belief: old } = await say(memory, first)

    const { outcome, replaced, otherValues } = await say(memory, second)

    expect({ outcome, replaced }).toEqual({ outcome: 'remembered', replaced: [] })
    expect(otherValues).toEqual([old])
    expect(await everything(memory)).toHaveLength(2)
  })

  it.each(['before it is stored', 'after it was stored'])('replaces the other value on request, %s', async (when) => {
    const memory = ports()
    const { belief: old } = await say(memory, 'The build server is larch.')
    if (when === 'after it was stored') await say(memory, 'The build server is birch.')

    const { outcome, belief, replaced, otherValues } = await say(memory, 'The build server is birch.', {
      replace: true,
    })

    expect({ outcome, name: belief.name, otherValues }).toEqual({
      outcome: 'corrected',
      name: 'build server',
      otherValues: [],
    })
    expect(replaced.map(({ id }) => id)).toContain(old.id)
    expect(await names(memory, 'Is the build server up?')).toEqual(['The build server is birch.'])
  })

  it('only stores a statement that replaces no belief', async () => {
    const memory = ports()
    await say(memory, 'The build server is larch.')

    const { outcome, otherValues } = await say(memory, 'The print server is oak.', { replace: true })

    expect({ outcome, otherValues }).toEqual({ outcome: 'remembered', otherValues: [] })
  })

  it('ignores other scopes, other things, questions and replaced beliefs', async () => {
    const memory = ports()
    await say(memory, 'The build server is larch.', { scope: 'project:ledger' })
    await say(memory, 'The print server is oak.')
    await tell(memory, 'build server', 'Which one?', { type: 'open_question' })
    await tell(memory, 'build server', 'It is ash.')

    const { otherValues } = await say(memory, 'The build server is birch.')

    expect(otherValues.map(({ content }) => content)).toEqual(['It is ash.'])
  })

  it("returns the person's value to an agent", async () => {
    const memory = ports()
    const { belief: old } = await say(memory, 'The build server is larch.')
    const draft = { content: 'The build server is birch.', scopes: ['domain:code'] }

    const { otherValues } = await remember(memory, { user: 'ann', author: agent, draft })
    const asked = await remember(memory, { user: 'ann', author: agent, draft, replace: true })

    expect(otherValues).toEqual([old])
    expect(asked.outcome).toBe('proposed')
    expect(await names(memory, 'Is the build server up?')).toContain('The build server is larch.')
  })
})

describe('remembering a new statement', () => {
  it('stores it with its author, place and time', async () => {
    const memory = ports()
    const { outcome, belief, replaced, event } = await remember(memory, {
      user: 'ann',
      author: agent,
      draft: { name: ' Redis ', content: ' Used as a cache. ', scopes: ['project:b', 'domain:a', 'project:b'] },
      sourceId: 'turn-9',
      model: 'some-model',
    })

    expect({ outcome, replaced, event }).toEqual({ outcome: 'remembered', replaced: [], event: 1 })
    expect(belief).toMatchObject({
      name: 'Redis',
      content: 'Used as a cache.',
      scopes: ['domain:a', 'project:b'],
      type: 'entity',
      status: 'active',
      confidence: 1,
      editedByPerson: false,
      reinforcement: { count: 0 },
      version: 1,
      provenance: { actor: 'agent', origin: 'codex', sourceId: 'turn-9', model: 'some-model', at: belief.createdAt },
    })
    expect(await now(memory, belief)).toEqual(belief)
  })

  it('creates two beliefs if two projects use the same name', async () => {
    const memory = ports()
    await tell(memory, 'database', 'Postgres', { scopes: ['project:ledger'] })
    const { outcome } = await tell(memory, 'database', 'SQLite', { scopes: ['project:notes'] })

    expect(outcome).toBe('remembered')
    expect(await names(memory, 'which database?', ['project:ledger'])).toEqual(['Postgres'])
    expect(await names(memory, 'which database?', ['project:notes'])).toEqual(['SQLite'])
  })

  it('ignores beliefs of other users', async () => {
    const memory = ports()
    await tell(memory, 'database', 'Postgres')
    const { outcome } = await remember(memory, {
      user: 'bob',
      author: person,
      draft: { name: 'database', content: 'SQLite', scopes: ['domain:code'] },
    })

    expect(outcome).toBe('remembered')
    expect(await names(memory, 'database')).toEqual(['Postgres'])
  })
})

describe('remembering the same statement again', () => {
  it.each([
    ['redis', 'Used as a cache'],
    ['REDIS', 'used  as a\ncache.'],
    [' redis', 'Used as a cache!'],
  ])('reinforces it, ignoring case, spacing and final punctuation: %s, %s', async (name, content) => {
    const memory = ports()
    const first = await tell(memory, 'Redis', 'Used as a cache.')
    const second = await tell(memory, name, content)

    expect(second).toMatchObject({ outcome: 'reinforced', replaced: [], belief: { id: first.belief.id, version: 2 } })
    expect(second.belief.reinforcement.count).toBe(1)
    expect(second.belief.reinforcement.at > first.belief.reinforcement.at).toBe(true)
    expect(second.belief.content).toBe('Used as a cache.')
    expect(await everything(memory)).toHaveLength(1)
  })

  it('adds new aliases and scopes, a new why and the pin', async () => {
    const memory = ports()
    await tell(memory, 'redis', 'A cache', { aliases: ['valkey'], why: 'Keep it small.' })
    const { outcome, belief } = await tell(memory, 'redis', 'A cache', {
      aliases: ['Valkey', 'KeyDB', 'Redis'],
      pinned: true,
      scopes: ['domain:code', 'project:ledger'],
    })

    expect(outcome).toBe('reinforced')
    expect(belief).toMatchObject({
      aliases: ['valkey', 'KeyDB'],
      why: 'Keep it small.',
      pinned: true,
      scopes: ['domain:code', 'project:ledger'],
    })
    const there = await recall(memory, { user: 'ann', scopes: ['project:ledger'], message: '' })
    expect(there.pinned.map(({ id }) => id)).toEqual([belief.id])
  })

  it('adds missing participants to a relation', async () => {
    const memory = ports()
    const relation = { type: 'relation' as const, relation: 'uses' }
    await tell(memory, 'auth uses redis', 'Auth uses Redis', { type: 'relation', participants: ['auth'] })
    const { outcome, belief } = await tell(memory, 'auth uses redis', 'Auth uses Redis', {
      ...relation,
      participants: ['auth', 'redis'],
    })

    expect(outcome).toBe('reinforced')
    expect(belief).toMatchObject({ participants: ['auth', 'redis'], relation: 'uses' })
  })

  it('makes a private belief of an agent visible to all if another agent states it too', async () => {
    const memory = ports()
    await tell(memory, 'vault', 'Holds the keys', { author: agent, agent: 'codex' })
    await tell(memory, 'vault', 'Holds the keys', { author: agent, agent: 'codex' })
    expect(await names(memory, 'vault')).toEqual([])

    await tell(memory, 'vault', 'Holds the keys')

    expect(await names(memory, 'vault')).toEqual(['Holds the keys'])
  })

  it("confirms an agent's inferred or exploratory belief if the person states it", async () => {
    for (const status of ['inferred', 'exploratory'] as const) {
      const memory = ports()
      await tell(memory, 'tabs', 'Prefers tabs', { author: agent, status })

      expect((await tell(memory, 'tabs', 'Prefers tabs', { author: agent })).belief.status).toBe(status)
      const { belief } = await tell(memory, 'tabs', 'Prefers tabs')
      expect(belief).toMatchObject({ status: 'active', editedByPerson: true })
    }
  })

  it('reinforces for an agent too, without changing fields that a person wrote', async () => {
    const memory = ports()
    const { belief: before } = await tell(memory, 'tabs', 'Prefers tabs', { pinned: true, why: 'Set editors up.' })
    const { outcome, belief } = await tell(memory, 'tabs', 'prefers tabs', { author: agent })

    expect(outcome).toBe('reinforced')
    expect({ ...lasting(belief), reinforcement: before.reinforcement }).toEqual(lasting(before))
  })

  it("proposes an agent's additions to a belief of a person", async () => {
    const memory = ports()
    const { belief: before } = await tell(memory, 'tabs', 'Prefers tabs', { scopes: ['domain:code', 'project:ledger'] })
    for (const addition of [{ aliases: ['indent style'] }, { why: 'Set it.' }, { pinned: true }, { agent: 'codex' }]) {
      const { outcome } = await tell(memory, 'tabs', 'Prefers tabs', { author: agent, ...addition })
      expect(outcome).toBe('agent' in addition ? 'reinforced' : 'proposed')
    }
    const wider = await tell(memory, 'tabs', 'Prefers tabs', { author: agent, scopes: ['domain:code', 'domain:prose'] })

    expect(wider.outcome).toBe('proposed')
    expect({ ...lasting(await now(memory, before)), reinforcement: before.reinforcement }).toEqual(lasting(before))
    const waiting = await listProposals(memory, 'ann')
    expect(waiting).toHaveLength(4)
    for (const { proposal } of waiting) expect(proposal.scopes).toEqual(expect.arrayContaining([...before.scopes]))
  })
})

describe('remembering another statement under the same name', () => {
  it('is a correction: the new belief is found by every form of the old one, which is never recalled again', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'Package Manager', 'npm', { aliases: ['installer'], pinned: true })
    const { outcome, belief, replaced } = await tell(memory, 'package_manager', 'pnpm', { aliases: ['lockfile'] })

    expect(outcome).toBe('corrected')
    expect(replaced.map(({ id }) => id)).toEqual([old.id])
    expect(belief).toMatchObject({ name: 'package_manager', aliases: ['lockfile', 'installer'], pinned: true })
    expect(await now(memory, old)).toMatchObject({ status: 'superseded', supersededBy: belief.id, content: 'npm' })
    expect(await everything(memory)).toHaveLength(2)
  })

  it('keeps the type unless the draft has another; an answer is no longer a question', async () => {
    const memory = ports()
    await tell(memory, 'answers', 'Short ones', { type: 'preference', subtype: 'style' })
    await tell(memory, 'rust', 'Learning it', {
      type: 'preference',
      subtype: 'expertise',
      expertise: { domain: 'rust', depth: 'learning' },
    })
    await tell(memory, 'hosting', 'Where do we host?', { type: 'open_question' })

    expect((await tell(memory, 'answers', 'Long ones')).belief).toMatchObject({ type: 'preference', subtype: 'style' })
    expect((await tell(memory, 'answers', 'None', { type: 'decision' })).belief).toMatchObject({
      type: 'decision',
      subtype: null,
    })
    const expertise = { domain: 'rust', depth: 'deep' as const }
    expect((await tell(memory, 'rust', 'Knows it', { expertise })).belief).toMatchObject({
      subtype: 'expertise',
      expertise,
    })
    expect((await tell(memory, 'hosting', 'At home')).belief.type).toBe('entity')
  })

  it('replaces every belief with the name in one of its scopes, and gets all of their scopes', async () => {
    const memory = ports()
    const { belief: one } = await tell(memory, 'db', 'MySQL', { scopes: ['project:a', 'project:c'] })
    const { belief: two } = await tell(memory, 'db', 'Oracle', { scopes: ['project:b'] })
    const { outcome, belief } = await tell(memory, 'db', 'Postgres', { scopes: ['project:a', 'project:b'] })

    expect(outcome).toBe('corrected')
    expect(belief.scopes).toEqual(['project:a', 'project:b', 'project:c'])
    for (const old of [one, two]) expect((await now(memory, old)).supersededBy).toBe(belief.id)
  })

  it('lets each authority correct its own and lower beliefs, but no agent the belief of another agent', async () => {
    const chain = ports()
    await tell(chain, 'db', 'zero', { author: agent })
    expect((await tell(chain, 'db', 'one', { author: agent })).outcome).toBe('corrected')
    expect((await tell(chain, 'db', 'two', { author: otherAgent })).outcome).toBe('proposed')
    expect((await tell(chain, 'db', 'three', { author: importer })).outcome).toBe('corrected')
    expect((await tell(chain, 'db', 'four', { author: agent })).outcome).toBe('proposed')
    expect((await tell(chain, 'db', 'five')).outcome).toBe('corrected')
    expect((await tell(chain, 'db', 'six', { author: importer })).outcome).toBe('proposed')
    expect((await tell(chain, 'db', 'seven', { author: { actor: 'tool', origin: 'ci' } })).outcome).toBe('proposed')
    expect(await names(chain, 'db')).toEqual(['five'])
  })

  it('becomes a proposal if an agent contradicts a person, and is never recalled', async () => {
    const memory = ports()
    const { belief: said } = await tell(memory, 'db', 'Postgres', { pinned: true, aliases: ['storage engine'] })
    const { outcome, belief, replaced } = await tell(memory, 'db', 'MySQL', { author: agent, aliases: ['maria'] })

    expect(outcome).toBe('proposed')
    expect(belief).toMatchObject({ status: 'exploratory', proposedFor: said.id })
    expect(replaced.map(({ id }) => id)).toEqual([said.id])
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'db maria storage engine' })
    expect(context.pinned.map(({ content }) => content)).toEqual(['Postgres'])
    expect(context.relevant).toEqual([])
    expect(lasting(await now(memory, said))).toEqual(lasting(said))
  })

  it('is proposed once however often an agent repeats it, and again if the agent changes the statement', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const first = await tell(memory, 'db', 'MySQL', { author: agent })
    const second = await tell(memory, 'db', 'mysql.', { author: otherAgent })
    const other = await tell(memory, 'db', 'Oracle', { author: agent })

    expect(second.belief).toMatchObject({ id: first.belief.id, reinforcement: { count: 1 } })
    expect(other.belief.id).not.toBe(first.belief.id)
    expect(await listProposals(memory, 'ann')).toHaveLength(2)
  })

  it('when accepted, has taken over the aliases of the old one and all changes since', async () => {
    const memory = ports()
    const { belief: said } = await tell(memory, 'db', 'Postgres', {
      aliases: ['storage'],
      scopes: ['domain:code', 'project:ledger'],
    })
    const { belief: proposed } = await tell(memory, 'db', 'MySQL', { author: agent })
    await addAliases(memory, { ...about('db'), aliases: ['relational store'] })
    await pin(memory, about('db'))
    const { belief } = await accept(memory, about(proposed.id))

    expect(belief).toMatchObject({
      content: 'MySQL',
      aliases: ['storage', 'relational store'],
      scopes: ['domain:code', 'project:ledger'],
      pinned: true,
    })
    expect((await now(memory, said)).supersededBy).toBe(belief.id)
  })

  it('can be accepted if it contradicts a person in one scope and an agent in another', async () => {
    const memory = ports()
    const { belief: low } = await tell(memory, 'db', 'MySQL', { author: agent, scopes: ['project:a'] })
    const { belief: high } = await tell(memory, 'db', 'Oracle', { scopes: ['project:b'] })
    const { outcome, belief } = await tell(memory, 'db', 'Postgres', {
      author: agent,
      scopes: ['project:a', 'project:b'],
    })

    expect(outcome).toBe('proposed')
    expect(belief.proposedFor).toBe(high.id)
    await accept(memory, about(belief.id))
    for (const old of [low, high]) expect((await now(memory, old)).supersededBy).toBe(belief.id)
  })
})

describe('two programs remembering concurrently', () => {
  it('create one belief of the same name, which the second reinforces or corrects', async () => {
    const one = ports()
    const other = { ...ports(), store: one.store, newId: () => `other-${Math.random()}` }
    const outcomes = await Promise.all([
      tell(one, 'db', 'Postgres'),
      tell(other, 'db', 'postgres'),
      tell(one, 'db', 'Postgres'),
      tell(other, 'db', 'Postgres.'),
    ])

    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
      'reinforced',
      'reinforced',
      'reinforced',
      'remembered',
    ])
    expect(await everything(one)).toMatchObject([{ reinforcement: { count: 3 }, version: 4 }])
  })

  it('leave one current belief if they disagree', async () => {
    const one = ports()
    const other = { ...ports(), store: one.store, newId: () => `other-${Math.random()}` }
    await Promise.all(
      ['Postgres', 'MySQL', 'Oracle', 'SQLite'].map((content, at) => tell(at % 2 ? one : other, 'db', content)),
    )

    const heads = (await everything(one)).filter(({ supersededBy }) => supersededBy === null)
    expect(heads).toHaveLength(1)
    expect(await everything(one)).toHaveLength(4)
  })
})

describe('a key', () => {
  it('makes a repeated request have one effect and the same answer', async () => {
    const memory = ports()
    const first = await tell(memory, 'db', 'Postgres', { key: 'k1' })
    const second = await tell(memory, 'db', 'Postgres', { key: 'k1' })

    expect(second).toEqual(first)
    expect(await memory.store.events('ann', { limit: 10 })).toHaveLength(1)
  })

  it('answers a repeated proposal and a repeated correction like the first', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const proposed = await tell(memory, 'db', 'MySQL', { author: agent, key: 'k1' })
    expect(await tell(memory, 'db', 'MySQL', { author: agent, key: 'k1' })).toEqual(proposed)

    const corrected = await tell(memory, 'db', 'SQLite', { key: 'k2' })
    const again = await tell(memory, 'db', 'SQLite', { key: 'k2' })
    expect(again).toMatchObject({ outcome: 'corrected', belief: corrected.belief, event: corrected.event })
    expect(again.replaced.map(({ id }) => id)).toEqual(corrected.replaced.map(({ id }) => id))
  })

  it('is refused for another request, and belongs to one user', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { key: 'k1' })

    await expect(tell(memory, 'db', 'MySQL', { key: 'k1' })).rejects.toMatchObject({ code: 'conflict' })
    const ofBob = {
      user: 'bob',
      author: person,
      key: 'k1',
      draft: { name: 'x', content: 'y', scopes: ['domain:code'] },
    }
    expect(await remember(memory, ofBob)).toMatchObject({ outcome: 'remembered' })
  })

  it('works for concurrent requests', async () => {
    const memory = ports()
    const [one, other] = await Promise.all([
      tell(memory, 'db', 'Postgres', { key: 'k1' }),
      tell(memory, 'db', 'Postgres', { key: 'k1' }),
    ])

    expect(one).toEqual(other)
    expect(await everything(memory)).toMatchObject([{ reinforcement: { count: 0 } }])
  })
})
