import type { CheckResult } from '../../../tasks/grade/answer-checks.ts'
import type { TaskGrade } from '../../../tasks/grade/task-grade.ts'
import { type Coverage, coverageOf, type MeanScores, meanScores } from '../../../tasks/report/read-task-run.ts'
import { columns, counted, harmless, type Style, wrap } from '../../text/output.ts'

const barWidth = 10
/** The whole of an answer is in the evidence. */
const longestFound = 160

export const figure = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

function bar(value: number | null, style: Style): string {
  if (value === null) return style.dim('·'.repeat(barWidth))
  const filled = Math.round(value * barWidth)
  const paint = value >= 0.9 ? style.green : value >= 0.5 ? style.yellow : style.red
  return paint('█'.repeat(filled)) + style.dim('░'.repeat(barWidth - filled))
}

/** What a run of tasks came to: each with its checks by session and where its evidence lies, then the coverage. */
export function gradesText(grades: readonly TaskGrade[], style: Style): string {
  if (grades.length === 0) return 'No task has been graded yet.'
  const widest = Math.max(...grades.map((grade) => titleOf(grade).length))
  const tasks = grades.map((grade) => taskText(grade, widest, style))
  return [...tasks, '', summaryText(meanScores(grades), coverageOf(grades))].join('\n')
}

const titleOf = ({ taskId, repeat }: TaskGrade): string => harmless(repeat > 1 ? `${taskId} #${repeat}` : taskId)

function taskText(grade: TaskGrade, widest: number, style: Style): string {
  const { score, state, isComplete, reason, checks, criteria, notes } = grade
  const shownState = state === 'scored' ? style.green(state) : style.red(state)
  const partial = isComplete || score === null ? '' : style.yellow(', incomplete')
  const sessions = Map.groupBy(checks, ({ session }) => session)
  const labelled = Math.max('automated'.length, ...[...sessions.keys()].map((name) => harmless(name).length))
  const layout = { style, labelled }
  return [
    `${style.bold(titleOf(grade).padEnd(widest))}  ${bar(score, style)} ${figure(score)}  ${shownState}${partial}`,
    ...(reason === null ? [] : sentence(reason, 2, style.red, style)),
    ...flow('', partsOf(grade).map(plainWord), { ...layout, labelled: 0 }),
    ...[...sessions].flatMap(([session, own]) => sessionLines(session, own, layout)),
    ...(['automated', 'judge'] as const).flatMap((part) =>
      criterionLines(
        part,
        criteria.filter((one) => one.part === part && one.score < 1),
        layout,
      ),
    ),
    ...notes.filter((note) => !note.startsWith('Unjudged')).flatMap((note) => sentence(note, 2, style.dim, style)),
    style.dim(`  ${'evidence'.padEnd(labelled)}  ${grade.evidence}`),
  ].join('\n')
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

/** `labelled` is how wide labels are, so that what follows them stands in line. */
type Layout = { readonly style: Style; readonly labelled: number }

/** A word that is painted after it was measured. */
type Word = { readonly plain: string; readonly painted: string }

const plainWord = (text: string): Word => ({ plain: text, painted: text })

/** Words side by side behind a label, on as many lines as they need. */
function flow(label: string, words: readonly Word[], { style, labelled }: Layout): readonly string[] {
  const start = labelled === 0 ? 2 : labelled + 4
  const lines: string[] = []
  let [line, used] = [label === '' ? ' '.repeat(start) : `  ${label.padEnd(labelled)}  `, start]
  let isEmpty = true
  for (const { plain, painted } of words) {
    if (!isEmpty && used + 2 + plain.length > style.width) {
      lines.push(line)
      ;[line, used, isEmpty] = [' '.repeat(start), start, true]
    }
    line += isEmpty ? painted : `  ${painted}`
    used += plain.length + (isEmpty ? 0 : 2)
    isEmpty = false
  }
  return isEmpty && label === '' ? lines : [...lines, line.trimEnd()]
}

/** A sentence on as many lines as it needs, each painted. */
const sentence = (text: string, indent: number, paint: (text: string) => string, { width }: Style): readonly string[] =>
  wrap(harmless(text).replaceAll('\n', ' '), width - indent).map((line) => `${' '.repeat(indent)}${paint(line)}`)

function sessionLines(session: string, checks: readonly CheckResult[], layout: Layout): readonly string[] {
  const { style } = layout
  const passed = checks
    .filter((check) => check.passed)
    .map(({ id }) => ({ plain: `✓ ${harmless(id)}`, painted: `${style.green('✓')} ${harmless(id)}` }))
  const failed = checks.filter((check) => !check.passed)
  return [
    ...flow(harmless(session), passed, layout),
    ...failed.flatMap(({ id, expected, found }) =>
      missed(`${id}: expected ${expected}; found ${shortened(found)}`, style),
    ),
  ]
}

function criterionLines(part: string, below: TaskGrade['criteria'], layout: Layout): readonly string[] {
  const { style } = layout
  if (below.length === 0) return []
  const [silent, explained] = [below.filter(({ reason }) => reason === ''), below.filter(({ reason }) => reason !== '')]
  const words = silent.map(({ name, score }) => {
    const text = `${harmless(name)} ${figure(score)}`
    return { plain: `✗ ${text}`, painted: `${style.red('✗')} ${text}` }
  })
  return [
    ...flow(part, words, layout),
    ...explained.flatMap(({ name, score, reason }) => missed(`${name} ${figure(score)}: ${shortened(reason)}`, style)),
  ]
}

/** What was missed, below its session. */
function missed(text: string, style: Style): readonly string[] {
  const [first = '', ...rest] = wrap(harmless(text).replaceAll('\n', ' '), style.width - 6)
  return [`    ${style.red('✗')} ${first}`, ...rest.map((line) => `      ${line}`)]
}

const shortened = (text: string): string => (text.length > longestFound ? `${text.slice(0, longestFound)}…` : text)

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
    ['judge', means.judgeScore === null && unjudged > 0 ? `– (${unjudged} unjudged)` : figure(means.judgeScore)],
    ['coverage', `${complete} of ${tasks} graded in every part${states.length === 0 ? '' : `; ${states.join(', ')}`}`],
  ]
  return columns(rows, { indent: 0 })
}

/** Why results are what they are, where they are no scores: a line for each. */
export const reasonsText = (grades: readonly TaskGrade[], style: Style): readonly string[] =>
  grades.flatMap((grade) => (grade.reason === null ? [] : missed(`${titleOf(grade)}: ${grade.reason}`, style)))
