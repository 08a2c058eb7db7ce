import { describe, expect, it } from 'vitest'
import { about, agent, everything, importer, lasting, now, tell } from '../../../test/memory/fixtures.ts'
import { exported, nothing, take } from '../../../test/memory/transfer.ts'
import { belief, person, ports } from '../../../test/recall/fixtures.ts'
import { correct } from '../change/correct.ts'
import { forget } from '../change/forget.ts'
import { accept, listProposals, reject } from '../change/proposals.ts'
import { undo } from '../change/undo.ts'
import { recall } from '../recall/recall.ts'
import { importRecords } from './import.ts'

describe('importing', () => {
  it('adds new beliefs, in either spelling, as one event', async () => {
    const memory = ports()
    const done = await take(memory, [
      { name: 'db', content: 'Postgres', aliases: ['pg'] },
      { _id: 'x1', canonical_name: 'cache', content: 'Redis', scope: ['project:ledger'], why_it_matters: 'Fast.' },
    ])

    expect(done).toEqual({ ...nothing, added: 2, warnings: [], events: [1] })
    expect(await memory.store.event('ann', 1)).toMatchObject({ kind: 'import', actor: 'person' })
    expect(await now(memory, { id: 'x1' })).toMatchObject({ name: 'cache', scopes: ['project:ledger'], why: 'Fast.' })
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'pg' })
    expect(context.relevant.map(({ belief: { name } }) => name)).toEqual(['db'])
  })

  it('refuses a file that names another user, unless a person vouches for it', async () => {
    const memory = ports()
    const placed = [{ place: 'line 1', record: belief({ name: 'tide table', user: 'bob' }) }]

    await expect(importRecords(memory, { user: 'ann', author: importer }, placed)).rejects.toThrow(
      'line 1: the belief is for the user "bob", and this import is for "ann".',
    )
    expect(await recall(memory, { user: 'bob', scopes: ['domain:code'], message: 'tide table' })).toMatchObject({
      relevant: [],
    })
    await importRecords(memory, { user: 'ann', author: person, trusted: true }, placed)
    expect(await recall(memory, { user: 'bob', scopes: ['domain:code'], message: 'tide table' })).toMatchObject({
      relevant: [{ belief: { name: 'tide table' } }],
    })
  })

  it('stores two thousand beliefs at once, and none twice', async () => {
    const memory = ports()
    const records = Array.from({ length: 2_000 }, (_, index) => ({
      id: `r${index}`,
      name: `subject ${index}`,
      content: `Statement ${index}`,
      aliases: [`topic ${index}`, `matter ${index}`],
    }))

    expect(await take(memory, records)).toMatchObject({ added: 2_000, events: [1] })
    expect(await take(memory, records)).toEqual({ ...nothing, unchanged: 2_000, warnings: [], events: [] })
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'what about topic 1234?' })
    expect(context.relevant.map(({ belief: { id } }) => id)).toEqual(['r1234'])
  })

  it('changes nothing if one line is invalid, and names the line', async () => {
    const memory = ports()
    const lines = ['{"name":"a","content":"A"}', '{"name":"b","content":"B"}', '{"name":"c"}']

    await expect(take(memory, lines.join('\n'))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('notes.jsonl, line 3'),
    })
    expect(await everything(memory)).toEqual([])
    expect(await memory.store.events('ann', { limit: 1 })).toEqual([])
  })

  it('changes nothing for any user if it cannot change one of them', async () => {
    const memory = ports()
    const loop = [
      { id: 'a', user: 'bob', name: 'a', content: 'A', supersededBy: 'b' },
      { id: 'b', user: 'bob', name: 'b', content: 'B' },
    ]
    await take(memory, loop)
    const file = [
      { name: 'new', content: 'For Ann' },
      { id: 'b', user: 'bob', name: 'b', content: 'B', supersededBy: 'a' },
    ]

    await expect(take(memory, file)).rejects.toMatchObject({ code: 'invalid' })
    expect(await everything(memory)).toEqual([])
  })

  it('returns the warnings of the file', async () => {
    expect((await take(ports(), [{ name: 'a', content: 'A', colour: 'red' }])).warnings).toEqual([
      'notes.jsonl, line 1: ignored unknown field colour.',
    ])
  })

  it('stores every belief for its user', async () => {
    const memory = ports()
    const done = await take(memory, [
      { id: 'x', name: 'db', content: 'Postgres' },
      { id: 'x', name: 'db', content: 'MySQL', user_id: 'bob' },
    ])

    expect(done).toMatchObject({ added: 2, events: [1, 2] })
    expect((await exported(memory)).map(({ content }) => content)).toEqual(['Postgres'])
    expect((await exported(memory, 'bob')).map(({ content }) => content)).toEqual(['MySQL'])
  })

  it('is reverted by one undo', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const before = (await everything(memory)).map(lasting)
    await take(memory, [
      { name: 'db', content: 'MySQL' },
      { name: 'cache', content: 'Redis' },
    ])
    await undo(memory, { user: 'ann', author: person })

    expect((await everything(memory)).map(lasting)).toEqual(before)
  })
})

