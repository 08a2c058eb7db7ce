import { copyFile, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { MemoryError } from '../../errors.ts'
import type { Task, WorkspaceFile } from '../task.ts'

export type Workspace = { readonly path: string; readonly remove: () => Promise<void> }

/**
 * A new directory with the files that the task puts there. It lies apart from the evidence, so that an agent that looks
 * around does not find the record of what it said before.
 */
export async function makeWorkspace(task: Task, temporary: string = tmpdir()): Promise<Workspace> {
  const place = await realpath(await mkdtemp(join(temporary, 'credence-task-')))
  const path = join(place, 'workspace')
  // An agent may leave folders that cannot be emptied; a leftover is no reason to lose what it did.
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  try {
    await mkdir(path)
    for (const file of task.workspaceFiles) await putFile(file, task, path)
    return { path, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function putFile(file: WorkspaceFile, task: Task, workspace: string): Promise<void> {
  const target = join(workspace, file.path)
  await mkdir(dirname(target), { recursive: true })
  if (file.kind === 'inline') await writeFile(target, file.content)
  else await copyFile(await findAsset(task.file, file.asset), target)
}

/** The assets of a task lie beside it, or beside the folder it is in. */
export async function findAsset(taskFile: string, asset: string): Promise<string> {
  const folder = dirname(taskFile)
  const named = asset.replace(/^assets\//u, '')
  for (const assets of [join(folder, 'assets'), join(dirname(folder), 'assets')]) {
    const found = await plainFileBelow(assets, named)
    if (found !== null) return found
  }
  throw new MemoryError('not_found', `There is no asset "${asset}" for ${taskFile}.`, {
    hint: `Put it into ${join(folder, 'assets')}.`,
  })
}

/** Null when there is none, or when a link leads it out of the folder. */
async function plainFileBelow(folder: string, path: string): Promise<string | null> {
  try {
    const [root, file] = [await realpath(folder), await realpath(join(folder, path))]
    const way = relative(root, file)
    const isInside = way !== '' && way !== '..' && !way.startsWith(`..${sep}`)
    return isInside && (await stat(file)).isFile() ? file : null
  } catch {
    return null
  }
}
