import type { Ports } from '../change/transaction.ts'
import type { Store } from '../store.ts'
import { hasMirror, isEdited } from './glance.ts'

export type InStepOptions = {
  readonly dir: string
  readonly user: string
  /** Makes the mirror when there is none. */
  readonly make: boolean
  /** Told when the files could not be brought up to date, are held, or wait for a decision about a conflict. The change itself is committed. */
  readonly onProblem: (problem: Error) => void
}

/** How long after a sync a process that is still there looks once more at what the sync displaced. */
const secondLookMs = 250

/**
 * The same store, with the mirror brought up to date after every commit, where there is one. Everything that writes goes
 * through `commit`, so no way of changing a memory can be missed. A sync that fails is told and left to the next one.
 * `catchUp` takes in what somebody wrote into the file; it costs one look at the file when nobody has.
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
      if (result.outcome === 'committed' && commit.user === user && (follower.mustMake || hasMirror(dir)))
        await follower.sync()
      return result
    },
    close: async () => {
      await follower.end()
      await store.close()
    },
  }
  return {
    ...ports,
    store: inStep,
    catchUp: async () => {
      if (isEdited(dir)) await follower.sync()
    },
  }
}

/** Syncs when told to, and a moment later once more, unless the process ends before: then the next one looks. */
class Follower {
  readonly #ports: Ports
  readonly #options: InStepOptions
  #told: string | null = null
  #timer: NodeJS.Timeout | null = null
  #working: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  mustMake: boolean

  constructor(ports: Ports, options: InStepOptions) {
    this.#ports = ports
    this.#options = options
    this.mustMake = options.make
  }

  /** One that is waited for already, and has not begun, will see this change too: a crowd of changes needs two, not a crowd. */
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
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#working
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  async #syncOnce(): Promise<void> {
    const { syncQuietly } = await import('./sync-quietly.ts')
    const { dir, user } = this.#options
    const { problem, hasLeft } = await syncQuietly(this.#ports, { dir, user })
    this.mustMake = false
    // A server says it once, not with every change.
    if (problem !== null && problem.message !== this.#told) this.#options.onProblem(problem)
    this.#told = problem?.message ?? null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = hasLeft ? setTimeout(() => void this.sync(), secondLookMs).unref() : null
  }
}