describe('importing a chain of supersession', () => {
  it.each([
    ['of one belief', [['a', 'a']]],
    [
      'of two beliefs',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
    ],
    [
      'of three beliefs, reached from a fourth',
      [
        ['z', 'a'],
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
    ],
  ])('refuses a cycle %s', async (_, pairs) => {
    const memory = ports()
    const records = pairs.map(([id, supersededBy]) => ({ id, supersededBy, name: id, content: 'x' }))

    await expect(take(memory, records)).rejects.toMatchObject({ code: 'invalid' })
    expect(await everything(memory)).toEqual([])
  })

  it('refuses a cycle that would close in the store', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'db', 'one')
    const { belief: heir } = await correct(memory, { ...about('db'), content: 'two' })

    const { version: _, ...record } = await now(memory, heir)
    await expect(take(memory, [{ ...record, supersededBy: old.id }])).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('notes.jsonl, line 1'),
    })
    expect((await now(memory, heir)).supersededBy).toBeNull()
  })

  it('distinguishes equal ids of two users', async () => {
    const memory = ports()
    const done = await take(memory, [
      { id: 'a', name: 'a', content: 'A', supersededBy: 'b' },
      { id: 'b', name: 'b', content: 'B' },
      { id: 'b', user: 'bob', name: 'b', content: 'B', supersededBy: 'a' },
      { id: 'a', user: 'bob', name: 'a', content: 'A' },
    ])

    expect(done.added).toBe(4)
  })

  it('never restores a belief that was superseded here since the file was written', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'eslint', 'Lint')
    const file = await exported(memory)
    await correct(memory, { ...about('eslint'), content: 'Lint', name: 'biome' })

    expect(await take(memory, file)).toMatchObject({ ...nothing, unchanged: 1 })
    expect((await now(memory, old)).status).toBe('superseded')
    const { belief: other } = await tell(memory, 'prettier', 'Format')
    const second = await exported(memory)
    await correct(memory, { ...about('prettier'), content: 'Format with Biome' })
    expect(await take(memory, second)).toMatchObject({ unchanged: 3 })
    expect((await now(memory, other)).status).toBe('superseded')
  })

  it('continues a chain that began here', async () => {
    const memory = ports()
    const elsewhere = ports()
    await tell(elsewhere, 'db', 'one')
    await take(memory, await exported(elsewhere))
    await correct(elsewhere, { ...about('db'), content: 'two', name: 'database' })

    await take(memory, await exported(elsewhere))
    expect((await exported(memory)).map(({ content, status }) => [content, status]).sort()).toEqual([
      ['one', 'superseded'],
      ['two', 'active'],
    ])
  })
})

