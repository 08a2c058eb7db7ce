/** Six or more characters with a space after each, which a reader takes for one word. */
const spacedWord = /(?<![^\s"'“‘„(:])\S(?:[^\S\n]\S){5,400}(?=[.,;:!?"'”’“)]{0,3}(?:\s|$))/gu

/**
 * Invisible characters, alternative forms of letters and digits (`ＡＢ１２`), digits of other scripts, and spaces between characters,
 * which hide a secret from a search but not from a reader.
 */
export const disguise =
  /[\p{Default_Ignorable_Code_Point}\p{No}Ａ-Ｚａ-ｚⒶ-ⓩ\u{1D400}-\u{1D7FF}]|(?!\d)\p{Nd}|(?<!\S)\S(?:[^\S\n]\S){5}/u

const invisible = /\p{Default_Ignorable_Code_Point}/u

/** The value of a digit in any script. In Unicode, the ten digits of a script have consecutive codes. */
function plainDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((code - zero) % 10)
}

export type Place = { readonly start: number; readonly end: number }

/** The text without disguise, and the original position of each character. */
export function withoutDisguise(text: string): { readonly plain: string; readonly places: readonly Place[] } {
  const characters: string[] = []
  const places: Place[] = []
  const spaces = new Set<number>()
  for (const { 0: word, index } of text.matchAll(spacedWord))
    for (const space of word.matchAll(/\s/gu)) spaces.add(index + space.index)
  let start = 0
  for (const character of text) {
    const end = start + character.length
    if (!invisible.test(character) && !spaces.has(start))
      for (const unit of character
        .normalize('NFKC')
        .replace(/\p{Nd}/gu, plainDigit)
        .split('')) {
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
