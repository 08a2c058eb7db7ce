import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { noneSystem } from '../../system/controls.ts'
import type { System } from '../../system/system.ts'
import { underTest } from '../../system/under-test.ts'
import { loadPack } from './pack.ts'
import { runPack } from './run-pack.ts'

const directory = fileURLToPath(new URL('../../../../packs/retrieval-precision', import.meta.url))

const skippedOn = async (system: System): Promise<number> => {
  const { outcomes } = await runPack(loadPack(directory).pack, underTest(system, { ours: noneSystem, clock: () => 0 }))
  return outcomes.filter(({ verdict, error }) => verdict === 'skipped' && error === undefined).length
}

it('skips the cases about a capability that a memory does not claim, and no case if it claims all', async () => {
  expect(await skippedOn({ ...noneSystem(), offers: [] })).toBeGreaterThan(0)
  expect(await skippedOn(noneSystem())).toBe(0)
})

it('lists what a memory does not claim', () => {
  const notesOf = (system: System) => underTest(system, { ours: noneSystem, clock: () => 0 }).notes

  expect(notesOf({ ...noneSystem(), offers: ['updates'] })).toEqual([
    'none claims updates. Not offered: scopes, users, supersession.',
  ])
  expect(notesOf({ ...noneSystem(), offers: [] })).toEqual([
    'none claims no capability. Not offered: scopes, users, supersession, updates.',
  ])
  expect(notesOf(noneSystem())).toEqual([])
})
