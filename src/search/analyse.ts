import { memoize } from './memoize.ts'

/**
 * How a token is attached to the one before it.
 * `tight`: nothing between them (`C++17`, characters of a script without spaces). `joined`: one joining mark and no
 * space (`node.js`). `apart`: space, quotes or markup. `broken`: the end of a phrase, such as a full stop.
 */
type Gap = 'tight' | 'joined' | 'apart' | 'broken'

/** The smallest piece of text that can match: a word, a number, or one character of a script without spaces. */
export type Token = {
  /** In lower case, without accents or possessive endings. */
  readonly word: string
  readonly start: number
  readonly end: number
  readonly gap: Gap
  /** The joining mark if `gap` is `joined`, else empty. */
  readonly joint: string
  /** The words inside a camelCase identifier, else empty. */
  readonly parts: readonly string[]
  readonly isAllCaps: boolean
  /** Capitals followed by a lower-case s: `APIs`, `PRs`. */
  readonly isAcronymPlural: boolean
}

// A word may contain combining marks and invisible format characters, an apostrophe before a letter, and `. , : / -` between
// digits, so that 3.5, 10:30 and 2024-01-15 are one number each. It may begin with a dot (.NET), a plus before a digit (+1) or
// a degree sign (°C is not C), and end in ++ or #.
const tokenPattern =
  /(?:(?<![\p{L}\p{N}.)\]])(?:\.(?=\p{L})|\+(?=\p{N}))|°(?=\p{L}))?[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}\p{Cf}]|['’](?=\p{L})|(?<=\p{N})[.,:/-](?=\p{N}))*(?:\+\+|[+#](?![\p{L}\p{N}]))?/gu

const scriptsWithoutSpaces = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const unspaced = new RegExp(`[${scriptsWithoutSpaces}]`, 'u')
const unspacedRun = new RegExp(String.raw`[${scriptsWithoutSpaces}]\p{M}*|[^${scriptsWithoutSpaces}]+`, 'gu')

const phraseEnd = /[.!?;:…]["'”’)*_`]*\s|[|•—–()[\]{}<>]|\n\s*\n|\n\s*[-*+]\s|\s-{1,3}\s/u
const camelBoundary = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const camelCase = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u
const allCaps = /^\p{Lu}{2,}$/u
const acronymPlural = /^\p{Lu}{2,}s$/u

/** Splits any text into tokens, in order. Never drops a letter or a digit. */
export function analyse(text: string): readonly Token[] {
  const tokens: Token[] = []
  const plain = withoutTypesetting(text)
  let end = 0
  const add = (raw: string, start: number): void => {
    const isPlain = isPlainWord(raw)
    const word = isPlain ? raw : normalised(raw)
    if (word === '') return
    const between = plain.slice(end, start)
    const gap = tokens.length === 0 ? 'broken' : gapOf(between)
    end = start + raw.length
    const joint = gap === 'joined' ? between : ''
    // Plain words and single characters, which are most words, have no parts and are not acronyms.
    if (isPlain || raw.length === 1)
      tokens.push({ word, start, end, gap, joint, parts: [], isAllCaps: false, isAcronymPlural: false })
    else {
      const isAllCaps = allCaps.test(raw)
      const isAcronymPlural = acronymPlural.test(raw)
      tokens.push({ word, start, end, gap, joint, parts: camelParts(raw), isAllCaps, isAcronymPlural })
    }
  }
  for (let match = wordFrom(plain, 0); match !== null; match = wordFrom(plain, match.index + match[0].length)) {
    if (!isUnspaced(match[0])) add(match[0], match.index)
    else for (const { 0: raw, index } of match[0].matchAll(unspacedRun)) add(raw, match.index + index)
  }
  return tokens
}

/** Returns the first word at or after an offset. Faster than `matchAll`, which allocates two objects per word. */
function wordFrom(text: string, place: number): RegExpExecArray | null {
  tokenPattern.lastIndex = place
  return tokenPattern.exec(text)
}

/** Whether a word consists of the letters a to z, as most words do. Faster than a regular expression. */
function isPlainWord(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) {
    const code = word.charCodeAt(at)
    if (code < 0x61 || code > 0x7a) return false
  }
  return true
}

// Terminal escape codes and HTML tags for bold, italics and so on. Like asterisks, they are markup.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches terminal escape codes
const typesetting = /\u001b\[[\d;?]{0,20}[A-Za-z]|<\/?(?:b|i|u|s|em|strong|code|mark|small|sub|sup|kbd|del|ins)>/giu

/** Replaces typesetting with spaces, so that offsets in the text stay valid. */
const withoutTypesetting = (text: string): string =>
  text.includes('<') || text.includes('\u001b') ? text.replace(typesetting, (found) => ' '.repeat(found.length)) : text

/** The lowest code point of the scripts without spaces: the Thai letter ko kai. */
const firstUnspaced = 0x0e01

/** Whether a word has characters of a script without spaces. Those characters have high code points, so most words are decided without a regular expression. */
export function isUnspaced(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) >= firstUnspaced) return unspaced.test(word)
  return false
}

function gapOf(between: string): Gap {
  if (between === ' ') return 'apart'
  if (between === '') return 'tight'
  if (phraseEnd.test(between)) return 'broken'
  return between.length <= 3 && !/[\s"'`*“”‘’]/u.test(between) ? 'joined' : 'apart'
}

/** A longer word is treated as random text, not as an identifier. */
const maxIdentifierLength = 100

function camelParts(raw: string): readonly string[] {
  if (raw.length < 4 || raw.length > maxIdentifierLength || !camelCase.test(raw)) return []
  const parts = raw.split(camelBoundary).map(normaliseWord)
  return parts.length > 1 && parts.every((part) => part !== '') ? parts : []
}

const letterFolds: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  '’': "'",
  '⁄': '/',
}

const normalised = memoize(normaliseWord)

function normaliseWord(raw: string): string {
  const word = raw
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Cf}/gu, '')
    .normalize('NFD')
    .replace(/([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu, '$1')
    .normalize('NFC')
    .replace(/[ßæœøłđı’⁄]/gu, (letter) => letterFolds[letter] ?? letter)
    .replace(/[^\p{L}\p{M}\p{N}'.,:/+#°-]/gu, '')
  if (/\d,\d{3}/u.test(word) && /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/u.test(word)) return word.replaceAll(',', '')
  return word.replace(/^[',:/-]+|(?<!'s?|[.,:/-])(?:'s?|[.,:/-])+$/gu, '')
}
