import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import type { Memory } from '../memory.ts'
import type { Ports, Store } from '../ports.ts'
import { hashOf, signatureAt } from './parse/read-file.ts'
import type { Synced } from './sync.ts'

export type InStepOptions = {
  readonly dir: string
  readonly user: string
  /** Makes the mirror when there is none. */
  readonly make: boolean
  /** Called when a sync failed, the mirror is held, or a conflict waits. The change itself is committed. */
  readonly onProblem: (problem: Error) => void
}

/** A process that is still running syncs once more after this time, to read displaced files again. */
const secondSyncMs = 250

const stateFile = (dir: string): string => join(dir, 'state', 'mirror', 'mirror.json')

/**
 * The same store, with the mirror synced after every commit, where there is one. Every change goes through `commit`. A
 * sync that fails is reported and left to the next one. `catchUp` takes in edits of the file before a call; without
 * edits it costs one look at the file. The sync itself is loaded only when it is needed.
 */
export function keepInStep<AnyStore extends Store>(
  ports: Ports & { readonly store: AnyStore },
  options: InStepOptions,
): Ports & { readonly store: AnyStore; readonly catchUp: () => Promise<void> } {
  const { store } = ports
  const { dir, user } = options
  const follower = new Follower(ports, options)
  const inStep: AnyStore = {
    ...store,
    commit: async (commit) => {
      const result = await store.commit(commit)
      if (result.outcome === 'committed' && commit.user === user && (follower.mustMake || existsSync(stateFile(dir))))
        await follower.sync()
      return result
    },
    close: async () => {
      await follower.end()
      await store.close()
    },
  }
  const catchUp = async (): Promise<void> => {
    if (isEdited(dir)) await follower.sync()
  }
  return { ...ports, store: inStep, catchUp }
}

/** The same memory, which takes in edits of the file before every call. */
export function caughtUp(memory: Memory, catchUp: () => Promise<void>): Memory {
  // The mirror shows no turns, so exporting them needs no sync.
  const { close, export: exportBeliefs, exportTurns, ...calls } = memory
  const caught = Object.entries(calls).map(([name, call]) => [
    name,
    async (...args: readonly unknown[]): Promise<unknown> => {
      await catchUp()
      return (call as (...given: readonly unknown[]) => Promise<unknown>)(...args)
    },
  ])
  return {
    // Each call keeps its name and type.
    ...(Object.fromEntries(caught) as typeof calls),
    export: async function* (filter) {
      await catchUp()
      yield* exportBeliefs(filter)
    },
    exportTurns,
    close,
  }
}

/** Syncs on demand, one sync at a time, and a moment later once more if displaced files are left. */
class Follower {
  readonly #ports: Ports
  readonly #options: InStepOptions
  #reported: string | null = null
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  mustMake: boolean

  constructor(ports: Ports, options: InStepOptions) {
    this.#ports = ports
    this.#options = options
    this.mustMake = options.make
  }

  /** A sync that has not begun yet will see this change too, so many changes at once share it. */
  sync(): Promise<void> {
    this.#next ??= this.#working.then(() => {
      this.#next = null
      return this.#syncOnce()
    })
    this.#working = this.#next
    return this.#working
  }

  async end(): Promise<void> {
    if (this.mustMake) await this.sync()
    clearTimeout(this.#timer)
    await this.#working
    clearTimeout(this.#timer)
  }

  async #syncOnce(): Promise<void> {
    const { dir, user, onProblem } = this.#options
    const { syncQuietly } = await import('./sync.ts')
    const { synced, error, hasDisplaced } = await syncQuietly(this.#ports, { dir, user })
    const problem = error === null ? problemIn(synced) : syncFailed(error)
    this.mustMake = false
    // A server reports a problem once, not with every change.
    const isNew = problem !== null && problem.message !== this.#reported
    this.#reported = problem?.message ?? null
    clearTimeout(this.#timer)
    this.#timer = hasDisplaced ? setTimeout(() => void this.sync(), secondSyncMs).unref() : undefined
    if (isNew) reportTo(onProblem, problem)
  }
}

/** An error of the caller's own function must neither fail the change nor stop later syncs. */
function reportTo(onProblem: InStepOptions['onProblem'], problem: Error): void {
  try {
    onProblem(problem)
  } catch (error) {
    process.emitWarning(`onMirrorProblem failed: ${String(error)}`)
  }
}

const syncFailed = (error: Error): Error =>
  new MemoryError('unavailable', `MEMORY.md could not be brought up to date: ${error.message}`, {
    hint: 'What was remembered is safe in the store. `credence mirror sync` tries again.',
    cause: error,
  })

function problemIn(synced: Synced | null): Error | null {
  if (synced === null) return null
  const { held, file, conflicts } = synced
  if (held !== null)
    return new MemoryError(
      'conflict',
      `${file} is held: ${held.reason} (${held.file}). Nothing is written to it or taken from it.`,
      { hint: 'See `credence mirror status`.' },
    )
  if (conflicts[0] === undefined) return null
  return new MemoryError(
    'conflict',
    `The file and the store were changed in the same place, and a decision is waited for: see ${conflicts[0].file}.`,
    { hint: 'Both versions are kept. `credence mirror status` says what to do.' },
  )
}

/** Signatures of MEMORY.md and the mirror's state, by directory, that are known to need no sync. */
const unchanged = new Map<string, string>()

/**
 * Whether MEMORY.md differs from its last synced text. A held file counts only after it has changed again: it waits for
 * a person. Any other problem is left to the sync, which reports it.
 */
function isEdited(dir: string): boolean {
  const file = join(dir, 'MEMORY.md')
  try {
    const state = signatureAt(stateFile(dir))
    if (state === null) return false
    const signature = signatureAt(file) ?? ''
    if (unchanged.get(dir) === `${signature} ${state}`) return false
    const { held, files } = JSON.parse(readFileSync(stateFile(dir), 'utf8'))
    const isNew =
      held === null
        ? signature === '' || hashOf(readFileSync(file)) !== files['MEMORY.md']?.hash
        : held.signature !== signature
    if (!isNew) unchanged.set(dir, `${signature} ${state}`)
    return isNew
  } catch {
    return false
  }
}
