import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Zippable, zipSync } from 'fflate'
import { invalid } from '../../errors.ts'
import { formatJson } from '../../files/atomic-write.ts'
import { writeFiles } from '../../files/write-files.ts'
import { addUsage, noUsage } from '../../models/chat-model.ts'
import { pathInWorkspace, readKept } from '../run/evidence-folder.ts'
import { durationOf } from '../task-outcomes.ts'
import { coverageOf, meanScores, type ReadTaskRun, type TaskRun, toolNames } from './read-task-run.ts'
import { reportMarkdown } from './report-markdown.ts'

export const bundleNames = {
  markdown: 'report.md',
  artifact: 'workspace-artifact.zip',
  report: 'report.json',
} as const

export type Bundle = Awaited<ReturnType<typeof buildBundle>>

/** The report, the workspaces and the figures of a run. Deterministic: the same run gives the same bytes. */
export async function buildBundle(whole: ReadTaskRun) {
  const { runId } = whole.run
  if (whole.tasks.length === 0) {
    const hint = `Complete it with \`credence task run --resume ${runId}\`.`
    throw invalid(`The run "${runId}" has no graded task, so there is nothing to report.`, hint)
  }
  const markdown = reportMarkdown(whole)
  const artifact = await workspaceZip(whole.tasks)
  return { markdown, artifact, report: reportJson(whole, { markdown, artifact }) }
}

export function writeBundle(folder: string, { markdown, artifact, report }: Bundle): readonly string[] {
  const files = [
    { file: join(folder, bundleNames.markdown), text: markdown },
    { file: join(folder, bundleNames.artifact), text: artifact },
    { file: join(folder, bundleNames.report), text: formatJson(report) },
  ]
  writeFiles(files)
  return files.map(({ file }) => file)
}

/** A fixed time, so that the same files give the same bytes. */
const noTime = new Date(1980, 0, 1)

/** The final workspaces as an archive. With several results, each has a folder; a single one is at the top level. */
async function workspaceZip(tasks: readonly TaskRun[]): Promise<Uint8Array> {
  const files: [path: string, bytes: Uint8Array][] = []
  for (const { task, evidence, folder } of tasks) {
    const prefix = tasks.length === 1 ? '' : `${task.id}/${evidence.repeat}/`
    for (const kept of evidence.workspace) files.push([prefix + pathInWorkspace(kept), await readKept(folder, kept)])
  }
  files.sort(([a], [b]) => (a < b ? -1 : 1))
  const entries: Zippable = Object.fromEntries(
    files.map(([path, bytes]) => [path, [bytes, { mtime: noTime, level: 6, os: 3 }]]),
  )
  return zipSync(entries)
}

/** The structured report. Every figure comes from the evidence or the grade. */
function reportJson(
  { run, tasks, evidenceRun }: ReadTaskRun,
  { markdown, artifact }: { readonly markdown: string; readonly artifact: Uint8Array },
) {
  const grades = tasks.map(({ grade }) => grade)
  const agent = tasks[0]?.evidence.agent
  const scores = meanScores(grades)
  const calls = tasks.flatMap(toolNames)
  const changed = tasks.flatMap(({ changed: files, task }) => files.map((path) => `${task.id}: ${path}`))
  const times = tasks.flatMap(({ evidence }) => [evidence.startedAt, evidence.endedAt]).sort()
  const usage = tasks.reduce((total, { evidence }) => addUsage(total, evidence.usage), noUsage)
  return {
    schemaVersion: 2,
    run_id: run.runId,
    evidence_run_id: evidenceRun,
    benchmark: run.benchmarkId,
    pack_hash: run.packHash ?? null,
    model: agent?.model ?? null,
    framework: agent?.name ?? 'unknown',
    framework_version: agent?.version ?? 'unknown',
    status: run.status,
    started_at: times[0] ?? run.startedAt,
    completed_at: times.at(-1) ?? null,
    execution_time_ms: tasks.reduce((sum, { evidence }) => sum + durationOf(evidence), 0),
    tools: [...new Set(calls)].sort(),
    tool_calls: calls.length,
    // Null if an agent without a model reports no tokens, because that does not mean that it used none.
    token_usage: agent?.model == null && usage.input + usage.output === 0 ? null : usage,
    accuracy: scores.score,
    scores,
    coverage: coverageOf(grades),
    criterion_breakdown: grades.flatMap(breakdownOf),
    tasks: tasks.map(taskEntry),
    security_issue_count: changed.length,
    security_issues: changed.map((path) => `The evidence was changed after the run: ${path}`),
    hashes: { report_md: sha256(markdown), workspace_artifact_zip: sha256(artifact) },
  }
}

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

function breakdownOf({ taskId: task, repeat, criteria, checks }: TaskRun['grade']) {
  return [
    ...criteria.map(({ name, ...rest }) => ({ task, repeat, criterion: name, ...rest })),
    ...checks.map(({ session, id, passed, expected, found }) => ({
      task,
      repeat,
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
  state: grade.state,
  score: grade.score,
  is_complete: grade.isComplete,
  sessions: evidence.sessions.map(({ id, isFresh, priorMessages, outcome, answer }) => ({
    id,
    new_session: isFresh,
    prior_messages: priorMessages,
    outcome,
    answer,
  })),
  transcript_sha256: evidence.transcript?.sha256 ?? null,
  workspace: evidence.workspace,
})
