import type { Turn, TurnRole } from '../../beliefs/turn.ts'

/** Which turns may be returned. All given conditions must be met. Statistics are those of the user and scopes alone. */
export type TurnView = {
  readonly user: string
  /** Turns of these scopes; null for every scope of the user. */
  readonly scopes: readonly string[] | null
  /** Said at this moment or later, and not after that one; milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  readonly session?: string
  readonly speaker?: string
  readonly roles?: readonly TurnRole[]
}

/** Where one term occurs in the scopes of a view: rows in no particular order, and how often in each (at most 255). */
export type TermPostings = { readonly rows: Int32Array; readonly counts: Uint8Array }

/** What the index knows of some terms. */
export type TurnPostings = {
  /** How many units there are in the scopes, how many terms they hold together, and how many words people said. */
  readonly units: number
  readonly length: number
  readonly humanWords: number
  /** Absent for a term that occurs nowhere. */
  readonly terms: ReadonlyMap<string, TermPostings>
  /** The rows in view, where more is asked than user and scopes; else null, for all of them. */
  readonly inView: ReadonlySet<number> | null
}

/** What ranking needs to know of a unit: a turn, or one passage of a long turn. */
export type TurnUnit = {
  /** Grows in the order in which turns were kept. The passages of a long turn have consecutive rows. */
  readonly row: number
  /** Row of the first passage of the turn. */
  readonly first: number
  /** Numbers of the session and of the turn's place in it. */
  readonly session: number
  readonly place: number
  readonly role: TurnRole
  readonly speaker: string | null
  readonly at: number
  /** How many terms it has. */
  readonly length: number
  /** Whether it contains a question mark. */
  readonly asks: boolean
}

/** Vectors of the sentences of a turn or a belief: a byte for each dimension, one sentence after the other. */
export type TurnVectors = { readonly row: number; readonly vectors: Int8Array }

/** Sentence vectors of a message, one after the other, in the form of `TurnVectors`. */
export type MessageVectors = { readonly vectors: Int8Array; readonly dimensions: number }

/** Turns that have vectors, in no particular order, with their cosine with a message (`cosines.ts`). */
export type TurnCosines = {
  readonly rows: Int32Array
  readonly cosines: Float32Array
  /** Whether these are all turns with vectors in the scopes. In a large store they are only the nearest. */
  readonly isEvery: boolean
  /** Of all turns with vectors in the scopes; of a sample in a large store. */
  readonly mean: number
  readonly deviation: number
}

export type EmbeddedText = { readonly row: number; readonly text: string }

/** Texts that have vectors: the turns of people, and current beliefs. */
export type EmbeddedKind = 'turn' | 'belief'

/** The meaning of sentences, by one embedding model. */
export type MeaningIndex = {
  /** Compares a message with the turns in the scopes of a view. In a large store only those of `among` are returned, if given. */
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
  /** The vectors of the turns that these rows belong to, by row; absent if there are none yet. */
  vectorsAt(user: string, model: string, rows: readonly number[]): Promise<ReadonlyMap<number, Int8Array>>
  /**
   * Texts that have no vectors of the model yet, the newest first, at most `limit`: of some rows before `before`, so that no call takes
   * long. The next page begins before the row `next`; null at the end.
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
  /** How many texts of the user have vectors of the model, and how many have none yet. */
  vectorCounts(user: string, model: string): Promise<{ readonly indexed: number; readonly waiting: number }>
}

/** The words of turns by key: the cost of a look-up depends only on how often its terms occur. */
export type TurnIndex = {
  turnPostings(view: TurnView, terms: readonly string[]): Promise<TurnPostings>
  /** Everyone who is named as a speaker in the scopes of a view. */
  turnSpeakers(view: TurnView): Promise<readonly string[]>
  /** The row of the tool step that was kept last, in the scopes and the session of a view; null when there is none. */
  lastStep(view: TurnView): Promise<number | null>
  /**
   * The units of these rows, and of the turns up to `reach` places away in the same session and in the scopes of the
   * view; by session, place and row.
   */
  unitsAround(view: TurnView, rows: readonly number[], reach: number): Promise<readonly TurnUnit[]>
  /** The turns that these rows belong to, by row. */
  turnsAt(user: string, rows: readonly number[]): Promise<ReadonlyMap<number, Turn>>
}
