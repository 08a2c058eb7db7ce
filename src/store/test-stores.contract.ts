import { afterEach } from 'vitest'
import type { Belief } from '../beliefs/belief.ts'
import type { Commit, JournalEvent } from '../beliefs/journal.ts'
import { type AnyStore, commitOf, presentChange } from './sample-beliefs.contract.ts'

export async function commitTo(store: AnyStore, commit: Commit): Promise<JournalEvent> {
  const result = await store.commit(commit)
  if (result.outcome !== 'committed') throw new Error(`The commit was ${result.outcome}.`)
  return result.event
}

/** Creates stores for the tests of one suite, and closes each after its test. */
export function storesFrom(open: () => AnyStore) {
  const opened: AnyStore[] = []
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
  })
  function empty(): AnyStore {
    const store = open()
    opened.push(store)
    return store
  }
  async function storeWith(...beliefs: readonly Belief[]): Promise<AnyStore> {
    const store = empty()
    for (const belief of beliefs) await commitTo(store, commitOf([presentChange(belief)], { user: belief.user }))
    return store
  }
  return { empty, storeWith }
}
