import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../files/leftovers.ts'
import { prepareOwnPath, writePrivate } from '../files/own-files.ts'
import type { Memory } from '../memory/memory.ts'
import { commonDirectory, projectScope, repositoryName } from './memory-location.ts'
import { pluralize, stripControlCharacters } from './text/output.ts'

/** A repository that used a memory. Its scope is derived from its path, so a renamed repository gets a different one. */
type Project = {
  readonly scope: string
  /** The directory that its worktrees share. */
  readonly directory: string
  /** A hash of its URL, which may contain a password. */
  readonly remote: string | null
  /** The inode of the directory, which a move within the file system does not change. */
  readonly inode: string
}

const projectsIn = (dir: string): string => join(dir, 'state', 'projects')

/** Records the location of a project, so that it can be recognised after its directory was renamed. */
export function noteProject(dir: string, directory: string): void {
  const project = projectAt(directory)
  if (project === null) return
  const file = join(projectsIn(dir), `${project.scope.slice('project:'.length)}.json`)
  const text = `${JSON.stringify(project)}\n`
  try {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return
    writePrivate(prepareOwnPath(dir, file), text, 'replace')
  } catch (error) {
    // Ignored on a full disk: only the hint is lost, and a hook must still answer.
    if (codeOf(error) === undefined) throw error
  }
}

/**
 * Hints for a project without beliefs: scopes with beliefs that may be its former scopes. Either the directory of such a scope
 * is gone, or the scope has the same name but came from another machine: no directory on this one has used it.
 */
export async function formerProjectNotes(dir: string, directory: string, memory: Memory): Promise<readonly string[]> {
  const here = projectAt(directory)
  if (here === null) return []
  const known = notedProjects(dir)
  const counts = new Map((await memory.scopes()).map(({ scope, beliefs }) => [scope, beliefs]))
  if ((counts.get(here.scope) ?? 0) > 0) return []
  const noteFor = (scope: string, origin: string): string => {
    const shown = stripControlCharacters(scope)
    const count = pluralize(counts.get(scope) ?? 0, 'belief')
    return `This project has no beliefs, but ${shown} has ${count}; ${origin}: credence init --attach ${shown}`
  }
  const gone = known
    .filter(
      (other) => !existsSync(other.directory) && isProbablySame(here, other) && (counts.get(other.scope) ?? 0) > 0,
    )
    .map(({ scope, directory: former }) =>
      noteFor(
        scope,
        `its directory, ${stripControlCharacters(dirname(former))}, is gone. If the project was renamed or moved`,
      ),
    )
  const elsewhere = [...counts]
    .filter(([scope, beliefs]) => beliefs > 0 && nameInScope(scope) === nameInScope(here.scope))
    .filter(([scope]) => !known.some((other) => other.scope === scope))
    .map(([scope]) => noteFor(scope, 'no directory on this machine has used it. If it is the same project'))
  return [...gone, ...elsewhere]
}

/** The scope of a repository without the hash of its path; null for other scopes. */
const nameInScope = (scope: string): string | null => /^(project:.+)-[0-9a-f]{8}$/u.exec(scope)?.[1] ?? null

function isProbablySame(here: Project, other: Project): boolean {
  if (here.inode === other.inode) return true
  if (here.remote !== null && other.remote !== null) return here.remote === other.remote
  return repositoryName(here.directory) === repositoryName(other.directory)
}

function projectAt(at: string): Project | null {
  const directory = commonDirectory(at)
  const scope = projectScope(at)
  if (directory === null || scope === null) return null
  const { ino, birthtimeMs } = statSync(directory)
  const config = join(directory, 'config')
  const [, url] =
    /^\[remote "[^"]*"\][^[]*?^\s*url\s*=\s*(\S+)/mu.exec(existsSync(config) ? readFileSync(config, 'utf8') : '') ?? []
  const remote = url === undefined ? null : createHash('sha256').update(url).digest('hex')
  return { scope, directory, remote, inode: `${ino} ${birthtimeMs}` }
}

/** Skips damaged files: only their hints are lost. */
function notedProjects(dir: string): readonly Project[] {
  if (!existsSync(projectsIn(dir))) return []
  return readdirSync(projectsIn(dir)).flatMap((name) => {
    try {
      const { scope, directory, remote, inode } = JSON.parse(readFileSync(join(projectsIn(dir), name), 'utf8'))
      const isWhole = [scope, directory, inode].every((field) => typeof field === 'string')
      return isWhole && (remote === null || typeof remote === 'string') ? [{ scope, directory, remote, inode }] : []
    } catch {
      return []
    }
  })
}
