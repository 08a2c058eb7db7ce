import type { ActorKind } from './belief.ts'

/** Who spoke in a turn: the person (or another person in a dialogue), the assistant, or a tool that the assistant used. */
export const turnRoles = ['user', 'assistant', 'tool'] as const
export type TurnRole = (typeof turnRoles)[number]

/** The source of a turn's words. Recall may show a person's words unasked; those of documents and tools are only searched. */
export type TurnOrigin = ActorKind

/** One message of a conversation, or one step of a tool trajectory, word for word. Never interpreted, never superseded. */
export type Turn = {
  readonly id: string
  readonly user: string
  /** The id that the host gave the conversation. */
  readonly session: string
  /** The turn's position in the conversation, from 0. Increases if an earlier turn of the conversation is stored after this one. */
  readonly index: number
  readonly role: TurnRole
  /** The speaker's name, if it is known. */
  readonly speaker: string | null
  /** When it was said; ISO 8601 in UTC. */
  readonly at: string
  /** The UTC offset, in minutes, with which the time arrived; null if it arrived in UTC or without an offset. */
  readonly utcOffset: number | null
  readonly scope: string
  /** The program that the turn came through, such as `claude-code`, `cli` or `import`. */
  readonly host: string
  readonly origin: TurnOrigin
  /** Word for word, except for secrets, which are masked. */
  readonly text: string
  /**
   * The statements that the person may have pasted, found when the turn is stored. Null if an earlier version stored the turn
   * and nothing has searched its text for them yet.
   */
  readonly doubtful: readonly TextRange[] | null
}

/** A range of offsets in a text, without the character at `end`. */
export type TextRange = readonly [start: number, end: number]

/**
 * The attribution, such as "reported by an agent", for a turn with the role `user` that a program stored, because its words may not be the
 * person's. Null for any other turn.
 */
export function reporterOf({ role, origin, host }: Pick<Turn, 'role' | 'origin'> & { host?: string }): string | null {
  if (role !== 'user' || origin === 'person' || origin === 'document') return null
  return host === undefined
    ? `reported by ${origin === 'agent' ? 'an' : 'a'} ${origin}`
    : `reported by the ${origin} ${host}`
}

/** A turn to store. */
export type NewTurn = Omit<Turn, 'index'> & {
  /** The position in the conversation, if the host reports it; otherwise the time decides. */
  readonly index: number | null
  /** The host's own id of the message, if it has one. */
  readonly messageId: string | null
}

/** The fields that distinguish turns with the same words. */
export type TurnIdentity = {
  readonly messageId: string | null
  readonly index: number | null
  readonly at: string
  /** The person's last message before it in the same conversation. */
  readonly previous: string | null
}

/** Max time between two arrivals of one message. After a longer time, the same words are a repetition, such as a second "go on". */
const sameMomentMs = 10_000

/**
 * Whether two turns of one conversation with the same role and words are the same turn. If the host gave both a message id, the ids decide;
 * otherwise the same position, the same previous message by the person, or almost the same time is enough.
 */
export function isSameTurn(a: TurnIdentity, b: TurnIdentity): boolean {
  if (a.messageId !== null && b.messageId !== null) return a.messageId === b.messageId
  if (a.index !== null && b.index !== null && a.index === b.index) return true
  return a.previous === b.previous || Math.abs(Date.parse(a.at) - Date.parse(b.at)) <= sameMomentMs
}

/** Max characters of a session's opening in lists. */
export const maxOpeningLength = 200

/** False for commands (`/compact`, but not the path `/etc/hosts`) and for text that a program has put in tags. */
export const isSaidByPerson = (text: string): boolean =>
  !/^\s*\/[a-z][\w:-]*(?:\s|$)/i.test(text) && !/^\s*<[a-z][\w-]*>[\s\S]*<\/[\w-]+>\s*$/i.test(text)

/** Gemini CLI puts the output of the session-start hook before the first prompt, escaped and in a tag. */
export const withoutHookContext = (prompt: string): string =>
  prompt.replace(/^<hook_context>[^<]*<\/hook_context>\s*/, '')
