import type { EvidenceEvent, SessionRecord } from '../evidence.ts'
import { keptFiles } from '../run/evidence-folder.ts'
import { durationOf } from '../task-outcomes.ts'
import { coverageOf, meanScores, type ReadTaskRun, type TaskRun, toolNames } from './read-task-run.ts'

const figureText = (value: number | null): string => (value === null ? 'not graded' : value.toFixed(3))

/** The report as Markdown. Every statement comes from the evidence or the grade. */
export function reportMarkdown({ run, tasks, evidenceRun }: ReadTaskRun): string {
  const grades = tasks.map(({ grade }) => grade)
  const { graded, tasks: total } = coverageOf(grades)
  const means = meanScores(grades)
  const agent = tasks[0]?.evidence.agent ?? { name: 'unknown', version: '', model: null }
  const names = [...new Set(tasks.map(({ task }) => task.name))]
  const again = evidenceRun === run.runId ? '' : `, which grades the evidence of \`${evidenceRun}\` again`
  return [
    `# ${names.length === 1 ? names[0] : `${names.length} tasks`}: report on ${agent.name}`,
    '',
    `- Run: \`${run.runId}\`${again}`,
    `- Agent: ${agent.name} ${agent.version}, ${agent.model === null ? 'no model' : `model ${agent.model}`}`,
    `- Score: ${figureText(means.score)} over ${graded} of ${total}; automated ${figureText(means.automatedScore)}, answers ${figureText(means.answerScore)}, recall from earlier sessions ${figureText(means.recallScore)}, judge ${figureText(means.judgeScore)}`,
    `- Work: ${tasks.reduce((sum, { evidence }) => sum + durationOf(evidence), 0)} ms, ${tasks.flatMap(toolNames).length} tool calls`,
    '',
    ...tasks.flatMap((task) => taskPart(task, tasks.length > 1)),
  ].join('\n')
}

function taskPart(taskRun: TaskRun, isOneOfMany: boolean): readonly string[] {
  const { task, evidence } = taskRun
  const depth = isOneOfMany ? '###' : '##'
  const section = (name: string, lines: readonly string[]): readonly string[] => [`${depth} ${name}`, '', ...lines, '']
  const sessions = evidence.sessions.flatMap((session) => sessionPart(session, taskRun, depth))
  return [
    ...(isOneOfMany ? [`## ${task.name} (\`${task.id}\`, repeat ${evidence.repeat})`, ''] : []),
    ...section('Understanding', understandingPart(taskRun)),
    ...section('Sessions', sessions),
    ...section('Evidence', evidencePart(taskRun)),
    ...section('Self-assessment', assessmentPart(taskRun)),
    ...section('Limits', limitsPart(taskRun)),
  ]
}

function understandingPart({ task, grade }: TaskRun): readonly string[] {
  const sessions = task.sessions.map(({ id, isFresh }, index) => `"${id}"${isFresh && index > 0 ? ' (new)' : ''}`)
  const recalled = grade.checks.filter(({ isRecall }) => isRecall).map(({ id, expected }) => `${id} (${expected})`)
  return [
    `${sessions.length} sessions in one workspace, with ${task.timeoutSeconds} s for all of them: ${sessions.join(', ')}. A new session is a new conversation: only what was kept in the workspace is known there.`,
    ...(recalled.length === 0 ? [] : ['', `To be remembered: ${recalled.join('; ')}.`]),
  ]
}

function sessionPart(session: SessionRecord, { evidence, grade }: TaskRun, depth: string): readonly string[] {
  const { id, index, isFresh, conversationId, priorMessages, outcome, problem, startedAt, endedAt } = session
  const took = startedAt === null || endedAt === null ? '' : `, ${Date.parse(endedAt) - Date.parse(startedAt)} ms`
  const kind = index === 0 ? 'first' : isFresh ? 'new' : 'same conversation'
  const missed = grade.checks.filter((check) => check.session === id && !check.passed)
  return [
    `${depth}# ${index + 1}. ${id} (${kind})`,
    '',
    `- Conversation \`${conversationId ?? 'none'}\`, ${priorMessages ?? 'an unknown number of'} earlier messages; ${startedAt ?? 'not begun'}${took}; ${outcome}${problem === null ? '' : `: ${problem}`}`,
    `- Tool calls: ${session.toolCalls}`,
    ...evidence.events.filter((event) => event.session === id).map((event) => `- ${eventText(event)}`),
    ...missed.map(({ id: check, expected, found }) => `- Missed ${check}: expected ${expected}; found ${found}`),
    '',
    ...quote('Prompt', session.prompt),
    ...(session.answer === null || session.answer === ''
      ? ['There was no answer.', '']
      : quote('Answer', session.answer)),
  ]
}

