/** Characters without width hide a secret from a search, but not from a reader. */
export const invisible = /\p{Default_Ignorable_Code_Point}/u

/** The text without them, and where each of the characters that are left was. */
export function withoutInvisible(text: string): { readonly visible: string; readonly offsets: readonly number[] } {
  const offsets: number[] = []
  const kept: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    if (invisible.test(character)) continue
    kept.push(character)
    offsets.push(at)
  }
  return { visible: kept.join(''), offsets }
}

/** A word in base64, or several lines of it as programs break them. */
export const base64Word =
  /(?<![\w+/-])(?:[A-Za-z0-9+/]{60,76}(?:\r?\n[A-Za-z0-9+/]{4,76}){1,5000}|[\w+/-]{20,})={0,2}/gu

/** The text that a word in base64 stands for; null when it stands for anything else. */
export function decoded(word: string): string | null {
  const bytes = Buffer.from(word, 'base64')
  // Most words are turned down by their first bytes.
  if (bytes.subarray(0, 12).some((byte) => byte < 9 || byte > 126)) return null
  const text = bytes.toString('latin1')
  return /^[\t\n\r -~]*$/u.test(text) ? text : null
}
