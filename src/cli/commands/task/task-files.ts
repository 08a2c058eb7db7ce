import { relative } from 'node:path'
import type { Problem } from '../../../eval/store/parse-artifact.ts'
import { checkTaskFile, findTasks } from '../../../tasks/parse/load-tasks.ts'
import { findAsset } from '../../../tasks/run/workspace.ts'
import type { Task } from '../../../tasks/task.ts'
import { defineCommand, exitCodes } from '../../command/command.ts'
import { rest } from '../../command/options.ts'
import { pluralize, type Style, wrap } from '../../text/output.ts'

const taskPaths = rest('Task files, folders of them, ids, or names of packs. Without any, all that ship with Credence.')

export const taskList = defineCommand({
  args: { paths: taskPaths },
  options: {},
  description: 'Invalid files are listed with the command that checks them.',
  examples: {
    'credence task list': 'Lists the tasks that ship with Credence.',
  },
  async run({ args: { paths } }, session) {
    const { taskPlaces: places } = await session.taskWork()
    const checked = findTasks(paths, places).map((file) => ({ file, ...checkTaskFile(file) }))
    const tasks = checked.flatMap(({ task }) => (task === null ? [] : [task]))
    const invalid = checked.filter(({ task }) => task === null).map(({ file }) => file)
    return {
      document: { tasks: tasks.map(taskSummary), invalid },
      shown: tasks.map(({ id, sessions, gradingType: graded, name }) => ({
        id,
        sessions: sessions.length,
        graded,
        name,
      })),
      notes: [
        tasks.length === 0 && 'There are no tasks.',
        ...invalid.map((file) => {
          const path = relative(places.workingDirectory, file)
          return `${path} is not a valid task; see \`credence task validate ${path}\`.`
        }),
      ],
    }
  },
})

const taskSummary = (task: Task) => ({
  id: task.id,
  name: task.name,
  category: task.category,
  gradingType: task.gradingType,
  timeoutSeconds: task.timeoutSeconds,
  prerequisites: task.prerequisites,
  sessions: task.sessions.map(({ id, isFresh }) => ({ id, isFresh })),
  file: task.file,
})

export const taskValidate = defineCommand({
  args: { paths: taskPaths },
  options: {},
  description: 'Changes and runs nothing. Lists every problem with its place in the file.',
  examples: {
    'credence task validate tasks/mine.md': 'Lists the problems, with file and field.',
  },
  async run({ args: { paths } }, session) {
    const { taskPlaces: places } = await session.taskWork()
    const verdicts: FileVerdict[] = []
    for (const file of findTasks(paths, places)) verdicts.push(await judgeFile(file))
    const invalid = verdicts.filter(({ problems }) => problems.length > 0).length
    return {
      document: { ok: invalid === 0 && verdicts.length > 0, tasks: verdicts },
      text: (style) => {
        const lines = verdicts.flatMap((verdict) => verdictLines(verdict, places.workingDirectory, style))
        const count = `${pluralize(verdicts.length, 'task')}, ${invalid === 0 ? 'all valid' : `${invalid} invalid`}.`
        return [...lines, verdicts.length === 0 ? 'There are no tasks.' : count].join('\n')
      },
      exitCode: invalid === 0 ? exitCodes.fine : exitCodes.invalid,
    }
  },
})

type FileVerdict = Awaited<ReturnType<typeof judgeFile>>

/** Parses a task file, and checks that its assets exist. */
async function judgeFile(taskFile: string) {
  const { task, problems, warnings } = checkTaskFile(taskFile)
  const missing: Problem[] = []
  for (const [index, file] of (task?.workspaceFiles ?? []).entries()) {
    if (file.kind !== 'asset') continue
    const isThere = await findAsset(taskFile, file.asset).then(
      () => true,
      () => false,
    )
    if (isThere) continue
    const message = `is "${file.asset}", which is not among the assets next to the task or next to its folder`
    missing.push({ file: taskFile, field: `workspace_files[${index}].source`, message })
  }
  return { file: taskFile, id: task?.id ?? null, problems: [...problems, ...missing], warnings }
}

function verdictLines({ file, problems, warnings }: FileVerdict, from: string, style: Style): readonly string[] {
  const mark = problems.length === 0 ? style.green('valid') : style.red('invalid')
  return [
    `${mark}  ${relative(from, file)}`,
    ...problems.flatMap(({ field, message }) => findingLines(`problem: ${field} ${message}.`, style.red, style)),
    ...warnings.flatMap((warning) => findingLines(`warning: ${warning}`, style.yellow, style)),
  ]
}

/** A wrapped finding, with its first word in color. */
function findingLines(text: string, paint: (text: string) => string, { width }: Style): readonly string[] {
  const [first = '', ...rest] = wrap(text, width - 4)
  const [kind = ''] = first.split(' ')
  return [`  ${paint(kind)}${first.slice(kind.length)}`, ...rest.map((line) => `    ${line}`)]
}
