import type { TranscriptEntry, TranscriptMessage } from '../transcript.ts'

type Boundary = Extract<TranscriptEntry, { readonly type: 'custom' }>['data']

export type TranscribedSession = {
  readonly index: number
  readonly boundary: Boundary
  readonly startedAt: string
  readonly endedAt: string
  /** The prompt and everything after it. */
  readonly messages: readonly TranscriptMessage[]
}

/**
 * The entries of a session: the conversation it belongs to, where the session begins, and what was said. The header is
 * in every session's own file; in the merged one it stands where a conversation begins.
 */
export function transcriptOf({ index, boundary, startedAt, endedAt, messages }: TranscribedSession): {
  readonly header: TranscriptEntry
  readonly entries: readonly TranscriptEntry[]
} {
  const id = (place: number): string => `s${index + 1}-${String(place).padStart(4, '0')}`
  const header = {
    type: 'session',
    version: 3,
    id: boundary.conversationId,
    timestamp: startedAt,
    // Where the workspace was on the machine that ran it means nothing elsewhere.
    cwd: 'workspace',
  } as const
  const opening = {
    type: 'custom',
    id: id(0),
    parentId: null,
    timestamp: startedAt,
    customType: 'boundary',
    data: boundary,
  } as const
  const said = messages.map((message, place) => ({
    type: 'message' as const,
    id: id(place + 1),
    parentId: id(place),
    // When each message came is known for the first and the last only.
    timestamp: place === 0 ? startedAt : endedAt,
    message,
  }))
  return { header, entries: [opening, ...said] }
}

export const asJsonLines = (entries: readonly object[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

export const toolCallsIn = (messages: readonly TranscriptMessage[]): number =>
  messages.reduce(
    (count, { role, content }) =>
      count + (role === 'assistant' ? content.filter(({ type }) => type === 'toolCall').length : 0),
    0,
  )
