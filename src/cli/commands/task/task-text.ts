import type { TaskGrade } from '../../../tasks/grade/task-grade.ts'
import { coverageOf, meanScores } from '../../../tasks/report/read-task-run.ts'
import { columns, pluralize, type Style, wrap } from '../../text/output.ts'

/** A grade, and the grade that it replaces, if any. */
export type GradeChange = { readonly before: TaskGrade | null; readonly after: TaskGrade }

/** Longer answers are shortened; the evidence has the full text. */
const maxFoundLength = 160

const scores = ['score', 'automatedScore', 'answerScore', 'recallScore', 'judgeScore'] as const
const titles = ['task', 'state', 'score', 'automated', 'answers', 'recall', 'judge']

const figureText = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

/** The grades of a run: a row per result, then the missed checks, the means and the coverage. */
export function gradesText(changes: readonly GradeChange[], style: Style): string {
  if (changes.length === 0) return 'No task has been graded yet.'
  const grades = changes.map(({ after }) => after)
  const rows = changes.map(({ before, after }) => {
    const changeText = (now: string, earlier: string): string =>
      before === null || now === earlier ? now : `${earlier} → ${now}`
    const figures = scores.map((name) => changeText(figureText(after[name]), figureText(before?.[name] ?? null)))
    return [titleOf(after), changeText(gradeState(after), before === null ? '' : gradeState(before)), ...figures]
  })
  return [
    columns([titles, ...rows], { indent: 0, width: style.width }),
    ...grades.flatMap((grade) => missesOf(grade).flatMap((line) => missText(`${titleOf(grade)}: ${line}`, style))),
    '',
    summaryText(grades),
  ].join('\n')
}

const titleOf = ({ taskId, repeat }: TaskGrade): string => (repeat > 1 ? `${taskId} #${repeat}` : taskId)

const gradeState = ({ state, isComplete, score }: TaskGrade): string =>
  isComplete || score === null ? state : `${state}, incomplete`

/** Why a result has no score, and each check and criterion that was not met. */
const missesOf = ({ reason, checks, criteria }: TaskGrade): readonly string[] => [
  ...(reason === null ? [] : [reason]),
  ...checks
    .filter(({ passed }) => !passed)
    .map(({ session, id, expected, found }) => `${session}, ${id}: expected ${expected}; found ${shorten(found)}`),
  ...criteria
    .filter((check) => check.score < 1)
    .map(({ name, score, reason: why }) => `${name} ${figureText(score)}${why === '' ? '' : `: ${shorten(why)}`}`),
]

function missText(text: string, style: Style): readonly string[] {
  const [first = '', ...rest] = wrap(text.replaceAll('\n', ' '), style.width - 4)
  return [`  ${style.red('✗')} ${first}`, ...rest.map((line) => `    ${line}`)]
}

const shorten = (text: string): string => (text.length > maxFoundLength ? `${text.slice(0, maxFoundLength)}…` : text)

function summaryText(grades: readonly TaskGrade[]): string {
  const means = meanScores(grades)
  const { tasks, graded, complete, unjudged, byState } = coverageOf(grades)
  const states = Object.entries(byState)
    .filter(([state]) => state !== 'scored')
    .map(([state, count]) => `${count} ${state}`)
  const judge = means.judgeScore === null && unjudged > 0 ? `– (${unjudged} unjudged)` : figureText(means.judgeScore)
  const rows = [
    ['score', `${figureText(means.score)} over ${graded} of ${pluralize(tasks, 'result')}; judge ${judge}`],
    ['coverage', `${complete} of ${tasks} graded in every part${states.length === 0 ? '' : `; ${states.join(', ')}`}`],
  ]
  return columns(rows, { indent: 0 })
}
