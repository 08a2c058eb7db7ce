import { readFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { invalid } from '../../errors.ts'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
import { prepareOwnPath, realPath } from '../../files/own-files.ts'

/** While a pause is in force, messages from hosts are neither stored nor learned from. Recall still works. */
export type Pause = {
  /** The pause applies to this directory and everything below it; null means everywhere. */
  readonly directory: string | null
  /** When the pause ends; null if it lasts until a person ends it. */
  readonly until: string | null
}

const fileIn = (dir: string): string => join(dir, 'state', 'paused.json')

/** The pauses of a memory directory that are in force. */
export function pausesIn(dir: string, now: Date): readonly Pause[] {
  const file = fileIn(dir)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw error
  }
  return parsePauses(text, file).filter(({ until }) => until === null || Date.parse(until) > now.getTime())
}

/** The pause in force for a directory, or null. */
export const pauseFor = (dir: string, directory: string, now: Date): Pause | null =>
  pausesIn(dir, now).find((pause) => pause.directory === null || isWithin(directory, pause.directory)) ?? null

/** Begins a pause. It replaces an earlier pause for the same directory. */
export async function beginPause(dir: string, pause: Pause, now: Date): Promise<void> {
  const others = pausesIn(dir, now).filter(({ directory }) => directory !== pause.directory)
  await writeAtomically(prepareOwnPath(dir, fileIn(dir)), formatJson({ pauses: [...others, pause] }), {
    existing: 'replace',
  })
}

/** Ends the pause for a directory, or for everywhere. Returns whether there was one. */
export async function endPause(dir: string, directory: string | null, now: Date): Promise<boolean> {
  const pauses = pausesIn(dir, now)
  const others = pauses.filter((pause) => pause.directory !== directory)
  if (others.length === pauses.length) return false
  await writeAtomically(prepareOwnPath(dir, fileIn(dir)), formatJson({ pauses: others }), { existing: 'replace' })
  return true
}

/** Whether a directory is the same as `other` or inside it, after resolving links. */
export function isWithin(directory: string, other: string): boolean {
  const path = relative(realPath(other), realPath(directory))
  return path === '' || !(path === '..' || path.startsWith('../') || path.startsWith('..\\') || isAbsolute(path))
}

/** Throws if the file is damaged, because it may contain a pause. If it were read as empty, messages would be stored in spite of the pause. */
function parsePauses(text: string, file: string): readonly Pause[] {
  const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'
  try {
    const { pauses } = JSON.parse(text) as { pauses: readonly Pause[] }
    if (pauses.every(({ directory, until }) => isTextOrNull(directory) && isTextOrNull(until))) return pauses
  } catch {
    // Reported below, like JSON of the wrong form.
  }
  throw invalid(
    `${file} is damaged, so Credence cannot tell whether the memory is paused.`,
    'Delete the file, then run `credence pause` again if you want a pause.',
  )
}
