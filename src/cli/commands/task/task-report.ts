import { resolve } from 'node:path'
import { bundleOf, writeBundle } from '../../../tasks/arena/bundle.ts'
import { reportMarkdown } from '../../../tasks/arena/report-markdown.ts'
import { coverageOf, meanScores } from '../../../tasks/report/coverage.ts'
import { readTaskRun } from '../../../tasks/report/read-task-run.ts'
import { defineCommand, flag, one, text } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { harmless } from '../../output.ts'
import { evalStore, storeOptions } from '../evaluate/benchmark-store.ts'
import { keepResult, taskDocuments } from './task-run.ts'
import { gradesText } from './task-text.ts'

export const taskReport = defineCommand({
  args: { run: one('A run of tasks.') },
  options: {
    bundle: text('<directory>', 'Write report.md, workspace-artifact.zip and report.json into this directory.'),
    markdown: flag('Print the report for people as Markdown.'),
    ...storeOptions,
  },
  description:
    'Says what the evidence says: every session with its conversation, tools, files and answer, every check, and what the figures do not show. Evidence that is not what it was when it was written is named, and the command fails.',
  exitCodes: [exitCodes.failed],
  examples: [
    { command: 'credence task report RUN', effect: 'Shows a run again.' },
    { command: 'credence task report RUN --bundle ./bundle', effect: 'Writes what an arena wants of it.' },
  ],
  async run({ args: { run: runId }, options }, session) {
    const { root } = evalStore(session, options)
    const whole = await readTaskRun(root, runId)
    const grades = whole.tasks.map(({ grade }) => grade)
    const changed = whole.tasks.flatMap(({ changed: files, grade }) => files.map((path) => `${grade.evidence}/${path}`))
    const result = await keepResult(root, whole)
    const bundle = options.bundle === undefined ? null : resolve(session.workingDirectory(), options.bundle)
    const files = bundle === null ? [] : await writeBundle(bundle, await bundleOf(whole))
    return {
      document: {
        ok: changed.length === 0,
        runId,
        run: whole.run,
        means: meanScores(grades),
        coverage: coverageOf(grades),
        tasks: taskDocuments(whole),
        result,
        bundle: files,
        changedEvidence: changed,
      },
      text: (style) =>
        options.markdown
          ? harmless(reportMarkdown(whole))
          : [gradesText(grades, style), `run        ${runId}`, ...files.map((file) => `wrote      ${file}`)].join('\n'),
      notes: changed.map((path) => `${path} is not what it was when the evidence was written.`),
      exitCode: changed.length === 0 ? exitCodes.fine : exitCodes.failed,
    }
  },
})
