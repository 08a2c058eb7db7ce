import { hash } from 'node:crypto'
import { join } from 'node:path'
import { writeAtomically } from '../../files/atomic-write.ts'
import type { MirrorPlaces } from './places.ts'
import { jsonIn, readIfThere } from './record-text.ts'

const shards = 256

/** Which topic file each belief is in. Kept in parts, so that one more belief costs the same however many there are. */
export class Whereabouts {
  readonly #directory: string
  readonly #loaded = new Map<string, Map<string, string>>()
  readonly #changed = new Set<string>()

  constructor({ where }: MirrorPlaces) {
    this.#directory = where
  }

  async fileOf(id: string): Promise<string | null> {
    return (await this.#shard(id)).get(id) ?? null
  }

  async set(id: string, file: string | null): Promise<void> {
    const shard = await this.#shard(id)
    if ((shard.get(id) ?? null) === file) return
    if (file === null) shard.delete(id)
    else shard.set(id, file)
    this.#changed.add(shardOf(id))
  }

  async save(): Promise<void> {
    for (const name of this.#changed) {
      const content = JSON.stringify(Object.fromEntries(this.#loaded.get(name) ?? []))
      await writeAtomically(join(this.#directory, name), content, { existing: 'replace', durable: false })
    }
    this.#changed.clear()
  }

  async #shard(id: string): Promise<Map<string, string>> {
    const name = shardOf(id)
    const loaded = this.#loaded.get(name)
    if (loaded !== undefined) return loaded
    const known = jsonIn(readIfThere(join(this.#directory, name)) ?? '{}')
    const entries = known !== null && typeof known === 'object' ? Object.entries(known) : []
    const shard = new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
    this.#loaded.set(name, shard)
    return shard
  }
}

const shardOf = (id: string): string => `${(hash('sha256', id, 'buffer')[0] as number) % shards}.json`
