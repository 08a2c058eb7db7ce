import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { parseScope, parseScopes } from '../beliefs/scope.ts'
import { didYouMean } from '../did-you-mean.ts'
import { MemoryError } from '../errors.ts'

/** What a `.credence.json` says about the project it lies in. */
export type ProjectFile = {
  readonly file: string
  /** Takes the place of the repository's own scope. */
  readonly scope: string | null
  /** Takes the place of all active scopes; new beliefs go to the first. */
  readonly scopes: readonly string[] | null
  /** The memory directory, absolute. */
  readonly dir: string | null
  /** Whether hooks do anything here. */
  readonly enabled: boolean
}

export const projectFileName = '.credence.json'

const keys = ['scope', 'scopes', 'dir', 'enabled'] as const
const largestFile = 64 * 1024

/** The nearest `.credence.json` from a directory upwards, or null. A file of somebody else is not obeyed. */
export function findProjectFile(directory: string): ProjectFile | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const file = join(at, projectFileName)
    const text = textOf(file)
    if (text !== null) return parseProjectFile(text, file)
    if (at === dirname(at)) return null
  }
}

function textOf(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile()) return null
  if (process.getuid !== undefined && stats.uid !== process.getuid())
    throw new MemoryError('forbidden', `${file} belongs to another user of this machine.`, {
      hint: 'Remove it, or make it yours.',
    })
  if (stats.size > largestFile) throw invalid(`${file} has ${stats.size} bytes.`, `At most ${largestFile} are read.`)
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new MemoryError('unavailable', `${file} cannot be read (${code}).`, { hint: 'Check who owns it.', cause })
  }
}

/** Checks the text of a `.credence.json`. */
export function parseProjectFile(text: string, file: string): ProjectFile {
  const value = parseObject(text, file)
  for (const key of Object.keys(value)) {
    if (keys.some((known) => known === key)) continue
    const meant = didYouMean(key, keys)
    throw invalid(
      `${file} has the unknown key "${key.slice(0, 80)}".`,
      meant === undefined ? `Known are ${keys.join(', ')}.` : `Did you mean "${meant}"?`,
    )
  }
  const { scope, scopes, dir, enabled } = value
  if (scope !== undefined && scopes !== undefined) throw invalid(`${file} has both "scope" and "scopes".`, 'Give one.')
  return {
    file,
    scope: scope === undefined ? null : parseScope(textAt(file, 'scope', scope)),
    scopes: scopes === undefined ? null : scopesAt(file, scopes),
    dir: dir === undefined ? null : directoryAt(file, textAt(file, 'dir', dir)),
    enabled: enabled === undefined ? true : flagAt(file, enabled),
  }
}

function parseObject(text: string, file: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new MemoryError('invalid', `${file} is not JSON.`, { hint: 'Write {"scope": "project:ledger"}.', cause })
  }
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { ...value }
  throw invalid(`${file} holds no object.`, 'Write {"scope": "project:ledger"}.')
}

function textAt(file: string, key: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw invalid(`"${key}" in ${file} is ${shown(value)}.`, 'Write a text that is not empty.')
}

function scopesAt(file: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(`"scopes" in ${file} is ${shown(value)}.`, 'Write a list of scopes.')
  const [first, ...others] = value.map((one) => parseScope(textAt(file, 'scopes', one)))
  // The first is where new beliefs go, so only the rest is put in order.
  return [first as string, ...parseScopes(others).filter((scope) => scope !== first)]
}

/** A relative directory means one beside the file. */
const directoryAt = (file: string, dir: string): string => (isAbsolute(dir) ? dir : resolve(dirname(file), dir))

function flagAt(file: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(`"enabled" in ${file} is ${shown(value)}.`, 'Write true or false.')
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 80)

const invalid = (message: string, hint: string): MemoryError => new MemoryError('invalid', message, { hint })
