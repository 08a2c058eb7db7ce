import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Why a task cannot be carried out here, in one sentence; null when it can. Only programs can be checked. */
export async function missingPrerequisite(
  prerequisites: readonly string[],
  searchPath: string,
): Promise<string | null> {
  for (const prerequisite of prerequisites) {
    const [, name] = /^cli:(\S+)$/u.exec(prerequisite) ?? []
    if (name === undefined) return `It needs "${prerequisite}", which cannot be checked here; use cli:NAME.`
    if ((await findProgram(name, searchPath)) === null)
      return `It needs the program "${name}", which is not on the path.`
  }
  return null
}

/** The file of a program, or null. */
export async function findProgram(name: string, searchPath: string): Promise<string | null> {
  const isPath = name.includes('/') || name.includes('\\')
  const folders = isPath ? [''] : searchPath.split(delimiter).filter((folder) => folder !== '')
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : ['']
  for (const file of folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending)))) {
    const isProgram = await access(file, constants.X_OK).then(
      async () => (await stat(file)).isFile(),
      () => false,
    )
    if (isProgram) return file
  }
  return null
}
