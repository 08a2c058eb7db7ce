import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

/** Where programs and packages are looked for. */
export type PrerequisitePlaces = { readonly searchPath: string; readonly workingDirectory: string }

/** Why a task cannot be carried out here, in one sentence; null when it can. */
export async function missingPrerequisite(
  prerequisites: readonly string[],
  { searchPath, workingDirectory }: PrerequisitePlaces,
): Promise<string | null> {
  for (const prerequisite of prerequisites) {
    const [, kind, name] = /^(cli|npm):(\S+)$/u.exec(prerequisite) ?? []
    if (kind === undefined || name === undefined) {
      return `It needs "${prerequisite}", which nobody here can check; known are cli:NAME and npm:PACKAGE.`
    }
    if (kind === 'cli' && (await findProgram(name, searchPath)) === null) {
      return `It needs the program "${name}", which is not on the path.`
    }
    if (kind === 'npm' && !isResolvable(name, workingDirectory)) {
      return `It needs the package "${name}", which is not installed.`
    }
  }
  return null
}

/** The file that a program's name stands for, or null. */
export async function findProgram(name: string, searchPath: string): Promise<string | null> {
  const isPath = name.includes('/') || name.includes('\\')
  const folders = isPath ? [''] : searchPath.split(delimiter).filter((folder) => folder !== '')
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : ['']
  for (const folder of folders) {
    for (const ending of endings) {
      const file = folder === '' ? name + ending : join(folder, name + ending)
      if (await isProgram(file)) return file
    }
  }
  return null
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

function isResolvable(name: string, workingDirectory: string): boolean {
  const { resolve } = createRequire(join(workingDirectory, 'package.json'))
  return [`${name}/package.json`, name].some((specifier) => {
    try {
      resolve(specifier)
      return true
    } catch {
      return false
    }
  })
}