describe('importing known beliefs', () => {
  it('with the same id and no change does nothing, whatever the file omits', async () => {
    const memory = ports()
    const records = [{ id: 'x', name: 'db', content: 'Postgres' }]
    await take(memory, records)

    expect(await take(memory, records)).toEqual({ ...nothing, unchanged: 1, warnings: [], events: [] })
  })

  it('with the same id and other words changes it, and keeps its creation', async () => {
    const memory = ports()
    await take(memory, [{ id: 'x', name: 'db', content: 'Postgres' }])
    const before = await now(memory, { id: 'x' })
    expect(await take(memory, [{ id: 'x', name: 'db', content: 'MySQL' }])).toMatchObject({ corrected: 1 })

    expect(await now(memory, { id: 'x' })).toMatchObject({
      content: 'MySQL',
      version: 2,
      createdAt: before.createdAt,
    })
  })

  it('with another id and the same statement reinforces it and adds what is new', async () => {
    const memory = ports()
    const { belief: known } = await tell(memory, 'db', 'Postgres', { aliases: ['pg'] })
    const done = await take(memory, [
      { id: 'x', name: 'DB', content: 'postgres.', aliases: ['psql'], created_at: '2027-01-01' },
    ])

    expect(done).toMatchObject({ ...nothing, reinforced: 1 })
    expect(await everything(memory)).toMatchObject([
      { id: known.id, aliases: ['pg', 'psql'], reinforcement: { count: 1 }, content: 'Postgres' },
    ])
  })

  it('counts the same record once, however often the file is imported', async () => {
    const dated = ports()
    await tell(dated, 'db', 'Postgres')
    const record = { name: 'db', content: 'Postgres', created_at: '2027-01-01T00:00:00Z' }
    expect(await take(dated, [record])).toMatchObject({ reinforced: 1 })
    expect(await take(dated, [record])).toMatchObject({ ...nothing, unchanged: 1, events: [] })

    const withoutIds = ports()
    const file = [{ name: 'db', content: 'Postgres' }]
    expect(await take(withoutIds, file)).toMatchObject({ added: 1 })
    expect(await take(withoutIds, file)).toMatchObject({ ...nothing, unchanged: 1, events: [] })
  })

  it('with another id and other words is a correction: aliases, pin and scopes are taken over', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'db', 'Postgres', {
      aliases: ['storage'],
      pinned: true,
      scopes: ['domain:code', 'project:ledger'],
    })
    const file = [{ id: 'x', name: 'db', content: 'MySQL', aliases: ['maria'], provenance: { actor: 'person' } }]
    expect(await take(memory, file)).toMatchObject({ ...nothing, corrected: 1 })

    expect(await now(memory, old)).toMatchObject({ status: 'superseded', supersededBy: 'x' })
    expect(await now(memory, { id: 'x' })).toMatchObject({
      aliases: ['maria', 'storage'],
      pinned: true,
      scopes: ['domain:code', 'project:ledger'],
    })
    expect(await take(memory, file)).toMatchObject({ ...nothing, unchanged: 1 })
  })

  it('applies the authority of its author: a document does not overrule a person, whoever imports it', async () => {
    const memory = ports()
    const { belief: said } = await tell(memory, 'db', 'Postgres')
    const done = await take(memory, [{ id: 'x', name: 'db', content: 'MySQL' }])

    expect(done).toMatchObject({ ...nothing, proposed: 1 })
    expect(await now(memory, said)).toMatchObject({ status: 'active', supersededBy: null })
  })

  it('replaces every belief that has the name in one of its scopes', async () => {
    const memory = ports()
    await tell(memory, 'db', 'one', { scopes: ['project:a'] })
    await tell(memory, 'db', 'two', { scopes: ['project:b'] })
    await take(memory, [
      { id: 'x', name: 'db', content: 'three', scopes: ['project:a', 'project:b'], provenance: { actor: 'person' } },
    ])

    const current = (await everything(memory)).filter(({ supersededBy }) => supersededBy === null)
    expect(current.map(({ content }) => content)).toEqual(['three'])
  })

  it('creates one belief from two records with the same name and scope', async () => {
    const memory = ports()
    const done = await take(memory, [
      { id: 'x', name: 'db', content: 'Postgres' },
      { id: 'y', name: 'DB', content: 'MySQL' },
      { id: 'z', name: 'db', content: 'mysql' },
    ])

    expect(done).toMatchObject({ added: 1, corrected: 1 })
    expect(await memory.store.holders('ann', 'db', ['domain:code'])).toMatchObject([{ id: 'y' }])
    expect(await now(memory, { id: 'x' })).toMatchObject({ supersededBy: 'y' })
  })

  it('gives a belief a new name, replacing the belief that had it', async () => {
    const memory = ports()
    await take(memory, [
      { id: 'x', name: 'db', content: 'Postgres' },
      { id: 'y', name: 'storage', content: 'Disks' },
    ])
    await take(memory, [{ id: 'x', name: 'storage', content: 'Postgres' }])

    expect(await now(memory, { id: 'x' })).toMatchObject({ name: 'storage', status: 'active' })
    expect(await now(memory, { id: 'y' })).toMatchObject({ supersededBy: 'x' })
  })

  it('lets two beliefs swap their names', async () => {
    const memory = ports()
    await take(memory, [
      { id: 'x', name: 'one', content: 'A' },
      { id: 'y', name: 'two', content: 'B' },
    ])
    const done = await take(memory, [
      { id: 'x', name: 'two', content: 'A' },
      { id: 'y', name: 'one', content: 'B' },
    ])

    expect(done.corrected).toBe(2)
    expect(await now(memory, { id: 'x' })).toMatchObject({ name: 'two', status: 'active' })
    expect(await now(memory, { id: 'y' })).toMatchObject({ name: 'one', status: 'active' })
  })

  it('restores a withdrawn belief, but not a forgotten one, and reports that', async () => {
    const memory = ports()
    await tell(memory, 'kept', 'Always here')
    const { event, belief: withdrawn } = await tell(memory, 'db', 'Postgres')
    const { belief: forgotten } = await tell(memory, 'secret', 'zebrafish')
    const file = await exported(memory)
    await forget(memory, about('secret'))
    await undo(memory, { user: 'ann', author: person, event })

    const done = await take(memory, file)
    expect(done).toMatchObject({ ...nothing, added: 1, unchanged: 1 })
    expect(done.warnings).toEqual([expect.stringContaining(forgotten.id)])
    expect(done.warnings.join()).not.toContain('zebrafish')
    expect(lasting(await now(memory, withdrawn))).toEqual(lasting(withdrawn))
    expect(await memory.store.get('ann', forgotten.id)).toBeNull()
  })
})

