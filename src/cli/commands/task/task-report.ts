import { resolve } from 'node:path'
import { newRunId } from '../../../eval/run/run.ts'
import { runPacks } from '../../../eval/run/run-packs.ts'
import { requireRun, runFolder } from '../../../eval/store/documents.ts'
import { noneAgent } from '../../../tasks/agent.ts'
import type { TaskGrade } from '../../../tasks/grade/task-grade.ts'
import { buildBundle, writeBundle } from '../../../tasks/report/bundle.ts'
import { readTaskRun, taskSettings } from '../../../tasks/report/read-task-run.ts'
import { reportMarkdown } from '../../../tasks/report/report-markdown.ts'
import { readGrade, tasksOfRun } from '../../../tasks/task-outcomes.ts'
import { defaultPassAt, taskPack, taskRunner } from '../../../tasks/task-runner.ts'
import { defineCommand, exitCodes } from '../../command/command.ts'
import { flag, one, text } from '../../command/options.ts'
import { evalStore, evalStoreOptions, machineOf } from '../evaluate/benchmark-store.ts'
import { judgeOptions, taskRunDocument } from './task-run.ts'
import { gradesText } from './task-text.ts'

export const taskRegrade = defineCommand({
  args: { run: one('The run whose evidence is graded again.') },
  options: { ...judgeOptions, runId: text('<id>', 'The name of the new run.'), ...evalStoreOptions },
  description:
    'The grades go into a new run that refers to the same evidence. The old ones stay, and `credence benchmark diff` compares the two.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: {
    'credence task regrade RUN': 'Grades the stored evidence with the current checks.',
    'credence task regrade RUN --judge openai:gpt-5': 'Adds the grades of a judge.',
  },
  async run({ args: { run: given }, options }, session) {
    const { root } = evalStore(session, options)
    const old = requireRun(root, given)
    const settings = taskSettings(root, given)
    // Evidence stays in its original run, so a regrade of a regrade reads it there too.
    const source = settings.regradeOf ?? given
    const tasks = await tasksOfRun(runFolder(root, source))
    const { graders: openGraders, progress } = await session.taskWork()
    const judge = options.judge ?? null
    const graders = await openGraders(judge)
    const system = old.system ?? { name: 'unknown', version: 'unknown' }
    const runId = options.runId ?? newRunId(old.benchmarkId, `${system.name}-regraded`, new Date())
    const passAt = options.passAt ?? settings.passAt ?? defaultPassAt
    const now = (): Date => new Date()
    const { signal, release } = session.program.interruption()
    try {
      const runner = taskRunner({
        agent: async () => ({ ...noneAgent, ...system }),
        graders: async () => graders,
        passAt,
        now,
        regraded: runFolder(root, source),
        onBegin: (task) => progress.show(`grading ${task.id}`, 0, tasks.length),
      })
      const pack = taskPack(runner, old.benchmarkId, tasks)
      const { repeats = 1, seed = 0 } = old
      const [result] = await runPacks([pack], [undefined], {
        root,
        now,
        signal,
        runId,
        repeats,
        seed,
        notes: `The evidence of ${source}, graded again.`,
        environment: () => ({
          given: { regradeOf: given, ...(judge === null ? {} : { judge }) },
          settings: { kind: 'tasks-regraded', regradeOf: source, passAt, judge },
          ...machineOf(session.places.workingDirectory()),
        }),
      })
      if (result === undefined) throw signal.reason
      const { summary } = result
      const whole = await readTaskRun(root, runId)
      const before = (grade: TaskGrade) => readGrade(runFolder(root, given), grade.taskId, grade.repeat)
      const pairs = await Promise.all(
        whole.tasks.map(async ({ grade }) => ({ before: await before(grade), after: grade })),
      )
      const isFine = summary.status === 'completed' && summary.passedCases === summary.totalCases
      return {
        document: {
          ok: isFine,
          regradeOf: given,
          ...taskRunDocument(whole),
          changes: pairs.map(({ before, after }) => {
            return { taskId: after.taskId, repeat: after.repeat, before: gradeOf(before), after: gradeOf(after) }
          }),
        },
        text: (style) => [gradesText(pairs, style), `run       ${runId}`].join('\n'),
        exitCode: signal.aborted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
      }
    } finally {
      progress.clear()
      release()
    }
  },
})

function gradeOf(grade: TaskGrade | null) {
  if (grade === null) return null
  const { state, score, automatedScore, answerScore, recallScore, judgeScore, gradingVersion, gradedAt } = grade
  return { state, score, automatedScore, answerScore, recallScore, judgeScore, gradingVersion, gradedAt }
}

export const taskReport = defineCommand({
  args: { run: one('A run of tasks.') },
  options: {
    bundle: text('<directory>', 'Write report.md, workspace-artifact.zip and report.json into this directory.'),
    markdown: flag('Print the report for people as Markdown.'),
    ...evalStoreOptions,
  },
  description:
    'Shows every session with its conversation, tools, files and answer, every check, and the limits of the figures. If evidence files were changed after the run, they are listed and the command fails.',
  exitCodes: [exitCodes.failed],
  examples: {
    'credence task report RUN': 'Shows the result of a run.',
    'credence task report RUN --bundle ./bundle': 'Writes the report, the files of the workspace and the figures.',
  },
  async run({ args: { run: runId }, options }, session) {
    const { root } = evalStore(session, options)
    const whole = await readTaskRun(root, runId)
    const grades = whole.tasks.map(({ grade }) => ({ before: null, after: grade }))
    const changed = whole.tasks.flatMap(({ changed: files, grade }) => files.map((path) => `${grade.evidence}/${path}`))
    const bundle = options.bundle === undefined ? null : resolve(session.places.workingDirectory(), options.bundle)
    const files = bundle === null ? [] : writeBundle(bundle, await buildBundle(whole))
    return {
      document: {
        ok: changed.length === 0,
        ...taskRunDocument(whole),
        bundle: files,
        changedEvidence: changed,
      },
      text: (style) =>
        options.markdown
          ? reportMarkdown(whole)
          : [gradesText(grades, style), `run       ${runId}`, ...files.map((file) => `wrote     ${file}`)].join('\n'),
      notes: changed.map((path) => `${path} was changed after the run.`),
      exitCode: changed.length === 0 ? exitCodes.fine : exitCodes.failed,
    }
  },
})
