import type { SystemTurn } from '../../system/system.ts'

/** A turn of a suite. Sessions are named by the harness, because a suite's own names may reveal which sessions matter. */
export type SuiteTurn = Omit<SystemTurn, 'user' | 'scope'>

/** The expected result of a question. The system under test never sees it. */
type Gold = {
  /** Ids of the turns with the evidence, and their sessions. */
  readonly turns: ReadonlySet<string>
  readonly sessions: ReadonlySet<string>
  /** Ids of turns that the question itself gives away. They are taken out of every ranking before it is scored. */
  readonly given?: ReadonlySet<string>
  /** The session with the latest state, if a fact changed. */
  readonly newest?: string
  /** Strings of which the current fact contains one. */
  readonly answers?: readonly string[]
  /** Ids of other turns that help: neither required nor wrong. */
  readonly also?: ReadonlySet<string>
  /** Ids of turns that are outdated. */
  readonly earlier?: ReadonlySet<string>
  /** Ids of turns that state something which depends on an outdated turn. */
  readonly dependent?: ReadonlySet<string>
}

export type SuiteQuestion = {
  readonly id: string
  /** The text and the time are all that a system is given. */
  readonly text: string
  readonly askedAt: string
  readonly group: string
  readonly gold: Gold
  /** Nothing in the conversation answers it: the right push is none. */
  readonly expectsSilence: boolean
  /** The right push is none, although there is something to find. */
  readonly isTrap?: boolean
}

/** One conversation, or one agent's trajectory, with the questions about it. Each is a separate memory. */
export type SuiteConversation = {
  readonly id: string
  readonly turns: readonly SuiteTurn[]
  readonly questions: readonly SuiteQuestion[]
}

/** A turn that a system found, and the length of its text, or of the passage that is shown of it. */
export type FoundTurn = Pick<SuiteTurn, 'id' | 'session'> & { readonly characters: number }

/** The answer of a system to one question. */
export type SuiteAnswer = {
  /** Best first. */
  readonly found: readonly FoundTurn[]
  /** Ids of the turns in a block next to the ranking: standing instructions that apply to every question. */
  readonly standing: readonly string[]
  /** The lines that are put into the context unasked, in their order; null for a system that only searches. */
  readonly shown: readonly (FoundTurn & { readonly text: string; readonly isEarlier: boolean })[] | null
}

/** Called with the number of bytes or items read so far. */
export type ReadProgress = (label: string, done: number, total: number) => void

/** A benchmark of conversations: how its files are read, and how an answer is scored. */
export type Suite = {
  readonly name: string
  /** How many there are in the whole published data; several if it is published in several sizes. Null for data that people write themselves. */
  readonly published: { readonly unit: 'questions' | 'conversations'; readonly counts: readonly number[] } | null
  readonly read: (path: string, onProgress?: ReadProgress) => Iterable<SuiteConversation>
  /** The scores of one answer. A score that does not apply is null and never becomes zero. */
  readonly score: (question: SuiteQuestion, answer: SuiteAnswer, conversation: SuiteConversation) => Scores
  /** The first of these scores that applies decides whether a case passed: it must be 1, and of a rate of errors 0. */
  readonly decisive: readonly string[]
  /** Why an answer that should show something failed. Default: the turns that are not among the first ones. */
  readonly failure?: (question: SuiteQuestion, answer: SuiteAnswer) => readonly string[]
}

export type Scores = Record<string, number | null>

export const turnId = (session: string, index: number): string => `${session}-${index}`

export const idOf = ({ id }: Pick<FoundTurn, 'id'>): string => id

/** The sessions of a ranking in the order of their best turn. */
export const sessionsOf = (found: readonly Pick<FoundTurn, 'session'>[]): readonly string[] => [
  ...new Set(found.map(({ session }) => session)),
]

/** The share of `gold` among the first `k` of a ranking. */
export const recallAt = (ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null =>
  gold.size === 0 ? null : ranked.slice(0, k).filter((key) => gold.has(key)).length / gold.size

/** 1 when any of `gold` is among the first `k`. */
export const anyAt = (ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null =>
  gold.size === 0 ? null : Number(ranked.slice(0, k).some((key) => gold.has(key)))

/** 1 when all of `gold` are among the first `k`. */
export function allAt(ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null {
  const recall = recallAt(ranked, gold, k)
  return recall === null ? null : Number(recall === 1)
}

/** One divided by the rank of the first of `gold`; 0 when none was found. */
export function reciprocalRank(ranked: readonly string[], gold: ReadonlySet<string>): number | null {
  if (gold.size === 0) return null
  const place = ranked.findIndex((key) => gold.has(key))
  return place === -1 ? 0 : 1 / (place + 1)
}

/** Normalised discounted cumulative gain with binary relevance: rank r counts 1 / log2(r + 1). Jarvelin and Kekalainen 2002. */
export function ndcgAt(ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null {
  if (gold.size === 0) return null
  const gain = (place: number): number => 1 / Math.log2(place + 2)
  const reached = ranked.slice(0, k).reduce((sum, key, place) => sum + (gold.has(key) ? gain(place) : 0), 0)
  const best = Array.from({ length: Math.min(k, gold.size) }, (_, place) => gain(place)).reduce((sum, one) => sum + one)
  return reached / best
}

/** Prefixes the names of scores, such as `session`. */
export const prefixScores = (prefix: string, scores: Scores): Scores =>
  Object.fromEntries(Object.entries(scores).map(([name, value]) => [`${prefix}${name}`, value]))
