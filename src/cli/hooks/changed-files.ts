import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const path = /(?<![\w/.@-])(?:\.\/)?[\w@-][\w@.-]*(?:\/[\w@-][\w@.-]*)*\.\w{1,10}(?![\w/-])/gu
const maxFiles = 3
const maxGitMs = 1_000

/** The files whose paths occur in a text and that git reports as changed since a time. */
export async function listFilesChangedSince(
  directory: string,
  text: string,
  since: string,
): Promise<readonly string[]> {
  const named = [...new Set((text.match(path) ?? []).map((one) => one.replace(/^\.\//u, '')))].slice(0, maxFiles * 5)
  // Only files written since then can have changed. Git has to confirm it, because a checkout also writes files.
  const written = named.filter((file) => {
    const { mtimeMs = 0 } = statSync(join(directory, file), { throwIfNoEntry: false }) ?? {}
    return mtimeMs > Date.parse(since)
  })
  const changed: string[] = []
  for (const file of written.slice(0, maxFiles)) {
    const isCommitted = (await git(directory, 'log', '-1', `--since=${since}`, '--format=%h', '--', file)) !== ''
    if (isCommitted || (await git(directory, 'status', '--porcelain', '--', file)).startsWith(' M')) changed.push(file)
  }
  return changed
}

/** The output of git; empty if it fails, such as outside of a repository. */
async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: directory, timeout: maxGitMs }
  return promisify(execFile)('git', ['--no-optional-locks', ...args], options).then(
    ({ stdout }) => stdout,
    () => '',
  )
}
