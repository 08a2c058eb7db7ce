import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Zippable, zipSync } from 'fflate'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
import { pathInWorkspace } from '../grade/workspace-texts.ts'
import { coverageOf, meanScores } from '../report/coverage.ts'
import type { ReadTaskRun, TaskRun } from '../report/read-task-run.ts'
import { readKept } from '../run/read-evidence.ts'
import { durationOf, reportMarkdown, toolNames } from './report-markdown.ts'
import { timelineOf } from './timeline.ts'

export const bundleNames = {
  markdown: 'report.md',
  artifact: 'workspace-artifact.zip',
  report: 'report.json',
} as const

export type Bundle = { readonly markdown: string; readonly artifact: Uint8Array; readonly report: ArenaReport }

/** The three files that an arena takes. The same run gives the same bytes. */
export async function bundleOf(whole: ReadTaskRun): Promise<Bundle> {
  const { runId } = whole.run
  if (whole.tasks.length === 0) {
    throw new MemoryError('invalid', `The run "${runId}" has no graded task, so there is nothing to report.`, {
      hint: `Complete it with \`credence task run --resume ${runId}\`.`,
    })
  }
  const markdown = reportMarkdown(whole)
  const artifact = await workspaceZip(whole.tasks)
  return { markdown, artifact, report: reportJson(whole, { markdown, artifact }) }
}

export async function writeBundle(folder: string, { markdown, artifact, report }: Bundle): Promise<readonly string[]> {
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    [bundleNames.markdown, markdown],
    [bundleNames.artifact, artifact],
    [bundleNames.report, asJson(report)],
  ]
  try {
    await mkdir(folder, { recursive: true })
    for (const [name, content] of files) await writeAtomically(join(folder, name), content, { existing: 'replace' })
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file stands in its place' : code
    throw new MemoryError('unavailable', `The bundle cannot be written to ${folder}: ${why}.`, {
      hint: 'Give a folder that you may write to, or one that does not exist yet.',
      cause,
    })
  }
  return files.map(([name]) => join(folder, name))
}

/** A fixed time, so that the same files give the same bytes wherever and whenever the archive is made. */
const noTime = new Date(1980, 0, 1)

/** The workspaces at the end. One task carried out once fills the archive itself; several have a folder each. */
async function workspaceZip(tasks: readonly TaskRun[]): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const { task, evidence, folder } of tasks) {
    const prefix = tasks.length === 1 ? '' : `${task.id}/${evidence.repeat}/`
    for (const kept of evidence.workspace) files.set(prefix + pathInWorkspace(kept), await readKept(folder, kept))
  }
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1))
  const entries: Zippable = Object.fromEntries(
    sorted.map(([path, bytes]) => [path, [bytes, { mtime: noTime, level: 6, os: 3 }]]),
  )
  return zipSync(entries)
}

export type ArenaReport = ReturnType<typeof reportJson>

/** The structured report. Every figure in it is read from the evidence or the grade. */
export function reportJson(
  { run, tasks, evidenceRun }: ReadTaskRun,
  { markdown, artifact }: { readonly markdown: string; readonly artifact: Uint8Array },
) {
  const grades = tasks.map(({ grade }) => grade)
  const agent = tasks[0]?.evidence.agent ?? { name: run.system?.name ?? 'unknown', version: 'unknown', model: null }
  const means = meanScores(grades)
  const calls = tasks.flatMap(toolNames)
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
    started_at: tasks.map(({ evidence }) => evidence.startedAt).sort()[0] ?? run.startedAt,
    completed_at:
      tasks
        .map(({ evidence }) => evidence.endedAt)
        .sort()
        .at(-1) ??
      run.completedAt ??
      null,
    execution_time_ms: tasks.reduce((sum, { evidence }) => sum + durationOf(evidence), 0),
    grading_time_ms: grades.reduce((sum, { gradingMs }) => sum + gradingMs, 0),
    tools: [...new Set(calls)].sort(),
    tool_calls: calls.length,
    token_usage: tokenUsage(tasks, agent.model),
    accuracy: means.score,
    scores: means,
    coverage: coverageOf(grades),
    criterion_breakdown: grades.flatMap(breakdownOf),
    tasks: tasks.map(taskEntry),
    security_issue_count: changed.length,
    security_issues: changed.map((path) => `The evidence is not what it was when it was written: ${path}`),
    event_timeline: timelineOf(tasks),
    hashes: { report_md: sha256(markdown), workspace_artifact_zip: sha256(artifact) },
  }
}

/** Null for an agent without a model: it counts no tokens, which is not the same as none. */
function tokenUsage(tasks: readonly TaskRun[], model: string | null) {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  for (const name of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) {
    for (const { evidence } of tasks) usage[name] += evidence.usage[name]
    usage.total += usage[name]
  }
  return usage.total === 0 && model === null ? null : usage
}

function breakdownOf({ taskId, repeat, criteria, checks }: TaskRun['grade']) {
  const about = { task: taskId, repeat }
  return [
    ...criteria.map(({ name, ...rest }) => ({ ...about, criterion: name, ...rest })),
    ...checks.map(({ session, id, passed, expected, found }) => ({
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
  workspace: evidence.workspace,
})

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
