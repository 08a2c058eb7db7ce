import { expect, it } from 'vitest'
import { presentChange, sample } from '../sample-beliefs.contract.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

it('lists the beliefs of a crowded scope like those of any other scope', async () => {
  const store = openAt(newFile())
  const minute = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString()
  const beliefs = Array.from({ length: 5_200 }, (_, index) =>
    sample({
      id: `b-${index}`,
      scopes: index % 50 === 0 ? ['domain:rare'] : index % 7 === 0 ? ['domain:full', 'domain:rare'] : ['domain:full'],
      type: index % 3 === 0 ? 'decision' : 'entity',
      updatedAt: minute(index),
    }),
  )
  await store.commit({
    user: 'ada',
    kind: 'import',
    actor: 'person',
    origin: 'test',
    at: minute(0),
    key: null,
    undoes: null,
    changes: beliefs.map((belief) => presentChange(belief, 0)),
  })
  const latestFirst = beliefs.toReversed()

  for (const scopes of [['domain:full'], ['domain:rare'], ['domain:full', 'domain:rare'], ['domain:none']]) {
    for (const types of [undefined, ['decision' as const]]) {
      const wanted = latestFirst.filter(
        ({ scopes: own, type }) =>
          own.some((scope) => scopes.includes(scope)) && (types === undefined || type === 'decision'),
      )
      const filter = { user: 'ada', scopes, ...(types === undefined ? {} : { types }) }
      for (const offset of [0, 3_000]) {
        const { items, total } = await store.list(filter, { limit: 20, offset })

        expect(items.map(({ id }) => id)).toEqual(wanted.slice(offset, offset + 20).map(({ id }) => id))
        expect(total).toBe(wanted.length)
      }
    }
  }
  expect(
    (await store.list({ user: 'ada', scopes: ['domain:full'], current: false }, { limit: 1, offset: 0 })).total,
  ).toBe(0)
  await store.close()
})
