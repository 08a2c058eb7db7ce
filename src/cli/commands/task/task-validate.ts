import { relative } from 'node:path'
import type { Problem } from '../../../eval/store/parse-artifact.ts'
import { checkSource, findTasks, type TaskSource } from '../../../tasks/parse/load-tasks.ts'
import type { ParseOptions } from '../../../tasks/parse/parse-task.ts'
import { findAsset } from '../../../tasks/run/workspace.ts'
import { defineCommand, flag, rest } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { harmless, type Style } from '../../output.ts'
import { counted, wrap } from '../../text-layout.ts'
import { taskPlaces } from './task-places.ts'

/** Whether task files can be run, and what is wrong with those that cannot. */
export const taskValidate = defineCommand({
  args: {
    paths: rest('Task files, folders of them, ids, or names of packs. Without any, all that ship with Credence.'),
  },
  options: {
    strictUpstream: flag('Split the body as the original runner does, which does not know fences.'),
  },
  description:
    'Changes nothing and runs nothing. Says every problem with its place, and warns where the original runner would read something else.',
  exitCodes: [exitCodes.invalid],
  examples: [
    { command: 'credence task validate tasks/mine.md', effect: 'Says what is wrong, with file and field.' },
    {
      command: 'credence task validate ./tasks --strict-upstream --json',
      effect: 'Checks a folder as the original reads it.',
    },
  ],
  async run({ args: { paths }, options }, session) {
    const places = await taskPlaces(session)
    const verdicts: Verdict[] = []
    for (const source of findTasks(paths, places)) verdicts.push(await judge(source, options))
    const invalid = verdicts.filter(({ problems }) => problems.length > 0).length
    return {
      document: { ok: invalid === 0 && verdicts.length > 0, tasks: verdicts },
      text: (style) => {
        const lines = verdicts.flatMap((verdict) => verdictLines(verdict, places.workingDirectory, style))
        const count = `${counted(verdicts.length, 'task')}, ${invalid === 0 ? 'all valid' : `${invalid} invalid`}.`
        return [...lines, verdicts.length === 0 ? 'There are no tasks.' : count].join('\n')
      },
      exitCode: invalid === 0 ? exitCodes.fine : exitCodes.invalid,
    }
  },
})

type Verdict = {
  readonly file: string
  readonly id: string | null
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Reads the file, and looks whether what it needs besides itself is there. */
async function judge(source: TaskSource, options: ParseOptions): Promise<Verdict> {
  const { task, problems, warnings } = checkSource(source, options)
  const missing: Problem[] = []
  for (const [index, file] of (task?.workspaceFiles ?? []).entries()) {
    if (file.kind !== 'asset') continue
    const isThere = await findAsset(source.file, file.asset).then(
      () => true,
      () => false,
    )
    if (isThere) continue
    const message = `is "${file.asset}", which is not among the assets beside the task or beside its folder`
    missing.push({ file: source.file, field: `workspace_files[${index}].source`, message })
  }
  return { file: source.file, id: task?.id ?? null, problems: [...problems, ...missing], warnings }
}

function verdictLines({ file, problems, warnings }: Verdict, from: string, style: Style): readonly string[] {
  const mark = problems.length === 0 ? style.green('valid') : style.red('invalid')
  return [
    `${mark}  ${harmless(relative(from, file))}`,
    ...problems.flatMap(({ field, message }) => finding(`problem: ${field} ${message}.`, style.red, style)),
    ...warnings.flatMap((warning) => finding(`warning: ${warning}`, style.yellow, style)),
  ]
}

/** A finding on as many lines as it needs, with its first word painted. */
function finding(text: string, paint: (text: string) => string, { width }: Style): readonly string[] {
  const [first = '', ...rest] = wrap(harmless(text), width - 4)
  const [kind = ''] = first.split(' ')
  return [`  ${paint(kind)}${first.slice(kind.length)}`, ...rest.map((line) => `    ${line}`)]
}
