import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { appendLine, isLargerThan } from './bounded-append.ts'

/** Something a person said that there was no time to learn from. */
export type Lesson = {
  readonly text: string
  /** Where it was said. */
  readonly directory: string
  readonly session: string | null
}

const largestFile = 256 * 1024

const fileIn = (dir: string): string => join(dir, 'state', 'hook-unlearned.jsonl')

/** Keeps a lesson, readable by its owner alone, until a hook has time for it. */
export function keepForLater(dir: string, lesson: Lesson): void {
  const file = fileIn(dir)
  if (!isLargerThan(file, largestFile)) appendLine(file, lesson)
}

/** Takes what was kept. Of several that try at once, one gets it. */
export function takeUnlearned(dir: string): readonly Lesson[] {
  const taken = `${fileIn(dir)}.${process.pid}`
  try {
    renameSync(fileIn(dir), taken)
  } catch {
    return []
  }
  try {
    return readFileSync(taken, 'utf8').split('\n').flatMap(lessonIn)
  } finally {
    rmSync(taken, { force: true })
  }
}

/** A line that a crash has cut off is lost. */
function lessonIn(line: string): readonly Lesson[] {
  if (line === '') return []
  try {
    const { text, directory, session } = JSON.parse(line)
    const isWhole = typeof text === 'string' && typeof directory === 'string'
    return isWhole ? [{ text, directory, session: typeof session === 'string' ? session : null }] : []
  } catch {
    return []
  }
}
