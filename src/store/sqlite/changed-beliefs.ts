import type { Connection } from './connection.ts'

/** More changes than this are not followed one by one. */
const mostFollowed = 1_000

type ChangedBelief = { readonly user_id: number; readonly belief_id: string }

/**
 * Follows the journal, so that a cache drops only what was changed, by this process or another. Listeners get the changed
 * beliefs, or null when everything may have changed.
 */
export class ChangedBeliefs {
  readonly #connection: Connection
  readonly #listeners: ((changed: readonly ChangedBelief[] | null) => void)[] = []
  #head: { readonly number: number; readonly hash: Buffer } | null = null
  #mayBeBehind = true

  constructor(connection: Connection) {
    this.#connection = connection
    connection.onChange(() => {
      this.#mayBeBehind = true
    })
  }

  onChanged(listener: (changed: readonly ChangedBelief[] | null) => void): void {
    this.#listeners.push(listener)
  }

  /** The number of the newest event. */
  get newestEvent(): number {
    return this.#head?.number ?? 0
  }

  /** To be called in a transaction, before a cache is read. */
  catchUp(): void {
    if (!this.#mayBeBehind) return
    const known = this.#head
    const newest = 'SELECT number, hash FROM events ORDER BY number DESC LIMIT 1'
    const head = this.#connection.get<{ number: number; hash: Buffer }>(newest) ?? null
    if (head !== null && known !== null && head.number === known.number && head.hash.equals(known.hash)) {
      this.#mayBeBehind = false
      return
    }
    const changed = this.#since(known)
    for (const listener of this.#listeners) listener(changed)
    // Only now: after an error of the disk everything is compared again.
    this.#head = head
    this.#mayBeBehind = false
  }

  /** Null when the journal does not go on from the event that was the newest, or has gone on far. */
  #since(known: { readonly number: number; readonly hash: Buffer } | null): readonly ChangedBelief[] | null {
    if (known === null) return null
    const hash = this.#connection.value<Buffer>('SELECT hash FROM events WHERE number = ?', [known.number])
    if (hash === undefined || !hash.equals(known.hash)) return null
    const changed = this.#connection.all<ChangedBelief>(
      'SELECT user_id, belief_id FROM changes WHERE event > ? LIMIT ?',
      [known.number, mostFollowed + 1],
    )
    return changed.length > mostFollowed ? null : changed
  }
}
