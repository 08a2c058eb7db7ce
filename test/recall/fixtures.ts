import { randomBytes } from 'node:crypto'
import type { Belief } from '../../src/beliefs/belief.ts'
import type { Ports } from '../../src/memory/ports.ts'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'
import { importRecords } from '../../src/memory/transfer/import.ts'
import { sample } from '../../src/store/sample-beliefs.contract.ts'
import { inMemory } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

const at = '2026-03-01T12:00:00.000Z'
export const person = { actor: 'person', origin: 'test' } as const

/** A belief with defaults for all fields, so that a test names only the relevant ones. */
export function belief(fields: Partial<Belief> & Pick<Belief, 'name'>): BeliefRecord {
  const { version: _version, ...record } = sample({
    id: `id-${fields.name.replaceAll(/\s/gu, '-')}`,
    user: 'ann',
    content: `Something about ${fields.name}`,
    scopes: ['domain:code'],
    ...fields,
  })
  return record
}

/** Ports with an in-memory store, a clock that advances a second per call, and sequential ids. */
export function ports(): Ports {
  let ids = 0
  let ticks = 0
  return {
    store: openSqliteStore({ file: inMemory, random: randomBytes }),
    now: () => {
      ticks += 1_000
      return new Date(Date.parse(at) + ticks)
    },
    newId: () => {
      ids += 1
      return `new-${ids}`
    },
  }
}

/** Ports with these beliefs in the store. */
export async function portsWith(...beliefs: readonly BeliefRecord[]): Promise<Ports> {
  const made = ports()
  const placed = beliefs.map((record, index) => ({ place: `belief ${index}`, record }))
  await importRecords(made, { user: 'ann', author: person, trusted: true }, placed)
  return made
}
