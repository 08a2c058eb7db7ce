/**
 * A program that writes beliefs, each with a turn, and prints one line for each, for tests that kill it or inject faults. Lines: `ready`
 * when the store is open, `ack <id>` when a belief is committed, `refused <json>` if it was refused.
 */
import { randomBytes } from 'node:crypto'
import { readSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MemoryError } from '../../src/errors.ts'
import { commitOf, erasedChange, presentChange, sample, sampleTurn } from '../../src/store/sample-beliefs.contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

export type WriterOptions = {
  readonly file: string
  /** Start of every id, so that several writers never write the same belief. */
  readonly prefix: string
  readonly count: number
  /** Waits for a line on standard input before the first write. */
  readonly waits?: boolean
  readonly busyTimeoutMs?: number
  /** Forgets every nth belief and its turn right after writing them, which rewrites the whole file. */
  readonly forgetsEvery?: number
  /** The length of each belief's content. */
  readonly contentLength?: number
  /** Stops after this many refusals, and then tries other operations. */
  readonly maxRefusals?: number
  /** Planted faults that the tests must detect: `early` acknowledges before the commit, `unsynced` does not wait for the disk. */
  readonly fault?: 'early' | 'unsynced'
}

/** After the writer has stopped: the number of acknowledged beliefs that it can still read. */
export type WriterReport = { readonly acknowledged: number; readonly readable: number; readonly refusals: number }

export type Refusal = { readonly code: string; readonly message: string; readonly hint: string | undefined }

// Written directly to the descriptor, so that the line has left the process when the call returns.
const say = (line: string): void => {
  writeSync(1, `${line}\n`)
}

async function write(options: WriterOptions): Promise<void> {
  const {
    file,
    prefix,
    count,
    waits,
    busyTimeoutMs,
    forgetsEvery = Number.POSITIVE_INFINITY,
    contentLength = 200,
    maxRefusals = Number.POSITIVE_INFINITY,
  } = options
  const store = openSqliteStore({
    file,
    random: randomBytes,
    ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
  })
  say('ready')
  if (waits) readSync(0, Buffer.alloc(1))
  const acknowledged: string[] = []
  let refusals = 0
  for (let number = 0; number < count && refusals < maxRefusals; number += 1) {
    const id = `${prefix}-${number}`
    const belief = sample({ id, name: `Name of ${id}`, content: `${id} `.repeat(contentLength / id.length) })
    if (options.fault === 'early') say(`ack ${id}`)
    try {
      const turn = sampleTurn(`I say that ${id} is so.`, { id: `t-${id}`, session: prefix, messageId: id })
      const { outcome } = await store.commit(commitOf([presentChange(belief)], { kind: 'learn', turns: [turn] }))
      if (outcome !== 'committed') throw new Error(`The commit of ${id} was ${outcome}.`)
      if ((number + 1) % forgetsEvery === 0) {
        await store.commit(commitOf([erasedChange(belief, 'erased')], { kind: 'forget', forgottenTurns: [turn.id] }))
        continue
      }
      acknowledged.push(id)
      if (options.fault !== 'early') say(`ack ${id}`)
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error
      refusals += 1
      const { code, message, hint } = error
      say(`refused ${JSON.stringify({ code, message, hint } satisfies Refusal)}`)
    }
  }
  const readable = (await store.getMany('ada', acknowledged)).length
  say(`report ${JSON.stringify({ acknowledged: acknowledged.length, readable, refusals } satisfies WriterReport)}`)
  await store.close()
}

/** Follows the same protocol, but never waits for the disk. */
function writeUnsynced({ file, prefix, count }: WriterOptions): void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = wal')
  db.exec('PRAGMA synchronous = off')
  db.exec('CREATE TABLE notes (id TEXT)')
  say('ready')
  for (let number = 0; number < count; number += 1) {
    db.prepare('INSERT INTO notes VALUES (?)').run(`${prefix}-${number}`)
    say(`ack ${prefix}-${number}`)
  }
  db.close()
}

const options = JSON.parse(process.argv[2] ?? '') as WriterOptions
if (options.fault === 'unsynced') writeUnsynced(options)
else await write(options)
