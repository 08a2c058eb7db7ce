/** Remembers the results of a function of one word. Texts share most of their words, and dictionary look-ups are slow. */
export function memoized<Result>(compute: (word: string) => Result, most = 20_000): (word: string) => Result {
  const results = new Map<string, Result>()
  return (word) => {
    const known = results.get(word)
    if (known !== undefined) return known
    const result = compute(word)
    if (results.size >= most) results.clear()
    if (word.length <= longestWord) results.set(word, result)
    return result
  }
}

/** Longer words hardly occur twice. */
const longestWord = 64
