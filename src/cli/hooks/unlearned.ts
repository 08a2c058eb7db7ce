import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../files/leftovers.ts'
import { appendLine, isLargerThan } from './bounded-append.ts'

/** Something a person said that is to be learned from. */
export type Lesson = {
  readonly text: string
  /** Where it was said, and through which host. */
  readonly directory: string
  readonly host: string
  readonly session: string | null
}

const largestFile = 256 * 1024

/** Whoever has been at it for longer has died over it. */
const longestWorkMs = 60_000

const waitingIn = (dir: string): string => join(dir, 'state', 'hook-unlearned.jsonl')
const underWayIn = (dir: string): string => join(dir, 'state', 'hook-learning.jsonl')

/** Keeps a lesson, readable by its owner alone, until it is learned. */
export function keepForLater(dir: string, lesson: Lesson): void {
  const file = waitingIn(dir)
  if (!isLargerThan(file, largestFile)) appendLine(file, lesson)
}

export const hasUnlearned = (dir: string): boolean => existsSync(waitingIn(dir)) || existsSync(underWayIn(dir))

/**
 * Hands out what was kept until nothing is left. One process does so at a time, so that what was said first is learned
 * first and a correction finds what it corrects; what one that died has left behind is handed out again.
 */
export function* unlearned(dir: string): Generator<Lesson> {
  const underWay = underWayIn(dir)
  const begun = statSync(underWay, { throwIfNoEntry: false })?.mtimeMs
  if (begun !== undefined && Date.now() - begun < longestWorkMs) return
  for (let isLeft = begun !== undefined || take(dir); isLeft; isLeft = take(dir)) {
    yield* readFileSync(underWay, 'utf8').split('\n').flatMap(lessonIn)
    rmSync(underWay, { force: true })
  }
}

/** Of several that try at once, one gets it. */
function take(dir: string): boolean {
  try {
    renameSync(waitingIn(dir), underWayIn(dir))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  const now = new Date()
  utimesSync(underWayIn(dir), now, now)
  return true
}

/** A line that a crash has cut off is lost. */
function lessonIn(line: string): readonly Lesson[] {
  if (line === '') return []
  try {
    const { text, directory, host, session } = JSON.parse(line)
    const isWhole = [text, directory, host].every((part) => typeof part === 'string')
    return isWhole ? [{ text, directory, host, session: typeof session === 'string' ? session : null }] : []
  } catch {
    return []
  }
}
