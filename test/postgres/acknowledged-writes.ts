import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Belief } from '../../src/beliefs/belief.ts'
import type { Commit } from '../../src/beliefs/journal.ts'
import type { CaredStore } from '../../src/search/store-port.ts'

const at = '2026-03-01T12:00:00.000Z'

const beliefOf = (user: string, id: string): Belief => ({
  id,
  user,
  agent: null,
  type: 'entity',
  subtype: null,
  name: `Name of ${id}`,
  aliases: [`alias ${id}`],
  content: `What is true of ${id}.`,
  why: '',
  scopes: ['project:ledger'],
  status: 'active',
  confidence: 1,
  pinned: false,
  editedByPerson: false,
  supersededBy: null,
  proposedFor: null,
  candidate: false,
  resolvedAt: null,
  resolvedBy: null,
  participants: [],
  relation: null,
  expertise: null,
  provenance: { actor: 'person', origin: 'test', sourceId: null, model: null, at },
  reinforcement: { count: 0, at },
  createdAt: at,
  updatedAt: at,
  version: 1,
})

/** A commit of one new belief. With a key, another process can repeat it. */
export const beliefCommit = (user: string, id: string, isKeyed = true): Commit => ({
  user,
  kind: 'remember',
  actor: 'person',
  origin: 'test',
  at,
  undoes: null,
  key: isKeyed ? { value: `key of ${id}`, fingerprint: id } : null,
  changes: [{ beliefId: id, expectedVersion: 0, outcome: 'present', after: beliefOf(user, id) }],
})

/** The directory of local copies, which all writers share, as the commands of one machine do. */
let sharedCache: string | null = null

function cacheOfWriters(): string {
  if (sharedCache !== null) return sharedCache
  const directory = mkdtempSync(join(tmpdir(), 'credence-writers-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  sharedCache = directory
  return directory
}

const writerFile = fileURLToPath(new URL('./writer.ts', import.meta.url))

/** A process that writes beliefs. `acknowledged` grows while it runs; `ended` is its exit code, null after a kill. */
export function startWriter(address: string, name: string, count: number, user = 'ada') {
  const child: ChildProcess = spawn(
    process.execPath,
    [writerFile, address, cacheOfWriters(), name, String(count), user],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const acknowledged: string[] = []
  let rest = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    acknowledged.push(...lines)
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, acknowledged, ended }
}

/** Asserts that exactly the acknowledged beliefs are stored, each once, and that the store is sound. */
export async function expectExactly(store: CaredStore, user: string, ids: readonly string[]): Promise<void> {
  const stored = await store.idsStartingWith(user, '', 1_000_000)
  const known = new Set(stored)
  expect(ids.filter((id) => !known.has(id))).toEqual([])
  expect(stored).toHaveLength(new Set(ids).size)
  const events = await store.events(user, { limit: 1_000_000 })
  expect(events).toHaveLength(new Set(ids).size)
  expect(new Set(events.flatMap(({ beliefIds }) => beliefIds)).size).toBe(events.length)
  // Test servers may run with durability switched off.
  const findings = (await store.verify()).filter(({ check }) => check !== 'settings')
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
}
