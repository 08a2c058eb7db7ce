import type { Connection } from './connection.ts'

/** More changes than this are not followed one by one. */
const mostFollowed = 1_000

type ChangedBelief = { readonly user_id: number; readonly belief_id: string }

/**
 * Follows the journal, so that a cache drops only what was changed, by this process or another. Listeners get the changed
 * beliefs, or null when everything may have changed.
 */
export function followChanges(connection: Connection) {
  const listeners: ((changed: readonly ChangedBelief[] | null) => void)[] = []
  let known: Head | null = null
  let mayBeBehind = true
  connection.onChange(() => {
    mayBeBehind = true
  })

  /** Null when the journal does not go on from the event that was the newest, or has gone on far. */
  function changesSince(head: Head | null): readonly ChangedBelief[] | null {
    if (head === null) return null
    const hash = connection.value<Buffer>('SELECT hash FROM events WHERE number = ?', [head.number])
    if (hash === undefined || !hash.equals(head.hash)) return null
    const changed = connection.all<ChangedBelief>('SELECT user_id, belief_id FROM changes WHERE event > ? LIMIT ?', [
      head.number,
      mostFollowed + 1,
    ])
    return changed.length > mostFollowed ? null : changed
  }

  return {
    onChanged: (listener: (typeof listeners)[number]): void => void listeners.push(listener),
    get newestEvent(): number {
      return known?.number ?? 0
    },
    /** To be called in a transaction, before a cache is read. */
    catchUp(): void {
      if (!mayBeBehind) return
      const newest = 'SELECT number, hash FROM events ORDER BY number DESC LIMIT 1'
      const head = connection.get<Head>(newest) ?? null
      const isSame = head !== null && head.number === known?.number && head.hash.equals(known.hash)
      const changed = isSame ? [] : changesSince(known)
      if (!isSame) for (const listener of listeners) listener(changed)
      // Only now: after an error of the disk everything is compared again.
      known = head
      mayBeBehind = false
    },
  }
}

type Head = { readonly number: number; readonly hash: Buffer }
export type ChangedBeliefs = ReturnType<typeof followChanges>
