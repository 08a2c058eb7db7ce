import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { recall } from '../../src/memory/recall/recall.ts'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'
import { importRecords } from '../../src/memory/transfer/import.ts'
import { openPorts } from '../../src/open-memory.ts'
import { benchScope, generateBeliefs, generateMessages } from '../corpus.ts'
import type { FilledStores } from '../filled-stores.ts'
import { milliseconds, type Spread, timeEach } from '../measure.ts'
import { type FormIndexPeer, formIndexPeers } from '../peers/form-indexes.ts'
import type { Lane } from '../run.ts'

const wordCounts = [5, 40, 400] as const

export type RecallRow = {
  readonly system: string
  readonly beliefs: number
  readonly words: number
  readonly kind: string
  readonly spread: Spread
}
export type IngestRow = { readonly beliefs: number; readonly perSecond: number; readonly bytesPerBelief: number }
export type PeerSize = { readonly system: string; readonly beliefs: number; readonly residentBytesPerBelief: number }

/** Recall against store size, beside search libraries over the same forms in the same run. */
export const recallLane: Lane = {
  name: 'recall',
  summary: 'recall latency against store size, beside search libraries over the same forms',
  async run({ quick, log, stores }) {
    const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]
    const messages = quick ? 60 : 400
    const rows: RecallRow[] = []
    const ingest: IngestRow[] = []
    const resident: PeerSize[] = []
    const sizeInMemory = quick ? 10_000 : 100_000
    for (const size of sizes) {
      const { dir, sample, perSecond, bytesPerBelief } = await stores.of(size)
      ingest.push({ beliefs: size, perSecond, bytesPerBelief })
      log(`${size} beliefs: ${perSecond} a second, ${bytesPerBelief} bytes each`)
      rows.push(...(await measureCredence(dir, size, sample, messages)))
      for (const peer of formIndexPeers.filter(({ largest }) => size <= largest))
        rows.push(...(await measurePeer(peer, size, sample, messages)))
      if (size === sizeInMemory) resident.push(...residentSizes(size, dir))
      for (const row of rows.filter(({ beliefs }) => beliefs === size)) {
        log(
          `  ${row.system.padEnd(12)} ${String(row.words).padStart(4)} words ${row.kind.padEnd(9)} p50 ${milliseconds(row.spread.p50)} ms`,
        )
      }
    }
    const users = await manyUsers(stores, quick ? 20 : 1_000, quick ? 100 : 1_000, messages)
    log(`${users.users} users with ${users.beliefsEach} beliefs each: p50 ${milliseconds(users.spread.p50)} ms`)
    return { rows, ingest, resident, users }
  },
}

async function measureCredence(
  dir: string,
  size: number,
  sample: readonly BeliefRecord[],
  count: number,
): Promise<readonly RecallRow[]> {
  const ports = openPorts(dir)
  const ask = (message: string) => recall(ports, { user: 'local', scopes: [benchScope], message })
  const rows: RecallRow[] = []
  for (const words of wordCounts) {
    for (const { kind, mentions, slips } of kinds(words)) {
      const asked = askedMessages(sample, { count, words, mentions, slips })
      rows.push({ system: 'credence', beliefs: size, words, kind, spread: await timeEach(asked, ask) })
    }
  }
  await ports.store.close()
  return rows
}

const kinds = (words: number) => [
  { kind: 'exact', mentions: Math.max(1, Math.round(words / 20)), slips: false },
  { kind: 'slip', mentions: Math.max(1, Math.round(words / 20)), slips: true },
  { kind: 'no hit', mentions: 0, slips: false },
  { kind: 'many hits', mentions: Math.ceil(words / 4), slips: false },
]

/** Short messages need more of them before the engine has compiled what it runs. */
const warmUps = (words: number): number => (words === 400 ? 1 : 6)

/** Messages to measure, and others of the same kind to warm up with. */
const askedMessages = (
  beliefs: readonly BeliefRecord[],
  options: { count: number; words: number; mentions: number; slips?: boolean },
) => ({
  inputs: generateMessages(beliefs, { ...options, seed: 7 + options.words }),
  warmUp: generateMessages(beliefs, {
    ...options,
    count: options.count * warmUps(options.words),
    seed: 70_000 + options.words,
  }),
})

/** Each in a process of its own, so that none is counted what another has left. */
function residentSizes(size: number, dir: string): readonly PeerSize[] {
  const program = fileURLToPath(new URL('../programs/index-memory.ts', import.meta.url))
  return ['credence', ...formIndexPeers.map(({ name }) => name)].map((system) => {
    const argv = ['--expose-gc', program, system, String(size), dir]
    const { bytes } = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8' })) as { bytes: number }
    return { system, beliefs: size, residentBytesPerBelief: Math.round(bytes / size) }
  })
}

async function measurePeer(
  peer: FormIndexPeer,
  size: number,
  sample: readonly BeliefRecord[],
  count: number,
): Promise<readonly RecallRow[]> {
  const index = await peer.build(generateBeliefs({ count: size, seed: 1 }))
  const rows: RecallRow[] = []
  for (const words of wordCounts) {
    // They take up to a thousand times as long, and the median of few is still a median.
    const most = Math.min(count, size >= 100_000 || words === 400 ? 20 : 60)
    const asked = askedMessages(sample, { count: most, words, mentions: Math.max(1, Math.round(words / 20)) })
    const limited = { ...asked, warmUp: asked.warmUp.slice(0, most) }
    rows.push({
      system: peer.name,
      beliefs: size,
      words,
      kind: 'exact',
      spread: await timeEach(limited, (message) => index.search(message)),
    })
  }
  index.close()
  return rows
}

/** One store with many users, of whom each message asks another. */
async function manyUsers(stores: FilledStores, users: number, beliefsEach: number, count: number) {
  const ports = openPorts(stores.place('users'))
  const samples: BeliefRecord[][] = []
  for (let index = 0; index < users; index += 1) {
    const user = `user-${index}`
    const records = [...generateBeliefs({ count: beliefsEach, seed: 1_000 + index, user })]
    samples.push(records.slice(0, 20))
    const placed = records.map((record, at) => ({ place: `belief ${at}`, record }))
    await importRecords(ports, { user, author: { actor: 'import', origin: 'bench' } }, placed)
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
