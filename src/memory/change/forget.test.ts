import { describe, expect, it } from 'vitest'
import { about, addAliases, agent, everything, importer, now, pin, tell, unpin } from '../../../test/memory/fixtures.ts'
import { person, ports } from '../../../test/recall/fixtures.ts'
import { history } from '../explain/history.ts'
import { learn } from '../learn/learn.ts'
import type { Ports } from '../ports.ts'
import { recall } from '../recall/recall.ts'
import { search } from '../recall/search.ts'
import { exportBeliefs } from '../transfer/export.ts'
import { correct } from './correct.ts'
import { forget } from './forget.ts'
import { accept } from './proposals.ts'
import { undo } from './undo.ts'

/** Everything in Ann's memory that can still be read, as one text. */
async function readable(memory: Ports): Promise<string> {
  const { store } = memory
  const events = await store.events('ann', { limit: 1_000 })
  const ids = [...new Set(events.flatMap(({ beliefIds }) => beliefIds))]
  const exported = []
  for await (const belief of exportBeliefs(memory, { user: 'ann' })) exported.push(belief)
  return JSON.stringify([
    events,
    exported,
    await Promise.all(ids.map((id) => store.get('ann', id))),
    await Promise.all(ids.map((id) => store.history('ann', id))),
    await Promise.all(events.map(({ number }) => store.revisions('ann', number))),
    await everything(memory),
  ])
}

const chainOfThree = async () => {
  const memory = ports()
  const { belief: one } = await tell(memory, 'db', 'statement one')
  const { belief: two } = await correct(memory, { ...about('db'), content: 'statement two' })
  const { belief: three } = await correct(memory, { ...about('db'), content: 'statement three' })
  return { memory, one, two, three }
}

