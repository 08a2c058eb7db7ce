import { MemoryError } from '../../../errors.ts'

/**
 * Splits a command line into words, without a shell: quotes keep words together and a backslash keeps a character, but
 * nothing is looked up, expanded or run.
 */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let place = 0; place < line.length; place += 1) {
    const mark = line[place] as string
    const next = line[place + 1]
    if (mark === '\\' && quote !== "'" && next !== undefined && (quote === null || '"\\'.includes(next))) {
      word = (word ?? '') + next
      place += 1
    } else if (quote !== null) {
      if (mark === quote) quote = null
      else word += mark
    } else if (mark === '"' || mark === "'") {
      quote = mark
      word ??= ''
    } else if (/\s/u.test(mark)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + mark
  }
  if (quote !== null) {
    throw new MemoryError('invalid', `The command ${JSON.stringify(line)} has a quote ${quote} that is never closed.`, {
      hint: 'Close it, or put a backslash before it.',
    })
  }
  if (word !== null) words.push(word)
  return words
}
