import type { TaskRun } from '../report/read-task-run.ts'
import { sessionMessages } from '../report/session-messages.ts'
import type { TranscriptMessage } from '../transcript.ts'

/** One event of a run. Where only its session is known, `time` is null and `between` has the session's start and end. */
type TimelineEvent = {
  readonly event: string
  readonly time: string | null
  readonly between: readonly [string, string] | null
  readonly phase: string
  readonly status: 'started' | 'completed' | 'failed'
  readonly actor: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Everything that happened in a run, in order. */
export const timelineOf = (tasks: readonly TaskRun[]) =>
  tasks.flatMap(eventsOf).map((event, index) => ({ event_id: `evt_${String(index + 1).padStart(4, '0')}`, ...event }))

function eventsOf({ evidence, grade, transcript, task }: TaskRun): readonly TimelineEvent[] {
  const { agent, startedAt, endedAt, outcome, reason, repeat } = evidence
  const about = { task: task.id, repeat }
  const { state, score, gradingVersion } = grade
  const start = { ...about, version: agent.version, model: agent.model }
  const end = { ...about, outcome, ...(reason === null ? {} : { reason }) }
  return [
    at(startedAt, 'agent_start', 'task', 'started', agent.name, start),
    ...evidence.sessions.flatMap((session) => {
      const { id, isFresh, conversationId, priorMessages, process, answer, problem } = session
      if (session.startedAt === null || session.endedAt === null) {
        return [at(endedAt, 'session_not_reached', id, 'failed', 'harness', { ...about, session: id })]
      }
      const span = [session.startedAt, session.endedAt] as const
      const status = session.outcome === 'answered' ? 'completed' : 'failed'
      const begun = { ...about, isFresh, conversationId, priorMessages, process }
      const said = answer === null ? { problem } : { message: shortened(answer) }
      return [
        at(span[0], 'session_start', id, 'started', 'harness', begun),
        at(span[0], 'llm_input', id, 'started', 'user', { message: shortened(session.prompt) }),
        ...sessionMessages(transcript, id)
          .slice(1)
          .flatMap((message) =>
            messageEvents(message, agent.name).map((event) => ({ ...event, between: span, phase: id })),
          ),
        ...evidence.events
          .filter((event) => event.session === id)
          .map(({ at: time, kind, session: _, ...details }) => at(time, kind, id, 'completed', 'workspace', details)),
        at(span[1], 'session_end', id, status, agent.name, { ...about, outcome: session.outcome, ...said }),
      ]
    }),
    at(endedAt, 'agent_end', 'task', outcome === 'done' ? 'completed' : 'failed', agent.name, end),
    at(grade.gradedAt, 'graded', 'grading', state === 'scored' ? 'completed' : 'failed', 'harness', {
      ...{ ...about, state, score, gradingVersion },
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
): TimelineEvent => ({ event, time, between: null, phase, status, actor, details })

type MessageEvent = Omit<TimelineEvent, 'between' | 'phase'>

/** What a message did, in the order of its blocks. Thinking is left out. */
function messageEvents(message: TranscriptMessage, agent: string): readonly MessageEvent[] {
  if (message.role === 'user') return []
  if (message.role === 'toolResult') {
    const text = shortened(message.content.map((block) => block.text).join('\n'))
    const details = { tool: message.toolName, call: message.toolCallId, message: text }
    const status = message.isError ? 'failed' : 'completed'
    return [{ event: 'tool_result', time: null, status, actor: 'tool', details }]
  }
  return message.content.flatMap((block): readonly MessageEvent[] => {
    if (block.type === 'thinking') return []
    if (block.type === 'text') {
      const details = { message: shortened(block.text) }
      return [{ event: 'llm_output', time: null, status: 'completed', actor: agent, details }]
    }
    const details = { tool: block.name, call: block.id, arguments: shortened(JSON.stringify(block.arguments)) }
    return [{ event: 'tool_call', time: null, status: 'started', actor: agent, details }]
  })
}

const longestDetail = 2_000

const shortened = (text: string): string =>
  text.length <= longestDetail ? text : `${text.slice(0, longestDetail)} … (${text.length} characters in all)`
