import { type Zippable, zipSync } from 'fflate'
import { pathInWorkspace } from '../grade/workspace-texts.ts'
import type { TaskRun } from '../report/read-task-run.ts'
import { readKept } from '../run/read-evidence.ts'

/** The same files give the same bytes, wherever and whenever the archive is made. */
const noTime = new Date(1980, 0, 1)

/**
 * What lay in the workspaces in the end. One task carried out once fills the archive itself; several have a folder each.
 * Paths are relative and go down only: the evidence holds no others.
 */
export async function workspaceZip(tasks: readonly TaskRun[]): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const { task, evidence, folder } of tasks) {
    const place = tasks.length === 1 ? '' : `${task.id}/${evidence.repeat}/`
    for (const kept of evidence.workspace) files.set(place + pathInWorkspace(kept), await readKept(folder, kept))
  }
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1))
  const entries: Zippable = Object.fromEntries(
    sorted.map(([path, bytes]) => [path, [bytes, { mtime: noTime, level: 6, os: 3 }]]),
  )
  return zipSync(entries)
}
