import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../test/full-counts.ts'
import { termsOf } from '../../../search/turns/terms.ts'
import { commitOf, said } from '../../sample-beliefs.contract.ts'
import { followChanges } from '../changed-beliefs.ts'
import { Connection } from '../connection.ts'
import { openDatabase } from '../database.ts'
import type { SqliteStore } from '../sqlite-store.ts'
import { newFile, openAt } from '../temporary-store.contract.ts'
import { openResidentTurns } from './resident-turns.ts'
import { turnReads } from './turn-lookups.ts'

const words = ['kayak', 'paddle', 'river', 'Voss', 'tent', 'rain', 'boat']
const scopes = ['project:ledger', 'user:universal']
const sentence = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 })
  .map((parts) => `${parts.join(' ')}.`)
const turn = fc.record({
  user: fc.constantFrom('ada', 'ada', 'ada', 'bob'),
  // A long one has several passages.
  text: fc.tuple(sentence, fc.constantFrom(1, 1, 1, 400)).map(([text, times]) => `${text} `.repeat(times)),
  session: fc.constantFrom('a', 'b', 'c'),
  role: fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const),
  speaker: fc.constantFrom(null, 'Ana', 'Bo'),
  // In no order, so that some turns come late and move others.
  minute: fc.nat(59),
  scope: fc.constantFrom(...scopes),
})
type Said = typeof turn extends fc.Arbitrary<infer Value> ? Value : never
type Change = { readonly turns: readonly Said[] } | { readonly forget: number }
const turns = fc.array(turn, { minLength: 1, maxLength: 8 }).map((said_): Change => ({ turns: said_ }))
const forgetting = fc.nat().map((forget): Change => ({ forget }))
const changes = fc.array(fc.oneof(turns, turns, forgetting), { minLength: 1, maxLength: 6 })

async function carryOut(store: SqliteStore, change: Change): Promise<void> {
  if ('forget' in change) {
    const { items } = await store.listTurns({ user: 'ada' }, { limit: 1_000, offset: 0 })
    const gone = items[change.forget % Math.max(1, items.length)]
    if (gone !== undefined) await store.commit(commitOf([], { kind: 'forget', forgottenTurns: [gone.id] }))
    return
  }
  for (const user of ['ada', 'bob']) {
    const own = change.turns
      .filter((one) => one.user === user)
      .map(({ minute, text, ...rest }) =>
        said(text, { ...rest, at: new Date(Date.UTC(2026, 4, 3, 10, minute)).toISOString() }),
      )
    if (own.length > 0) await store.commit(commitOf([], { user, kind: 'hear', turns: own }))
  }
}

/** A connection of its own, with an index in memory or without. */
function reader(file: string, mostBytes: number | null) {
  const open = () => openDatabase({ file, readonly: true })
  const connection = new Connection({ file, isReadonly: true, busyTimeoutMs: 1_000, open })
  const resident =
    mostBytes === null ? null : openResidentTurns({ connection, changes: followChanges(connection), mostBytes })
  const userId = (name: string): number =>
    connection.value<number>('SELECT id FROM users WHERE name = ?', [name]) as number
  const lookups = turnReads(
    connection,
    () => resident,
    async (user, _, read) => connection.read(() => read(userId(user))),
  )
  return {
    isResident: (user: string): boolean => connection.read(() => (resident?.of(userId(user)) ?? null) !== null),
    /** Everything that ranking asks for, whatever the question. */
    everything: async (user: string) => {
      const answers: unknown[] = []
      for (const inView of [null, ...scopes.map((scope) => [scope])]) {
        const view = { user, scopes: inView }
        const terms = termsOf(words.join(' ')).map(({ term }) => term)
        const found = [...(await lookups.turnPostings(view, terms)).terms].map(
          ([term, postings]) =>
            [term, [...postings.rows].map((row, at) => [row, postings.counts[at] as number]).sort(byRow)] as const,
        )
        const rows = found.flatMap(([, entries]) => entries.map(([row]) => row as number))
        answers.push(found)
        for (const reach of [0, 1, 5]) answers.push(await lookups.unitsAround(view, rows.slice(0, 7), reach))
      }
      return answers
    },
    close: () => {
      resident?.close()
      connection.close()
    },
  }
}

const byRow = ([one = 0]: readonly number[], [other = 0]: readonly number[]): number => one - other

async function untilResident(read: ReturnType<typeof reader>, user: string): Promise<void> {
  for (let turn_ = 0; turn_ < 100_000; turn_ += 1) {
    if (read.isResident(user)) return
    await nextTurn()
  }
  throw new Error('The index was not made.')
}

describe('turns in memory', () => {
  it('are those of the store, after any history of any process', async () => {
    await fc.assert(
      fc.asyncProperty(changes, changes, async (before, after) => {
        const file = newFile()
        const store = openAt(file)
        for (const user of ['ada', 'bob'])
          await store.commit(commitOf([], { user, kind: 'hear', turns: [said('kayak')] }))
        for (const change of before) await carryOut(store, change)
        const [onDisk, inMemory] = [reader(file, null), reader(file, 2 ** 24)]
        for (const user of ['ada', 'bob']) await untilResident(inMemory, user)
        for (const change of [{ turns: [] }, ...after]) {
          await carryOut(store, change)
          for (const user of ['ada', 'bob']) {
            expect(inMemory.isResident(user)).toBe(true)
            expect(await inMemory.everything(user)).toEqual(await onDisk.everything(user))
          }
        }
        onDisk.close()
        inMemory.close()
        await store.close()
      }),
      { numRuns: tries(50) },
    )
  })

  it('are put right when the store changes while they are read', async () => {
    const file = newFile()
    const store = openAt(file)
    const many = (session: string) => Array.from({ length: 900 }, (_, at) => said(`kayak ${at}`, { session }))
    for (const session of ['a', 'b', 'c']) await store.commit(commitOf([], { kind: 'hear', turns: many(session) }))
    const [onDisk, inMemory] = [reader(file, null), reader(file, 2 ** 24)]
    let turn_ = 0

    // Each look lets a part of the index be made.
    while (!inMemory.isResident('ada') && turn_ < 100_000) {
      turn_ += 1
      if (turn_ < 30) await carryOut(store, turn_ % 2 === 0 ? { forget: turn_ * 37 } : { turns: [late(turn_)] })
      await nextTurn()
    }

    expect(await inMemory.everything('ada')).toEqual(await onDisk.everything('ada'))
    onDisk.close()
    inMemory.close()
    await store.close()
  })

  it('are not kept where there is no room for them', async () => {
    const file = newFile()
    const store = openAt(file)
    await store.commit(commitOf([], { kind: 'hear', turns: [said('kayak')] }))
    const [onDisk, inMemory] = [reader(file, null), reader(file, 10)]

    for (let turn_ = 0; turn_ < 20; turn_ += 1) {
      expect(inMemory.isResident('ada')).toBe(false)
      await nextTurn()
    }

    expect(await inMemory.everything('ada')).toEqual(await onDisk.everything('ada'))
    onDisk.close()
    inMemory.close()
    await store.close()
  })
})

const late = (minute: number): Said => ({
  ...{ user: 'ada', text: 'A paddle.', session: 'b', role: 'user', speaker: null, minute, scope: 'user:universal' },
})
