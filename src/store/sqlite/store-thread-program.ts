/** What runs in the thread of `withThread`: one store, asked by messages. */
import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { MemoryError } from '../../errors.ts'
import type { DatabaseOptions } from './database.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import type { Answered, Asked } from './store-thread.ts'

if (parentPort === null) throw new Error('This file is run as a thread.')
const port = parentPort

/** Opened with the first call, so that what is wrong with the file is told to whoever calls. */
let opened: SqliteStore | null = null
const open = (): SqliteStore => {
  opened ??= openSqliteStore({ ...(workerData as DatabaseOptions), random: randomBytes })
  return opened
}

port.on('message', async (asked: Asked) => {
  port.postMessage(await answerTo(asked))
  if (asked.call === 'close') port.close()
})

async function answerTo({ id, call, values }: Asked): Promise<Answered> {
  try {
    if (call === 'close') return { id, value: await opened?.close() }
    // The values are those of this very call, copied; the compiler cannot follow them through a message.
    const work = open()[call] as (...given: readonly unknown[]) => Promise<unknown>
    return { id, value: await work(...values) }
  } catch (error) {
    if (!(error instanceof MemoryError)) return { id, failure: error }
    return { id, refusal: { code: error.code, message: error.message, hint: error.hint } }
  }
}