const quote = (label: string, text: string): readonly string[] => [
  `${label}:`,
  '',
  ...text.split('\n').map((line) => `> ${line}`.trimEnd()),
  '',
]

function eventText(event: EvidenceEvent): string {
  switch (event.kind) {
    case 'files_changed': {
      const files = [...event.written, ...event.removed.map((path) => `${path} (removed)`)]
      const more = files.length > 6 ? ` and ${files.length - 6} more` : ''
      return `Files: ${files.slice(0, 6).join(', ')}${more}`
    }
    case 'memory_removed':
      return `The control removed the memory before this session: ${event.paths.join(', ') || 'there was none'}`
    case 'not_kept':
      return `Not kept: ${event.path}, ${event.reason}`
    case 'state_read': {
      const facts = event.facts.map(
        ({ id, holds, observed }) => `${id} ${holds ? 'holds' : 'does not hold'} (${observed})`,
      )
      return `The world ${event.when === 'before' ? 'before the first session' : 'after this session'}: ${facts.join(', ')}`
    }
  }
}

function evidencePart({ evidence, grade }: TaskRun): readonly string[] {
  const files = keptFiles(evidence).map(({ path, bytes, sha256 }) => [path, String(bytes), `\`${sha256}\``])
  return [
    `Kept in \`${grade.evidence}\` of the eval store; task file sha256 \`${evidence.taskSha256}\`, seed ${evidence.seed}.`,
    ...table(['file', 'bytes', 'sha256'], files),
  ]
}

function assessmentPart({ grade }: TaskRun): readonly string[] {
  const passed = grade.checks.filter((check) => check.passed).length
  const criteria = grade.criteria.map(({ part, name, score, weight, reason }) => {
    return [part, name, weight === null ? '' : `${Math.round(weight * 100)} %`, score.toFixed(2), reason]
  })
  const checks = grade.checks.map((check) => [check.session, check.id, check.expected, check.passed ? 'yes' : 'no'])
  return [
    `State \`${grade.state}\`${grade.reason === null ? '.' : `: ${grade.reason}`} Score ${figureText(grade.score)}${grade.isComplete ? '' : ' (incomplete)'}: automated ${figureText(grade.automatedScore)}, judge ${figureText(grade.judgeScore)}. ${passed} of ${grade.checks.length} checks of the answers passed.`,
    ...table(['part', 'criterion', 'weight', 'score', 'reason'], criteria),
    ...table(['session', 'check', 'expected', 'passed'], checks),
  ]
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/gu, ' ')

/** A Markdown table; empty if there are no rows. */
const table = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0
    ? []
    : ['', ...[head, head.map(() => '---'), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(' | ')} |`)]

function limitsPart({ evidence, grade, changed }: TaskRun): readonly string[] {
  const { judge, automated } = grade
  const lines = [
    ...(judge.state === 'unjudged' ? [`The rubric was not applied: ${judge.reason}`] : []),
    ...(judge.state === 'scored' ? judge.cuts.map((cut) => `The judge did not see everything: ${cut}.`) : []),
    ...(automated.state === 'skipped' ? [`The automated checks did not run: ${automated.reason}`] : []),
    ...(grade.answerScore === null ? ['No answer of a new session was checked.'] : []),
    ...(evidence.agent.model === null
      ? ['The agent uses no model: this shows what its memory and its rules do, not what a model would.']
      : []),
    ...(evidence.control === 'none' ? [] : [`This is a control (${evidence.control}), not the agent as it is.`]),
    ...(changed.length === 0 ? [] : [`Files of the evidence that were changed: ${changed.join(', ')}.`]),
    'Within a session only its beginning and its end have times of their own.',
  ]
  return lines.map((line) => `- ${line}`)
}
