/** The program of the thread of `withThread`: it opens one store and makes the calls that it is asked for. */
import { randomBytes } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../thread-calls.ts'
import type { DatabaseOptions } from './database.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import type { StoreCall } from './store-thread.ts'

/** Opened with the first call, so that the caller gets the error if the file cannot be opened. */
let opened: SqliteStore | null = null

answerCalls(async ({ name, values }: StoreCall) => {
  if (name === 'close') return opened?.close()
  opened ??= openSqliteStore({ ...(workerData as DatabaseOptions), random: randomBytes })
  // The values are a copy of the arguments of this call; the compiler cannot follow them through a message.
  return (opened[name] as (...given: readonly unknown[]) => Promise<unknown>)(...values)
})
