import type { CheckResult } from '../../tasks/grade/answer-checks.ts'
import type { TaskGrade } from '../../tasks/grade/task-grade.ts'
import { type Coverage, coverageOf, type MeanScores, meanScores } from '../../tasks/report/coverage.ts'
import { harmless, type Style } from '../output.ts'
import { columns, counted } from '../text-layout.ts'

const barWidth = 10

export const figure = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

function bar(value: number | null, style: Style): string {
  if (value === null) return style.dim('·'.repeat(barWidth))
  const filled = Math.round(value * barWidth)
  const paint = value >= 0.9 ? style.green : value >= 0.5 ? style.yellow : style.red
  return paint('█'.repeat(filled)) + style.dim('░'.repeat(barWidth - filled))
}

/** What a run of tasks came to: a line for each, its checks by session, where the evidence lies, and the coverage. */
export function gradesText(grades: readonly TaskGrade[], style: Style): string {
  const widest = Math.max(0, ...grades.map((grade) => titleOf(grade).length))
  const tasks = grades.map((grade) => taskText(grade, widest, style))
  return [...tasks, '', summaryText(meanScores(grades), coverageOf(grades))].join('\n')
}

const titleOf = ({ taskId, repeat }: TaskGrade): string => harmless(repeat > 1 ? `${taskId} #${repeat}` : taskId)

function taskText(grade: TaskGrade, widest: number, style: Style): string {
  const { score, state, automatedScore, answerScore, recallScore, judgeScore, isComplete, reason } = grade
  const parts = [
    ['automated', automatedScore, grade.automated.state === 'skipped' ? ' (skipped)' : ''] as const,
    ['answers', answerScore, ''] as const,
    ['recall', recallScore, ''] as const,
    ['judge', judgeScore, grade.judge.state === 'unjudged' ? ' (unjudged)' : ''] as const,
  ]
  const figures = parts.flatMap(([name, value, note]) =>
    value === null && note === '' ? [] : [`${name} ${figure(value)}${note}`],
  )
  const shownState = state === 'scored' ? style.green(state) : style.red(state)
  const partial = isComplete || score === null ? '' : style.yellow(' incomplete')
  return [
    `${style.bold(titleOf(grade).padEnd(widest))}  ${bar(score, style)} ${figure(score)}  ${shownState}${partial}  ${figures.join('  ')}`,
    ...(reason === null ? [] : [`  ${style.red(harmless(reason))}`]),
    ...sessionLines(grade.checks, style),
    ...criterionLines(grade, style),
    ...grade.notes.filter((note) => !note.startsWith('Unjudged')).map((note) => style.dim(`  ${harmless(note)}`)),
    style.dim(`  evidence  ${grade.evidence}`),
  ].join('\n')
}

function sessionLines(checks: readonly CheckResult[], style: Style): readonly string[] {
  return [...Map.groupBy(checks, ({ session }) => session)].flatMap(([session, own]) => {
    const passed = own.filter(({ passed }) => passed).map(({ id }) => `${style.green('✓')} ${harmless(id)}`)
    const failed = own.filter((check) => !check.passed)
    return [
      `  ${harmless(session)}  ${passed.join('  ')}`.trimEnd(),
      ...failed.map(
        ({ id, expected, found }) => `    ${style.red('✗')} ${harmless(`${id}: expected ${expected}; found ${found}`)}`,
      ),
    ]
  })
}

const criterionLines = ({ criteria }: TaskGrade, style: Style): readonly string[] => {
  const below = criteria.filter(({ score }) => score < 1)
  return below.map(
    ({ part, name, score, reason }) =>
      `    ${style.red('✗')} ${harmless(`${part}: ${name} ${figure(score)}${reason === '' ? '' : `, ${reason}`}`)}`,
  )
}

export function summaryText(means: MeanScores, coverage: Coverage): string {
  const { tasks, graded, complete, unjudged, byState } = coverage
  const states = Object.entries(byState)
    .filter(([state]) => state !== 'scored')
    .map(([state, count]) => `${count} ${state}`)
  const rows = [
    ['score', `${figure(means.score)} over ${graded} of ${counted(tasks, 'result')}`],
    ['automated', figure(means.automatedScore)],
    ['answers', figure(means.answerScore)],
    ['recall', figure(means.recallScore)],
    ['judge', means.judgeScore === null ? `– (${unjudged} unjudged)` : figure(means.judgeScore)],
    ['coverage', `${complete} of ${tasks} graded in every part${states.length === 0 ? '' : `; ${states.join(', ')}`}`],
  ]
  return columns(rows, { indent: 0 })
}
