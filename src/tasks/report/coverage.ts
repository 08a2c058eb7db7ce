import { mean } from '../../eval/score/statistics.ts'
import type { TaskGrade } from '../grade/task-grade.ts'

export type Coverage = ReturnType<typeof coverageOf>

/** How much of what should have been graded was: stands beside every score. */
export function coverageOf(grades: readonly TaskGrade[]) {
  const byState: Record<string, number> = {}
  for (const { state } of grades) byState[state] = (byState[state] ?? 0) + 1
  return {
    tasks: grades.length,
    /** Those with a score. */
    graded: grades.filter(({ score }) => score !== null).length,
    /** Those whose score has every part the task asks for. */
    complete: grades.filter(({ isComplete }) => isComplete).length,
    unjudged: grades.filter(({ judge }) => judge.state === 'unjudged').length,
    byState,
  }
}

export type MeanScores = ReturnType<typeof meanScores>

/** Means over what was graded; null where nothing was. */
export function meanScores(grades: readonly TaskGrade[]) {
  return {
    score: mean(grades.map(({ score }) => score)),
    automatedScore: mean(grades.map(({ automatedScore }) => automatedScore)),
    answerScore: mean(grades.map(({ answerScore }) => answerScore)),
    recallScore: mean(grades.map(({ recallScore }) => recallScore)),
    judgeScore: mean(grades.map(({ judgeScore }) => judgeScore)),
  }
}
