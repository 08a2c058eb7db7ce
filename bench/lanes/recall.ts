import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { recall } from '../../src/memory/recall/recall.ts'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'
import { openPorts } from '../../src/open-memory.ts'
import { benchScope, generateBeliefs, generateMessages } from '../corpus.ts'
import { milliseconds, type Ratio, ratioOf, type Spread, spreadOf, timeEach } from '../measure.ts'
import { formIndexPeers } from '../peers/form-indexes.ts'
import type { Lane } from '../run.ts'

const wordCounts = [5, 40, 400] as const
const rounds = 10

export type RecallRow = {
  readonly system: string
  readonly beliefs: number
  readonly words: number
  readonly kind: string
  readonly spread: Spread
  /** The time relative to `credence` for the same messages in the same rounds. */
  readonly ratio: Ratio
}
export type IngestRow = { readonly beliefs: number; readonly perSecond: number; readonly bytesPerBelief: number }
export type PeerSize = {
  readonly system: string
  readonly beliefs: number
  readonly bytesPerBelief: number
  readonly readyMs: number
}

/** Recall by store size, compared with search libraries over the same forms in the same run. */
export const recallLane: Lane = {
  name: 'recall',
  summary: 'recall latency against store size, compared with search libraries over the same forms',
  async run({ quick, log, stores }) {
    const sizes = quick ? [100, 1_000, 10_000] : [100, 1_000, 10_000, 100_000]
    const rows: RecallRow[] = []
    const ingest: IngestRow[] = []
    const memory: PeerSize[] = []
    const crowd = { dir: stores.place('users'), users: quick ? 20 : 100, beliefsEach: quick ? 100 : 1_000 }
    for (const size of sizes) {
      // The crowd is filled at the same time as the largest store, to save minutes. The beliefs per second of that store
      // are therefore measured on a busy machine.
      const filled = size === sizes.at(-1) ? fillCrowd(crowd) : undefined
      const { dir, sample, perSecond, bytesPerBelief } = await stores.of(size)
      await filled
      ingest.push({ beliefs: size, perSecond, bytesPerBelief })
      log(`${size} beliefs: ${perSecond} a second, ${bytesPerBelief} bytes each`)
      const peers = formIndexPeers.filter(({ maxBeliefs: largest }) => size <= largest).map(({ name }) => name)
      const systems: AskedSystem[] = []
      try {
        for (const name of ['credence', ...peers]) systems.push(await startSystem(name, size, dir))
        for (const { name, bytes, readyMs } of systems)
          memory.push({ system: name, beliefs: size, bytesPerBelief: Math.round(bytes / size), readyMs })
        rows.push(...(await measureInterleaved(systems, size, sample, quick)))
      } finally {
        for (const { child } of systems) child.disconnect()
      }
      for (const row of rows.filter(({ beliefs, kind }) => beliefs === size && kind === 'exact')) {
        const { system, words, spread, ratio } = row
        log(
          `  ${system.padEnd(16)} ${String(words).padStart(4)} words p50 ${milliseconds(spread.p50)} ms, ${ratio.median.toFixed(2)}x (${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)})`,
        )
      }
    }
    const users = await manyUsers(crowd, quick ? 60 : 400)
    log(`${users.users} users with ${users.beliefsEach} beliefs each: p50 ${milliseconds(users.spread.p50)} ms`)
    return { rows, ingest, memory, users }
  },
}

type AskedSystem = {
  readonly name: string
  readonly child: ChildProcess
  readonly bytes: number
  readonly readyMs: number
  readonly ask: (messages: readonly string[]) => Promise<readonly number[]>
}

