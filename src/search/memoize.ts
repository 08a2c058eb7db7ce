/** Caches the results of a function of one word. Texts share most of their words, and dictionary look-ups are slow. */
export function memoize<Result>(compute: (word: string) => Result, maxEntries = 20_000): (word: string) => Result {
  const results = new Map<string, Result>()
  return (word) => {
    const known = results.get(word)
    if (known !== undefined) return known
    if (word.length > maxWordLength) return compute(word)
    // A copy, because a substring of more than 12 characters keeps its whole text in memory in V8.
    const copy = word.length > 12 ? Buffer.from(word, 'utf16le').toString('utf16le') : word
    const result = compute(copy)
    if (results.size >= maxEntries) results.clear()
    results.set(copy, result)
    return result
  }
}

/** Longer words rarely occur twice, so their results are not cached. */
const maxWordLength = 64
