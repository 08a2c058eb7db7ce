import { describe, expect, it } from 'vitest'
import { about, agent, everything, importer, lasting, now, tell } from '../../../test/memory/fixtures.ts'
import { belief, person, ports, portsWith } from '../../../test/recall/fixtures.ts'
import { history } from '../explain/history.ts'
import { recall } from '../recall/recall.ts'
import { correct } from './correct.ts'
import { accept } from './proposals.ts'
import { resolve } from './resolve.ts'

describe('correcting a belief', () => {
  it('replaces it with a newer one, found by the old name and aliases as well as its own', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'ESLint', 'Lint with ESLint', {
      aliases: ['linter'],
      why: 'Run it before committing.',
      pinned: true,
      type: 'decision',
    })
    const { outcome, belief: heir } = await correct(memory, {
      ...about('eslint'),
      name: 'Biome',
      content: 'Lint with Biome',
      aliases: ['biomejs', 'Linter'],
    })

    expect(outcome).toBe('corrected')
    expect(heir).toMatchObject({
      name: 'Biome',
      aliases: ['biomejs', 'Linter', 'ESLint'],
      why: 'Run it before committing.',
      pinned: true,
      type: 'decision',
      scopes: ['domain:code'],
      editedByPerson: true,
    })
    expect(await now(memory, old)).toMatchObject({ supersededBy: heir.id, status: 'superseded', aliases: ['linter'] })
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'ESLint' })
    expect(context.pinned.map(({ id }) => id)).toEqual([heir.id])
  })

  it('writes nothing if the text and all other fields are unchanged', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'ESLint', 'Lint with ESLint', { aliases: ['linter'] })

    const same = await correct(memory, { ...about('eslint'), content: ' Lint with ESLint ' })
    const byAgent = await correct(memory, { ...about('eslint'), content: 'Lint with ESLint', author: agent })
    const more = await correct(memory, { ...about('eslint'), content: 'Lint with ESLint', why: 'Before committing.' })

    for (const outcome of [same, byAgent])
      expect(outcome).toEqual({ outcome: 'unchanged', belief: old, replaced: [], event: null })
    expect(more).toMatchObject({
      outcome: 'corrected',
      belief: { why: 'Before committing.' },
      replaced: [{ id: old.id }],
    })
  })

  it('of another author with the same words makes it a belief of the person', async () => {
    const memory = ports()
    await tell(memory, 'tabs', 'Prefers tabs', { author: agent })

    const { outcome, belief: own } = await correct(memory, { ...about('tabs'), content: 'Prefers tabs' })

    expect([outcome, own.editedByPerson]).toEqual(['corrected', true])
  })

  it('keeps the whole chain, oldest first', async () => {
    const memory = ports()
    await tell(memory, 'db', 'one')
    await correct(memory, { ...about('db'), content: 'two' })
    await correct(memory, { ...about('db'), content: 'three', name: 'database' })

    const { chain, belief: head } = await history(memory, { user: 'ann', reference: 'database' })
    expect(chain.map(({ content }) => content)).toEqual(['one', 'two', 'three'])
    expect(head.aliases).toEqual(['db'])
  })

  it('does not keep the low confidence of the old statement', async () => {
    const memory = ports()
    await tell(memory, 'tabs', 'Prefers tabs', { author: agent, status: 'inferred', confidence: 0.4 })
    const { belief: heir } = await correct(memory, { ...about('tabs'), content: 'Prefers spaces' })

    expect(heir).toMatchObject({ status: 'active', confidence: 1 })
    const doubted = await correct(memory, { ...about('tabs'), content: 'Both', status: 'exploratory', confidence: 0.5 })
    expect(doubted.belief).toMatchObject({ status: 'exploratory', confidence: 0.5 })
  })

  it('can change the type, and drops fields that only the old type has', async () => {
    const memory = ports()
    await tell(memory, 'answers', 'Short ones', { type: 'preference', subtype: 'style' })
    await tell(memory, 'auth uses redis', 'It does', { type: 'relation', participants: ['auth'], relation: 'uses' })

    const decision = await correct(memory, { ...about('answers'), content: 'Long ones', type: 'decision' })
    const entity = await correct(memory, { ...about('auth uses redis'), content: 'It did', type: 'entity' })

    expect(decision.belief).toMatchObject({ type: 'decision', subtype: null })
    expect(entity.belief).toMatchObject({ type: 'entity', participants: [], relation: null })
  })

  it('accepts beliefs that other systems wrote in unusual forms', async () => {
    const memory = await portsWith(
      belief({ name: 'odd', type: 'entity', subtype: 'style', participants: ['x'], relation: 'near' }),
    )
    const { belief: heir } = await correct(memory, { ...about('odd'), content: 'Fine now' })

    expect(heir).toMatchObject({ type: 'entity', subtype: null, participants: [] })
  })

  it('refuses a name that another belief has, and changes nothing', async () => {
    const memory = ports()
    const { belief: taken } = await tell(memory, 'biome', 'A linter')
    await tell(memory, 'eslint', 'Another linter')
    const before = await everything(memory)

    const attempt = { ...about('eslint'), content: 'Gone', name: 'Biome' }
    await expect(correct(memory, attempt)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(taken.id),
    })
    await expect(correct(memory, { ...attempt, author: agent })).rejects.toMatchObject({ code: 'conflict' })
    expect(await everything(memory)).toEqual(before)
  })

  it('refuses a superseded, proposed or resolved belief, and reports what happened to it', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'db', 'one')
    const { belief: heir } = await correct(memory, { ...about('db'), content: 'two' })
    const { belief: proposed } = await tell(memory, 'db', 'three', { author: agent })
    const { belief: asked } = await tell(memory, 'hosting', 'Where?', { type: 'open_question' })
    await resolve(memory, about('hosting'))

    for (const [{ id }, hint] of [
      [old, heir.id],
      [proposed, 'credence review'],
      [asked, 'history'],
    ] as const) {
      await expect(correct(memory, { ...about(id), content: 'x' })).rejects.toMatchObject({
        code: 'conflict',
        hint: expect.stringContaining(hint),
      })
    }
  })

  it('by a lower authority is only proposed; accepting the proposal makes the correction', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'eslint', 'Lint', { aliases: ['linter'] })
    const proposed = await correct(memory, { ...about('eslint', importer), content: 'Lint', name: 'biome' })

    expect(proposed.outcome).toBe('proposed')
    expect(lasting(await now(memory, old))).toEqual(lasting(old))
    const { belief: heir } = await accept(memory, about(proposed.belief.id))
    expect(heir).toMatchObject({ name: 'biome', aliases: ['eslint', 'linter'], editedByPerson: true })
    expect((await now(memory, old)).supersededBy).toBe(heir.id)
  })

  it('makes another proposal if only the name or the why differs from an earlier one', async () => {
    const memory = ports()
    await tell(memory, 'eslint', 'Lint')
    const wishes = [{ name: 'biome' }, { name: 'oxlint' }, { why: 'Fast.' }, { why: 'Faster.' }]
    const made = []
    for (const wish of wishes) made.push(await correct(memory, { ...about('eslint', agent), content: 'Lint', ...wish }))

    expect(new Set(made.map(({ belief: { id } }) => id)).size).toBe(4)
    const again = await correct(memory, { ...about('eslint', agent), content: 'lint.', name: 'oxlint' })
    expect(again.belief.id).toBe(made[1]?.belief.id)
  })

  it('twice at once by id has one effect; by name, the second corrects the first', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'db', 'one')
    const byId = await Promise.allSettled(
      ['two', 'three'].map((content) => correct(memory, { ...about(old.id), content })),
    )
    expect(byId.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])

    await Promise.all(['four', 'five'].map((content) => correct(memory, { ...about('db'), content })))
    const { chain } = await history(memory, { user: 'ann', reference: 'db' })
    expect(chain).toHaveLength(4)
  })

  it('with a key has one effect and always returns the same answer', async () => {
    const memory = ports()
    await tell(memory, 'db', 'one')
    const request = { ...about('db'), content: 'two', key: 'k1' }
    const first = await correct(memory, request)
    const second = await correct(memory, request)

    expect(second).toMatchObject({ outcome: 'corrected', belief: first.belief, event: first.event })
    expect(await everything(memory)).toHaveLength(2)
    await expect(correct(memory, { ...request, content: 'three' })).rejects.toMatchObject({ code: 'conflict' })
    const proposal = { ...request, author: agent, content: 'four', key: 'k2' }
    expect(await correct(memory, proposal)).toEqual(await correct(memory, proposal))
  })

  it('refuses an empty statement and an unknown belief', async () => {
    const memory = ports()
    await tell(memory, 'db', 'one')

    await expect(correct(memory, { ...about('db'), content: ' ' })).rejects.toMatchObject({ code: 'invalid' })
    await expect(correct(memory, { ...about('nope'), content: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    const ofBob = { user: 'bob', author: person, reference: 'db', content: 'x' }
    await expect(correct(memory, ofBob)).rejects.toMatchObject({ code: 'not_found' })
  })
})