describe('importing with less authority', () => {
  it('never gives a file more authority than the importer has', async () => {
    const memory = ports()
    const claim = { editedByPerson: true, provenance: { actor: 'person', origin: 'me' } }
    await take(memory, [{ id: 'x', name: 'a', content: 'A', ...claim }], importer)
    await take(memory, [{ id: 'y', name: 'b', content: 'B', ...claim }], agent)
    await take(memory, [{ id: 'z', name: 'c', content: 'C', ...claim }], person)

    expect(await now(memory, { id: 'x' })).toMatchObject({ editedByPerson: false, provenance: { actor: 'document' } })
    expect(await now(memory, { id: 'y' })).toMatchObject({ editedByPerson: false, provenance: { actor: 'agent' } })
    expect(await now(memory, { id: 'z' })).toMatchObject({ editedByPerson: true, provenance: { actor: 'person' } })
  })

  it('proposes a contradiction of a person once, under the same name or the same id', async () => {
    const memory = ports()
    const { belief: one } = await tell(memory, 'db', 'Postgres', { aliases: ['storage'] })
    const { belief: two } = await tell(memory, 'cache', 'Redis')
    const file = [
      { id: 'x', name: 'db', content: 'MySQL' },
      { ...(await now(memory, two)), content: 'Memcached' },
    ]
    expect(await take(memory, file, importer)).toMatchObject({ ...nothing, proposed: 2 })
    expect(lasting(await now(memory, one))).toEqual(lasting(one))
    expect(lasting(await now(memory, two))).toEqual(lasting(two))

    for (let time = 0; time < 3; time += 1)
      expect(await take(memory, file, importer)).toEqual({ ...nothing, unchanged: 2, warnings: [], events: [] })
    expect(await listProposals(memory, 'ann')).toHaveLength(2)
    await accept(memory, about('x'))
    expect(await now(memory, { id: 'x' })).toMatchObject({ aliases: ['storage'], status: 'active' })
  })

  it('does not turn a waiting proposal into a belief', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    await take(memory, [{ id: 'x', name: 'db', content: 'MySQL' }], importer)
    await take(memory, [{ id: 'x', name: 'storage', content: 'MySQL 9', aliases: ['maria'] }], importer)

    expect(await now(memory, { id: 'x' })).toMatchObject({ status: 'exploratory', content: 'MySQL 9' })
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'storage maria db' })
    expect(context.relevant.map(({ belief: { content } }) => content)).toEqual(['Postgres'])
  })

  it('changes nothing if the file matches the store', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { aliases: ['pg'] })
    await tell(memory, 'db', 'MySQL', { author: agent })
    await correct(memory, { ...about('db'), content: 'SQLite' })
    const file = await exported(memory)
    for (const author of [importer, agent, person])
      expect(await take(memory, file, author)).toEqual({ ...nothing, unchanged: 3, warnings: [], events: [] })
  })

  it('changes nothing, without a warning, if the file is older than the changes of a person', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const file = await exported(memory)
    await correct(memory, { ...about('db'), content: 'SQLite' })

    expect(await take(memory, file, importer)).toEqual({ ...nothing, unchanged: 1, warnings: [], events: [] })
  })

  it("does not retire a person's belief", async () => {
    const memory = ports()
    const { belief: said } = await tell(memory, 'db', 'Postgres')
    const record = await now(memory, said)
    await take(memory, [{ ...record, supersededBy: 'x' }], importer)
    await take(memory, [{ ...record, resolvedAt: '2026-01-01' }], importer)

    expect(lasting(await now(memory, said))).toEqual(lasting(said))
  })

  it('may correct beliefs of equal and lower authority', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { author: agent })
    expect(await take(memory, [{ id: 'x', name: 'db', content: 'MySQL' }], importer)).toMatchObject({ corrected: 1 })
    expect(await take(memory, [{ id: 'y', name: 'db', content: 'Oracle' }], importer)).toMatchObject({ corrected: 1 })
    expect(await take(memory, [{ id: 'z', name: 'db', content: 'SQLite' }], agent)).toMatchObject({ proposed: 1 })
  })
})

