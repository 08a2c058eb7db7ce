import type { Term } from './question.ts'
import type { ParsedStatement } from './statement.ts'

/** What the question before was about and what was answered, for a question that says "it". */
export type Thread = {
  readonly terms: readonly Term[]
  readonly head: Term | null
  readonly answers: readonly ParsedStatement[]
  /** What was spoken of earlier still. */
  readonly before: Thread | null
}

/** Whether it speaks of what was just asked about, names what was just answered, or was told right after it. */
export function takesUp(parsed: ParsedStatement, { terms, answers }: Thread): boolean {
  if (
    terms.some(
      ({ meaning, isOptional }) => !isOptional && (parsed.meanings.has(meaning) || parsed.through.has(meaning)),
    )
  )
    return true
  return answers.some((answer) => {
    const names = answer.words.filter(({ isProper }) => isProper).map(({ word }) => word)
    if (names.some((name) => parsed.written.has(name))) return true
    const isNext = Math.abs(parsed.statement.order - answer.statement.order) <= 1
    return isNext && /\b(?:it|its|it['’]s|he|his|him|she|her|they|their|them|there)\b/iu.test(parsed.statement.text)
  })
}
