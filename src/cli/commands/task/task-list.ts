import { relative } from 'node:path'
import { checkTaskFile, findTasks } from '../../../tasks/parse/load-tasks.ts'
import type { Task } from '../../../tasks/task.ts'
import { defineCommand } from '../../command/command.ts'
import { rest } from '../../command/options.ts'
import { columns, counted, harmless } from '../../text/output.ts'

/** Lists the tasks that can be run. */
export const taskList = defineCommand({
  args: {
    paths: rest('Task files, folders of them, ids, or names of packs. Without any, all that ship with Credence.'),
  },
  options: {},
  description: 'Invalid files are listed with the command that checks them.',
  examples: {
    'credence task list': 'Lists the tasks that ship with Credence.',
    'credence task list ./tasks --json': 'Lists the tasks of a folder.',
  },
  async run({ args: { paths } }, session) {
    const { taskPlaces: places } = await session.taskWork()
    const checked = findTasks(paths, places).map((file) => ({ file, ...checkTaskFile(file) }))
    const tasks = checked.flatMap(({ task }) => (task === null ? [] : [task]))
    const invalid = checked.filter(({ task }) => task === null).map(({ file }) => file)
    return {
      document: { tasks: tasks.map(summaryOf), invalid },
      text: (style) => {
        if (tasks.length === 0) return 'There are no tasks.'
        const rows = tasks.map((task) => [task.id, described(task), task.name].map(harmless))
        return columns(rows, { indent: 0, width: style.width })
      },
      notes: invalid.map((file) => {
        const path = relative(places.workingDirectory, file)
        return `${path} is not a valid task; see \`credence task validate ${path}\`.`
      }),
    }
  },
})

const described = ({ sessions, gradingType }: Task): string => `${counted(sessions.length, 'session')}, ${gradingType}`

const summaryOf = (task: Task) => ({
  id: task.id,
  name: task.name,
  category: task.category,
  gradingType: task.gradingType,
  timeoutSeconds: task.timeoutSeconds,
  prerequisites: task.prerequisites,
  sessions: task.sessions.map(({ id, isFresh }) => ({ id, isFresh })),
  file: task.file,
})
