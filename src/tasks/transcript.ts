import type { Usage } from '../models/chat-model.ts'

export type TextBlock = { readonly type: 'text'; readonly text: string }
type ThinkingBlock = { readonly type: 'thinking'; readonly thinking: string }
/** `arguments` and `params` are equal: some graders read one, some the other. */
export type ToolCallBlock = {
  readonly type: 'toolCall'
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly params: Readonly<Record<string, unknown>>
}

/** A message in the format that graders expect. `content` is always a list of blocks. */
export type TranscriptMessage =
  | { readonly role: 'user'; readonly content: readonly TextBlock[] }
  | {
      readonly role: 'assistant'
      readonly content: readonly (TextBlock | ThinkingBlock | ToolCallBlock)[]
      readonly model?: string
      readonly provider?: string
      readonly stopReason?: string
      readonly usage?: Usage & { readonly totalTokens: number }
    }
  | {
      readonly role: 'toolResult'
      readonly toolCallId: string
      readonly toolName: string
      readonly content: readonly TextBlock[]
      readonly isError: boolean
    }

type Boundary = {
  readonly session: string
  readonly conversationId: string
  readonly isFresh: boolean
  readonly priorMessages: number
}

type Linked = { readonly id: string; readonly parentId: string | null; readonly timestamp: string }

/** One line of a transcript. `session` opens each conversation; `custom` marks the start of a session. */
export type TranscriptEntry =
  | {
      readonly type: 'session'
      readonly version: 3
      readonly id: string
      readonly timestamp: string
      readonly cwd: string
    }
  | (Linked & { readonly type: 'message'; readonly message: TranscriptMessage })
  | (Linked & { readonly type: 'custom'; readonly customType: 'boundary'; readonly data: Boundary })
