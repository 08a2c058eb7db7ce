import { join } from 'node:path'
import { mean } from '../../eval/score/statistics.ts'
import { runFolder } from '../../eval/store/documents.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { addUsage, noUsage } from '../../models/chat-model.ts'
import type { Evidence } from '../evidence.ts'
import { durationOf, type ReadTaskRun, type TaskRun } from './read-task-run.ts'

type Result = Pick<TaskRun, 'task' | 'evidence' | 'grade'> & { readonly transcript: readonly unknown[] }

/** Writes the result in the form of the original runner into the folder of the run, and returns the path. */
export async function writeResult(root: string, whole: ReadTaskRun): Promise<string> {
  const file = join(runFolder(root, whole.run.runId), 'pinchbench.json')
  await writeAtomically(file, asJson(pinchbenchResult(whole)), { existing: 'replace' })
  return file
}

/**
 * The result in the form of the original runner. It has one entry for a task whatever the number of repeats, so that
 * sums over tasks are right, and leaves out of means what was not graded.
 */
export function pinchbenchResult({
  run,
  tasks,
}: Pick<ReadTaskRun, 'run'> & { readonly tasks: readonly Result[] }): object {
  const entries = [...Map.groupBy(tasks, ({ task }) => task.id).values()].map(entryOf)
  const scored = entries.filter(({ grading }) => grading.mean !== null)
  return {
    model: tasks[0]?.evidence.agent.model ?? run.system?.name ?? 'unknown',
    benchmark_version: `${run.benchmarkId} ${(run.packHash ?? '').slice('sha256:'.length, 19)}`,
    run_id: run.runId,
    timestamp: Date.parse(run.startedAt) / 1000,
    suite: run.benchmarkId,
    runs_per_task: run.repeats ?? 1,
    ...(run.status === 'completed'
      ? {}
      : { in_progress: true, completed_tasks: entries.length, total_tasks: run.totalCases }),
    coverage: { graded: scored.length, tasks: entries.length },
    tasks: entries,
    category_scores: categoryScores(entries),
    efficiency: efficiencyOf(entries),
  }
}

type Entry = ReturnType<typeof entryOf>

function entryOf(repeats: readonly Result[]) {
  const [first] = repeats
  if (first === undefined) throw new Error('A task has at least one result.')
  const { task } = first
  const runs = repeats.map(({ grade }) => ({
    task_id: task.id,
    state: grade.state,
    score: grade.score,
    max_score: 1,
    grading_type: task.gradingType,
    breakdown: Object.fromEntries(
      grade.criteria.map(({ part, name, score }) => [`${part === 'judge' ? 'llm_judge' : part}.${name}`, score]),
    ),
    notes: grade.notes.join(' | '),
  }))
  const scores = runs.flatMap(({ score }) => score ?? [])
  const average = mean(scores)
  const squares = sumOf(scores, (score) => (score - (average ?? 0)) ** 2)
  return {
    task_id: task.id,
    status: statuses[first.evidence.outcome],
    timed_out: repeats.some(({ evidence }) => evidence.outcome === 'agent_timeout'),
    execution_time: sumOf(repeats, ({ evidence }) => durationOf(evidence) / 1000),
    transcript_length: sumOf(repeats, ({ transcript }) => transcript.length),
    usage: usageOf(repeats.map(({ evidence }) => evidence)),
    workspace: first.grade.evidence,
    grading: {
      runs,
      mean: average,
      std: scores.length < 2 ? 0 : Math.sqrt(squares / (scores.length - 1)),
      min: scores.length === 0 ? null : Math.min(...scores),
      max: scores.length === 0 ? null : Math.max(...scores),
    },
    frontmatter: task.frontMatter,
    category: task.category,
  }
}

const statuses = {
  done: 'success',
  agent_timeout: 'timeout',
  agent_failed: 'error',
  infra_error: 'error',
  skipped: 'skipped',
} as const

const sumOf = <Value>(values: readonly Value[], pick: (value: Value) => number): number =>
  values.reduce((sum, value) => sum + pick(value), 0)

function usageOf(all: readonly Evidence[]) {
  const { input, output, cacheRead, cacheWrite } = all.reduce((sum, { usage }) => addUsage(sum, usage), noUsage)
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    total_tokens: input + output + cacheRead + cacheWrite,
    // The price of a token is not known here.
    cost_usd: null,
    request_count: sumOf(all, ({ sessions }) => sessions.filter(({ answer }) => answer !== null).length),
  }
}

const categoryScores = (entries: readonly Entry[]): object =>
  Object.fromEntries(
    [...Map.groupBy(entries, ({ category }) => category.toUpperCase())].map(([category, own]) => {
      const means = own.flatMap(({ grading }) => grading.mean ?? [])
      const score = sumOf(means, (value) => value)
      const pct = means.length === 0 ? null : (100 * score) / means.length
      return [category, { score, max_score: means.length, pct, task_count: own.length }]
    }),
  )

function efficiencyOf(entries: readonly Entry[]): object {
  const tokens = sumOf(entries, ({ usage }) => usage.total_tokens)
  const score = sumOf(entries, ({ grading }) => grading.mean ?? 0)
  return {
    total_tokens: tokens,
    total_input_tokens: sumOf(entries, ({ usage }) => usage.input_tokens),
    total_output_tokens: sumOf(entries, ({ usage }) => usage.output_tokens),
    total_cost_usd: null,
    total_requests: sumOf(entries, ({ usage }) => usage.request_count),
    total_execution_time_seconds: sumOf(entries, ({ execution_time }) => execution_time),
    tasks_with_usage_data: entries.filter(({ usage }) => usage.total_tokens > 0).length,
    tokens_per_task: entries.length === 0 ? 0 : tokens / entries.length,
    score_per_1k_tokens: tokens === 0 ? null : score / (tokens / 1000),
    per_task: entries.map(({ task_id, grading, usage: { total_tokens } }) => {
      const tokens_per_score_point = grading.mean ? total_tokens / grading.mean : null
      return { task_id, score: grading.mean, total_tokens, tokens_per_score_point }
    }),
  }
}
