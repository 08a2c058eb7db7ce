import { z } from 'zod'
import { containedPath } from './parse/fields.ts'

const Count = z.int().nonnegative()
const Text = z.string().nullable()

/** A file of the evidence. Its path must stay inside the evidence folder, because stored paths are opened later. */
const KeptFile = z.strictObject({
  path: z.string().refine((path) => containedPath(path) === path, 'must be a path inside the evidence folder'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
  bytes: Count,
})
export type KeptFile = z.infer<typeof KeptFile>

const Usage = z.strictObject({ input: Count, output: Count, cacheRead: Count, cacheWrite: Count })

const SessionRecord = z.strictObject({
  id: z.string(),
  index: Count,
  prompt: z.string(),
  isFresh: z.boolean(),
  conversationId: Text,
  process: z.int().nullable(),
  /** Messages in the conversation before this prompt; 0 proves that a fresh session started empty. */
  priorMessages: Count.nullable(),
  outcome: z.enum(['answered', 'failed', 'timeout', 'not_reached']),
  problem: Text,
  answer: Text,
  transcript: KeptFile.nullable(),
  toolCalls: Count,
  usage: Usage,
  startedAt: Text,
  endedAt: Text,
})
export type SessionRecord = z.infer<typeof SessionRecord>

const Paths = z.array(z.string()).readonly()
const happened = { at: z.string(), session: z.string() }

/** Events other than the agent's answers, in order. */
const EvidenceEvent = z.discriminatedUnion('kind', [
  z.strictObject({ ...happened, kind: z.literal('files_changed'), written: Paths, removed: Paths }),
  z.strictObject({ ...happened, kind: z.literal('memory_removed'), paths: Paths }),
  /** Facts of the world that the task declares for a session, read before the first session or after the session itself. */
  z.strictObject({
    ...happened,
    kind: z.literal('state_read'),
    when: z.enum(['before', 'after']),
    facts: z.array(z.strictObject({ id: z.string(), holds: z.boolean().nullable(), observed: z.string() })).readonly(),
  }),
  /** A file left out of the evidence, and why: a link, a device, or too large. */
  z.strictObject({ ...happened, kind: z.literal('not_kept'), path: z.string(), reason: z.string() }),
])
export type EvidenceEvent = z.infer<typeof EvidenceEvent>

/** `no-memory`: the memory directory and store are removed before every fresh session except the first. */
const Control = z.enum(['none', 'no-memory'])
export type Control = z.infer<typeof Control>

/** The record of one execution of a task, for graders and judges. Written as `evidence.json`. */
export const Evidence = z.strictObject({
  schemaVersion: z.literal(2),
  taskId: z.string(),
  /** `task.md` in the evidence folder, a copy of the task file; or the original file name if it could not be copied. */
  taskFile: z.string(),
  taskSha256: z.string(),
  repeat: z.int(),
  seed: z.int(),
  control: Control,
  agent: z.strictObject({ name: z.string(), version: z.string(), model: Text }),
  /** How the execution ended, before grading. */
  outcome: z.enum(['done', 'agent_failed', 'agent_timeout', 'infra_error', 'skipped']),
  reason: Text,
  /** False if Ctrl-C or a crash interrupted the work, so that the evidence is incomplete. */
  isComplete: z.boolean(),
  startedAt: z.string(),
  endedAt: z.string(),
  sessions: z.array(SessionRecord).readonly(),
  transcript: KeptFile.nullable(),
  /** The final files of the workspace, below `workspace/`. */
  workspace: z.array(KeptFile).readonly(),
  events: z.array(EvidenceEvent).readonly(),
  usage: Usage,
})
export type Evidence = z.infer<typeof Evidence>
