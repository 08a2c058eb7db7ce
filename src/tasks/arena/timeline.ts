import type { TaskRun } from '../report/read-task-run.ts'
import { sessionMessages } from '../report/session-messages.ts'
import type { TranscriptMessage } from '../transcript.ts'

/**
 * Something that happened. `time` is when; where only the session is known, it is null and `between` says from when to
 * when. No time is made up.
 */
export type TimelineEvent = {
  readonly event_id: string
  readonly event: string
  readonly time: string | null
  readonly between: readonly [string, string] | null
  readonly phase: string
  readonly status: 'started' | 'completed' | 'failed'
  readonly actor: string
  readonly details: Readonly<Record<string, unknown>>
}

type Happening = Omit<TimelineEvent, 'event_id'>

const longestDetail = 2_000

/** The whole course of a run, in order. */
export function timelineOf(tasks: readonly TaskRun[]): readonly TimelineEvent[] {
  return tasks.flatMap(ofTask).map((happening, index) => ({
    event_id: `evt_${String(index + 1).padStart(4, '0')}`,
    ...happening,
  }))
}

function ofTask({ evidence, grade, transcript, task }: TaskRun): readonly Happening[] {
  const { agent, startedAt, endedAt, outcome, reason, sessions, repeat } = evidence
  const about = { task: task.id, repeat }
  const ended = outcome === 'done' ? 'completed' : 'failed'
  return [
    at(startedAt, 'agent_start', 'task', 'started', agent.name, {
      ...about,
      version: agent.version,
      model: agent.model,
    }),
    ...sessions.flatMap((session) => {
      if (session.startedAt === null || session.endedAt === null) {
        return [at(endedAt, 'session_not_reached', session.id, 'failed', 'harness', { ...about, session: session.id })]
      }
      const span = [session.startedAt, session.endedAt] as const
      const { id, isFresh, conversationId, priorMessages, process, answer } = session
      const changes = evidence.events.filter((event) => event.session === id)
      return [
        at(span[0], 'session_start', id, 'started', 'harness', {
          ...about,
          isFresh,
          conversationId,
          priorMessages,
          process,
        }),
        at(span[0], 'llm_input', id, 'started', 'user', { message: shortened(session.prompt) }),
        ...sessionMessages(transcript, id)
          .slice(1)
          .flatMap((message) => messageEvents(message, id, agent.name, span)),
        ...changes.map(({ at: time, kind, ...details }) =>
          at(time, kind, id, 'completed', 'workspace', withoutSession(details)),
        ),
        at(span[1], 'session_end', id, session.outcome === 'answered' ? 'completed' : 'failed', agent.name, {
          ...about,
          outcome: session.outcome,
          ...(answer === null ? { problem: session.problem } : { message: shortened(answer) }),
        }),
      ]
    }),
    at(endedAt, 'agent_end', 'task', ended, agent.name, { ...about, outcome, ...(reason === null ? {} : { reason }) }),
    at(grade.gradedAt, 'graded', 'grading', grade.state === 'scored' ? 'completed' : 'failed', 'harness', {
      ...about,
      state: grade.state,
      score: grade.score,
      gradingVersion: grade.gradingVersion,
    }),
  ]
}

const at = (
  time: string,
  event: string,
  phase: string,
  status: TimelineEvent['status'],
  actor: string,
  details: TimelineEvent['details'],
): Happening => ({ event, time, between: null, phase, status, actor, details })

const withoutSession = ({ session: _, ...details }: Readonly<Record<string, unknown>>): TimelineEvent['details'] =>
  details

function messageEvents(
  message: TranscriptMessage,
  phase: string,
  agent: string,
  between: readonly [string, string],
): readonly Happening[] {
  const within = (
    event: string,
    actor: string,
    details: TimelineEvent['details'],
    status: TimelineEvent['status'] = 'completed',
  ): Happening => ({ event, time: null, between, phase, status, actor, details })
  if (message.role === 'toolResult') {
    const text = shortened(message.content.map((block) => block.text).join('\n'))
    const details = { tool: message.toolName, call: message.toolCallId, message: text }
    return [within('tool_result', 'tool', details, message.isError ? 'failed' : 'completed')]
  }
  if (message.role === 'user') return []
  return message.content.flatMap((block) => {
    if (block.type === 'text') return [within('llm_output', agent, { message: shortened(block.text) })]
    if (block.type === 'thinking') return []
    const given = shortened(JSON.stringify(block.arguments))
    return [within('tool_call', agent, { tool: block.name, call: block.id, arguments: given }, 'started')]
  })
}

const shortened = (text: string): string =>
  text.length <= longestDetail ? text : `${text.slice(0, longestDetail)} … (${text.length} characters in all)`
