import type { CaredStore } from '../search/store-port.ts'

type Deferred = Required<CaredStore>

const calls: Readonly<Record<keyof Deferred, true>> = {
  ...{ commit: true, get: true, getMany: true, idsStartingWith: true, named: true, holders: true, supersededBy: true },
  ...{ proposalsFor: true, list: true, scopes: true, pinned: true, standing: true, events: true, event: true },
  ...{
    eventByKey: true,
    lastUndoable: true,
    history: true,
    revisions: true,
    withSnapshot: true,
    tryOut: true,
    close: true,
  },
  ...{ formLengths: true, postings: true, everyHolder: true, wordsNear: true },
  ...{ population: true, matchText: true, knownTurns: true, getTurn: true, listTurns: true, listSessions: true },
  ...{ turnIdsStartingWith: true, judgeOldTurns: true },
  ...{ exportTurns: true, turnPostings: true, turnSpeakers: true, lastStep: true, unitsAround: true, turnsAt: true },
  ...{
    turnCosines: true,
    vectorsAt: true,
    beliefCosines: true,
    withoutVectors: true,
    keepVectors: true,
    hasVectors: true,
    vectorCounts: true,
    verify: true,
    rebuild: true,
    fingerprint: true,
  },
  ...{ head: true, anchorJournal: true, scrub: true, backup: true, access: true, memberships: true },
  ...{ countRecalls: true, recallCounts: true, recallDays: true, growth: true },
}

/** A store whose module is loaded with the first call. Every call of a port returns a promise, so none can tell. */
export function deferredStore(open: () => Promise<Deferred>): Deferred {
  let opened: Promise<Deferred> | null = null
  let store: Deferred | null = null
  const forward = (call: string) => {
    const run = (on: Deferred, values: readonly unknown[]): unknown =>
      (on[call as keyof Deferred] as (...given: readonly unknown[]) => unknown)(...values)
    return (...values: readonly unknown[]): unknown => {
      if (store !== null) return run(store, values)
      if (call === 'close' && opened === null) return Promise.resolve()
      opened ??= open().then((loaded) => {
        store = loaded
        return loaded
      })
      return opened.then((loaded) => run(loaded, values))
    }
  }
  // Each entry has the type of the call that it forwards.
  return Object.fromEntries(Object.keys(calls).map((call) => [call, forward(call)])) as unknown as Deferred
}
