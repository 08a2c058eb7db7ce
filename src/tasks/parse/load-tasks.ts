import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../../did-you-mean.ts'
import { MemoryError } from '../../errors.ts'
import { readBounded } from '../../eval/store/read-bounded.ts'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import type { Task } from '../task.ts'
import { type CheckedTask, checkTask, largestTaskFile, type ParseOptions, readYaml } from './parse-task.ts'
import { Findings, invalidTask } from './problem.ts'

/** Where tasks are looked for. */
export type TaskPlaces = {
  /** Relative paths begin here. */
  readonly workingDirectory: string
  /** Folders whose folders are packs: a task is named by its id, all of a pack by the pack's name. */
  readonly packs: readonly string[]
}

export type TaskSource = {
  readonly file: string
  /** What the manifest of its folder says, which counts for more than what the file says. */
  readonly category: string | null
}

/** Reads tasks by path, by id or by the name of a pack; without any, all of every pack. One invalid file is an error. */
export function loadTasks(given: readonly string[], places: TaskPlaces, options: ParseOptions = {}): readonly Task[] {
  const tasks = findTasks(given, places).map((source) => {
    const { task, problems } = checkSource(source, options)
    if (task === null) throw invalidTask(problems)
    return task
  })
  const files = new Map<string, string>()
  for (const { id, file } of tasks) {
    const other = files.get(id)
    if (other !== undefined) {
      throw new MemoryError('invalid', `${other} and ${file} both have the id "${id}".`, {
        hint: 'Give one of them another id; results are kept by id.',
      })
    }
    files.set(id, file)
  }
  return tasks
}

/** Looks at a task's file, and says all there is to be said about it. */
export function checkSource({ file, category }: TaskSource, options: ParseOptions = {}): CheckedTask {
  const read = readBounded(file, file, largestTaskFile)
  if (!read.ok) return { task: null, problems: read.problems, warnings: [] }
  const checked = checkTask(read.value, file, options)
  if (checked.task === null || category === null) return checked
  return { ...checked, task: { ...checked.task, category } }
}

/** The files that are meant, in the order given, each once. */
export function findTasks(given: readonly string[], places: TaskPlaces): readonly TaskSource[] {
  const found =
    given.length === 0 ? packFolders(places).flatMap(tasksIn) : given.flatMap((name) => sourcesOf(name, places))
  return found.filter(({ file }, index) => found.findIndex((other) => other.file === file) === index)
}

function sourcesOf(name: string, places: TaskPlaces): readonly TaskSource[] {
  const path = resolve(places.workingDirectory, name)
  const found = statSync(path, { throwIfNoEntry: false })
  // A bare word means a task or a pack before it means a folder that happens to be called so.
  const isWord = isSafeId(name) && !name.endsWith('.md')
  if (isWord) {
    const known = packFolders(places).flatMap(tasksIn)
    const task = known.find(({ file }) => basename(file, '.md') === name) ?? byId(known, name)
    if (task !== undefined) return [task]
    const pack = packFolders(places).find((folder) => basename(folder) === name)
    if (pack !== undefined) return tasksIn(pack)
  }
  if (found?.isFile()) return [{ file: path, category: categoryOf(path) }]
  if (found?.isDirectory()) {
    const tasks = tasksIn(path)
    if (tasks.length > 0) return tasks
    throw new MemoryError('not_found', `There are no tasks in ${path}.`, {
      hint: 'A task is a Markdown file that begins with a line ---.',
    })
  }
  const names = packFolders(places).flatMap((folder) => [
    basename(folder),
    ...tasksIn(folder).map(({ file }) => basename(file, '.md')),
  ])
  const meant = didYouMean(name, names)
  throw new MemoryError('not_found', `There is no task "${name}": no such file, and no task or pack of that name.`, {
    hint: meant === undefined ? 'See them all with `credence task list`.' : `Did you mean "${meant}"?`,
  })
}

