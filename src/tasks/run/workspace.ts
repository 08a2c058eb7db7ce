import { copyFile, lstat, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, sep } from 'node:path'
import { notFound } from '../../errors.ts'
import { codeOf } from '../../files/leftovers.ts'
import type { Task } from '../task.ts'

export type Workspace = { readonly path: string; readonly remove: () => Promise<void> }

/** Makes a new directory with the task's files. It is separate from the evidence, which the agent must not find. */
export async function makeWorkspace(task: Task, temporary: string = tmpdir()): Promise<Workspace> {
  const place = await realpath(await mkdtemp(join(temporary, 'credence-task-')))
  const path = join(place, 'workspace')
  // An agent may leave folders that cannot be removed; that must not fail the run.
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  try {
    await mkdir(path)
    for (const file of task.workspaceFiles) {
      const target = join(path, file.path)
      await mkdir(dirname(target), { recursive: true })
      if (file.kind === 'inline') await writeFile(target, file.content)
      else await copyFile(await findAsset(task.file, file.asset), target)
    }
    return { path, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The path of an asset. The `assets` folder is next to the task's file or next to the task's folder. */
export async function findAsset(taskFile: string, asset: string): Promise<string> {
  const folder = dirname(taskFile)
  const named = asset.replace(/^assets\//u, '')
  for (const assets of [join(folder, 'assets'), join(dirname(folder), 'assets')]) {
    const found = await plainFileBelow(assets, named)
    if (found !== null) return found
  }
  throw notFound(`There is no asset "${asset}" for ${taskFile}.`, `Put it into ${join(folder, 'assets')}.`)
}

/** The path of a regular file in a folder; null if it is missing, or if a link leads out of the folder. */
async function plainFileBelow(folder: string, path: string): Promise<string | null> {
  try {
    const root = await realpath(folder)
    const file = await realpath(join(folder, path))
    const way = relative(root, file)
    const isInside = way !== '' && way !== '..' && !way.startsWith(`..${sep}`)
    return isInside && (await stat(file)).isFile() ? file : null
  } catch {
    return null
  }
}

/** Max files of a workspace to copy. The evidence lists further files as left out. */
const maxFiles = 10_000

/** The contents of a folder: regular files by path with forward slashes, and all other entries. */
export type Listing = {
  /** `mark` changes whenever the file is written. */
  readonly files: ReadonlyMap<string, { readonly bytes: number; readonly mark: string }>
  readonly others: readonly { readonly path: string; readonly reason: string }[]
}

/** Lists a folder without following links. A missing folder is empty. */
export async function listFiles(root: string): Promise<Listing> {
  const files = new Map<string, { readonly bytes: number; readonly mark: string }>()
  const others: { readonly path: string; readonly reason: string }[] = []
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = await readdir(join(root, folder)).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error) ?? '')) return []
      throw error
    })
    for (const name of names.toSorted()) {
      const path = folder === '' ? name : `${folder}/${name}`
      const found = await lstat(join(root, path)).catch(() => null)
      // An agent that is still working may have removed the file.
      if (found === null) continue
      if (found.isDirectory()) waiting.push(path)
      else if (found.isSymbolicLink()) others.push({ path, reason: 'is a link' })
      else if (!found.isFile()) others.push({ path, reason: 'is not a plain file' })
      else if (files.size >= maxFiles) others.push({ path, reason: `is beyond the first ${maxFiles} files` })
      else files.set(path, { bytes: found.size, mark: `${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}` })
    }
  }
  return { files, others }
}

/** Removes `memory/`, MEMORY.md and every store of Credence, and returns their paths. */
export async function removeMemory(workspace: string): Promise<readonly string[]> {
  const atTop = (await readdir(workspace)).filter((name) => /^(?:memory|memory\.md|\.credence)$/iu.test(name))
  const { files } = await listFiles(workspace)
  const stores = [...files.keys()].filter((path) => /^credence\.db(?:-wal|-shm|-journal)?$/u.test(basename(path)))
  const below = stores.filter((path) => !atTop.includes(path.split('/')[0] ?? ''))
  const paths = [...atTop, ...below].toSorted()
  for (const path of paths) await rm(join(workspace, path), { recursive: true, force: true })
  return paths
}
