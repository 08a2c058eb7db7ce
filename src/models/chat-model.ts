/** A tool that a model may call. `parameters` is a JSON Schema of an object. */
export type ToolDefinition = {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export type ToolCall = {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** What the model wrote as arguments, if that is not a JSON object; `arguments` is then empty. */
  readonly malformed?: string
}

export type ChatMessage =
  | Readonly<{ role: 'user'; text: string }>
  | Readonly<{ role: 'assistant'; text: string; toolCalls: readonly ToolCall[] }>
  | Readonly<{ role: 'tool'; callId: string; name: string; text: string; isError: boolean }>

/** Token counts from the endpoint; 0 for counts that it does not report. */
export type Usage = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
})

export type ChatRequest = {
  readonly system?: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ToolDefinition[]
  /** Requests JSON of this schema. The caller must still validate the answer. */
  readonly schema?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
  readonly temperature?: number
  readonly maxOutputTokens?: number
  readonly signal: AbortSignal
}

export type ChatReply = {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly stopReason: 'end' | 'tools' | 'length' | 'refusal' | 'other'
  readonly usage: Usage
  /** The model that answered, as the endpoint names it. */
  readonly model: string
}

/** A model at an endpoint. If the endpoint cannot be used, `reply` throws a MemoryError with the code `unavailable`. */
export type ChatModel = {
  readonly provider: 'openai' | 'anthropic'
  readonly model: string
  reply(request: ChatRequest): Promise<ChatReply>
}
