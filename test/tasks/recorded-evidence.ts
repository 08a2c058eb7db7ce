import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { noUsage } from '../../src/models/chat-model.ts'
import type { Evidence, KeptFile, SessionRecord } from '../../src/tasks/evidence.ts'
import type { TaskSession } from '../../src/tasks/parse/fields.ts'
import type { Task } from '../../src/tasks/task.ts'
import type { TranscriptEntry, TranscriptMessage } from '../../src/tasks/transcript.ts'

/** A recorded session: the prompt, the tool calls and the answer. */
export type Played = {
  readonly id: string
  readonly prompt: string
  readonly isFresh?: boolean
  readonly answer: string | null
  /** Tool calls before the answer, each with its result. */
  readonly calls?: readonly {
    readonly name: string
    readonly args: Record<string, unknown>
    readonly result?: string
  }[]
}

const at = '2026-03-06T10:00:00.000Z'

/** Writes the evidence of a task into a folder, like the runner. */
export function keptEvidence(
  folder: string,
  { sessions = [], files = {} }: { readonly sessions?: readonly Played[]; readonly files?: Record<string, string> },
): Evidence {
  const keep = (path: string, content: string): KeptFile => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { path, sha256, bytes: Buffer.byteLength(content) }
  }
  const workspace = Object.entries(files).map(([path, content]) => keep(`workspace/${path}`, content))
  let conversation = 0
  const parts = sessions.map((played, index) => {
    if (played.isFresh || index === 0) conversation += 1
    const entries = entriesOf(played, index, `conversation-${conversation}`)
    const record: SessionRecord = {
      id: played.id,
      index,
      prompt: played.prompt,
      isFresh: played.isFresh ?? index === 0,
      conversationId: `conversation-${conversation}`,
      process: null,
      priorMessages: played.isFresh || index === 0 ? 0 : 2,
      outcome: played.answer === null ? 'failed' : 'answered',
      problem: null,
      answer: played.answer,
      transcript: keep(`sessions/${index + 1}-${played.id}.jsonl`, jsonl(entries)),
      toolCalls: played.calls?.length ?? 0,
      usage: noUsage,
      startedAt: at,
      endedAt: at,
    }
    return { entries, record }
  })
  return {
    schemaVersion: 2,
    taskId: 'task_sample',
    taskFile: 'task_sample.md',
    taskSha256: '0'.repeat(64),
    repeat: 0,
    seed: 1,
    control: 'none',
    agent: { name: 'played', version: '1', model: null },
    outcome: 'done',
    reason: null,
    isComplete: true,
    startedAt: at,
    endedAt: at,
    sessions: parts.map(({ record }) => record),
    transcript: keep('transcript.jsonl', jsonl(parts.flatMap(({ entries }) => entries))),
    workspace,
    events: [],
    usage: noUsage,
  }
}

const jsonl = (entries: readonly object[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

function entriesOf(played: Played, index: number, conversationId: string): readonly TranscriptEntry[] {
  const messages: TranscriptMessage[] = [{ role: 'user', content: [{ type: 'text', text: played.prompt }] }]
  for (const [number, { name, args, result = '' }] of (played.calls ?? []).entries()) {
    const id = `call-${index}-${number}`
    messages.push(
      { role: 'assistant', content: [{ type: 'toolCall', id, name, arguments: args, params: args }] },
      { role: 'toolResult', toolCallId: id, toolName: name, content: [{ type: 'text', text: result }], isError: false },
    )
  }
  if (played.answer !== null) messages.push({ role: 'assistant', content: [{ type: 'text', text: played.answer }] })
  const boundary: TranscriptEntry = {
    type: 'custom',
    id: `boundary-${index}`,
    parentId: null,
    timestamp: at,
    customType: 'boundary',
    data: { session: played.id, conversationId, isFresh: played.isFresh ?? index === 0, priorMessages: 0 },
  }
  return [
    boundary,
    ...messages.map((message, number) => ({
      type: 'message' as const,
      id: `${index}-${number}`,
      parentId: null,
      timestamp: at,
      message,
    })),
  ]
}

/** A task with these sessions and other fields. */
export function taskWith(sessions: readonly TaskSession[], rest: Partial<Task> = {}): Task {
  return {
    id: 'task_sample',
    name: 'Sample',
    category: 'memory',
    gradingType: 'automated',
    timeoutSeconds: 60,
    workspaceFiles: [],
    gradingWeights: { automated: 0.5, judge: 0.5 },
    prerequisites: [],
    stateChecks: [],
    sessions,
    prompt: '',
    expectedBehavior: '',
    criteria: [],
    automatedChecks: null,
    rubric: null,
    answerChecks: [],
    draw: {},
    frontMatter: {},
    text: '',
    file: 'task_sample.md',
    sha256: '0'.repeat(64),
    warnings: [],
    ...rest,
  }
}
