import type { Store } from '../store.ts'
import type { Workshop } from '../workshop.ts'
import { hasMirror, isEdited } from './glance.ts'

export type InStepOptions = {
  readonly dir: string
  readonly user: string
  /** Makes the mirror when there is none. */
  readonly make: boolean
  /** Told when the files could not be brought up to date, or are held. The change itself is committed. */
  readonly onProblem: (problem: Error) => void
}

/**
 * The same store, with the mirror brought up to date after every commit, where there is one. Everything that writes goes
 * through `commit`, so no way of changing a memory can be missed. A sync that fails is told and left to the next one.
 */
export function keepInStep<AnyStore extends Store>(
  workshop: Workshop & { readonly store: AnyStore },
  options: InStepOptions,
): Workshop & { readonly store: AnyStore; readonly catchUp: () => Promise<void> } {
  const { store } = workshop
  const { dir, user, make, onProblem } = options
  let isMade = !make
  let told: string | null = null

  const tell = (problem: Error): void => {
    // A server says it once, not with every change.
    if (told !== problem.message) onProblem(problem)
    told = problem.message
  }

  const syncOnce = async (): Promise<void> => {
    const { syncQuietly } = await import('./sync-quietly.ts')
    const problem = await syncQuietly(workshop, { dir, user })
    if (problem === null) told = null
    else tell(problem)
    isMade = true
  }
  const sync = oneForAll(syncOnce)

  const inStep: AnyStore = {
    ...store,
    commit: async (commit) => {
      const result = await store.commit(commit)
      if (result.outcome === 'committed' && commit.user === user && (!isMade || hasMirror(dir))) await sync()
      return result
    },
    close: async () => {
      if (!isMade) await sync()
      await store.close()
    },
  }
  return {
    ...workshop,
    store: inStep,
    /** Takes in what somebody wrote into the file, before anything is read. Costs one look at the file. */
    catchUp: async () => {
      if (isEdited(dir)) await sync()
    },
  }
}

/**
 * Runs `work` so that whoever asks gets a run that began after asking. Those who ask while one is under way share the
 * next: a hundred changes at once need two looks at the files, not a hundred.
 */
function oneForAll(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null
  let next: Promise<void> | null = null
  const begin = (): Promise<void> => {
    const run = work().finally(() => {
      if (underWay === run) underWay = null
    })
    underWay = run
    return run
  }
  return () => {
    if (underWay === null) return begin()
    next ??= underWay.then(() => {
      next = null
      return begin()
    })
    return next
  }
}
