import type { Usage } from '../models/chat-model.ts'

/** A file of the evidence, by its path below the evidence folder. */
export type KeptFile = { readonly path: string; readonly sha256: string; readonly bytes: number }

export type SessionOutcome = 'answered' | 'failed' | 'timeout' | 'not_reached'

/** What happened in one session. */
export type SessionRecord = {
  readonly id: string
  readonly index: number
  readonly prompt: string
  readonly isFresh: boolean
  readonly conversationId: string | null
  readonly process: number | null
  /** Messages in the conversation before this prompt; 0 proves that a fresh session was fresh. */
  readonly priorMessages: number | null
  readonly outcome: SessionOutcome
  /** What went wrong, for a person. */
  readonly problem: string | null
  readonly answer: string | null
  readonly transcript: KeptFile | null
  readonly toolCalls: number
  readonly usage: Usage
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly deadlineMs: number | null
}

/** Something that happened besides what the agent said, in order. */
export type EvidenceEvent = { readonly at: string; readonly session: string } & (
  | {
      /** What a session changed in the workspace. What it wrote is kept below `changes/`. */
      readonly kind: 'files_changed'
      readonly written: readonly { readonly path: string; readonly kept: KeptFile }[]
      readonly removed: readonly string[]
    }
  /** The control took the memory away before this session. */
  | { readonly kind: 'memory_removed'; readonly paths: readonly string[] }
  /** A file that is not part of the evidence, and why: a link, a device, too large. */
  | { readonly kind: 'not_kept'; readonly path: string; readonly reason: string }
)

/** How carrying out the task ended, before anything is graded. */
export type WorkOutcome = 'done' | 'agent_failed' | 'agent_timeout' | 'infra_error' | 'skipped'

/** `no-memory`: the memory directory and store are removed before every fresh session but the first. */
export const controls = ['none', 'no-memory'] as const
export type Control = (typeof controls)[number]

/** Everything kept of one task carried out once: what graders, judges and people look at. Written as `evidence.json`. */
export type Evidence = {
  readonly schemaVersion: 1
  readonly taskId: string
  /** `task.md` in the evidence folder: the file as it was. Its own name where it could not be kept. */
  readonly taskFile: string
  readonly taskSha256: string
  readonly repeat: number
  readonly seed: number
  readonly control: Control
  readonly agent: { readonly name: string; readonly version: string; readonly model: string | null }
  readonly outcome: WorkOutcome
  readonly reason: string | null
  /** False when the work was cut short, by Ctrl-C or worse: what is here is what there was by then. */
  readonly isComplete: boolean
  readonly startedAt: string
  readonly endedAt: string
  readonly sessions: readonly SessionRecord[]
  /** All sessions one after the other, with boundaries. */
  readonly transcript: KeptFile | null
  /** What lay in the workspace in the end, below `workspace/`. */
  readonly workspace: readonly KeptFile[]
  readonly events: readonly EvidenceEvent[]
  readonly usage: Usage
}
