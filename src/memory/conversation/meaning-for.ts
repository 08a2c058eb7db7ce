import { expectedError } from '../../errors.ts'
import type { MessageMeaning } from '../../search/turns/candidates.ts'
import type { Question } from '../../search/turns/question.ts'
import type { Ports } from '../ports.ts'

type Asked = { readonly user: string; readonly question: Question; readonly message: string }

/**
 * The meaning of a message; undefined if the user has no vectors, the model cannot be used, or computing the vectors takes
 * longer than `maxWaitMs`. The caller then compares words alone. `wordsOf` may take only what is left of `maxWaitMs`, so that a
 * recall does not wait longer than that for both.
 */
export async function meaningFor(
  { store, embedder }: Pick<Ports, 'store'> & { readonly embedder: Ports['embedder'] | undefined },
  { user, question, message }: Asked,
  maxWaitMs = Number.POSITIVE_INFINITY,
): Promise<MessageMeaning | undefined> {
  if (embedder === undefined || !(await store.hasVectors(user))) return undefined
  const found = Promise.all([embedder(), import('./meaning.ts')])
    .then(([model, { meaningOf }]) => meaningOf(model, question, message))
    .catch((error: unknown) => {
      if (expectedError(error) === null) throw error
      return undefined
    })
  if (maxWaitMs === Number.POSITIVE_INFINITY) return found
  const deadline = performance.now() + maxWaitMs
  const meaning = await within(maxWaitMs, found)
  if (meaning?.wordsOf === undefined) return meaning
  const { wordsOf } = meaning
  return { ...meaning, wordsOf: (texts) => within(Math.max(0, deadline - performance.now()), wordsOf(texts)) }
}

/** The value, or undefined if it takes longer than `milliseconds`. */
function within<Value>(milliseconds: number, value: Promise<Value>): Promise<Value | undefined> {
  const { promise: isLate, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  return Promise.race([value, isLate]).finally(() => clearTimeout(timer))
}