describe('forgetting', () => {
  it('removes every text of a belief and leaves a receipt without it', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'birthday', 'zebrafish', { aliases: ['okapi'], why: 'quagga' })
    await addAliases(memory, { ...about('birthday'), aliases: ['aardvark'] })
    await tell(memory, 'kept', 'Something else')
    const receipt = await forget(memory, about('birthday'))

    expect(receipt).toMatchObject({ beliefIds: [belief.id], event: 4 })
    expect(await memory.store.event('ann', 4)).toMatchObject({ kind: 'forget', hash: receipt.hash, at: receipt.at })
    expect(await readable(memory)).not.toMatch(/birthday|zebrafish|okapi|quagga|aardvark/u)
    expect(await memory.store.named('ann', 'birthday')).toEqual([])
    expect(await memory.store.everyHolder('ann', ['birthday', 'okapi', 'aardvark'])).toEqual(new Map())
    expect(await memory.store.wordsNear('ann', ['aardvarks', 'birthdey'])).toEqual(new Map())
    const found = await search(memory, { user: 'ann', query: 'zebrafish birthday okapi', includeRetired: true })
    expect(found.total).toBe(0)
    const view = { user: 'ann', scopes: ['domain:code'], message: 'birthday okapi', nearMisses: true }
    expect(await recall(memory, view)).toMatchObject({ relevant: [], nearMisses: [] })
    expect((await history(memory, { user: 'ann', reference: 'kept' })).revisions).toHaveLength(1)
  })

  it('also removes the proposals about it, which repeat its text', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'birthday', 'zebrafish', { pinned: true })
    const { belief: wish } = await unpin(memory, about('birthday', agent))
    const receipt = await forget(memory, about('birthday'))

    expect([...receipt.beliefIds].sort()).toEqual([belief.id, wish.id].sort())
    expect(await readable(memory)).not.toMatch(/birthday|zebrafish/u)
  })

  it('also removes superseded versions that repeat its text, as after a rename or an accepted edit', async () => {
    const memory = ports()
    await tell(memory, 'birthday', 'zebrafish')
    await correct(memory, { ...about('birthday'), content: 'Zebrafish.', name: 'anniversary' })
    const { belief: wish } = await pin(memory, about('anniversary', agent))
    await accept(memory, about(wish.id))
    const receipt = await forget(memory, about('anniversary'))

    expect(receipt.beliefIds).toHaveLength(3)
    expect(await readable(memory)).not.toMatch(/birthday|zebrafish|anniversary/iu)
  })

  it('leaves the rest of a chain unchanged: older ones stay retired, newer ones current', async () => {
    const middle = await chainOfThree()
    await forget(middle.memory, about(middle.two.id))
    expect((await everything(middle.memory)).map(({ content }) => content).sort()).toEqual([
      'statement one',
      'statement three',
    ])
    expect(await now(middle.memory, middle.one)).toMatchObject({ supersededBy: middle.two.id })
    const { chain } = await history(middle.memory, { user: 'ann', reference: 'db' })
    expect(chain.map(({ id }) => id)).toEqual([middle.three.id])

    const head = await chainOfThree()
    await forget(head.memory, about(head.three.id))
    const context = await recall(head.memory, { user: 'ann', scopes: ['domain:code'], message: 'db' })
    expect(context.relevant).toEqual([])
    expect((await tell(head.memory, 'db', 'statement four')).outcome).toBe('remembered')
  })

  it('of the whole chain removes all of it', async () => {
    const { memory, one, two, three } = await chainOfThree()
    const { belief: proposed } = await tell(memory, 'db', 'statement five', { author: agent })
    const receipt = await forget(memory, { ...about(two.id), wholeChain: true })

    expect([...receipt.beliefIds].sort()).toEqual([one, two, three, proposed].map(({ id }) => id).sort())
    expect(await readable(memory)).not.toContain('statement')
  })

  it('works by id for a belief that an undo withdrew', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'birthday', 'zebrafish')
    await undo(memory, { user: 'ann', author: { actor: 'person', origin: 'test' } })
    expect(await readable(memory)).toContain('zebrafish')
    await forget(memory, about(belief.id))

    expect(await readable(memory)).not.toMatch(/birthday|zebrafish/u)
    await expect(undo(memory, { user: 'ann', author: about('').author, event: 2 })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(forget(memory, about(belief.id))).rejects.toMatchObject({ code: 'not_found' })
  })

  it('cannot be undone, and neither can earlier changes of the belief', async () => {
    const memory = ports()
    const { author } = about('')
    await tell(memory, 'birthday', 'zebrafish')
    await pin(memory, about('birthday'))
    await forget(memory, about('birthday'))

    await expect(undo(memory, { user: 'ann', author })).rejects.toMatchObject({ code: 'conflict' })
    for (const event of [1, 2, 3])
      await expect(undo(memory, { user: 'ann', author, event })).rejects.toMatchObject({
        code: 'conflict',
        hint: expect.stringMatching(/erased/u),
      })
  })

  it('requires authority over the belief', async () => {
    const memory = ports()
    await tell(memory, 'said', 'By the person')
    await tell(memory, 'read', 'In a document', { author: importer })
    await tell(memory, 'derived', 'By an agent', { author: agent })

    await expect(forget(memory, about('said', agent))).rejects.toMatchObject({ code: 'forbidden' })
    await expect(forget(memory, about('said', importer))).rejects.toMatchObject({ code: 'forbidden' })
    await expect(forget(memory, about('read', agent))).rejects.toMatchObject({ code: 'forbidden' })
    await forget(memory, about('derived', agent))
    await forget(memory, about('read', importer))
    expect(await everything(memory)).toHaveLength(1)
  })

  it('of a whole chain is refused completely if the author has no authority over a part of it', async () => {
    const memory = ports()
    const { belief: one } = await tell(memory, 'db', 'one', { author: agent })
    await correct(memory, { ...about('db'), content: 'two' })

    const request = { ...about(one.id, agent), wholeChain: true }
    await expect(forget(memory, request)).rejects.toMatchObject({ code: 'forbidden' })
    expect(await everything(memory)).toHaveLength(2)
  })

  it("by an agent keeps the person's correction that waits for its belief", async () => {
    const memory = ports()
    const { belief: note } = await tell(memory, 'ramp', 'The ramp carries 800 kilos.', { author: agent })
    const message = { user: 'ann', author: person, agent: null, view: ['domain:code'], scopes: ['domain:code'] }
    const text = 'Thanks for the plan. Actually the ramp carries 600 kilos, not 800 kilos.'
    await learn(memory, { ...message, text })

    await forget(memory, about(note.id, agent))

    expect(await everything(memory)).toMatchObject([{ candidate: true, proposedFor: null }])
    expect((await everything(memory))[0]?.content).toContain('600 kilos')
  })

  it('with a key has one effect, and returns the same receipt', async () => {
    const memory = ports()
    await tell(memory, 'db', 'one')
    const request = { ...about('db'), key: 'k1' }
    const receipt = await forget(memory, request)
    await tell(memory, 'db', 'two')

    expect(await forget(memory, request)).toEqual(receipt)
    expect(await everything(memory)).toHaveLength(1)
    const other = { ...request, wholeChain: true }
    await expect(forget(memory, other)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('answers a retried request about a belief forgotten since with that fact', async () => {
    const memory = ports()
    await tell(memory, 'db', 'one', { key: 'k1' })
    await forget(memory, about('db'))

    await expect(tell(memory, 'db', 'one', { key: 'k1' })).rejects.toMatchObject({ code: 'not_found' })
    expect(await everything(memory)).toEqual([])
  })
})
