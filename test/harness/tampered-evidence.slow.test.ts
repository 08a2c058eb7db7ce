import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { auditRun } from '../../src/eval/gate/latest-runs.ts'
import { readManifest, requireRun } from '../../src/eval/store/documents.ts'
import { commitOf, nextVersion, presentChange, sample, sampleTurn } from '../../src/store/sample-beliefs.contract.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { columnOf } from '../column-of.ts'
import { chance, complaintsOf, openStore, temporaryDirectory } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'

const seed = Number(process.env.CREDENCE_TEST_SEED ?? 37)

const pick = <Value>(random: () => number, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value

/** A journal of 40 events, without the triggers that prevent edits. */
async function journal(file: string): Promise<void> {
  const store = openStore(file)
  for (let number = 0; number < 30; number += 1) {
    const belief = sample({ id: `b${number}`, name: `Name ${number}`, content: `Content of ${number}.` })
    await store.commit(commitOf([presentChange(belief)]))
    if (number % 3 !== 0) continue
    await store.commit(
      commitOf([presentChange(nextVersion(belief, { content: `Corrected ${number}.` }))], { kind: 'edit' }),
    )
    await store.commit(commitOf([], { kind: 'hear', turns: [sampleTurn(`We spoke about ${number}.`)] }))
  }
  await store.close()
  const db = new DatabaseSync(file)
  for (const name of columnOf(db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`))
    db.exec(`DROP TRIGGER "${name}"`)
  db.close()
}

const columns: Readonly<Record<string, readonly string[]>> = {
  events: ['kind', 'actor', 'origin', 'at', 'changes_hash', 'previous_hash', 'hash'],
  changes: ['belief_id', 'version', 'body_hash', 'salt', 'body'],
  turn_texts: ['text'],
}

/** Edits the journal once, as with a SQLite shell. Returns a description of the edit. */
function editJournal(db: DatabaseSync, random: () => number): string {
  const table = pick(random, Object.keys(columns))
  const rows = columnOf<number>(db, `SELECT rowid FROM ${table} ORDER BY rowid`)
  const row = pick(random, rows)
  const column = pick(random, columns[table] ?? [])
  switch (pick(random, ['alter', 'delete', 'insert', 'reorder', 'truncate'] as const)) {
    case 'alter': {
      const value = columnOf(db, `SELECT ${column} FROM ${table} WHERE rowid = ?`, row)[0] ?? null
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`).run(altered(value, random), row)
      return `alter ${table}.${column}`
    }
    case 'delete':
      db.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(row)
      return `delete from ${table}`
    case 'insert': {
      const last = columnOf<number>(db, 'SELECT max(number) FROM events')[0] ?? 0
      db.prepare(
        `INSERT INTO events (number, user_id, kind, actor, origin, at, changes_hash, previous_hash, hash)
         SELECT ?, user_id, kind, actor, origin, at, changes_hash, previous_hash, hash FROM events WHERE number = ?`,
      ).run(last + 1, 1 + Math.floor(random() * last))
      return 'insert an event'
    }
    case 'reorder': {
      const other = pick(
        random,
        rows.filter((one) => one !== row),
      )
      const value = (of: number) => columnOf(db, `SELECT ${column} FROM ${table} WHERE rowid = ?`, of)[0] ?? null
      const one = value(row)
      const two = value(other)
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`).run(two, row)
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`).run(one, other)
      const isSame = one instanceof Uint8Array ? Buffer.from(one).equals(two as Uint8Array) : one === two
      return isSame ? '' : `reorder ${table}.${column}`
    }
    case 'truncate': {
      const last = columnOf<number>(db, 'SELECT max(number) FROM events')[0] ?? 0
      const from = last - Math.floor(random() * 5)
      for (const [name, key] of [
        ['turns', 'event'],
        ['changes', 'event'],
        ['events', 'number'],
      ])
        db.prepare(`DELETE FROM ${name} WHERE ${key} >= ?`).run(from)
      return 'truncate'
    }
  }
}

