/** What a check of the store found. */
export type Finding = { readonly check: string; readonly ok: boolean; readonly detail: string }

/** Looking after a store. None of it is needed for remembering or recalling. */
export type StoreCare = {
  /** Checks the file, the chain of the journal, every row against it, and every index. Changes nothing. */
  verify(): Promise<readonly Finding[]>
  /** Derives everything again from the journal. The result is identical if nothing was wrong. */
  rebuild(): Promise<void>
  /** A hash over everything derived from the journal. */
  fingerprint(): Promise<string>
  /** Number and hash of the newest event. Kept outside, it proves that the journal was not cut short. */
  head(): Promise<{ readonly number: number; readonly hash: string }>
  /** Writes the file anew if forgotten text may still lie in unused parts of it. Small stores do so by themselves. */
  scrub(): Promise<void>
  /** Writes a complete copy to a new file. */
  backup(file: string): Promise<void>
}
