/** The result of one check of the store. */
export type StoreFinding = { readonly check: string; readonly ok: boolean; readonly detail: string }

/** The number of complaints that a finding shows. */
const maxExamples = 3

/** The finding of a check that passed with `detail`, or failed with these complaints. */
export function findingOf(check: string, detail: string, complaints: readonly string[]): StoreFinding {
  if (complaints.length === 0) return { check, ok: true, detail }
  const shown = complaints.slice(0, maxExamples)
  const rest = complaints.length - shown.length
  return { check, ok: false, detail: [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ') }
}

export type OnProgress = (check: string, done: number, total: number) => void

/** Maintenance of a store, which remembering and recalling do not need. */
export type StoreCare = {
  /**
   * Checks the file, the hash chain of the journal, the rows derived from it, and every index. Changes nothing.
   * `onProgress` receives the current check and its progress.
   */
  verify(onProgress?: OnProgress): Promise<readonly StoreFinding[]>
  /** Derives all data from the journal again. If the store was correct, nothing changes. */
  rebuild(): Promise<void>
  /** A hash of all data derived from the journal. */
  fingerprint(): Promise<string>
  /** Number and hash of the newest event. A copy of these outside the store shows later whether events were cut off. */
  head(): Promise<{ readonly number: number; readonly hash: string }>
  /**
   * Sets the stored journal head to the newest event, so that `verify` accepts the journal as complete. Used for restored backups, and to
   * accept lost events.
   */
  anchorJournal(): Promise<void>
  /**
   * Rewrites the store if its unused parts may still contain forgotten text. Returns whether the file is now free of
   * such text. `ifSmall`, which each forget sets, skips a file of more than 100 MB.
   */
  scrub(options?: { readonly ifSmall?: boolean }): Promise<boolean>
  /** Writes a complete copy to a new file. */
  backup(file: string): Promise<void>
}
