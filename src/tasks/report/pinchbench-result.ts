import { mean } from '../../eval/score/statistics.ts'
import type { RunSummary } from '../../eval/store/schemas/run.ts'
import type { Evidence } from '../evidence.ts'
import type { TaskGrade } from '../grade/task-grade.ts'
import type { Task } from '../task.ts'

/** A task with all that its repeats came to. */
export type TaskRuns = {
  readonly task: Task
  readonly repeats: readonly {
    readonly evidence: Evidence
    readonly grade: TaskGrade
    readonly transcript: readonly unknown[]
  }[]
}

/**
 * The result in the form of the original runner. It has one entry for a task whatever the number of repeats, so that
 * sums over tasks are right, and leaves out of means what was not graded.
 */
export function pinchbenchResult(run: RunSummary, tasks: readonly TaskRuns[]): object {
  const entries = tasks.map(entryOf)
  const scored = entries.filter(({ grading }) => grading.mean !== null)
  return {
    model: tasks[0]?.repeats[0]?.evidence.agent.model ?? run.system?.name ?? 'unknown',
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
    category_scores: categoryScores(tasks, entries),
    efficiency: efficiencyOf(entries),
  }
}

type Entry = ReturnType<typeof entryOf>

function entryOf({ task, repeats }: TaskRuns) {
  const [first] = repeats
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
  return {
    task_id: task.id,
    status: first === undefined ? 'error' : statuses[first.evidence.outcome],
    timed_out: repeats.some(({ evidence }) => evidence.outcome === 'agent_timeout'),
    execution_time: repeats.reduce((sum, { evidence }) => sum + secondsOf(evidence), 0),
    transcript_length: repeats.reduce((sum, { transcript }) => sum + transcript.length, 0),
    usage: usageOf(repeats.map(({ evidence }) => evidence)),
    workspace: first?.grade.evidence ?? '',
    grading: {
      runs,
      mean: average,
      std: scores.length < 2 || average === null ? 0 : Math.sqrt(squares(scores, average) / (scores.length - 1)),
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

const squares = (values: readonly number[], mean: number): number =>
  values.reduce((sum, value) => sum + (value - mean) ** 2, 0)

const secondsOf = ({ startedAt, endedAt }: Evidence): number =>
  Math.max(0, (Date.parse(endedAt) - Date.parse(startedAt)) / 1000)

function usageOf(all: readonly Evidence[]) {
  const total = (name: keyof Evidence['usage']): number => all.reduce((sum, { usage }) => sum + usage[name], 0)
  const [input, output, read, write] = [total('input'), total('output'), total('cacheRead'), total('cacheWrite')]
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_write_tokens: write,
    total_tokens: input + output + read + write,
    // What a token costs is not known here.
    cost_usd: null,
    request_count: all.reduce((sum, { sessions }) => sum + sessions.filter(({ answer }) => answer !== null).length, 0),
  }
}

function categoryScores(tasks: readonly TaskRuns[], entries: readonly Entry[]): object {
  const named = entries.map((entry, index) => ({ category: (tasks[index]?.task.category ?? '').toUpperCase(), entry }))
  return Object.fromEntries(
    [...Map.groupBy(named, ({ category }) => category)].map(([category, own]) => {
      const means = own.flatMap(({ entry }) => entry.grading.mean ?? [])
      const score = means.reduce((sum, mean) => sum + mean, 0)
      const pct = means.length === 0 ? null : (100 * score) / means.length
      return [category, { score, max_score: means.length, pct, task_count: own.length }]
    }),
  )
}

function efficiencyOf(entries: readonly Entry[]): object {
  const sum = (pick: (entry: Entry) => number): number => entries.reduce((total, entry) => total + pick(entry), 0)
  const tokens = sum(({ usage }) => usage.total_tokens)
  const score = sum(({ grading }) => grading.mean ?? 0)
  return {
    total_tokens: tokens,
    total_input_tokens: sum(({ usage }) => usage.input_tokens),
    total_output_tokens: sum(({ usage }) => usage.output_tokens),
    total_cost_usd: null,
    total_requests: sum(({ usage }) => usage.request_count),
    total_execution_time_seconds: sum(({ execution_time }) => execution_time),
    tasks_with_usage_data: entries.filter(({ usage }) => usage.total_tokens > 0).length,
    tokens_per_task: entries.length === 0 ? 0 : tokens / entries.length,
    score_per_1k_tokens: tokens === 0 ? null : score / (tokens / 1000),
    per_task: entries.map(({ task_id, grading, usage }) => ({
      task_id,
      score: grading.mean,
      total_tokens: usage.total_tokens,
      tokens_per_score_point: grading.mean ? usage.total_tokens / grading.mean : null,
    })),
  }
}
