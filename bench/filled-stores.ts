import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../src/eval/score/statistics.ts'
import { hear } from '../src/memory/conversation/hear.ts'
import type { BeliefRecord } from '../src/memory/transfer/belief-record.ts'
import { importRecords } from '../src/memory/transfer/import.ts'
import { openPorts, storeFile } from '../src/open-memory.ts'
import { benchScope, generateBeliefs, sentence } from './corpus.ts'

/** A memory directory with beliefs, and measurements from filling it. */
export type FilledStore = {
  readonly dir: string
  readonly beliefs: number
  /** Max 1,000 of the beliefs, evenly spread. */
  readonly sample: readonly BeliefRecord[]
  readonly perSecond: number
  readonly bytesPerBelief: number
}

const batch = 10_000

/** Stores of each size, filled once for all lanes of a run. Shared for reading only; lanes that write take a copy. */
export class FilledStores {
  readonly #root = mkdtempSync(join(tmpdir(), 'credence-bench-'))
  readonly #filled = new Map<number, FilledStore>()
  #copies = 0

  async of(size: number): Promise<FilledStore> {
    const known = this.#filled.get(size)
    if (known !== undefined) return known
    const store = await fill(join(this.#root, `beliefs-${size}`), size)
    this.#filled.set(size, store)
    return store
  }

  /** A separate directory with the same beliefs. The file can be copied because no process has the store open. */
  async copyOf(size: number): Promise<FilledStore> {
    const store = await this.of(size)
    this.#copies += 1
    const dir = join(this.#root, `copy-${this.#copies}`)
    cpSync(store.dir, dir, { recursive: true })
    return { ...store, dir }
  }

  /** A copy that also has turns, like a memory after a year of use. */
  async copyWithTurns(size: number, turns: number, { longest = 0 } = {}): Promise<FilledStore> {
    const store = await this.copyOf(size)
    const ports = openPorts(store.dir)
    const random = randomFrom(7)
    for (let from = 0; from < turns; from += batch / 2) {
      const part = Array.from({ length: Math.min(batch / 2, turns - from) }, (_, place) => {
        const session = from + place < longest ? 0 : Math.floor((from + place) / 12)
        const text = Array.from({ length: 1 + Math.floor(random() * 4) }, () => sentence(random, 12)).join(' ')
        const at = new Date(Date.UTC(2025, 0, 1) + session * 3_600_000 + place * 1_000).toISOString()
        const role = place % 2 === 0 ? ('user' as const) : ('assistant' as const)
        return { text, role, session: `s${session}`, at, scope: benchScope }
      })
      await hear(ports, {
        user: 'local',
        author: { actor: 'person', origin: 'bench' },
        agent: null,
        view: [benchScope],
        scopes: [benchScope],
        turns: part,
        learn: 'nothing',
      })
    }
    await ports.store.close()
    return store
  }

  /** A new path in the temporary directory. The caller creates the directory. */
  place(name: string): string {
    this.#copies += 1
    return join(this.#root, `${name}-${this.#copies}`)
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** Fills a store through the import use case, in batches. The time excludes generating the beliefs. */
async function fill(dir: string, size: number): Promise<FilledStore> {
  const ports = openPorts(dir)
  const sample: BeliefRecord[] = []
  const every = Math.max(1, Math.floor(size / 1_000))
  let pending: { place: string; record: BeliefRecord }[] = []
  let spentMs = 0
  const flush = async (): Promise<void> => {
    const start = performance.now()
    await importRecords(ports, { user: 'local', author: { actor: 'person', origin: 'bench' }, trusted: true }, pending)
    spentMs += performance.now() - start
    pending = []
  }
  let index = 0
  for (const record of generateBeliefs({ count: size, seed: 1 })) {
    if (index % every === 0) sample.push(record)
    pending.push({ place: `belief ${index}`, record })
    index += 1
    if (pending.length === batch) await flush()
  }
  if (pending.length > 0) await flush()
  await ports.store.close()
  const bytesPerBelief = Math.round(statSync(storeFile(dir)).size / size)
  return { dir, beliefs: size, sample, perSecond: Math.round(size / (spentMs / 1_000)), bytesPerBelief }
}
