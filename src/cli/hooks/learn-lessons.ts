import { MemoryError } from '../../errors.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Session, StandpointOptions } from '../session.ts'
import { keepForLater, type Lesson, unlearned } from './unlearned.ts'

/** How many beliefs came of what was kept for later, and whether all of it was learned. */
export type LearnedLessons = { readonly learned: number; readonly isComplete: boolean }

/**
 * Learns from everything that was kept for later. A lesson that meets a bug must not stand in the way of the others, or
 * come back with every hook: it is left out, and the bug is thrown when the rest is done.
 */
export async function learnLessons(session: Session, options: StandpointOptions, dir: string): Promise<LearnedLessons> {
  const learners = new Map<string, Learner>()
  const putOff: Lesson[] = []
  const bugs: unknown[] = []
  let learned = 0
  for (const lesson of unlearned(dir)) {
    // What was said elsewhere is learned as if it were still being said there.
    const { directory, host } = lesson
    const author = { actor: 'person', origin: host } as const
    const learner =
      learners.get(`${host} ${directory}`) ?? new Learner(session.inDirectory(directory), { ...options, as: author })
    learners.set(`${host} ${directory}`, learner)
    try {
      learned += await learner.learn(lesson)
    } catch (error) {
      if (isBusy(error)) putOff.push(lesson)
      else bugs.push(error)
    }
  }
  for (const lesson of putOff) keepForLater(dir, lesson)
  if (bugs.length > 0) throw bugs[0]
  return { learned, isComplete: putOff.length === 0 }
}

/** Somebody else was writing for longer than was worth waiting. */
const isBusy = (error: unknown): boolean =>
  error instanceof MemoryError && (error.code === 'unavailable' || error.code === 'conflict')

/** Learns in one directory. A memory is made there when there is something to put into it. */
class Learner {
  readonly #there: Session
  readonly #options: StandpointOptions
  #memory: Memory | null = null

  constructor(there: Session, options: StandpointOptions) {
    this.#there = there
    this.#options = options
  }

  async learn({ text, session }: Lesson): Promise<number> {
    if (this.#memory === null && !(await this.#isWorthMemory(text))) return 0
    this.#memory ??= await this.#there.memory(this.#options)
    const { taken } = await this.#memory.learn(text, {
      scopes: this.#there.place(this.#options).homeScopes,
      ...(session === null ? {} : { sourceId: session.slice(0, 200) }),
    })
    return taken.length
  }

  async #isWorthMemory(text: string): Promise<boolean> {
    if (await this.#there.hasMemory(this.#options)) return true
    const empty = await this.#there.reading(this.#options)
    return (await empty.learn(text, { dryRun: true })).taken.length > 0
  }
}
