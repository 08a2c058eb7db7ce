/** The result of one check of the store. */
export type StoreFinding = { readonly check: string; readonly ok: boolean; readonly detail: string }

export type OnProgress = (check: string, done: number, total: number) => void

/** Looking after a store. None of it is needed for remembering or recalling. */
export type StoreCare = {
  /**
   * Checks the file, the chain of the journal, every row against it, and every index. Changes nothing. `onProgress` is
   * called with the check under way and how much of it is done.
   */
  verify(onProgress?: OnProgress): Promise<readonly StoreFinding[]>
  /** Derives everything again from the journal. The result is identical if nothing was wrong. */
  rebuild(): Promise<void>
  /** A hash over everything derived from the journal. */
  fingerprint(): Promise<string>
  /** Number and hash of the newest event. Kept outside, it proves that the journal was not cut short. */
  head(): Promise<{ readonly number: number; readonly hash: string }>
  /**
   * Sets the stored journal head to the newest event, so that `verify` accepts the journal as complete. For restored
   * backups, and to accept lost events.
   */
  anchorJournal(): Promise<void>
  /**
   * Removes forgotten text from unused parts of the store, if any may be left, by rewriting it. Returns whether none is left. With
   * `ifSmall`, a file of more than 100 MB is left as it is, as after each forget.
   */
  scrub(options?: { readonly ifSmall?: boolean }): Promise<boolean>
  /** Writes a complete copy to a new file. */
  backup(file: string): Promise<void>
}