describe('an untrusted file', () => {
  const facts = (count: number, fields: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      id: `f-${index}`,
      name: `vendor slip ${index}`,
      content: `The vendor slip ${index} is in tray ${index}.`,
      ...fields,
    }))

  it.each([
    ['a document', undefined],
    ['an agent', { actor: 'agent', origin: 'codex' }],
    ['a model', { actor: 'model', origin: 'review' }],
  ])('has at most 20 waiting records, even if they claim to be by %s', async (_who, provenance) => {
    const memory = ports()
    const waiting = { candidate: true, ...(provenance === undefined ? {} : { provenance }) }
    await take(memory, facts(20, waiting), person, false)
    const more = [{ name: 'one more', content: 'The one more is here.', ...waiting }]

    await expect(take(memory, more, person, false)).rejects.toMatchObject({ code: 'conflict' })
    expect(await take(memory, facts(20, waiting), person, false)).toMatchObject({ unchanged: 20 })
  })

  it('counts known records that would now wait', async () => {
    const memory = ports()
    const { belief: own } = await tell(memory, 'quay master', 'Our quay master is Brigitta.')
    await take(memory, facts(30), person, false)

    for (const fields of [{ candidate: true }, { status: 'exploratory', proposedFor: own.id }])
      await expect(take(memory, facts(30, fields), person, false)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('counts its waiting beliefs even if many of agents wait too', async () => {
    const memory = ports()
    const everywhere = { scopes: ['user:universal'] }
    await take(memory, facts(15, everywhere), person, false)
    for (const origin of ['scout', 'clerk'])
      for (let fee = 0; fee < 12; fee += 1)
        await tell(memory, `${origin} fee ${fee}`, `The ${origin} fee ${fee} is paid.`, {
          author: { actor: 'agent', origin },
          ...everywhere,
        })

    const more = facts(15, everywhere).map((fact) => ({ ...fact, id: `g-${fact.id}`, name: `other ${fact.name}` }))
    await expect(take(memory, more, person, false)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('cannot claim that a belief of a person replaced one of its records', async () => {
    const memory = ports()
    const { belief: own } = await tell(memory, 'boathouse', 'The boathouse is green.')
    const record = { name: 'ferry', content: 'The ferry leaves at nine.', supersededBy: own.id }

    const { added, warnings } = await take(memory, [record], person, false)

    expect([added, warnings.length]).toEqual([0, 1])
    expect((await exported(memory)).map(({ name }) => name)).toEqual(['boathouse'])
  })
})

describe('importing records that were already read', () => {
  it('sees the results of the earlier records in each record', async () => {
    const memory = ports()
    const placed = [
      belief({ id: 'a', name: 'db', content: 'one' }),
      belief({ id: 'b', name: 'db', content: 'two', scopes: ['domain:code', 'project:x'] }),
      belief({ id: 'c', name: 'db', content: 'three', scopes: ['project:x'] }),
    ].map((record, index) => ({ place: `record ${index}`, record }))
    await importRecords(memory, { user: 'ann', author: person, trusted: true }, placed)

    expect(await now(memory, { id: 'a' })).toMatchObject({ supersededBy: 'b' })
    expect(await now(memory, { id: 'b' })).toMatchObject({ supersededBy: 'c' })
    expect(await now(memory, { id: 'c' })).toMatchObject({ scopes: ['domain:code', 'project:x'], supersededBy: null })
  })

  it('leaves a rejected proposal rejected until the file proposes it again', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const file = [{ id: 'x', name: 'db', content: 'MySQL' }]
    await take(memory, file, importer)
    await reject(memory, about('x'))

    expect(await take(memory, file, importer)).toMatchObject({ proposed: 1 })
  })
})
