import type { CheckResult } from '../../../tasks/grade/answer-checks.ts'
import type { TaskGrade } from '../../../tasks/grade/task-grade.ts'
import { type Coverage, coverageOf, type MeanScores, meanScores } from '../../../tasks/report/read-task-run.ts'
import { columns, pluralize, type Style, stripControlCharacters, wrap } from '../../text/output.ts'

/** The whole of an answer is in the evidence. */
const maxFoundLength = 160

export const figure = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

/** The grades of a run: each task with its checks by session and the place of its evidence, then the means and the coverage. */
export function gradesText(grades: readonly TaskGrade[], style: Style): string {
  if (grades.length === 0) return 'No task has been graded yet.'
  const widest = Math.max(...grades.map((grade) => titleOf(grade).length))
  const tasks = grades.map((grade) => taskText(grade, widest, style))
  return [...tasks, '', summaryText(meanScores(grades), coverageOf(grades))].join('\n')
}

export const titleOf = ({ taskId, repeat }: TaskGrade): string =>
  stripControlCharacters(repeat > 1 ? `${taskId} #${repeat}` : taskId)

function taskText(grade: TaskGrade, widest: number, style: Style): string {
  const { score, state, isComplete, reason, checks, criteria, notes } = grade
  const shownState = state === 'scored' ? style.green(state) : style.red(state)
  const partial = isComplete || score === null ? '' : style.yellow(', incomplete')
  const below = criteria.filter((one) => one.score < 1)
  const rows = [
    ['scores', partsOf(grade).join(', ')],
    ...[...Map.groupBy(checks, ({ session }) => session)].map(([session, own]) => [session, passedText(own)]),
    ...[...Map.groupBy(below, ({ part }) => part)].map(([part, own]) => [
      part,
      own.map((one) => `${one.name} ${figure(one.score)}`).join(', '),
    ]),
    ['evidence', grade.evidence],
  ]
  const missed = [
    ...checks
      .filter(({ passed }) => !passed)
      .map(({ session, id, expected, found }) => `${session}, ${id}: expected ${expected}; found ${shorten(found)}`),
    ...below.flatMap(({ name, reason: why }) => (why === '' ? [] : [`${name}: ${shorten(why)}`])),
  ]
  return [
    `${style.bold(titleOf(grade).padEnd(widest))}  ${figure(score)}  ${shownState}${partial}`,
    ...(reason === null ? [] : sentence(reason, style.red, style)),
    columns(
      rows.map((row) => row.map(stripControlCharacters)),
      { width: style.width },
    ),
    ...missed.flatMap((line) => missedText(line, style)),
    ...notes.filter((note) => !note.startsWith('Unjudged')).flatMap((note) => sentence(note, style.dim, style)),
  ].join('\n')
}

function passedText(checks: readonly CheckResult[]): string {
  const passed = checks.filter((check) => check.passed).map(({ id }) => id)
  return `${passed.length} of ${pluralize(checks.length, 'check')} passed${passed.length === 0 ? '' : `: ${passed.join(', ')}`}`
}

function partsOf({ automatedScore, answerScore, recallScore, judgeScore, automated, judge }: TaskGrade) {
  const parts = [
    ['automated', automatedScore, automated.state === 'skipped' ? ' (skipped)' : ''],
    ['answers', answerScore, ''],
    ['recall', recallScore, ''],
    ['judge', judgeScore, judge.state === 'unjudged' ? ' (unjudged)' : ''],
  ] as const
  return parts.flatMap(([name, value, note]) =>
    value === null && note === '' ? [] : [`${name} ${figure(value)}${note}`],
  )
}

/** A sentence on as many lines as it needs, each painted. */
const sentence = (text: string, paint: (text: string) => string, { width }: Style): readonly string[] =>
  wrap(stripControlCharacters(text).replaceAll('\n', ' '), width - 2).map((line) => `  ${paint(line)}`)

function missedText(text: string, style: Style): readonly string[] {
  const [first = '', ...rest] = wrap(stripControlCharacters(text).replaceAll('\n', ' '), style.width - 6)
  return [`    ${style.red('✗')} ${first}`, ...rest.map((line) => `      ${line}`)]
}

const shorten = (text: string): string => (text.length > maxFoundLength ? `${text.slice(0, maxFoundLength)}…` : text)

export function summaryText(means: MeanScores, coverage: Coverage): string {
  const { tasks, graded, complete, unjudged, byState } = coverage
  const states = Object.entries(byState)
    .filter(([state]) => state !== 'scored')
    .map(([state, count]) => `${count} ${state}`)
  const rows = [
    ['score', `${figure(means.score)} over ${graded} of ${pluralize(tasks, 'result')}`],
    ['automated', figure(means.automatedScore)],
    ['answers', figure(means.answerScore)],
    ['recall', figure(means.recallScore)],
    ['judge', means.judgeScore === null && unjudged > 0 ? `– (${unjudged} unjudged)` : figure(means.judgeScore)],
    ['coverage', `${complete} of ${tasks} graded in every part${states.length === 0 ? '' : `; ${states.join(', ')}`}`],
  ]
  return columns(rows, { indent: 0 })
}

/** One line for each result without a score: the reason. */
export const reasonsText = (grades: readonly TaskGrade[], style: Style): readonly string[] =>
  grades.flatMap((grade) => (grade.reason === null ? [] : missedText(`${titleOf(grade)}: ${grade.reason}`, style)))
