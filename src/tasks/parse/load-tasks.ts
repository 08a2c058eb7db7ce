import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../../did-you-mean.ts'
import { MemoryError } from '../../errors.ts'
import { readBounded } from '../../eval/store/parse-artifact.ts'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import type { Task } from '../task.ts'
import { Findings, invalidTask } from './fields.ts'
import { type CheckedTask, checkTask, largestTaskFile, readYaml } from './parse-task.ts'

/** Where tasks are looked for. */
export type TaskPlaces = {
  /** Relative paths begin here. */
  readonly workingDirectory: string
  /** Folders of packs: a task is named by its id, all tasks of a pack by the name of the pack. */
  readonly packs: readonly string[]
}

/** The category of the folder's manifest overrides that of the file. */
export type TaskSource = { readonly file: string; readonly category: string | null }

/** Reads tasks by path, by id or by the name of a pack; without any, those of every pack. One invalid file is an error. */
export function loadTasks(given: readonly string[], places: TaskPlaces): readonly Task[] {
  const tasks = findTasks(given, places).map((source) => {
    const { task, problems } = checkSource(source)
    if (task === null) throw invalidTask(problems)
    return task
  })
  for (const [index, { id, file }] of tasks.entries()) {
    const other = tasks.slice(0, index).find((earlier) => earlier.id === id)
    if (other === undefined) continue
    throw new MemoryError('invalid', `${other.file} and ${file} both have the id "${id}".`, {
      hint: 'Give one of them another id; results are kept by id.',
    })
  }
  return tasks
}

/** Reads a task's file, with all of its problems and warnings. */
export function checkSource({ file, category }: TaskSource): CheckedTask {
  const read = readBounded(file, file, largestTaskFile)
  if (!read.ok) return { task: null, problems: read.problems, warnings: [] }
  const checked = checkTask(read.value, file)
  return checked.task === null || category === null ? checked : { ...checked, task: { ...checked.task, category } }
}

/** The files that are meant, in the order given, each once. */
export function findTasks(given: readonly string[], places: TaskPlaces): readonly TaskSource[] {
  const packs = packFolders(places)
  const found = given.length === 0 ? packs.flatMap(tasksIn) : given.flatMap((name) => sourcesOf(name, places, packs))
  return [...new Map(found.toReversed().map((source) => [source.file, source])).values()].toReversed()
}

function sourcesOf(name: string, { workingDirectory }: TaskPlaces, packs: readonly string[]): readonly TaskSource[] {
  const known = packs.flatMap(tasksIn)
  // A bare word names a task or a pack, rather than a folder of the same name.
  if (isSafeId(name) && !name.endsWith('.md')) {
    const isNamed = ({ file }: TaskSource): boolean => basename(file, '.md') === name
    const task = known.find(isNamed) ?? known.find((source) => checkSource(source).task?.id === name)
    if (task !== undefined) return [task]
    const pack = packs.find((folder) => basename(folder) === name)
    if (pack !== undefined) return tasksIn(pack)
  }
  const path = resolve(workingDirectory, name)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) {
    const listed = manifestOf(dirname(path))?.find(({ id }) => id === basename(path, '.md'))
    return [{ file: path, category: listed?.category ?? null }]
  }
  if (found?.isDirectory()) {
    const tasks = tasksIn(path)
    if (tasks.length > 0) return tasks
    throw new MemoryError('not_found', `There are no tasks in ${path}.`, {
      hint: 'A task is a Markdown file that begins with a line ---.',
    })
  }
  const meant = didYouMean(
    name,
    [...packs, ...known.map(({ file }) => file)].map((file) => basename(file, '.md')),
  )
  throw new MemoryError('not_found', `There is no task "${name}": no such file, and no task or pack of that name.`, {
    hint: meant === undefined ? 'See them all with `credence task list`.' : `Did you mean "${meant}"?`,
  })
}

/** Folders of the packs that hold tasks. */
const packFolders = ({ packs }: TaskPlaces): readonly string[] =>
  packs.flatMap((folder) =>
    namesIn(folder)
      .map((name) => join(folder, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() && tasksIn(path).length > 0),
  )

/** The tasks of a folder: as its manifest lists them, else every task file by name. */
const tasksIn = (folder: string): readonly TaskSource[] =>
  manifestOf(folder)?.map(({ id, category }) => ({ file: join(folder, `${id}.md`), category })) ??
  namesIn(folder)
    .filter((name) => name.endsWith('.md') && looksLikeTask(join(folder, name)))
    .toSorted()
    .map((name) => ({ file: join(folder, name), category: null }))

/** A task begins with its front matter. An unreadable file counts as a task, so that `task validate` reports it. */
function looksLikeTask(file: string): boolean {
  const read = readBounded(file, file, largestTaskFile)
  return !read.ok || /^(?:\uFEFF)?---[ \t]*\r?\n/u.test(Buffer.from(read.value.subarray(0, 64)).toString('utf8'))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A missing folder holds no tasks. One that was named by hand is reported by the caller.
    return []
  }
}

const idRule = 'must be the name of a task file'
const Id = z
  .string({ error: idRule })
  .transform((name) => name.replace(/\.md$/u, ''))
  .refine(isSafeId, { error: idRule })
const Ids = z
  .array(Id, { error: 'must be a list of ids' })
  .nullish()
  .transform((ids) => ids ?? [])

const Manifest = z.looseObject(
  {
    run_first: Ids,
    categories: z
      .record(z.string(), Ids, { error: 'must be a mapping of categories to lists of ids' })
      .nullish()
      .transform((categories) => categories ?? {}),
    tasks: Ids,
    core: Ids,
  },
  { error: 'must be a mapping with tasks or categories' },
)

/**
 * The tasks that the manifest of a folder lists, in the order in which they run: those of `run_first`, then category by
 * category. The older form is a flat list `tasks`. `core` names a part of them. Null where there is no manifest.
 */
function manifestOf(folder: string): readonly { readonly id: string; readonly category: string | null }[] | null {
  const file = ['manifest.yaml', 'manifest.yml'].map((name) => join(folder, name)).find((path) => existsSync(path))
  if (file === undefined) return null
  const invalid = (message: string): MemoryError =>
    new MemoryError('invalid', `${file}: ${message}.`, { hint: 'A manifest lists task ids, or categories of them.' })
  const read = readBounded(file, file, largestTaskFile)
  if (!read.ok) throw invalid(read.problems[0].message)
  if (!isUtf8(read.value)) throw invalid('it is not UTF-8 text')
  const findings = new Findings(file)
  const value = readYaml(Buffer.from(read.value).toString('utf8'), 'it', findings)
  const result = Manifest.safeParse(Array.isArray(value) ? { tasks: value } : value, { reportInput: true })
  if (!result.success) {
    if (findings.problems.length === 0) findings.invalid(result.error, [], () => '')
    throw invalid(`${findings.problems[0]?.field} ${findings.problems[0]?.message}`)
  }
  const { run_first: first, categories, tasks, core } = result.data
  const all = [
    ...Object.entries(categories).flatMap(([category, ids]) => ids.map((id) => ({ id, category }))),
    ...tasks.map((id) => ({ id, category: null })),
  ]
  const ordered = [
    ...first.map((id) => all.find((entry) => entry.id === id) ?? { id, category: null }),
    ...all.filter(({ id }) => !first.includes(id)),
  ]
  const ids = ordered.map(({ id }) => id)
  const stray = core.find((id) => !ids.includes(id))
  if (stray !== undefined) throw invalid(`core names "${stray}", which is not among the tasks`)
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  if (repeated !== undefined) throw invalid(`"${repeated}" is there twice`)
  return ordered
}
