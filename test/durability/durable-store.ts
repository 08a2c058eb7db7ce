import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { commitOf, presentChange, sample } from '../../src/store/sample-beliefs.contract.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

/** A directory that is removed with everything in it at the end of the block that uses it. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'credence-durability-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export const openStore = (file: string): SqliteStore => openSqliteStore({ file, random: randomBytes })

/** The acknowledged beliefs, and turns written with them, that are not stored exactly once. */
export async function lostOrDuplicated(file: string, acknowledged: readonly string[]): Promise<readonly string[]> {
  const store = openStore(file)
  const wrong: string[] = []
  for (const id of acknowledged) {
    const belief = await store.get('ada', id)
    const history = await store.history('ada', id)
    const named = await store.named('ada', `Name of ${id}`)
    const turn = await store.getTurn('ada', `t-${id}`)
    const isThere = belief?.id === id && turn?.text.includes(` ${id} `)
    if (!isThere || history.length !== 1 || named.length !== 1) wrong.push(id)
  }
  await store.close()
  return wrong
}

export async function complaintsOf(file: string): Promise<readonly string[]> {
  const store = openStore(file)
  const findings = await store.verify()
  await store.close()
  return findings.flatMap(({ check, ok, detail }) => (ok ? [] : [`${check}: ${detail}`]))
}

export async function expectWritable(file: string): Promise<void> {
  const store = openStore(file)
  const result = await store.commit(commitOf([presentChange(sample({ id: 'afterwards' }))]))
  expect(result.outcome).toBe('committed')
  await store.close()
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32), so that a failure can be repeated. */
export function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
