import { describe, expect, it } from 'vitest'
import { keptEvidence, taskWith } from '../../../test/tasks/kept-evidence.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import type { TaskGrade } from '../grade/task-grade.ts'
import { pinchbenchResult } from './pinchbench-result.ts'

const run = {
  schemaVersion: 1 as const,
  runId: 'r',
  benchmarkId: 'tasks-x',
  status: 'completed' as const,
  startedAt: '2026-03-06T10:00:00.000Z',
  completedAt: '2026-03-06T10:01:00.000Z',
  totalCases: 2,
  passedCases: 1,
  failedCases: 0,
  errorCases: 1,
  repeats: 2,
}

function runsOf(id: string, scores: readonly (number | null)[]) {
  using directory = temporaryDirectory()
  const evidence = keptEvidence(directory.path, {})
  return scores.map((score, index) => ({
    task: { ...taskWith([]), id, category: 'Memory' },
    evidence: { ...evidence, usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 } },
    transcript: [{}, {}],
    grade: {
      taskId: id,
      repeat: index + 1,
      score,
      state: 'scored',
      criteria: [],
      notes: [],
      evidence: 'e',
    } as unknown as TaskGrade,
  }))
}

type Result = {
  readonly tasks: readonly {
    readonly grading: { readonly mean: number | null }
    readonly usage: { readonly total_tokens: number }
  }[]
  readonly category_scores: object
  readonly efficiency: { readonly total_tokens: number }
}

describe('the result in the form of the original', () => {
  it('has one entry for a task however often it was repeated', () => {
    const result = pinchbenchResult({ run, tasks: [...runsOf('a', [1, 0.5]), ...runsOf('b', [0, 0])] }) as Result

    expect(result.tasks.map(({ grading }) => grading.mean)).toEqual([0.75, 0])
    expect(result.tasks[0]).toMatchObject({ transcript_length: 4, grading: { min: 0.5, max: 1 } })
    expect(result.category_scores).toEqual({ MEMORY: { score: 0.75, max_score: 2, pct: 37.5, task_count: 2 } })
    expect(result.efficiency.total_tokens).toBe(60)
    expect(result).not.toHaveProperty('in_progress')
  })

  it('leaves out of every mean what was not graded', () => {
    const result = pinchbenchResult({ run, tasks: [...runsOf('a', [1, null]), ...runsOf('b', [null, null])] }) as Result

    expect(result.tasks.map(({ grading }) => grading.mean)).toEqual([1, null])
    expect(result.category_scores).toEqual({ MEMORY: { score: 1, max_score: 1, pct: 100, task_count: 2 } })
    expect(result).toMatchObject({ coverage: { graded: 1, tasks: 2 } })
  })
})
