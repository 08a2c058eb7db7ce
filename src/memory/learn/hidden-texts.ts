/**
 * Invisible characters and alternative forms of letters and digits (`ＡＢ１２`), which hide a secret from a search but not
 * from a reader.
 */
export const disguise = /[\p{Default_Ignorable_Code_Point}０-９Ａ-Ｚａ-ｚ\u{1D400}-\u{1D7FF}]/u

const invisible = /\p{Default_Ignorable_Code_Point}/u

export type Place = { readonly start: number; readonly end: number }

/** The text without disguise, and the original position of each character. */
export function withoutDisguise(text: string): { readonly plain: string; readonly places: readonly Place[] } {
  const characters: string[] = []
  const places: Place[] = []
  let start = 0
  for (const character of text) {
    const end = start + character.length
    if (!invisible.test(character))
      for (const unit of character.normalize('NFKC').split('')) {
        characters.push(unit)
        places.push({ start, end })
      }
    start = end
  }
  return { plain: characters.join(''), places }
}

/** A word in base64 or hexadecimal, or base64 on several lines of the length that programs write. */
export const encodedWord =
  /(?<![\w+/-])(?:[A-Za-z0-9+/]{60,76}(?:\r?\n[A-Za-z0-9+/]{4,76}){1,5000}|[\w+/-]{20,})={0,2}/gu

/** Decodes a word in base64 or hexadecimal; null if the result is not text. */
export const decodeWord = (word: string): string | null =>
  decodedTextOf(Buffer.from(word, 'base64')) ??
  (/^[\dA-Fa-f]*$/u.test(word) ? decodedTextOf(Buffer.from(word, 'hex')) : null)

function decodedTextOf(bytes: Buffer): string | null {
  // Checks the first bytes separately, because they already rule out most words.
  if (bytes.subarray(0, 12).some((byte) => byte < 9 || byte > 126)) return null
  const text = bytes.toString('latin1')
  return /^[\t\n\r -~]*$/u.test(text) ? text : null
}
