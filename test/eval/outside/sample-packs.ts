import { randomBytes } from 'node:crypto'
import { loadPack, type Pack } from '../../../src/eval/runners/retrieval/pack.ts'
import { type PackRun, runPack } from '../../../src/eval/runners/retrieval/run-pack.ts'
import type { System } from '../../../src/eval/system/system.ts'
import { Systems } from '../../../src/eval/system/systems.ts'
import { inMemory } from '../../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'

export const backends = new Systems({
  openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }),
  version: 'under test',
  clock: () => 0,
  openEmbedder: () => Promise.reject(new Error('no vectors are needed here')),
  packsDirectory: 'packs',
})

export const packOf = (id: string): Pack => loadPack(`packs/${id}`).pack

/** Runs a pack with a system under test, as the evaluation does. */
export async function runWith(system: System, pack: Pack): Promise<PackRun> {
  const subject = backends.underTest(system)
  try {
    return await runPack(pack, subject)
  } finally {
    await subject.close()
  }
}
