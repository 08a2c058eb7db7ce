import { Worker } from 'node:worker_threads'

type RewriteWork = {
  readonly file: string
  readonly statements: readonly string[]
  /** How long the thread waits for other connections that write. */
  readonly busyTimeoutMs: number
  /** How long the thread tries to empty the log. Writers are blocked during that time. */
  readonly checkpointTimeoutMs: number
}

type RewriteResult = { readonly isLogEmpty: boolean } | { readonly errcode: number; readonly message: string }

/**
 * Runs statements on a store, then moves its log into the file and truncates the log, in a thread with its own connection, because both
 * take time in proportion to the size of the file. Returns whether the log is empty. It cannot be emptied while a connection reads an
 * older snapshot.
 */
export function rewriteInThread(work: RewriteWork): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(`(${rewrite})()`, { eval: true, workerData: work })
    thread.once('error', reject)
    thread.once('message', (result: RewriteResult) => {
      if ('isLogEmpty' in result) resolve(result.isLogEmpty)
      else reject(Object.assign(new Error(result.message), { errcode: result.errcode }))
    })
  })
}

/** The program of the thread. It must not refer to anything outside itself. */
function rewrite(): void {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
  const { file, statements, busyTimeoutMs, checkpointTimeoutMs } = workerData as RewriteWork
  const db = new DatabaseSync(file)
  try {
    for (const statement of [
      'PRAGMA secure_delete = 1',
      'PRAGMA temp_store = 2',
      `PRAGMA busy_timeout = ${busyTimeoutMs}`,
      ...statements,
    ])
      db.exec(statement)
    db.exec(`PRAGMA busy_timeout = ${checkpointTimeoutMs}`)
    const isLogEmpty = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
    db.close()
    parentPort?.postMessage({ isLogEmpty })
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number }
    if (errcode === undefined) throw error
    parentPort?.postMessage({ errcode, message })
  }
}
