import { describe, expect, it } from 'vitest'
import { everything, tell } from '../../../test/memory/at-hand.ts'
import { ports } from '../../../test/recall/beliefs-at-hand.ts'
import type { StoreCare } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import type { Store } from '../ports.ts'
import { examine, rebuild } from './doctor.ts'

/** A store in memory has nothing to look after; this one says what it is told to. */
const cared = (overrides: Partial<Store & StoreCare> = {}) => {
  const memory = ports()
  const care: StoreCare = {
    verify: async () => [{ check: 'chain', ok: true, detail: 'fine' }],
    rebuild: async () => {},
    fingerprint: async () => 'same',
    head: async () => ({ number: 0, hash: '' }),
    scrub: async () => {},
    backup: async () => {},
  }
  return { ...memory, store: { ...memory.store, ...care, ...overrides } }
}

describe('the doctor', () => {
  it('adds a real round trip to what the store says of itself, and leaves nobody’s memory changed', async () => {
    const memory = cared()
    await tell(memory, 'db', 'Postgres')
    const findings = await examine(memory)

    expect(findings).toEqual([
      { check: 'chain', ok: true, detail: 'fine' },
      { check: 'remember, recall and forget', ok: true, detail: expect.any(String) },
    ])
    expect(await everything(memory)).toHaveLength(1)
    expect((await memory.store.list({ user: 'credence-doctor' }, { limit: 10, offset: 0 })).total).toBe(0)
  })

  it('passes on what the store found wrong', async () => {
    const broken = { check: 'chain', ok: false, detail: 'event 3 does not follow event 2' }

    expect((await examine(cared({ verify: async () => [broken] })))[0]).toEqual(broken)
  })

  it('finds a store that recalls nothing', async () => {
    const memory = cared({ postings: async () => new Map() })

    expect((await examine(memory)).at(-1)).toMatchObject({ ok: false, detail: 'what was remembered was not recalled' })
  })

  it('finds a store that does not forget', async () => {
    const memory = ports()
    const forgetful: Store = {
      ...memory.store,
      commit: (commit) =>
        commit.kind === 'forget' ? memory.store.commit({ ...commit, changes: [] }) : memory.store.commit(commit),
    }

    expect((await examine(cared(forgetful))).at(-1)).toMatchObject({
      ok: false,
      detail: 'what was forgotten was still recalled',
    })
  })

  it('reports a store that cannot be written to, beside what else it found', async () => {
    const full = async () => {
      throw new MemoryError('unavailable', 'The disk is full.')
    }
    const findings = await examine(cared({ commit: full }))

    expect(findings).toMatchObject([
      { check: 'chain', ok: true },
      { check: 'remember, recall and forget', ok: false, detail: expect.stringContaining('The disk is full.') },
    ])
    const bug = async () => {
      throw new TypeError('a bug')
    }
    await expect(examine(cared({ commit: bug }))).rejects.toThrow(TypeError)
  })

  it('says whether rebuilding changed anything', async () => {
    const prints = ['before', 'after']

    expect((await rebuild(cared())).detail).toMatch(/identical/u)
    expect((await rebuild(cared({ fingerprint: async () => prints.shift() as string }))).detail).toMatch(/replaced/u)
  })
})