function altered(value: SQLInputValue, random: () => number): SQLInputValue {
  if (typeof value === 'number') return value + 1
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value)
    const at = Math.floor(random() * bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
    return bytes
  }
  const text = String(value)
  const at = Math.floor(random() * text.length)
  return `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
}

/** One edit of a file of lines. Returns an empty string if it would change nothing. */
function editLines(text: string, random: () => number): string {
  const lines = text.split('\n')
  const at = Math.floor(random() * (lines.length - 1))
  const line = lines[at] ?? ''
  const edit = pick(random, ['alter', 'delete', 'insert', 'reorder', 'truncate'] as const)
  const other = Math.floor(random() * (lines.length - 1))
  const edited = {
    alter: () => lines.with(at, String(altered(line === '' ? 'x' : line, random))),
    delete: () => lines.toSpliced(at, 1),
    insert: () => lines.toSpliced(other, 0, line),
    reorder: () => lines.with(at, lines[other] ?? '').with(other, line),
    truncate: () => lines.slice(0, at),
  }[edit]()
  return edited.join('\n') === text ? '' : edited.join('\n')
}

describe('evidence that was tampered with', () => {
  it('is detected in the journal', async () => {
    using directory = temporaryDirectory()
    const original = join(directory.path, 'credence.db')
    await journal(original)
    expect(await complaintsOf(original)).toEqual([])
    const random = chance(seed)
    const edits = new Map<string, number>()
    const missed: string[] = []
    for (let number = 0; number < count(250); number += 1) {
      const file = join(directory.path, String(number), 'credence.db')
      mkdirSync(join(file, '..'))
      for (const suffix of ['', '-head']) copyFileSync(original + suffix, file + suffix)
      const db = new DatabaseSync(file)
      for (const pragma of ['foreign_keys = OFF', 'ignore_check_constraints = ON']) db.exec(`PRAGMA ${pragma}`)
      const edit = editJournal(db, random)
      db.close()
      if (edit === '') continue
      edits.set(edit, (edits.get(edit) ?? 0) + 1)
      if ((await complaintsOf(file)).length === 0) missed.push(`${number}: ${edit}`)
    }
    console.log(`journal, seed ${seed}:`, Object.fromEntries(edits), missed)
    expect(missed).toEqual([])
  })

  it('is detected if another complete journal replaces it', async () => {
    using directory = temporaryDirectory()
    const [one, other] = ['one', 'other'].map((name) => join(directory.path, name, 'credence.db')) as [string, string]
    await journal(one)
    await journal(other)
    copyFileSync(other, one)

    expect(await complaintsOf(one)).not.toEqual([])
  })

  it('is detected in the records of a run and in the pack of the run', async () => {
    using place = createSandbox()
    const root = join(place.work, 'evals')
    const env = { CREDENCE_EVAL_STORE_DIR: root }
    const pack = 'red-team-unseen-bridging'
    cpSync('packs/red-team/unseen/bridging', join(root, 'benchmarks', pack), { recursive: true })
    const { stdout } = await place.runWith({ env }, 'benchmark', 'run', pack, '--system', 'defenceless', '--json')
    const { runId } = JSON.parse(stdout).runs[0]
    const isFound = async (): Promise<boolean> => {
      try {
        const { problems, outdated } = await auditRun(root, requireRun(root, runId))
        return problems.length > 0 || outdated !== null || readManifest(root, pack)?.ok !== true
      } catch {
        return true
      }
    }
    expect(await isFound()).toBe(false)
    const files = [
      `runs/${runId}.json`,
      `runs/${runId}/cases.jsonl`,
      `runs/${runId}/environment.json`,
      `benchmarks/${pack}/manifest.json`,
      `benchmarks/${pack}/cases.jsonl`,
    ]
    const random = chance(seed)
    const edits = new Map<string, number>()
    const missed: string[] = []
    for (let number = 0; number < count(250); number += 1) {
      const name = pick(random, files)
      const path = join(root, name)
      const text = readFileSync(path, 'utf8')
      const edited = editLines(text, random)
      if (edited === '' || sameJson(text, edited)) continue
      writeFileSync(path, edited)
      edits.set(name, (edits.get(name) ?? 0) + 1)
      if (!(await isFound())) missed.push(`${number}: ${name}`)
      writeFileSync(path, text)
    }
    console.log(`runs and packs, seed ${seed}:`, Object.fromEntries(edits), missed)
    expect(missed).toEqual([])
    expect(await isFound()).toBe(false)
  })
})

/** Whether two texts are the same JSON: reordering the lines of a document may not change its meaning. */
function sameJson(a: string, b: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
  } catch {
    return false
  }
}
