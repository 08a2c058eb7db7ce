import type { Turn, TurnRole } from '../../beliefs/turn.ts'

/** Which turns may be returned. All given conditions must be met. Statistics cover all turns of this user in these scopes, whatever the other conditions. */
export type TurnView = {
  readonly user: string
  /** Turns of these scopes; null for every scope of the user. */
  readonly scopes: readonly string[] | null
  /** The earliest and latest time of a turn, both inclusive, in milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  readonly session?: string
  readonly speaker?: string
  readonly roles?: readonly TurnRole[]
}

/**
 * The occurrences of one term in the scopes of a view: rows in no particular order, and the frequency in each (at most
 * 255).
 */
export type TermPostings = { readonly rows: Int32Array; readonly counts: Uint8Array }

/** The index entries of some terms. */
export type TurnPostings = {
  /** Totals over the scopes: `units`, `length` (in terms), and `humanWords`, the words that people said. */
  readonly units: number
  readonly length: number
  readonly humanWords: number
  /** Absent for a term that occurs nowhere. */
  readonly terms: ReadonlyMap<string, TermPostings>
  /** The rows in view if the view has more conditions than user and scopes; otherwise null, meaning all rows. */
  readonly inView: ReadonlySet<number> | null
}

/** The facts about a unit that ranking needs. A unit is a turn, or one passage of a long turn. */
export type TurnUnit = {
  /** Increases in the order in which turns were stored. The passages of a long turn have consecutive rows. */
  readonly row: number
  /** Row of the first passage of the turn. */
  readonly first: number
  /** The number of the session, and the position of the turn in it. */
  readonly session: number
  readonly place: number
  readonly role: TurnRole
  readonly speaker: string | null
  readonly at: number
  /** The number of its terms. */
  readonly length: number
  /** Whether it contains a question mark. */
  readonly asks: boolean
}

/** Vectors of the sentences of a turn or a belief, concatenated, with one byte per dimension. */
export type TurnVectors = { readonly row: number; readonly vectors: Int8Array }

/** Sentence vectors of a message, concatenated, in the form of `TurnVectors`. */
export type MessageVectors = { readonly vectors: Int8Array; readonly dimensions: number }

/** Turns that have vectors, in no particular order, with their cosine with a message (`cosines.ts`). */
export type TurnCosines = {
  readonly rows: Int32Array
  readonly cosines: Float32Array
  /** Whether these are all turns with vectors in the scopes. In a large store they are only the nearest. */
  readonly isEvery: boolean
  /** The mean over all turns with vectors in the scopes; in a large store, over a sample. */
  readonly mean: number
  readonly deviation: number
}

export type EmbeddedText = { readonly row: number; readonly text: string }

/** The kinds of text that have vectors: the turns of people, and current beliefs. */
export type EmbeddedKind = 'turn' | 'belief'

/** Sentence vectors of an embedding model. */
export type MeaningIndex = {
  /** Compares a message with the turns in the scopes of a view. If `among` is given, a large store returns only those turns. */
  turnCosines(
    view: Pick<TurnView, 'user' | 'scopes'>,
    model: string,
    message: MessageVectors,
    among?: ReadonlySet<number> | null,
  ): Promise<TurnCosines>
  /** The beliefs of a user that are nearest to a message, best first, at most `limit`. */
  beliefCosines(
    user: string,
    model: string,
    message: MessageVectors,
    limit: number,
  ): Promise<readonly { readonly beliefId: string; readonly cosine: number }[]>
  /** The vectors of the turns with these rows, by row. Turns without vectors are left out. */
  vectorsAt(user: string, model: string, rows: readonly number[]): Promise<ReadonlyMap<number, Int8Array>>
  /**
   * Texts without vectors of the model, newest first, at most `limit`. Reads a limited number of rows before `before`,
   * so that each call is short. The next page begins before the row `next`; null at the end.
   */
  withoutVectors(
    user: string,
    model: string,
    kind: EmbeddedKind,
    page: { readonly limit: number; readonly before?: number },
  ): Promise<{ readonly texts: readonly EmbeddedText[]; readonly next: number | null }>
  /** Stores vectors. Those of a text that was forgotten in the meantime are dropped. */
  keepVectors(user: string, model: string, kind: EmbeddedKind, vectors: readonly TurnVectors[]): Promise<void>
  /** Whether the user has vectors of any model. */
  hasVectors(user: string): Promise<boolean>
  /** The number of the user's texts with vectors of the model, and of those without. */
  vectorCounts(user: string, model: string): Promise<{ readonly indexed: number; readonly waiting: number }>
}

/** The inverted index of turns. The cost of a look-up depends only on the number of occurrences of its terms. */
export type TurnIndex = {
  turnPostings(view: TurnView, terms: readonly string[]): Promise<TurnPostings>
  /** All named speakers in the scopes of a view. */
  turnSpeakers(view: TurnView): Promise<readonly string[]>
  /** The row of the newest tool step in the scopes and session of a view; null if there is none. */
  lastStep(view: TurnView): Promise<number | null>
  /**
   * The units of these rows, and of the turns up to `reach` positions away in the same session and in the scopes of the
   * view; sorted by session, position and row.
   */
  unitsAround(view: TurnView, rows: readonly number[], reach: number): Promise<readonly TurnUnit[]>
  /** The turns with these rows, by row. */
  turnsAt(user: string, rows: readonly number[]): Promise<ReadonlyMap<number, Turn>>
}
