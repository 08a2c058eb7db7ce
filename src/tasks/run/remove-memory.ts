import { readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { listFiles } from './keep-files.ts'

/** Takes away what an agent could remember by: `memory/`, a MEMORY.md and any store of Credence. Says what was there. */
export async function removeMemory(workspace: string): Promise<readonly string[]> {
  const atTop = (await readdir(workspace)).filter((name) => /^(?:memory|memory\.md|\.credence)$/iu.test(name))
  const { files } = await listFiles(workspace)
  const stores = [...files.keys()].filter((path) => /^credence\.db(?:-wal|-shm|-journal)?$/u.test(basename(path)))
  const below = stores.filter((path) => !atTop.includes(path.split('/')[0] ?? ''))
  const paths = [...atTop, ...below].toSorted()
  for (const path of paths) await rm(join(workspace, path), { recursive: true, force: true })
  return paths
}
