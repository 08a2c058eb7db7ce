import { expectedError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { LocationOptions, Session } from './session.ts'
import { pluralize } from './text/output.ts'

/** Max texts whose vectors a command computes itself, which takes about a second. */
const maxComputed = 32

/** Computes the vectors of a few new texts, which a person often asks about next. Only for commands that may change files. */
export async function addVectors(memory: Memory): Promise<void> {
  const { waiting } = await memory.meaningStatus()
  if (waiting === 0 || waiting > maxComputed) return
  try {
    await memory.embedTexts({ limit: maxComputed })
  } catch (error) {
    // The texts are stored; a model that cannot be used does not make the command fail.
    if (expectedError(error) === null) throw error
  }
}

/** Notes for an answer that may lack texts without vectors. Counting these reads the whole store. */
export async function waitingNotes(memory: Memory): Promise<readonly string[]> {
  const { waiting } = await memory.meaningStatus()
  const texts = pluralize(waiting, 'text')
  return waiting === 0
    ? []
    : [`${texts} without vectors can only be found by words; \`credence vectors\` computes them.`]
}

/** Computes the vectors of a few imported texts. For many, starts a background process, and returns their number. */
export async function startVectors(session: Session, options: LocationOptions): Promise<number> {
  const memory = await session.memories.writing(options)
  const { waiting } = await memory.meaningStatus()
  if (waiting <= maxComputed) {
    await addVectors(memory)
    return 0
  }
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
