import type { BeliefType, Subtype } from '../beliefs/belief.ts'
import type { Viewpoint } from '../beliefs/belief-store.ts'

/** A belief that can be found by a key, with just enough data to filter and rank it without loading it. */
export type Posting = {
  readonly beliefId: string
  /** The position of the surface form that has the key: 0 for the name, i for the alias at position i - 1. */
  readonly ordinal: number
  readonly breaks: number
  readonly type: BeliefType
  readonly subtype: Subtype | null
  readonly pinned: boolean
  /** Milliseconds since the epoch. */
  readonly reinforcedAt: number
}

/** Looks up surface forms by key. Every look-up is by user and key, so its cost does not depend on the number of beliefs. */
export type FormIndex = {
  /** For each word, the word counts of the user's forms that start with it. Words that start no form are left out. */
  formLengths(user: string, heads: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>>
  /** For each key, the current beliefs in view that have it. Keys without beliefs are left out. */
  postings(view: Viewpoint, keys: readonly string[]): Promise<ReadonlyMap<string, readonly Posting[]>>
  /** For each key, the ids of all the user's beliefs that have it, of any scope, agent and status. */
  everyHolder(user: string, keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** For each word, the words of the user's forms, in any indexed spelling, that are one edit away. */
  wordsNear(user: string, words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** Number of current beliefs in view. */
  population(view: Viewpoint): Promise<number>
}

/** One belief found by full text. */
export type TextHit = { readonly beliefId: string; readonly score: number }

/** Full-text search for words anywhere in a belief. Recall never uses it. */
export type FullText = {
  /** Visible beliefs that contain any of the words, best first. If `scopes` is null, searches every scope of the user. */
  matchText(query: {
    readonly user: string
    readonly agent: string | null
    readonly scopes: readonly string[] | null
    readonly words: readonly string[]
    /** The beginning of a word that is still being typed. Words with this prefix match too. */
    readonly beginning?: string
    /** Only beliefs that contain at least this many of the words. Default 1. */
    readonly atLeast?: number
    /** `only`: searches retired beliefs alone. */
    readonly includeRetired: boolean | 'only'
    readonly limit: number
  }): Promise<readonly TextHit[]>
}
