import { createHash } from 'node:crypto'
import { coverageOf, meanScores } from '../report/coverage.ts'
import type { ReadTaskRun, TaskRun } from '../report/read-task-run.ts'
import { timelineOf } from './timeline.ts'

export type BundleFiles = { readonly markdown: string; readonly artifact: Uint8Array }

/** The structured report: every figure in it is read from the evidence or the grade. */
export function reportJson({ run, tasks, evidenceRun }: ReadTaskRun, { markdown, artifact }: BundleFiles) {
  const grades = tasks.map(({ grade }) => grade)
  const agent = tasks[0]?.evidence.agent ?? { name: run.system?.name ?? 'unknown', version: 'unknown', model: null }
  const means = meanScores(grades)
  const calls = tasks.flatMap(toolNames)
  const usage = (name: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): number =>
    tasks.reduce((sum, { evidence }) => sum + evidence.usage[name], 0)
  const [input, output, cacheRead, cacheWrite] = [
    usage('input'),
    usage('output'),
    usage('cacheRead'),
    usage('cacheWrite'),
  ]
  const total = input + output + cacheRead + cacheWrite
  const changed = tasks.flatMap(({ changed: files, task }) => files.map((path) => `${task.id}: ${path}`))
  return {
    schemaVersion: 1,
    run_id: run.runId,
    evidence_run_id: evidenceRun,
    benchmark: run.benchmarkId,
    pack_hash: run.packHash ?? null,
    model: agent.model,
    framework: agent.name,
    framework_version: agent.version,
    status: run.status,
    started_at: earliest(tasks.map(({ evidence }) => evidence.startedAt)) ?? run.startedAt,
    completed_at: latest(tasks.map(({ evidence }) => evidence.endedAt)) ?? run.completedAt ?? null,
    execution_time_ms: tasks.reduce((sum, { evidence }) => sum + durationOf(evidence), 0),
    grading_time_ms: grades.reduce((sum, { gradingMs }) => sum + gradingMs, 0),
    tools: [...new Set(calls)].sort(),
    tool_calls: calls.length,
    // Agents without a model count no tokens; that is not the same as none.
    token_usage: total === 0 && agent.model === null ? null : { input, output, cacheRead, cacheWrite, total },
    accuracy: means.score,
    scores: means,
    coverage: coverageOf(grades),
    criterion_breakdown: tasks.flatMap(({ grade }) => breakdownOf(grade)),
    tasks: tasks.map(taskEntry),
    security_issue_count: changed.length,
    security_issues: changed.map((path) => `The evidence is not what it was when it was written: ${path}`),
    event_timeline: timelineOf(tasks),
    hashes: { report_md: sha256(markdown), workspace_artifact_zip: sha256(artifact) },
  }
}

export type ArenaReport = ReturnType<typeof reportJson>

function breakdownOf(grade: TaskRun['grade']) {
  const about = { task: grade.taskId, repeat: grade.repeat }
  return [
    ...grade.criteria.map(({ part, name, score, weight, reason }) => ({
      ...about,
      part,
      criterion: name,
      score,
      weight,
      reason,
    })),
    ...grade.checks.map(({ session, id, passed, expected, found }) => ({
      ...about,
      part: 'answers',
      criterion: `${session}: ${id}`,
      score: passed ? 1 : 0,
      weight: null,
      reason: passed ? '' : `expected ${expected}; found ${found}`,
    })),
  ]
}

const taskEntry = ({ task, evidence, grade }: TaskRun) => ({
  task_id: task.id,
  task_sha256: task.sha256,
  repeat: evidence.repeat,
  seed: evidence.seed,
  control: evidence.control,
  state: grade.state,
  score: grade.score,
  is_complete: grade.isComplete,
  sessions: evidence.sessions.map((session) => ({
    id: session.id,
    fresh: session.isFresh,
    conversation_id: session.conversationId,
    process: session.process,
    prior_messages: session.priorMessages,
    outcome: session.outcome,
    started_at: session.startedAt,
    ended_at: session.endedAt,
    tool_calls: session.toolCalls,
    answer: session.answer,
    transcript_sha256: session.transcript?.sha256 ?? null,
  })),
  transcript_sha256: evidence.transcript?.sha256 ?? null,
  workspace: evidence.workspace.map(({ path, sha256: digest, bytes }) => ({ path, sha256: digest, bytes })),
})

export const toolNames = ({ transcript }: TaskRun): readonly string[] =>
  transcript.flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'assistant'
      ? entry.message.content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : []))
      : [],
  )

export const durationOf = ({ startedAt, endedAt }: TaskRun['evidence']): number =>
  Math.max(0, Date.parse(endedAt) - Date.parse(startedAt))

const earliest = (times: readonly string[]): string | undefined => [...times].sort()[0]
const latest = (times: readonly string[]): string | undefined => [...times].sort().at(-1)

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
