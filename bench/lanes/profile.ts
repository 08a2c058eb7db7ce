import type { Profiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import type { Store } from '../../src/memory/ports.ts'
import { recall } from '../../src/memory/recall/recall.ts'
import { openPorts } from '../../src/open-memory.ts'
import { benchScope, generateMessages } from '../corpus.ts'
import { milliseconds, type Spread, timeEach } from '../measure.ts'
import type { Lane } from '../run.ts'

const words = 40

export type ProfileRow = { readonly part: string; readonly share: number }

/** The time of recall by function, and its lower bound: the same number of look-ups in an in-memory map. */
export const profileLane: Lane = {
  name: 'profile',
  summary: 'where recall spends its time, beside as many look-ups in a map of the same keys',
  async run({ quick, log, stores }) {
    const size = quick ? 1_000 : 100_000
    const { dir, sample } = await stores.of(size)
    const ports = openPorts(dir)
    try {
      const asked = (count: number, seed: number) =>
        generateMessages(sample, { count, words, mentions: words / 20, seed })
      const warmUp = asked(quick ? 100 : 2_400, 71)
      const inputs = asked(quick ? 100 : 400, 72)
      const ask = (message: string) => recall(ports, { user: 'local', scopes: [benchScope], message })
      const spread = await timeEach({ inputs, warmUp }, ask)
      const floor = await lookUpFloor(ports.store, inputs)
      const parts = await profiled(async () => {
        for (const message of asked(quick ? 200 : 4_000, 73)) await ask(message)
      })
      log(
        `  recall p50 ${milliseconds(spread.p50)} ms; ${floor.lookUps.toFixed(0)} look-ups p50 ${milliseconds(floor.spread.p50)} ms`,
      )
      for (const { part, share } of parts.slice(0, 8)) log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${part}`)
      return { beliefs: size, words, recall: spread, floor, parts: parts.slice(0, 15) }
    } finally {
      await ports.store.close()
    }
  },
}

/** Looks up every key that recall looks up, in a map with these keys and a million others. */
async function lookUpFloor(
  store: Store,
  messages: readonly string[],
): Promise<{ readonly lookUps: number; readonly spread: Spread }> {
  const keys = await Promise.all(messages.map((message) => keysAskedFor(store, message)))
  const everyKey = new Map(keys.flat().map((key, index) => [key, index]))
  for (let index = 0; index < 1_000_000; index += 1) everyKey.set(`other key ${index}`, index)
  // New strings, as a message contains them: a string that was looked up before already has its hash.
  const fresh = keys.map((own) => own.map((key) => Buffer.from(key).toString()))
  const warmUp = keys.slice(0, 100).map((own) => own.map((key) => Buffer.from(key).toString()))
  let found = 0
  const spread = await timeEach({ inputs: fresh, warmUp }, (own) => {
    for (const key of own) if (everyKey.has(key)) found += 1
  })
  if (found === 0) throw new Error('the look-ups found nothing')
  return { lookUps: keys.flat().length / keys.length, spread }
}

async function keysAskedFor(store: Store, message: string): Promise<readonly string[]> {
  const keys: string[] = []
  const noting =
    <Rest extends unknown[], Answer>(call: (first: never, asked: readonly string[], ...rest: Rest) => Answer) =>
    (first: never, asked: readonly string[], ...rest: Rest): Answer => {
      keys.push(...asked)
      return call(first, asked, ...rest)
    }
  const watched: Store = {
    ...store,
    formLengths: noting(store.formLengths),
    postings: noting(store.postings),
    wordsNear: noting(store.wordsNear),
    getMany: noting(store.getMany),
  }
  const ports = { store: watched, now: () => new Date(), newId: () => 'unused' }
  await recall(ports, { user: 'local', scopes: [benchScope], message })
  return keys
}

/** Shares of the time by function, largest first. */
async function profiled(work: () => Promise<void>): Promise<readonly ProfileRow[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const spent = new Map<string, number>()
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const frame = nodes.get(id)?.callFrame
    // Excludes starting and ending the profile.
    if (frame?.url === 'node:inspector') continue
    const part = partOf(frame)
    spent.set(part, (spent.get(part) ?? 0) + (profile.timeDeltas?.[index] ?? 0))
  }
  const total = [...spent.values()].reduce((sum, time) => sum + time, 0)
  return [...spent].map(([part, time]) => ({ part, share: time / total })).sort((a, b) => b.share - a.share)
}

function partOf(frame: Profiler.ProfileNode['callFrame'] | undefined): string {
  if (frame === undefined) return 'unknown'
  const file = /(?:src|bench)\/.*$/u.exec(frame.url)?.[0]
  if (file !== undefined) return `${file} ${frame.functionName || '(anonymous)'}`
  if (frame.functionName === '(garbage collector)') return 'garbage collector'
  return frame.url === '' ? 'native code, mostly SQLite' : 'Node and libraries'
}
