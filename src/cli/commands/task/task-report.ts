import { resolve } from 'node:path'
import { writeBundle } from '../../../tasks/report/bundle.ts'
import { readTaskRun } from '../../../tasks/report/read-task-run.ts'
import { reportMarkdown } from '../../../tasks/report/report-markdown.ts'
import { defineCommand, exitCodes } from '../../command/command.ts'
import { flag, one, text } from '../../command/options.ts'
import { harmless } from '../../text/output.ts'
import { evalStore, storeOptions } from '../evaluate/benchmark-store.ts'
import { taskRunDocument } from './task-run.ts'
import { gradesText } from './task-text.ts'

export const taskReport = defineCommand({
  args: { run: one('A run of tasks.') },
  options: {
    bundle: text('<directory>', 'Write report.md, workspace-artifact.zip and report.json into this directory.'),
    markdown: flag('Print the report for people as Markdown.'),
    ...storeOptions,
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
    const grades = whole.tasks.map(({ grade }) => grade)
    const changed = whole.tasks.flatMap(({ changed: files, grade }) => files.map((path) => `${grade.evidence}/${path}`))
    const bundle = options.bundle === undefined ? null : resolve(session.workingDirectory(), options.bundle)
    const files = bundle === null ? [] : await writeBundle(bundle, whole)
    return {
      document: {
        ok: changed.length === 0,
        ...taskRunDocument(whole),
        bundle: files,
        changedEvidence: changed,
      },
      text: (style) =>
        options.markdown
          ? harmless(reportMarkdown(whole))
          : [gradesText(grades, style), `run        ${runId}`, ...files.map((file) => `wrote      ${file}`)].join('\n'),
      notes: changed.map((path) => `${path} was changed after the run.`),
      exitCode: changed.length === 0 ? exitCodes.fine : exitCodes.failed,
    }
  },
})
