import type { TaskGrade } from '../grade/task-grade.ts'

/** How much of what should have been graded was: stands beside every score. */
export type Coverage = {
  readonly tasks: number
  /** Those with a score. */
  readonly graded: number
  /** Those whose score has every part the task asks for. */
  readonly complete: number
  readonly unjudged: number
  readonly byState: Readonly<Record<string, number>>
}

export function coverageOf(grades: readonly TaskGrade[]): Coverage {
  const byState: Record<string, number> = {}
  for (const { state } of grades) byState[state] = (byState[state] ?? 0) + 1
  return {
    tasks: grades.length,
    graded: grades.filter(({ score }) => score !== null).length,
    complete: grades.filter(({ isComplete }) => isComplete).length,
    unjudged: grades.filter(({ judge }) => judge.state === 'unjudged').length,
    byState,
  }
}

/** Means over what was graded; null where nothing was. */
export type MeanScores = {
  readonly score: number | null
  readonly automatedScore: number | null
  readonly answerScore: number | null
  readonly recallScore: number | null
  readonly judgeScore: number | null
}

export function meanScores(grades: readonly TaskGrade[]): MeanScores {
  const mean = (name: keyof MeanScores): number | null => {
    const values = grades.flatMap((grade) => grade[name] ?? [])
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
  }
  return {
    score: mean('score'),
    automatedScore: mean('automatedScore'),
    answerScore: mean('answerScore'),
    recallScore: mean('recallScore'),
    judgeScore: mean('judgeScore'),
  }
}
