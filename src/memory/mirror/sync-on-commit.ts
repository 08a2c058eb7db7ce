import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { conflict, unavailable } from '../../errors.ts'
import { yieldToEventLoop } from '../../next-turn.ts'
import type { Ports, Store } from '../ports.ts'
import type { MirrorAuthority } from './merge/apply.ts'
import type { Synced } from './sync.ts'

type MirrorSyncOptions = {
  readonly dir: string
  readonly user: string
  readonly authority: MirrorAuthority
  /** Creates the mirror if there is none. */
  readonly make: boolean
  /** Called if a sync failed, the mirror is held, or a conflict waits. The change itself has been committed. */
  readonly onProblem: (problem: Error) => void
}

/** If the process is still running after this time, it syncs once more to read the replaced file again. */
const secondSyncMs = 250

const stateFile = (dir: string): string => join(dir, 'state', 'mirror', 'mirror.json')

/**
 * Returns ports that sync the mirror, if there is one, after every commit. A failed sync is reported and left to the next one.
 * `catchUp` imports edits to the file before a call; if there are none, it only checks the file once. The code of the sync is
 * loaded when needed.
 */
export function syncOnCommit<AnyStore extends Store>(
  ports: Ports & { readonly store: AnyStore },
  options: MirrorSyncOptions,
): Ports & { readonly store: AnyStore; readonly catchUp: () => Promise<void> } {
  const { store } = ports
  const { dir, user } = options
  const queue = openSyncQueue(ports, options)
  const synced: AnyStore = {
    ...store,
    close: async () => {
      await queue.end()
      await store.close()
    },
  }
  const catchUp = async (): Promise<void> => {
    if (await isEdited(dir)) await queue.sync()
  }
  const afterCommit: Ports['afterCommit'] = async (commit) => {
    if (commit.user === user && queue.isDue()) await queue.sync()
  }
  return { ...ports, store: synced, afterCommit, catchUp }
}

/** Syncs the mirror, if there is one, after a change that bypassed `commit`. Returns the error, if it failed. */
export async function syncIfThere(
  ports: Ports,
  { dir, user }: Pick<MirrorSyncOptions, 'dir' | 'user'>,
): Promise<Error | null> {
  if (!existsSync(stateFile(dir))) return null
  const { syncQuietly } = await import('./sync.ts')
  return (await syncQuietly(ports, { dir, user })).error
}

/** Syncs on demand, one sync at a time. A moment later, or at the end, syncs again to read the replaced file again. */
function openSyncQueue(ports: Ports, { make, onProblem, ...request }: MirrorSyncOptions) {
  let reported: string | null = null
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  let mustMake = make
  let mustSettle = false

  /** Returns the waiting sync, so that many changes share one; if none waits, adds one after the sync in progress. */
  function sync(): Promise<void> {
    next ??= working.then(async () => {
      await yieldToEventLoop()
      next = null
      return syncOnce()
    })
    working = next
    return working
  }

  async function syncOnce(settle = false): Promise<void> {
    const { syncQuietly } = await import('./sync.ts')
    const { synced, error, ...next } = await syncQuietly(ports, { ...request, settle })
    const problem = error === null ? problemIn(synced) : syncFailed(error)
    mustMake = false
    mustSettle = next.mustSettle
    // A server reports a problem once, not with every change.
    const isNew = problem !== null && problem.message !== reported
    reported = problem?.message ?? null
    clearTimeout(timer)
    timer = mustSettle ? setTimeout(() => void sync(), secondSyncMs).unref() : undefined
    if (!isNew) return
    try {
      onProblem(problem)
    } catch (error) {
      // An error in the caller's function must neither fail the change nor stop later syncs.
      process.emitWarning(`onMirrorProblem failed: ${String(error)}`)
    }
  }

  return {
    sync,
    isDue: (): boolean => mustMake || existsSync(stateFile(request.dir)),
    end: async (): Promise<void> => {
      if (mustMake) await sync()
      // No sync may begin after the store is closed. Clears the timer after each sync too, because a sync may set it again.
      clearTimeout(timer)
      await working
      clearTimeout(timer)
      if (mustSettle) await syncOnce(true)
      clearTimeout(timer)
    },
  }
}

const syncFailed = (error: Error): Error =>
  unavailable(
    `MEMORY.md could not be updated: ${error.message}`,
    'The change is safe in the store. `credence mirror sync` tries again.',
    error,
  )

function problemIn(synced: Synced | null): Error | null {
  if (synced === null) return null
  const { held, file, conflicts, taken } = synced
  if (held !== null)
    return conflict(
      `${file} was not synchronised: ${held.reason} (${held.file}). Neither the file nor the store was changed.`,
      'See `credence mirror status`.',
    )
  const waiting = taken.proposed + taken.conflicts
  if (waiting > 0) {
    const edits = waiting === 1 ? '1 edit of MEMORY.md waits' : `${waiting} edits of MEMORY.md wait`
    return conflict(
      `${edits} for a person to accept or reject.`,
      'Decide with `credence mirror sync`, or see `credence review`.',
    )
  }
  if (conflicts[0] === undefined) return null
  return conflict(
    `A save of another program could not be merged into MEMORY.md. It is in ${conflicts[0]}.`,
    'Copy the text that you want to keep, and delete the file.',
  )
}

/**
 * Whether MEMORY.md differs from its last synced text. A held mirror waits for a person, so its file counts as edited only after
 * another change. False if the state cannot be read, because the sync reports that.
 */
async function isEdited(dir: string): Promise<boolean> {
  const { contentHashOf, signatureAt } = await import('./parse/read-file.ts')
  const file = join(dir, 'MEMORY.md')
  try {
    const { held, files } = JSON.parse(readFileSync(stateFile(dir), 'utf8'))
    const signature = signatureAt(file) ?? ''
    if (held !== null) return held.signature !== signature
    // In a copy of the memory directory, the file has the same text but a different signature.
    const { signature: known, hash } = files['MEMORY.md'] ?? {}
    return signature !== known && (signature === '' || contentHashOf(readFileSync(file)) !== hash)
  } catch {
    return false
  }
}
