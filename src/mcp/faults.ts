import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import { MemoryError } from '../errors.ts'

export type OnBug = (error: unknown) => void

/** What a client may know of an error. A bug is told to `onBug` whole, and to the client only as such: its text may hold anything. */
export function toldOf(error: unknown, onBug: OnBug): string {
  if (error instanceof MemoryError) return sentences(error.message, error.hint)
  onBug(error)
  return 'Credence stopped because of a bug in it. What was acknowledged before is safe.'
}

/** For answers that have no form of their own for errors: the protocol's is thrown, with no more in it than a client may know. */
export async function orTold<Result>(work: () => Promise<Result>, onBug: OnBug): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ResourceNotFoundError) throw error
    throw new Error(toldOf(error, onBug))
  }
}

export const sentences = (...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text !== '').join(' ')
