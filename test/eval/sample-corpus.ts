import { randomBytes } from 'node:crypto'
import { Systems } from '../../src/eval/system/systems.ts'
import type { Embedder } from '../../src/search/embedder.ts'
import { inMemory } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

/** A belief in the format of case files. */
export const belief = (
  id: string,
  fields: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  _id: id,
  user_id: 'ann',
  type: 'entity',
  canonical_name: id.replace(/^b-/u, ''),
  aliases: [],
  content: `What is known of ${id.replace(/^b-/u, '')}.`,
  scope: ['domain:boats'],
  ...fields,
})

/** A case in the format of case files. */
export const staticCase = (
  caseId: string,
  query: string,
  expect: unknown,
  fields: Readonly<Record<string, unknown>> = {},
) => ({
  caseId,
  description: `About ${caseId}.`,
  scope: ['domain:boats'],
  query,
  expect,
  ...fields,
})

/** Has one dimension for each letter, so that similarities can be computed by hand. */
export const letterEmbedder: Embedder = {
  model: 'letters',
  dimensions: 26,
  embed: async (texts) =>
    texts.map((text) => {
      const vector = new Float32Array(26)
      for (const letter of text.toLowerCase()) {
        const at = letter.charCodeAt(0) - 97
        if (at >= 0 && at < 26) vector[at] = (vector[at] as number) + 1
      }
      return vector
    }),
}

export const openStore = () => openSqliteStore({ file: inMemory, random: randomBytes })

/** A clock that advances by one millisecond on each read. */
export function tickingClock(): () => number {
  let time = 0
  return () => ++time
}

export const systemsFor = (
  packsDirectory: string,
  openEmbedder: () => Promise<Embedder> = async () => letterEmbedder,
): Systems => new Systems({ openStore, version: 'test', clock: tickingClock(), openEmbedder, packsDirectory })
