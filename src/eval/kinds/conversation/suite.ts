import type { TurnRole } from '../../../beliefs/turn.ts'

/** A message or a tool step as the system under test sees it. No label of the suite is in it. */
export type SuiteTurn = {
  /** Named by the harness, because the names of a suite may tell which sessions matter. */
  readonly session: string
  /** Its place in the session, from 0. */
  readonly index: number
  readonly role: TurnRole
  readonly speaker?: string
  readonly at: string
  readonly text: string
}

/** What a question is scored by. The system under test never sees it. */
export type Gold = {
  /** Keys of the turns that hold the evidence, and the sessions they stand in. */
  readonly turns: ReadonlySet<string>
  readonly sessions: ReadonlySet<string>
  /** Keys that the question itself gives away. They are taken out of every ranking before it is scored. */
  readonly given?: ReadonlySet<string>
  /** The session that holds the latest state, where a fact changed. */
  readonly newest?: string
  /** Strings of which the current fact holds one. */
  readonly answers?: readonly string[]
}

export type SuiteQuestion = {
  readonly id: string
  /** The text and the time are all that a system is given. */
  readonly text: string
  readonly askedAt: string
  /** The type of the question, for the tables. */
  readonly group: string
  readonly gold: Gold
  /** Nothing in the conversation answers it: the right push is none. */
  readonly expectsSilence: boolean
}

/** One conversation, or one agent's trajectory, with the questions about it. Each is a memory of its own. */
export type Conversation = {
  readonly id: string
  readonly turns: readonly SuiteTurn[]
  readonly questions: readonly SuiteQuestion[]
}

/** One turn that a system found. */
export type FoundTurn = { readonly session: string; readonly index: number }

/** What a system answered to one question. */
export type SuiteAnswer = {
  /** Best first. */
  readonly found: readonly FoundTurn[]
  /** Turns of a block beside the ranking: standing instructions that hold whatever is asked. */
  readonly standing: readonly FoundTurn[]
  /** Whether something would be put into the context unasked; null for a system that only searches. */
  readonly pushes: boolean | null
}

/** A public benchmark of conversations: how its files are read, and how an answer is scored. */
export type Suite = {
  readonly name: string
  readonly read: (path: string) => Iterable<Conversation>
  /** What one answer is worth. What does not apply is null and never becomes zero. */
  readonly score: (question: SuiteQuestion, answer: SuiteAnswer, conversation: Conversation) => Scores
  /** The score that decides whether a case passed: it must be 1. */
  readonly decisive: string
}

export type Scores = Record<string, number | null>

export const keyOf = ({ session, index }: FoundTurn): string => `${session}#${index}`

/** The sessions of a ranking in the order of their best turn. */
export const sessionsOf = (found: readonly FoundTurn[]): readonly string[] => [
  ...new Set(found.map(({ session }) => session)),
]
