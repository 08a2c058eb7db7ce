import type { Evidence, KeptFile } from '../evidence.ts'
import { readKept } from '../run/read-evidence.ts'

export type WorkspaceText = {
  /** Below the workspace. */
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  /** Null for a file that is not text, or too long. */
  readonly text: string | null
}

const longestText = 1024 * 1024

/** The files of the workspace at the end. */
export async function workspaceTexts(
  folder: string,
  { workspace }: Pick<Evidence, 'workspace'>,
): Promise<readonly WorkspaceText[]> {
  const texts: WorkspaceText[] = []
  for (const file of workspace) texts.push({ ...file, path: pathInWorkspace(file), text: await textOf(folder, file) })
  return texts
}

export const pathInWorkspace = ({ path }: KeptFile): string => path.replace(/^workspace\//u, '')

async function textOf(folder: string, file: KeptFile): Promise<string | null> {
  if (file.bytes > longestText) return null
  const bytes = await readKept(folder, file)
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
