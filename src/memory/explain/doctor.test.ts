import { describe, expect, it } from 'vitest'
import { everything, tell } from '../../../test/memory/fixtures.ts'
import { ports } from '../../../test/recall/fixtures.ts'
import type { StoreCare } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import type { Store } from '../ports.ts'
import { acceptLoss, examine, rebuild } from './doctor.ts'

/** A store in memory has no maintenance; this one returns the given results. */
const storeWithCare = (overrides: Partial<Store & StoreCare> = {}) => {
  const memory = ports()
  const care: StoreCare = {
    verify: async () => [{ check: 'chain', ok: true, detail: 'fine' }],
    rebuild: async () => {},
    fingerprint: async () => 'same',
    anchorJournal: async () => {},
    head: async () => ({ number: 0, hash: '' }),
    scrub: async () => true,
    backup: async () => {},
  }
  return { ...memory, store: { ...memory.store, ...care, ...overrides } }
}

describe('the doctor', () => {
  it('adds to the report of the store whether the newest belief is found by its name, and writes nothing', async () => {
    const memory = storeWithCare()
    await tell(memory, 'db', 'Postgres')
    const head = await memory.store.events('ann', { limit: 10 })

    expect(await examine(memory, 'ann')).toEqual([
      { check: 'chain', ok: true, detail: 'fine' },
      { check: 'recall', ok: true, detail: expect.any(String) },
    ])
    expect(await memory.store.events('ann', { limit: 10 })).toEqual(head)
    expect(await everything(memory)).toHaveLength(1)
  })

  it('reports the problems that the store found, and recalls nothing in an empty memory', async () => {
    const broken = { check: 'chain', ok: false, detail: 'event 3 does not follow event 2' }

    expect(await examine(storeWithCare({ verify: async () => [broken] }), 'ann')).toEqual([broken])
  })

  it('finds a store that recalls nothing', async () => {
    const memory = storeWithCare({ postings: async () => new Map() })
    await tell(memory, 'db', 'Postgres')

    expect((await examine(memory, 'ann')).at(-1)).toMatchObject({ check: 'recall', ok: false })
  })

  it('accepts a shortened journal if a person accepts the loss', async () => {
    let isAnchored = false
    const anchorJournal = async () => {
      isAnchored = true
    }

    expect(await acceptLoss(storeWithCare({ anchorJournal }))).toMatchObject({
      ok: true,
      detail: expect.stringContaining('event 0'),
    })
    expect(isAnchored).toBe(true)
  })

  it('reports whether rebuilding changed anything', async () => {
    const prints = ['before', 'after']

    expect((await rebuild(storeWithCare())).detail).toMatch(/identical/u)
    const refuse = async () => {
      throw new MemoryError('conflict', 'The journal is not whole.')
    }
    expect(await rebuild(storeWithCare({ rebuild: refuse }))).toMatchObject({
      ok: false,
      detail: 'The journal is not whole.',
    })
    expect((await rebuild(storeWithCare({ fingerprint: async () => prints.shift() as string }))).detail).toMatch(
      /replaced/u,
    )
  })
})