async function startSystem(name: string, size: number, dir: string): Promise<AskedSystem> {
  const program = fileURLToPath(new URL('../programs/asked-system.ts', import.meta.url))
  const child = fork(program, [name, String(size), dir], { execArgv: ['--expose-gc', '--max-old-space-size=8192'] })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} with ${size} beliefs ended with ${code}`)
  })
  failed.catch(() => {})
  const answer = async <Answer>(): Promise<Answer> => (await Promise.race([once(child, 'message'), failed]))[0]
  const { bytes, readyMs } = await answer<{ readonly bytes: number; readonly readyMs: number }>()
  const ask = async (messages: readonly string[]): Promise<readonly number[]> => {
    const took = answer<readonly number[]>()
    child.send(messages)
    return took
  }
  return { name, child, bytes, readyMs, ask }
}

/** Warms all systems up with the same messages, then queries them in alternation, so that other load affects all. */
async function measureInterleaved(
  systems: readonly AskedSystem[],
  size: number,
  sample: readonly BeliefRecord[],
  quick: boolean,
): Promise<readonly RecallRow[]> {
  const rows: RecallRow[] = []
  for (const words of wordCounts) {
    const { warmUps, inRound } = repetitions(words, quick)
    for (const { kind, ...message } of kinds(words)) {
      const asked = systems.filter(({ name }) => kind === 'exact' || name === 'credence')
      const warmUp = generateMessages(sample, { ...message, words, count: warmUps, seed: 70_000 + words })
      const inputs = generateMessages(sample, { ...message, words, count: inRound * rounds, seed: 7 + words })
      for (const { ask } of asked) await ask(warmUp)
      const took = new Map(asked.map(({ name }) => [name, [] as (readonly number[])[]]))
      for (let round = 0; round < rounds; round += 1) {
        const block = inputs.slice(round * inRound, (round + 1) * inRound)
        // Each round starts with a different system.
        for (let place = 0; place < asked.length; place += 1) {
          const { name, ask } = asked[(place + round) % asked.length] as AskedSystem
          took.get(name)?.push(await ask(block))
        }
      }
      for (const [system, own] of took) {
        const ratio = ratioOf(own, took.get('credence') ?? [])
        rows.push({ system, beliefs: size, words, kind, spread: spreadOf(own.flat()), ratio })
      }
    }
  }
  return rows
}

/** The number of messages for warming up and per round; fewer for long messages. */
function repetitions(words: number, quick: boolean) {
  const isLong = words === 400
  if (quick) return isLong ? { warmUps: 5, inRound: 1 } : { warmUps: 40, inRound: 4 }
  return isLong ? { warmUps: 40, inRound: 4 } : { warmUps: 600, inRound: 20 }
}

const kinds = (words: number) => [
  { kind: 'exact', mentions: Math.max(1, Math.round(words / 20)), slips: false },
  { kind: 'slip', mentions: Math.max(1, Math.round(words / 20)), slips: true },
  { kind: 'no hit', mentions: 0, slips: false },
  { kind: 'many hits', mentions: Math.ceil(words / 4), slips: false },
]

type Crowd = { readonly dir: string; readonly users: number; readonly beliefsEach: number }

async function fillCrowd({ dir, users, beliefsEach }: Crowd): Promise<void> {
  const program = fileURLToPath(new URL('../programs/fill-users.ts', import.meta.url))
  const [code] = await once(fork(program, [dir, String(users), String(beliefsEach)]), 'exit')
  if (code !== 0) throw new Error(`filling the store of ${users} users ended with ${code}`)
}

/** One store with many users. Each message comes from a different user. All users have used the server before. */
async function manyUsers({ dir, users, beliefsEach }: Crowd, count: number) {
  const ports = openPorts(dir)
  const samples: BeliefRecord[][] = []
  for (let index = 0; index < users; index += 1) {
    const own: BeliefRecord[] = []
    for (const record of generateBeliefs({ count: beliefsEach, seed: 1_000 + index, user: `user-${index}` })) {
      own.push(record)
      if (own.length === 20) break
    }
    samples.push(own)
  }
  const askedBy = (seed: number) => (_: unknown, at: number) => {
    const beliefs = samples[(at * 7 + seed) % users] as readonly BeliefRecord[]
    const [message = ''] = generateMessages(beliefs, { count: 1, words: 40, mentions: 2, seed: seed + at })
    return { user: beliefs[0]?.user ?? '', message }
  }
  const asked = {
    inputs: Array.from({ length: count }, askedBy(3)),
    warmUp: Array.from({ length: count * 3 }, askedBy(5)),
  }
  const spread = await timeEach(asked, ({ user, message }) => recall(ports, { user, scopes: [benchScope], message }))
  await ports.store.close()
  return { users, beliefsEach, words: 40, spread }
}
