import { noUsage, type Usage } from '../models/chat-model.ts'
import type { TranscriptMessage } from './transcript.ts'

/** What an agent did with one prompt. */
export type Turn = {
  /** What it did and said after the prompt, in order; the prompt itself is not among them. */
  readonly messages: readonly TranscriptMessage[]
  /** What it said in the end. */
  readonly answer: string
  readonly usage: Usage
}

/** One conversation. Two conversations share the workspace and nothing else. */
export type Conversation = {
  readonly id: string
  /** The process that holds it, where there is one. */
  readonly process: number | null
  /** How many messages it holds: 0 in one that has just begun. */
  readonly messageCount: () => number
  /**
   * Rejects with an `AgentFailure` when the agent fails. When time is up it rejects with the signal's reason, or with a
   * failure that holds what was done until then.
   */
  send(prompt: string, signal: AbortSignal): Promise<Turn>
  close(): Promise<void>
}

/** An agent at work on one task. */
export type AgentAtWork = {
  open(): Promise<Conversation>
  /** Ends every process it started. */
  stop(): Promise<void>
}

export type Agent = {
  readonly name: string
  /** Both may become known only once it has been asked whether it is available, or has answered. */
  readonly version: string
  readonly model: string | null
  /** Why it cannot be used here; null when it can. */
  unavailable(): Promise<string | null>
  start(place: { readonly workspace: string; readonly signal: AbortSignal }): Promise<AgentAtWork>
}

/** `agent`: it broke or gave up. `infrastructure`: it was never reached (no program, no endpoint, no key). */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure'
  readonly fault: 'agent' | 'infrastructure'
  /** What it did and said before it failed, so that the record has it. */
  readonly messages: readonly TranscriptMessage[]
  readonly usage: Usage

  constructor(
    fault: 'agent' | 'infrastructure',
    message: string,
    details: {
      readonly cause?: unknown
      readonly messages?: readonly TranscriptMessage[]
      readonly usage?: Usage
    } = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.fault = fault
    this.messages = details.messages ?? []
    this.usage = details.usage ?? noUsage
  }
}
