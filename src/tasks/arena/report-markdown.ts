import type { EvidenceEvent, SessionRecord } from '../evidence.ts'
import { coverageOf, meanScores } from '../report/coverage.ts'
import type { ReadTaskRun, TaskRun } from '../report/read-task-run.ts'
import { sessionMessages } from '../report/session-messages.ts'

const figure = (value: number | null): string => (value === null ? 'not graded' : value.toFixed(3))

/** The report for people: every statement in it comes from the evidence or the grade. */
export function reportMarkdown(whole: ReadTaskRun): string {
  const { run, tasks, evidenceRun } = whole
  const grades = tasks.map(({ grade }) => grade)
  const { graded, tasks: total } = coverageOf(grades)
  const means = meanScores(grades)
  const agent = tasks[0]?.evidence.agent
  const names = [...new Set(tasks.map(({ task }) => task.name))]
  return [
    `# ${names.length === 1 ? names[0] : `${names.length} tasks`}: what ${agent?.name ?? 'the agent'} did`,
    '',
    `- Run: \`${run.runId}\`${evidenceRun === run.runId ? '' : `, which grades the evidence of \`${evidenceRun}\` again`}`,
    `- Agent: ${agent?.name ?? 'unknown'} ${agent?.version ?? ''}, ${agent?.model ? `model ${agent.model}` : 'no model'}`,
    `- Score: ${figure(means.score)} over ${graded} of ${total}; automated ${figure(means.automatedScore)}, answers ${figure(means.answerScore)}, recall from earlier sessions ${figure(means.recallScore)}, judge ${figure(means.judgeScore)}`,
    `- Work: ${tasks.reduce((sum, { evidence }) => sum + durationOf(evidence), 0)} ms, ${tasks.flatMap(toolNames).length} tool calls`,
    '',
    ...tasks.flatMap((task) => [...taskPart(task, tasks.length > 1), '']),
  ].join('\n')
}

function taskPart(one: TaskRun, isOneOfMany: boolean): readonly string[] {
  const { task, evidence } = one
  const depth = isOneOfMany ? '###' : '##'
  const section = (name: string, lines: readonly string[]): readonly string[] => [`${depth} ${name}`, '', ...lines, '']
  const title = isOneOfMany ? [`## ${task.name} (\`${task.id}\`, repeat ${evidence.repeat})`, ''] : []
  return [
    ...title,
    ...section('Understanding', understanding(one)),
    ...section(
      'Sessions',
      evidence.sessions.flatMap((session) => sessionPart(session, one, depth)),
    ),
    ...section('Evidence', evidencePart(one)),
    ...section('Self-assessment', assessment(one)),
    ...section(
      'Limits',
      limits(one).map((line) => `- ${line}`),
    ),
  ]
}

function understanding({ task, grade }: TaskRun): readonly string[] {
  const { sessions } = task
  const fresh = sessions.filter(({ isFresh }, index) => isFresh && index > 0).map(({ id }) => `"${id}"`)
  const asked = grade.checks.filter(({ kind, isRecall }) => kind === 'fact' && isRecall)
  const unknown = grade.checks.filter(({ kind }) => kind === 'unknown')
  return [
    `${sessions.length === 1 ? 'One session' : `${sessions.length} sessions`} (${sessions.map(({ id }) => `"${id}"`).join(', ')}) in one workspace, with ${task.timeoutSeconds} s for all of them.${fresh.length === 0 ? '' : ` ${fresh.join(', ')} ${fresh.length === 1 ? 'begins' : 'begin'} a new conversation, so what is known there must have been kept.`}`,
    ...(asked.length === 0
      ? []
      : ['', `To be remembered: ${asked.map(({ id, expected }) => `${id} (${expected})`).join('; ')}.`]),
    ...(unknown.length === 0 ? [] : ['', `Never told, so to be admitted: ${unknown.map(({ id }) => id).join(', ')}.`]),
    ...(task.workspaceFiles.length === 0
      ? []
      : [
          '',
          `In the workspace from the beginning: ${task.workspaceFiles.map(({ path }) => `\`${path}\``).join(', ')}.`,
        ]),
  ]
}

function sessionPart(
  session: SessionRecord,
  { evidence, grade, transcript }: TaskRun,
  depth: string,
): readonly string[] {
  const { id, index, isFresh, conversationId, priorMessages, process, outcome, problem, startedAt, endedAt } = session
  const took = startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt)
  const kind = index === 0 ? 'first' : isFresh ? 'fresh' : 'same conversation'
  const calls = callsIn(transcript, id)
  const failed = grade.checks.filter((check) => check.session === id && !check.passed)
  const changes = evidence.events.filter((event) => event.session === id).map(eventText)
  return [
    `${depth}# ${index + 1}. ${id} (${kind})`,
    '',
    `- Conversation \`${conversationId ?? 'none'}\`, ${priorMessages ?? 'an unknown number of'} earlier messages${process === null ? '' : `, process ${process}`}; ${startedAt ?? 'not begun'}${took === null ? '' : `, ${took} ms`}; ${outcome}${problem === null ? '' : `: ${problem}`}`,
    ...(calls.length === 0 ? ['- No tool was called.'] : [`- Tools: ${calls.join('; ')}`]),
    ...changes.map((change) => `- ${change}`),
    ...failed.map(({ id: check, expected, found }) => `- Missed ${check}: expected ${expected}; found ${found}`),
    '',
    ...quote('Asked', session.prompt),
    '',
    ...(session.answer === null || session.answer === ''
      ? ['There was no answer.']
      : quote('Answered', session.answer)),
    '',
  ]
}

const quote = (label: string, text: string): readonly string[] => [
  `${label}:`,
  '',
  ...text.split('\n').map((line) => `> ${line}`.trimEnd()),
]

