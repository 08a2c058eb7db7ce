import { expectedError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { LocationOptions, Session, StandpointOptions } from './session.ts'
import { pluralize } from './text/output.ts'

/** Max texts without vectors that a command computes before it answers: about a second. */
const maxComputed = 32

/**
 * Opens a memory for a person who asks a question: computes the vectors of the texts stored since the last time, unless they are many.
 * `waiting` is the number of texts that can be found by their words only.
 */
export async function openWithNewVectors(
  session: Session,
  options: StandpointOptions,
): Promise<{ readonly memory: Memory; readonly waiting: number }> {
  const memory = await session.memories.reading({ ...options, waitsForModel: true })
  const { waiting } = await memory.meaningStatus()
  if (waiting === 0 || waiting > maxComputed) return { memory, waiting }
  try {
    const { embedded } = await memory.embedTexts({ limit: maxComputed })
    return { memory, waiting: waiting - embedded }
  } catch (error) {
    // A memory that cannot be written to, or a model that cannot be used, does not prevent an answer by words.
    if (expectedError(error) === null) throw error
    return { memory, waiting }
  }
}

/** For an answer that may lack texts without vectors. */
export const waitingNote = (waiting: number): string =>
  `${pluralize(waiting, 'text')} without vectors can only be found by their words; \`credence vectors\` computes them.`

/**
 * Starts a background process for the vectors of the texts, if they are too many for the next question, and returns their number.
 */
export async function startVectors(session: Session, options: LocationOptions): Promise<number> {
  const memory = await session.memories.reading(options)
  const { waiting } = await memory.meaningStatus()
  if (waiting <= maxComputed) return 0
  await session.program.startDetached(['vectors', ...placeArguments(options)])
  return waiting
}

export const startedNote = (started: number): string =>
  `Vectors of ${pluralize(started, 'text')} are computed in the background; \`credence status\` shows how far it is.`

/** The options of a memory, for a process that is started in the background. */
export const placeArguments = ({ dir, store, user }: LocationOptions): readonly string[] =>
  Object.entries({ '--dir': dir, '--store': store, '--user': user }).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  )
