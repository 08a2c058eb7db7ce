import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { randomFrom } from '../../eval/score/statistics.ts'
import { packVectors } from '../../search/turns/cosines.ts'
import { commitOf, sampleTurn } from '../sample-beliefs.contract.ts'
import { commitTo } from '../test-stores.contract.ts'
import { newFile, openAt } from './temporary-store.contract.ts'
import { maxCompared } from './vector-list.ts'

const dimensions = 96
const random = randomFrom(5)
const anyVector = () => packVectors([Float32Array.from({ length: dimensions }, () => random() - 0.5)], dimensions)
const everywhere = { user: 'ada', scopes: null }

it('a search in a large store compares only the nearest turns, filtered first', async () => {
  const store = openAt(newFile())
  const turns = Array.from({ length: maxCompared + 200 }, (_, at) => sampleTurn(`Turn ${at}.`))
  await commitTo(store, commitOf([], { kind: 'hear', turns }))
  const rows: number[] = []
  const vectorsOf = new Map<number, Int8Array>()
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const { texts, next } = await store.withoutVectors('ada', 'm', 'turn', { limit: 500, before })
    for (const { row } of texts) vectorsOf.set(row, anyVector())
    rows.push(...texts.map(({ row }) => row))
    const kept = texts.map(({ row }) => ({ row, vectors: vectorsOf.get(row) as Int8Array }))
    await store.keepVectors('ada', 'm', 'turn', kept)
    before = next
  }
  const asked = rows[700] as number
  const other = rows[3] as number
  const message = { vectors: vectorsOf.get(asked) as Int8Array, dimensions }

  const found = await store.turnCosines(everywhere, 'm', message)
  const among = await store.turnCosines(everywhere, 'm', message, new Set([other]))

  expect(new Set(rows).size).toBe(turns.length)
  expect(found.isEvery).toBe(false)
  expect(found.rows.length).toBeLessThan(turns.length)
  expect(found.cosines[found.rows.indexOf(asked)]).toBeCloseTo(1, 1)
  expect(found.mean).toBeCloseTo(0, 1)
  expect(found.deviation).toBeGreaterThan(0.05)
  expect([...among.rows]).toEqual([other])
  await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [turns[rows.length - 1 - 700]?.id ?? ''] }))
  expect((await store.turnCosines(everywhere, 'm', message)).rows).not.toContain(asked)
  expect((await store.turnCosines(everywhere, 'm', message)).isEvery).toBe(false)
  const forgottenTurns = turns.slice(0, 300).map(({ id }) => id)
  await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns }))
  const rest = await store.turnCosines(everywhere, 'm', message)
  expect([rest.isEvery, rest.rows.length]).toEqual([true, turns.length - 301])
  await store.close()
})

it('vectors that another process adds and removes are seen', async () => {
  const file = newFile()
  const store = openAt(file)
  const other = openAt(file)
  const turns = [sampleTurn('One.'), sampleTurn('Two.')]
  await commitTo(store, commitOf([], { kind: 'hear', turns }))
  const message = { vectors: anyVector(), dimensions }
  const count = async () => (await store.turnCosines(everywhere, 'm', message)).rows.length
  expect(await count()).toBe(0)
  const { texts } = await other.withoutVectors('ada', 'm', 'turn', { limit: 10 })
  for (const [at, { row }] of texts.entries()) {
    await other.keepVectors('ada', 'm', 'turn', [{ row, vectors: anyVector() }])
    expect(await count()).toBe(at + 1)
  }
  await commitTo(other, commitOf([], { kind: 'forget', forgottenTurns: [turns[0]?.id ?? ''] }))

  expect(await count()).toBe(1)
  for (const opened of [store, other]) await opened.close()
})

it('forgetting leaves no byte of a vector in any file of the store, and the store verifies', async () => {
  const file = newFile()
  const store = openAt(file)
  const turns = [sampleTurn('The kayak is red.'), sampleTurn('The kayak is blue.', { session: 's2' })]
  await commitTo(store, commitOf([], { kind: 'hear', turns }))
  const vectors = new Map<string, Int8Array>()
  for (const { row, text } of (await store.withoutVectors('ada', 'm', 'turn', { limit: 10 })).texts) {
    vectors.set(text, anyVector())
    await store.keepVectors('ada', 'm', 'turn', [{ row, vectors: vectors.get(text) as Int8Array }])
  }

  await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [turns[0]?.id ?? ''] }))
  expect((await store.verify()).filter(({ ok }) => !ok)).toEqual([])
  await store.close()

  const files = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)))
  const bytes = files.map((name) => readFileSync(join(dirname(file), name)))
  const isLeft = (text: string): boolean =>
    bytes.some((content) => content.includes(Buffer.from((vectors.get(text) as Int8Array).slice(0, 24))))
  // The same search finds a vector that was kept, so it would find the deleted one.
  expect(isLeft('The kayak is blue.')).toBe(true)
  expect(isLeft('The kayak is red.')).toBe(false)
})
