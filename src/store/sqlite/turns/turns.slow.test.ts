import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NewTurn } from '../../../beliefs/turn.ts'
import { parseQuestion } from '../../../search/turns/question.ts'
import { rankTurns } from '../../../search/turns/rank.ts'
import { openModelStore } from '../../model-store.contract.ts'
import { type AnyStore, commitOf, fixedRandom, sampleTurn } from '../../sample-beliefs.contract.ts'
import { commitTo } from '../../test-stores.contract.ts'
import { hear } from '../../turn-store.contract.ts'
import type { SqliteStore } from '../sqlite-store.ts'
import { newFile, openAt, tamper } from '../temporary-store.contract.ts'

const failed = async (store: SqliteStore): Promise<readonly string[]> =>
  (await store.verify()).filter(({ ok }) => !ok).map(({ check, detail }) => `${check}: ${detail}`)

/** Opens the store again, so that direct changes to its tables are noticed. */
async function complaintsIn(file: string): Promise<readonly string[]> {
  const store = openAt(file)
  const found = await failed(store)
  await store.close()
  return found
}

async function storeWithTurns(...turns: readonly NewTurn[]): Promise<string> {
  const file = newFile()
  const store = openAt(file)
  await hear(store, turns)
  await store.close()
  return file
}

describe('the SQLite store checks its turns', () => {
  it('and reports a text that differs from the journal', async () => {
    const file = await storeWithTurns(sampleTurn('The kayak is red.'), sampleTurn('And new.'))
    tamper(
      file,
      'DROP TRIGGER turn_texts_are_never_updated',
      `UPDATE turn_texts SET text = 'The kayak is blue.' WHERE row = 0`,
    )

    expect(await complaintsIn(file)).toEqual([
      expect.stringMatching(/^journal: the turn t-\d+ of event 1 was altered/),
      expect.stringMatching(/^index: /),
    ])
  })

  it('and reports a turn that is missing but was not forgotten', async () => {
    const file = await storeWithTurns(sampleTurn('The kayak is red.'))
    tamper(file, 'DELETE FROM turn_texts')

    expect(await complaintsIn(file)).toContainEqual(expect.stringMatching(/is missing, although it was not forgotten/))
  })

  it('and reports an index that differs from the turns, and repairs it', async () => {
    const file = await storeWithTurns(sampleTurn('The kayak is red.', { speaker: 'Ana' }))
    tamper(
      file,
      `DELETE FROM turn_postings WHERE term = 'kayak'`,
      'UPDATE turn_scopes SET human_words = 99',
      'DELETE FROM turn_speakers',
    )
    const store = openAt(file)

    expect(await failed(store)).toEqual([expect.stringMatching(/^index: .*turn_/)])
    await store.rebuild()

    expect(await failed(store)).toEqual([])
    await store.close()
  })

  it('and leaves no word of a forgotten turn in the file', async () => {
    const file = newFile()
    const store = openAt(file)
    const secret = sampleTurn('My locker at the zanzibarium holds xylophones.', {
      speaker: 'Quirinus',
      session: 'sess-plutonic',
    })
    await hear(store, [secret, sampleTurn('Something else.', { session: 's2' })])

    await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [secret.id] }))

    expect(await failed(store)).toEqual([])
    await store.close()
    const bytes = readFileSync(file).toString('latin1').toLowerCase()
    for (const word of ['zanzibarium', 'xylophon', 'quirinus', 'plutonic']) expect(bytes).not.toContain(word)
  })

  it('and refuses to delete or rewrite one', async () => {
    const file = await storeWithTurns(sampleTurn('The kayak is red.'))

    expect(() => tamper(file, 'DELETE FROM turns')).toThrow('append-only')
    expect(() => tamper(file, `UPDATE turns SET hash = x'00'`)).toThrow('append-only')
    expect(() => tamper(file, `UPDATE turn_texts SET text = 'other'`)).toThrow('as it was said')
  })
})

