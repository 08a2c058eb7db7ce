import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { maxMessageLength } from '../../src/search/message.ts'
import { commitOf, nextVersion, presentChange, sample } from '../../src/store/sample-beliefs.contract.ts'
import { newFile, openAt } from '../../src/store/sqlite/temporary-store.contract.ts'
import { recalled } from './recalled.contract.ts'

const shared = Array.from({ length: 60 }, (_, at) =>
  sample({ id: `b${at}`, name: `service ${at}`, aliases: ['the cache'], content: `Service ${at} has a cache.` }),
)

/** A store with beliefs that share an alias. */
async function filled() {
  const file = newFile()
  const store = openAt(file)
  await store.commit(commitOf(shared.map((belief) => presentChange(belief))))
  return { file, store }
}

const long = (piece: string, length = maxMessageLength): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const texts = {
  Chinese: long('服务器读取了很长的消息而没有停下来'),
  names: long('Is service 7 beside service 11 or Service 59? '),
  'one name': long('the cache '),
  typos: long('the cacche of servise 3 '),
}

/** The result of the work, and the number of turns of the event loop during it. */
async function turnsDuring<Result>(work: () => Promise<Result>) {
  let turns = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turns += 1) await nextTurn()
  })()
  const result = await work()
  isOver = true
  await counting
  return { result, turns }
}

/** Every read of the clock ends a time slice, however fast the machine is. */
function endEverySlice() {
  let clock = 0
  return vi.spyOn(performance, 'now').mockImplementation(() => {
    clock += 1_000
    return clock
  })
}

/** More turns of the event loop than reading only the beginning and the end of the message would take. */
const manyTurns = expect.toSatisfy((turns: number) => turns > 2)

describe('a message of 32,000 characters', () => {
  it('yields to the event loop while it is recalled', async () => {
    const { store } = await filled()
    // Warms up, because the first recall loads modules.
    await recalled(store, 'a short one', null)
    using _clock = endEverySlice()

    for (const kind of ['names', 'typos'] as const)
      expect([kind, (await turnsDuring(() => recalled(store, texts[kind], null))).turns]).toEqual([kind, manyTurns])
    await store.close()
  })

  it('recalls the same as its meaningful part alone, also during other recalls', async () => {
    const { store } = await filled()
    const said = 'Is service 7 or the servise 8 behind the cache?'
    const others = [texts.Chinese, texts.names].map((text) => recalled(store, text, null))

    const context = await recalled(store, `${said} ${texts.Chinese}`.slice(0, maxMessageLength), null)

    expect(context).toEqual({ ...(await recalled(store, said, null)), quoteDecision: context.quoteDecision })
    await Promise.all(others)
    await store.close()
  })

  it('never recalls a belief that was replaced while it was read', async () => {
    const { file, store } = await filled()
    const other = openAt(file)
    const old = sample({ id: 'old', name: 'standup', content: 'The standup is at nine.' })
    await store.commit(commitOf([presentChange(old)]))
    using _clock = endEverySlice()
    const recalling = recalled(store, `When is the standup? ${texts.typos}`, null)
    await nextTurn()
    await other.commit(commitOf([presentChange(nextVersion(old, { status: 'superseded', supersededBy: 'b1' }))]))

    const { relevant } = await recalling

    expect(relevant.map(({ belief }) => belief.id)).not.toContain('old')
    await Promise.all([store.close(), other.close()])
  })
})

it('a longer message is read at both ends, with positions in the whole message, and the answer reports the cut', async () => {
  const { store } = await filled()
  const message = `Is service 1 up? ${texts.Chinese}Service 2. ${texts.Chinese} And service 3?`

  const { relevant, isMessageCut } = await recalled(store, message, null)
  const { isMessageCut: isShortCut } = await recalled(store, message.slice(0, maxMessageLength), null)

  const words = relevant.flatMap(({ matches }) => matches.flatMap((match) => match.words))
  expect(words.map(({ text }) => text).sort()).toEqual(['service 1', 'service 3'])
  for (const { text, start, end } of words) expect(message.slice(start, end)).toBe(text)
  expect([isMessageCut, isShortCut]).toEqual([true, false])
  await store.close()
})
