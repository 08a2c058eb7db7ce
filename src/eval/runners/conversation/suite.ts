import type { SystemTurn } from '../../system/system.ts'

/** The harness renames sessions, because a suite's own names may reveal the relevant sessions. */
export type SuiteTurn = Omit<SystemTurn, 'user' | 'scope'>

/** The expected result of a question. The system under test never sees it. */
type Gold = {
  /** Ids of the turns with the evidence, and their sessions. */
  readonly turns: ReadonlySet<string>
  readonly sessions: ReadonlySet<string>
  /** Ids of turns that the question itself reveals. They are removed from every ranking before scoring. */
  readonly given?: ReadonlySet<string>
  /** The last session with evidence. If a fact changed, this session has its latest state. */
  readonly newest?: string
  /** Alternative strings; the current fact contains one of them. */
  readonly answers?: readonly string[]
  /** Ids of other turns that help: neither required nor wrong. */
  readonly also?: ReadonlySet<string>
  /** Ids of turns that are outdated. */
  readonly earlier?: ReadonlySet<string>
  /** Ids of turns whose statement depends on an outdated turn. */
  readonly dependent?: ReadonlySet<string>
}

export type SuiteQuestion = {
  readonly id: string
  /** A system sees only the text and the time. */
  readonly text: string
  readonly askedAt: string
  readonly group: string
  readonly gold: Gold
  /** Whether nothing in the conversation answers the question, so that showing nothing is right. */
  readonly expectsSilence: boolean
  /** Whether showing nothing is right although there is something to find. */
  readonly isTrap?: boolean
}

/** One conversation, or one agent's trajectory, with the questions about it. Each gets a separate memory. */
export type SuiteConversation = {
  readonly id: string
  readonly turns: readonly SuiteTurn[]
  readonly questions: readonly SuiteQuestion[]
}

/** A turn that a system found, with the length of the text or passage that is shown. */
export type FoundTurn = Pick<SuiteTurn, 'id' | 'session'> & { readonly characters: number }

export type SuiteAnswer = {
  /** Best first. */
  readonly found: readonly FoundTurn[]
  /** Ids of the turns in a separate block: standing instructions that apply to every question. */
  readonly standing: readonly string[]
  /** The lines shown unasked, in order; null for a system that only searches. */
  readonly shown: readonly (FoundTurn & { readonly text: string; readonly isEarlier: boolean })[] | null
}

/** Called with the number of bytes or items read so far. */
export type ReadProgress = (label: string, done: number, total: number) => void

/** A benchmark of conversations: how its files are read, and how an answer is scored. */
export type Suite = {
  readonly name: string
  /** The number of questions or conversations in each published size of the data. Null for data that people write themselves. */
  readonly published: { readonly unit: 'questions' | 'conversations'; readonly counts: readonly number[] } | null
  readonly read: (path: string, onProgress?: ReadProgress) => Iterable<SuiteConversation>
  /** The scores of one answer. A score that does not apply is null, never zero. */
  readonly score: (question: SuiteQuestion, answer: SuiteAnswer, conversation: SuiteConversation) => Scores
  /** The first of these scores that applies decides whether a case passed: it must be 1, or 0 if it is an error rate. */
  readonly decisive: readonly string[]
  /** Why an answer to a question with evidence failed. Default: the turns that are missing from the first results. */
  readonly failure?: (question: SuiteQuestion, answer: SuiteAnswer) => readonly string[]
}

export type Scores = Record<string, number | null>

export const turnId = (session: string, index: number): string => `${session}-${index}`

export const idOf = ({ id }: Pick<FoundTurn, 'id'>): string => id

/** The sessions of a ranking, ordered by their best turn. */
export const sessionsOf = (found: readonly Pick<FoundTurn, 'session'>[]): readonly string[] => [
  ...new Set(found.map(({ session }) => session)),
]

/** The share of `gold` that is among the first `k` of a ranking. */
export const recallAt = (ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null =>
  gold.size === 0 ? null : ranked.slice(0, k).filter((key) => gold.has(key)).length / gold.size

/** 1 if any of `gold` is among the first `k`. */
export const anyAt = (ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null =>
  gold.size === 0 ? null : Number(ranked.slice(0, k).some((key) => gold.has(key)))

/** 1 if all of `gold` are among the first `k`. */
export function allAt(ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null {
  const recall = recallAt(ranked, gold, k)
  return recall === null ? null : Number(recall === 1)
}

/** One divided by the rank of the first of `gold`; 0 if none was found. */
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