const words = ['kayak', 'Norway', 'rented', 'the', 'soup', 'Ana?', 'blue', '数据库', 'kayaks', 'x'.repeat(30)]
const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }).map((some) => some.join(' '))
const long = text.map((some) => `${some}. `.repeat(200))
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('hear' as const),
      turns: fc.array(
        fc.record({
          user: fc.constantFrom('ada', 'bob'),
          session: fc.constantFrom('s1', 's2', 's3'),
          role: fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const),
          origin: fc.constantFrom('person' as const, 'document' as const),
          speaker: fc.constantFrom(null, 'Ana', 'Bo Li'),
          scope: fc.constantFrom('user:universal', 'project:a'),
          hour: fc.integer({ min: 0, max: 2_000 }),
          utcOffset: fc.constantFrom(null, -240, 330),
          index: fc.constantFrom(null, null, 0, 2),
          messageId: fc.constantFrom(null, null, null, 'm1', 'm2'),
          text: fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: long }),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), pick: fc.nat(50) }) },
)

describe('the SQLite store and the memory store agree on turns', () => {
  it('after any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), text, async (history, question) => {
        const stores = [openModelStore({ random: fixedRandom }), openAt(newFile())] as const
        let made = 0
        for (const one of history) {
          if (one.kind === 'forget') {
            const { items } = await stores[0].listTurns({ user: 'ada' }, { limit: 1, offset: one.pick % 7 })
            const commit = commitOf([], { kind: 'forget', forgottenTurns: items.map(({ id }) => id) })
            if (items.length > 0) expect(await stores[1].commit(commit)).toEqual(await stores[0].commit(commit))
            continue
          }
          for (const user of ['ada', 'bob']) {
            const turns = one.turns
              .filter((turn) => turn.user === user)
              .map(({ hour, ...turn }) => {
                made += 1
                return {
                  ...turn,
                  id: `t-${made}`,
                  host: 'test',
                  doubtful: [],
                  at: new Date(Date.UTC(2026, 0, 1, hour)).toISOString(),
                }
              })
            const known = await stores[0].knownTurns(user, turns)
            expect(await stores[1].knownTurns(user, turns)).toEqual(known)
            const fresh = turns.filter((_, place) => known[place] === null)
            const seen = new Set<string>()
            const once = fresh.filter(
              ({ messageId }) => messageId === null || (!seen.has(messageId) && seen.add(messageId)),
            )
            const commit = commitOf([], { kind: 'hear', user, turns: once })
            if (once.length > 0) expect(await stores[1].commit(commit)).toEqual(await stores[0].commit(commit))
          }
        }
        const [ofMemory, ofSqlite] = await Promise.all(stores.map((store) => answersOf(store, question)))
        expect(ofSqlite).toEqual(ofMemory)
        expect(await failed(stores[1])).toEqual([])
        await stores[1].close()
      }),
      { numRuns: 40 },
    )
  })
})

async function answersOf(store: AnyStore, question: string) {
  const page = { limit: 200, offset: 0 }
  const answers: unknown[] = []
  for (const user of ['ada', 'bob']) {
    answers.push(await store.listTurns({ user }, page), await store.listSessions({ user }, page))
    for (const session of ['s1', 's2', 's3']) answers.push(await store.listTurns({ user, session }, page))
    for (const scopes of [null, ['project:a']]) {
      const view = { user, scopes }
      answers.push(await store.turnSpeakers(view))
      const ranked = await rankTurns(store, { view, question: parseQuestion(question, ['Ana', 'Bo Li']), dates: null })
      answers.push(ranked.map(({ turn, score, passage }) => [turn, score, passage]))
      const narrowed = await rankTurns(store, {
        view: { ...view, speaker: 'Ana', since: Date.UTC(2026, 0, 10) },
        question: parseQuestion(question),
        dates: null,
      })
      answers.push(narrowed.map(({ turn, score }) => [turn.id, score]))
    }
  }
  return answers
}
