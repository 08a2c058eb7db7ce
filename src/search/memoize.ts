/** Remembers the results of a function of one word. Texts share most of their words, and dictionary look-ups are slow. */
export function memoize<Result>(compute: (word: string) => Result, most = 20_000): (word: string) => Result {
  const results = new Map<string, Result>()
  return (word) => {
    const known = results.get(word)
    if (known !== undefined) return known
    if (word.length > maxWordLength) return compute(word)
    // V8 keeps a whole text in memory for a longer part of it.
    const copy = word.length > 12 ? Buffer.from(word, 'utf16le').toString('utf16le') : word
    const result = compute(copy)
    if (results.size >= most) results.clear()
    results.set(copy, result)
    return result
  }
}

/** Longer words hardly occur twice. */
const maxWordLength = 64