const byId = (sources: readonly TaskSource[], id: string): TaskSource | undefined =>
  sources.find((source) => checkSource(source).task?.id === id)

/** Folders of the packs that hold tasks. */
const packFolders = ({ packs }: TaskPlaces): readonly string[] =>
  packs.flatMap((folder) =>
    namesIn(folder)
      .map((name) => join(folder, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() && tasksIn(path).length > 0),
  )

/** The tasks of a folder: as its manifest has them, else every task file by name. */
function tasksIn(folder: string): readonly TaskSource[] {
  const manifest = manifestNames.map((name) => join(folder, name)).find((path) => existsSync(path))
  if (manifest !== undefined) {
    return readTaskManifest(manifest).map(({ id, category }) => ({ file: join(folder, `${id}.md`), category }))
  }
  return namesIn(folder)
    .filter((name) => name.endsWith('.md') && looksLikeTask(join(folder, name)))
    .toSorted()
    .map((name) => ({ file: join(folder, name), category: null }))
}

function categoryOf(file: string): string | null {
  const id = basename(file, '.md')
  const manifest = manifestNames.map((name) => join(dirname(file), name)).find((path) => existsSync(path))
  return manifest === undefined ? null : (readTaskManifest(manifest).find((entry) => entry.id === id)?.category ?? null)
}

/** Folders hold other Markdown too; a task begins with its front matter. Broken tasks must still be found. */
function looksLikeTask(file: string): boolean {
  const read = readBounded(file, file, largestTaskFile)
  // An unreadable file counts as a task, so that validating the folder reports it.
  if (!read.ok) return true
  return /^(?:\uFEFF)?---[ \t]*\r?\n/u.test(Buffer.from(read.value.subarray(0, 64)).toString('utf8'))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A missing folder holds no tasks. One that was named by hand is reported by the caller.
    return []
  }
}

const manifestNames = ['manifest.yaml', 'manifest.yml'] as const

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

type ManifestEntry = { readonly id: string; readonly category: string | null }

/**
 * The tasks that a manifest lists, in the order in which they run: those of `run_first`, then category by category. The
 * older form is a flat list `tasks`. `core` names a part of them and adds none.
 */
function readTaskManifest(file: string): readonly ManifestEntry[] {
  const { run_first: first, categories, tasks, core } = parseManifest(file)
  const all = [
    ...Object.entries(categories).flatMap(([category, ids]) => ids.map((id) => ({ id, category }))),
    ...tasks.map((id) => ({ id, category: null })),
  ]
  const ordered: readonly ManifestEntry[] = [
    ...first.map((id) => all.find((entry) => entry.id === id) ?? { id, category: null }),
    ...all.filter(({ id }) => !first.includes(id)),
  ]
  const ids = ordered.map(({ id }) => id)
  const stray = core.find((id) => !ids.includes(id))
  if (stray !== undefined) throw invalidManifest(file, `core names "${stray}", which is not among the tasks`)
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  if (repeated !== undefined) throw invalidManifest(file, `"${repeated}" is there twice`)
  return ordered
}

function parseManifest(file: string): z.infer<typeof Manifest> {
  const findings = new Findings(file)
  const read = readBounded(file, file, largestTaskFile)
  if (!read.ok) throw invalidManifest(file, read.problems[0].message)
  if (!isUtf8(read.value)) throw invalidManifest(file, 'it is not UTF-8 text')
  const value = readYaml(Buffer.from(read.value).toString('utf8'), 'it', findings)
  // A flat list is the oldest form of all.
  const result = Manifest.safeParse(Array.isArray(value) ? { tasks: value } : value, { reportInput: true })
  if (result.success) return result.data
  if (findings.problems.length === 0) findings.invalid(result.error, [], () => '')
  const [problem] = findings.problems
  throw invalidManifest(file, `${problem?.field} ${problem?.message}`)
}

const invalidManifest = (file: string, message: string): MemoryError =>
  new MemoryError('invalid', `${file}: ${message}.`, { hint: 'A manifest lists task ids, or categories of them.' })
