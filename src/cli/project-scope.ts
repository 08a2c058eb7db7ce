import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The scope of the repository a directory is in, or null outside of one. Worktrees of one repository share it, two
 * repositories never do, whatever their folders are called. Git itself is not run: that would cost more than a recall.
 */
export function projectScope(directory: string): string | null {
  const repository = commonDirectory(directory)
  if (repository === null) return null
  const hash = createHash('sha256').update(repository).digest('hex').slice(0, 8)
  return `project:${slug(repositoryName(repository))}-${hash}`
}

/** The real path of the directory that all worktrees of a repository have in common. */
export function commonDirectory(directory: string): string | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const found = commonOf(join(at, '.git'))
    if (found !== null) return found
    if (at === dirname(at)) return null
  }
}

/**
 * `.git` is a repository's directory, or in worktrees and submodules a file that says where that is. Whatever cannot be
 * read to the end is not a repository, as for git itself.
 */
function commonOf(dotGit: string): string | null {
  try {
    const gitDirectory = statSync(dotGit).isDirectory() ? dotGit : directoryNamedIn(dotGit)
    readFileSync(join(gitDirectory, 'HEAD'))
    return realpathSync(resolve(gitDirectory, sharedWith(gitDirectory)))
  } catch {
    return null
  }
}

function directoryNamedIn(dotGit: string): string {
  const [, path] = readFileSync(dotGit, 'utf8').match(/^gitdir: (.+)$/m) ?? []
  if (path === undefined) throw new Error(`${dotGit} names no directory.`)
  return resolve(dirname(dotGit), path.trimEnd())
}

/** A worktree's own directory says what it shares; the main one has nothing to say. */
function sharedWith(gitDirectory: string): string {
  const file = join(gitDirectory, 'commondir')
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '.'
}

/** `…/ledger/.git`, the bare `…/ledger.git` and the submodule `…/.git/modules/ledger` are all called ledger. */
const repositoryName = (repository: string): string =>
  basename(repository) === '.git' ? basename(dirname(repository)) : basename(repository).replace(/\.git$/, '')

const longestSlug = 40

/** Letters, digits and single dashes, as a scope may hold them. */
function slug(name: string): string {
  const dashed = name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  return (
    [...dashed]
      .slice(0, longestSlug)
      .join('')
      .replace(/^-+|-+$/g, '') || 'project'
  )
}
