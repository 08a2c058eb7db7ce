import { readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { findNearestName } from '../../did-you-mean.ts'
import { invalid, notFound } from '../../errors.ts'
import { readBounded } from '../../eval/store/parse-artifact.ts'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import { nullIfMissing } from '../../files/leftovers.ts'
import type { Task } from '../task.ts'
import { invalidTask } from './fields.ts'
import { type CheckedTask, checkTask, maxTaskFileBytes } from './parse-task.ts'

/** The folders in which tasks are searched for. */
export type TaskPlaces = {
  readonly workingDirectory: string
  /** Folders of packs. A task is found by its id, all tasks of a pack by the pack's name. */
  readonly packs: readonly string[]
}

/** Reads tasks by path, id or pack name; without names, the tasks of every pack. An invalid file is an error. */
export function loadTasks(names: readonly string[], places: TaskPlaces): readonly Task[] {
  const tasks = findTasks(names, places).map((file) => {
    const { task, problems } = checkTaskFile(file)
    if (task === null) throw invalidTask(problems)
    return task
  })
  for (const [index, { id, file }] of tasks.entries()) {
    const other = tasks.slice(0, index).find((earlier) => earlier.id === id)
    if (other === undefined) continue
    const hint = 'Give one of them another id; results are kept by id.'
    throw invalid(`${other.file} and ${file} both have the id "${id}".`, hint)
  }
  return tasks
}

/** Reads a task file, with all of its problems and warnings. */
export function checkTaskFile(file: string): CheckedTask {
  const read = readBounded(file, file, maxTaskFileBytes)
  return read.ok ? checkTask(read.value, file) : { task: null, problems: read.problems, warnings: [] }
}

/** The task files that the names refer to, in order and without duplicates. */
export function findTasks(names: readonly string[], places: TaskPlaces): readonly string[] {
  const packs = packFolders(places)
  return [
    ...new Set(names.length === 0 ? packs.flatMap(tasksIn) : names.flatMap((name) => filesOf(name, places, packs))),
  ]
}

function filesOf(name: string, { workingDirectory }: TaskPlaces, packs: readonly string[]): readonly string[] {
  const known = packs.flatMap(tasksIn)
  // A bare word means a task or a pack, not a folder of the same name.
  if (isSafeId(name) && !name.endsWith('.md')) {
    const task =
      known.find((file) => basename(file, '.md') === name) ??
      known.find((file) => checkTaskFile(file).task?.id === name)
    if (task !== undefined) return [task]
    const pack = packs.find((folder) => basename(folder) === name)
    if (pack !== undefined) return tasksIn(pack)
  }
  const path = resolve(workingDirectory, name)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isFile()) return [path]
  if (stats?.isDirectory()) {
    const tasks = tasksIn(path)
    if (tasks.length > 0) return tasks
    throw notFound(`There are no tasks in ${path}.`, 'A task is a Markdown file that begins with a line ---.')
  }
  const names = [...packs, ...known].map((file) => basename(file, '.md'))
  const meant = findNearestName(name, names)
  const hint = meant === undefined ? 'See them all with `credence task list`.' : `Did you mean "${meant}"?`
  throw notFound(`There is no task "${name}": no such file, and no task or pack of that name.`, hint)
}

const packFolders = ({ packs }: TaskPlaces): readonly string[] =>
  packs.flatMap((folder) =>
    namesIn(folder)
      .map((name) => join(folder, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() && tasksIn(path).length > 0),
  )

const tasksIn = (folder: string): readonly string[] =>
  namesIn(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
    .filter(looksLikeTask)

/** Whether a file begins with front matter. An unreadable file counts as a task, so that `task validate` reports it. */
function looksLikeTask(file: string): boolean {
  const read = readBounded(file, file, maxTaskFileBytes)
  return !read.ok || /^(?:\uFEFF)?---[ \t]*\r?\n/u.test(Buffer.from(read.value.subarray(0, 64)).toString('utf8'))
}

/** A missing folder contains no tasks. If the user named the folder, the caller reports it. */
const namesIn = (folder: string): readonly string[] => (nullIfMissing(() => readdirSync(folder)) ?? []).toSorted()
