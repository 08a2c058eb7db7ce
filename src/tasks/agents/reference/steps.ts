import type { TranscriptMessage } from '../../transcript.ts'

/** What a tool gave back. A failure is told, not thrown: the agent goes on with it. */
export type Outcome<Value> = { readonly value: Value; readonly text: string; readonly isError?: boolean }

/** Keeps a record of everything the agent does in one turn, while it does it. */
export class Steps {
  readonly #messages: TranscriptMessage[] = []
  readonly #idOf: (step: number) => string
  #count = 0

  constructor(idOf: (step: number) => string) {
    this.#idOf = idOf
  }

  /** Does something and records it as the use of a tool: what was asked of it, and what really came back. */
  async use<Value>(
    name: string,
    given: Readonly<Record<string, unknown>>,
    work: () => Promise<Outcome<Value>>,
  ): Promise<Value> {
    this.#count += 1
    const id = this.#idOf(this.#count)
    this.#messages.push({
      role: 'assistant',
      content: [{ type: 'toolCall', id, name, arguments: given, params: given }],
      stopReason: 'toolUse',
    })
    const { value, text, isError = false } = await work()
    this.#messages.push({
      role: 'toolResult',
      toolCallId: id,
      toolName: name,
      content: [{ type: 'text', text }],
      isError,
    })
    return value
  }

  /** Everything so far and what is said in the end. */
  ended(answer: string): readonly TranscriptMessage[] {
    return [...this.#messages, { role: 'assistant', content: [{ type: 'text', text: answer }], stopReason: 'stop' }]
  }
}
