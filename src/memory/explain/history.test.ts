import { describe, expect, it } from 'vitest'
import { about, agent, pin, tell } from '../../../test/memory/fixtures.ts'
import { belief, person, ports, portsWith } from '../../../test/recall/fixtures.ts'
import { correct } from '../change/correct.ts'
import { forget } from '../change/forget.ts'
import { reject } from '../change/proposals.ts'
import { undo } from '../change/undo.ts'
import { findRemoval, history, listEvents } from './history.ts'

describe('the history of a belief', () => {
  it('contains every change of it, oldest first, with author and text', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { author: agent })
    await tell(memory, 'cache', 'Redis')
    await pin(memory, about('db'))
    await undo(memory, { user: 'ann', author: person })
    const { belief: now, revisions } = await history(memory, { user: 'ann', reference: 'db' })

    expect(revisions.map(({ event, belief: then }) => [event.kind, event.actor, then?.pinned])).toEqual([
      ['remember', 'agent', false],
      ['pin', 'person', true],
      ['undo', 'person', false],
    ])
    expect(revisions.at(-1)?.belief).toEqual(now)
    expect(revisions[1]?.event.undoneBy).toBe(revisions[2]?.event.number)
  })

  it('contains the whole chain of supersession, from any belief in it', async () => {
    const memory = ports()
    const { belief: one } = await tell(memory, 'db', 'one', { scopes: ['project:a'] })
    const { belief: two } = await tell(memory, 'db', 'two', { scopes: ['project:b'] })
    const { belief: both } = await tell(memory, 'db', 'both', { scopes: ['project:a', 'project:b'] })
    const { belief: last } = await correct(memory, { ...about('db'), content: 'last' })

    for (const { id } of [one, two, both, last]) {
      const { chain } = await history(memory, { user: 'ann', reference: id })
      expect(chain.map((known) => known.id)).toEqual([one.id, two.id, both.id, last.id])
    }
  })

  it('reports how a missing belief was removed', async () => {
    const memory = ports()
    const { belief: withdrawn } = await tell(memory, 'db', 'Postgres')
    await undo(memory, { user: 'ann', author: person })
    const { belief: forgotten } = await tell(memory, 'cache', 'Redis')
    await forget(memory, about('cache'))
    await tell(memory, 'queue', 'Kafka')
    const { belief: rejected } = await correct(memory, { ...about('queue', agent), content: 'NATS' })
    await reject(memory, about(rejected.id))

    const removals = [withdrawn, forgotten, rejected].map(({ id }) => findRemoval(memory, 'ann', id))

    expect(await Promise.all(removals)).toEqual(['withdrawn', 'forgotten', 'rejected'])
  })

  it('orders a chain of thousands, visiting each belief once', async () => {
    const id = (at: number): string => `b-${String(at).padStart(5, '0')}`
    const line = Array.from({ length: 3_000 }, (_, at) =>
      belief({
        id: id(at),
        name: 'db',
        content: String(at),
        ...(at < 2_999 ? { supersededBy: id(at + 1), status: 'superseded' } : {}),
      }),
    )
    const memory = await portsWith(...line.toReversed())
    let asked = 0
    const store = {
      ...memory.store,
      supersededBy: (user: string, of: string) => {
        asked += 1
        return memory.store.supersededBy(user, of)
      },
    }

    const { chain } = await history({ ...memory, store }, { user: 'ann', reference: id(1_500) })

    expect(chain.map((known) => known.id)).toEqual(line.map((known) => known.id))
    expect(asked).toBe(3_000)
  })

  it('ends at a broken link of a chain, and returns the beliefs that exist', async () => {
    const memory = await portsWith(
      belief({ id: 'a', name: 'a', status: 'superseded', supersededBy: 'gone' }),
      belief({ id: 'b', name: 'b', status: 'superseded', supersededBy: 'gone' }),
    )
    const { chain } = await history(memory, { user: 'ann', reference: 'a' })

    expect(chain.map(({ id }) => id)).toEqual(['a'])
  })

  it('of the memory lists its events, newest first, in pages, without any text', async () => {
    const memory = ports()
    await tell(memory, 'db', 'zebrafish')
    await tell(memory, 'cache', 'okapi')
    await pin(memory, about('db'))
    const events = await listEvents(memory, 'ann', { limit: 2 })

    expect(events.map(({ number, kind }) => [number, kind])).toEqual([
      [3, 'pin'],
      [2, 'remember'],
    ])
    expect((await listEvents(memory, 'ann', { limit: 2, before: 2 })).map(({ number }) => number)).toEqual([1])
    expect(JSON.stringify(events)).not.toMatch(/zebrafish|okapi|cache/u)
    expect(await listEvents(memory, 'bob', { limit: 10 })).toEqual([])
  })
})