const longestArguments = 160

const callsIn = (transcript: TaskRun['transcript'], session: string): readonly string[] =>
  sessionMessages(transcript, session).flatMap((message) => {
    if (message.role !== 'assistant') return []
    return message.content.flatMap((block) => {
      if (block.type !== 'toolCall') return []
      const given = JSON.stringify(block.arguments)
      return [`\`${block.name}\` ${given.length > longestArguments ? `${given.slice(0, longestArguments)}…` : given}`]
    })
  })

const mostFiles = 6
const depthOf = (path: string): number => path.split('/').length

function eventText(event: EvidenceEvent): string {
  switch (event.kind) {
    case 'files_changed': {
      // What lies highest is what people look at first.
      const written = event.written.toSorted((one, other) => depthOf(one.path) - depthOf(other.path))
      const shown = [
        ...written.map(({ path, kept }) => `\`${path}\` (${kept.bytes} bytes)`),
        ...event.removed.map((path) => `\`${path}\` removed`),
      ]
      const more = shown.length > mostFiles ? ` and ${shown.length - mostFiles} more` : ''
      return `Files: ${shown.slice(0, mostFiles).join(', ')}${more}`
    }
    case 'memory_removed':
      return `The control removed the memory before this session: ${event.paths.join(', ') || 'there was none'}`
    case 'not_kept':
      return `Not kept: \`${event.path}\`, ${event.reason}`
  }
}

function evidencePart({ evidence, grade }: TaskRun): readonly string[] {
  const files = [
    ...evidence.sessions.flatMap(({ transcript }) => transcript ?? []),
    ...(evidence.transcript === null ? [] : [evidence.transcript]),
    ...evidence.workspace,
  ]
  return [
    `Kept in \`${grade.evidence}\` of the eval store; task file sha256 \`${evidence.taskSha256}\`, seed ${evidence.seed}.`,
    ...table(
      ['file', 'bytes', 'sha256'],
      files.map(({ path, bytes, sha256 }) => [path, String(bytes), `\`${sha256}\``]),
    ),
  ]
}

function assessment({ grade }: TaskRun): readonly string[] {
  const passed = grade.checks.filter((check) => check.passed).length
  const rows = grade.criteria.map(({ part, name, score, weight, reason }) => [
    part,
    name,
    weight === null ? '' : `${Math.round(weight * 100)} %`,
    score.toFixed(2),
    reason,
  ])
  return [
    `State \`${grade.state}\`${grade.reason === null ? '.' : `: ${grade.reason}`} Score ${figure(grade.score)}${grade.isComplete ? '' : ', of which a part is missing'}: automated ${figure(grade.automatedScore)}, judge ${figure(grade.judgeScore)}${grade.judgeMean === null ? '' : ` (plain mean ${figure(grade.judgeMean)})`}. ${passed} of ${grade.checks.length} checks of the answers passed.`,
    ...table(['part', 'criterion', 'weight', 'score', 'why'], rows),
    ...table(
      ['session', 'check', 'expected', 'passed'],
      grade.checks.map((check) => [check.session, check.id, check.expected, check.passed ? 'yes' : 'no']),
    ),
  ]
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/gu, ' ')

/** Empty when there is nothing to show. */
const table = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0
    ? []
    : ['', ...[head, head.map(() => '---'), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(' | ')} |`)]

/** What these figures do not say. */
function limits({ evidence, grade, changed, transcript }: TaskRun): readonly string[] {
  const derived = grade.checks.filter(({ source }) => source === 'criteria').length
  const { agent, usage } = evidence
  return [
    ...(grade.judge.state === 'unjudged' ? [`The rubric was not applied: ${grade.judge.reason}`] : []),
    ...(grade.judge.state === 'scored' && grade.judge.votes.asked === 1
      ? ['The judge was asked once, so its spread is unknown.']
      : []),
    ...(grade.judge.state === 'scored'
      ? grade.judge.cuts.map((cut) => `The judge did not see everything: ${cut}.`)
      : []),
    ...(grade.automated.state === 'skipped' ? [`The automated checks did not run: ${grade.automated.reason}`] : []),
    ...(grade.automated.state === 'scored' && grade.automated.isolation === 'none'
      ? ['The automated checks ran without a sandbox.']
      : []),
    ...(grade.automated.state === 'scored' && transcript.length > 0 && grade.answerScore === null
      ? ['No answer was checked: only what the automated checks look at was graded.']
      : []),
    ...(derived === 0
      ? []
      : [`The task states no checks of its answers; ${derived} were taken from values in its grading criteria.`]),
    ...(agent.model === null
      ? ['The agent uses no model: this shows what its memory and its rules do, not what a model would.']
      : []),
    ...(agent.model !== null && usage.input + usage.output === 0 ? ['The endpoint reported no tokens.'] : []),
    ...(evidence.control === 'none' ? [] : [`This is a control (${evidence.control}), not the agent as it is.`]),
    ...evidence.events.flatMap((event) =>
      event.kind === 'not_kept' ? [`Not part of the evidence: ${event.path}, ${event.reason}.`] : [],
    ),
    ...(changed.length === 0 ? [] : [`Evidence that is not what it was when it was written: ${changed.join(', ')}.`]),
    `This is repeat ${evidence.repeat} with seed ${evidence.seed}; within a session only its beginning and its end have times of their own.`,
  ]
}

export const toolNames = ({ transcript }: TaskRun): readonly string[] =>
  transcript.flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'assistant'
      ? entry.message.content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : []))
      : [],
  )

export const durationOf = ({ startedAt, endedAt }: TaskRun['evidence']): number =>
  Math.max(0, Date.parse(endedAt) - Date.parse(startedAt))
