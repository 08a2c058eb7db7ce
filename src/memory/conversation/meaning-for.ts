import type { MessageMeaning } from '../../search/turns/candidates.ts'
import type { Question } from '../../search/turns/question.ts'
import type { Ports } from '../ports.ts'

/** The meaning of a message, if a model is installed. */
export async function meaningFor(
  embedder: Ports['embedder'],
  question: Question,
  message: string,
): Promise<MessageMeaning | undefined> {
  if (embedder === undefined) return undefined
  const [model, { meaningOf }] = await Promise.all([embedder(), import('./meaning.ts')])
  return meaningOf(model, question, message)
}
