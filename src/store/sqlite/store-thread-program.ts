/** The program of the thread of `withThread`: it opens one store and makes the calls that messages ask for. */
import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { MemoryError } from '../../errors.ts'
import type { DatabaseOptions } from './database.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import type { ThreadRequest, ThreadResponse } from './store-thread.ts'

if (parentPort === null) throw new Error('This file is run as a thread.')
const port = parentPort

/** Opened with the first call, so that the caller gets the error if the file cannot be opened. */
let opened: SqliteStore | null = null
const open = (): SqliteStore => {
  opened ??= openSqliteStore({ ...(workerData as DatabaseOptions), random: randomBytes })
  return opened
}

port.on('message', async (request: ThreadRequest) => {
  port.postMessage(await answerTo(request))
  if (request.call === 'close') port.close()
})

async function answerTo({ id, call, values }: ThreadRequest): Promise<ThreadResponse> {
  try {
    if (call === 'close') return { id, value: await opened?.close() }
    // The values are a copy of the arguments of this call; the compiler cannot follow them through a message.
    const work = open()[call] as (...given: readonly unknown[]) => Promise<unknown>
    return { id, value: await work(...values) }
  } catch (error) {
    if (!(error instanceof MemoryError)) return { id, failure: error }
    return { id, refusal: { code: error.code, message: error.message, hint: error.hint } }
  }
}
