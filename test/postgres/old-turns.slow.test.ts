import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { openAt, postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { commitOf, sampleTurn } from '../../src/store/sample-beliefs.contract.ts'

describe.skipIf(postgresPrograms === null)('turns that an earlier version stored in PostgreSQL', () => {
  const cluster = sharedCluster(undurable)

  it('are judged newest first, only those of the person', async () => {
    const address = await (await cluster()).newDatabase()
    const earlier = openAt(address)
    const turns = [sampleTurn('one'), sampleTurn('two'), sampleTurn('three', { role: 'assistant' })]
    await earlier.commit(commitOf([], { kind: 'hear', turns }))
    await earlier.close()
    const client = new pg.Client(address)
    await client.connect()
    await client.query('UPDATE credence.turns SET doubtful = NULL')
    await client.end()
    const store = openAt(address)
    const doubtful = async () =>
      (await store.listTurns({ user: 'ada' }, { limit: 5, offset: 0 })).items.map((turn) => [turn.text, turn.doubtful])

    const mayBeMore = await store.judgeOldTurns('ada', 1, (text) => [[0, text.length]])
    const first = await doubtful()
    const isMoreLeft = await store.judgeOldTurns('ada', 5, () => [])

    expect([mayBeMore, isMoreLeft]).toEqual([true, false])
    expect(first).toEqual(
      expect.arrayContaining([
        ['three', null],
        ['two', [[0, 3]]],
        ['one', null],
      ]),
    )
    expect(await doubtful()).toEqual(
      expect.arrayContaining([
        ['three', null],
        ['two', [[0, 3]]],
        ['one', []],
      ]),
    )
    await store.close()
  })
})
