import { credentialFormat } from './credential-formats.ts'
import { decodeWord } from './hidden-texts.ts'

/** The position of a secret in a text, and a description of its kind. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

export const passwordOrKey = 'a password or key'
const keyOrToken = 'an API key or access token'

/**
 * The information of each pair of letters in English words, in half-bits as base-36 digits: a row for each first letter
 * (the last row is for the beginning of a word) and a column for each second one. Counted in
 * src/search/ordinary-words.txt.
 */
export const letterPairs = `
  n989gdaiald696mak685ccdgcf 69hg6jli6gn5gh6jp79e7ijpdp 6rco6rr67r79om5ri8c79rrrdn 8ega3gbg4gl9ee8gl98h9fepcm
  9e96bcdgeji9a7ebg559gdecfj 7imn67mj5mo6ok6lo7c97onobo 6hnk5j986no8d98jp67g8pipcm 5eii4gli5pncde5inab99pfpao
  ac8a8camooh9a47cib68hanisb 4iii5iii7iiiii4iiiii4iiiii 9cif3eid4jg8e9cemd6fdmdmam 6gfc5fgj5pe6fh7foj9b9fkr7r
  58jl5hql5qog9e66oi9o9llqeq 8g876c4g7icfhc9ghg76cehlgk bbaaedaibld88599j6997aafei 6hji5jl87ok7ii68q6999qiqeq
  giiiiiiiiiiiiiiiiiii0iiiii 6dba5fcg6kddbb7dla79aegsbp 9h9i6gi77mdabc99fi749ndsds 7hdk4gk84pobgg8is78aaofsai
  9a9a9can9nh785e9o667lhoikh 6nnn2nnn4nnnnn7nnhlncgnnfn 4dic5gh85meaf86fm98fimimhi 8h7j5hha5jjgjia5hjh5ajfjbj
  8a8a7dcd6gi98897l95aejbfle 6kkk2kkk5kiahk9ikkkkehhkc7 887899aa9dea8cb7f869bcaphi`.match(/\w{26}/gu) as string[]

/**
 * The information of a character's kind, in bits, given the kind of the previous character: a small letter, a capital,
 * a digit, or the beginning of a word.
 */
const kindPairs = [
  [0, 6, 7],
  [0.25, 2.8, 7],
  [5, 5.5, 0.1],
  [0.3, 2.7, 4.4],
] as const

/**
 * How much more likely a text consists of random characters than of words, names and numbers that people write, in
 * bits. The sum over all runs of letters and digits: the bits that encode the run as words, minus the bits that encode
 * it as random characters of its alphabet.
 */
export function randomness(text: string): number {
  let bits = 0
  for (const [written] of text.matchAll(/[A-Za-z\d]+/gu)) {
    const run = /[a-z]/u.test(written) ? written : written.toLowerCase()
    bits += bitsAsWords(run) - run.length * Math.log2(alphabetOf(run))
  }
  return bits
}

const alphabetOf = (run: string): number =>
  /^[\da-f]*$|^[\dA-F]*$/u.test(run)
    ? 16
    : (/[a-z]/u.test(run) ? 26 : 0) + (/[A-Z]/u.test(run) ? 26 : 0) + (/\d/u.test(run) ? 10 : 0)

function bitsAsWords(run: string): number {
  let bits = 0
  let kindBefore: 0 | 1 | 2 | 3 = 3
  let letterBefore = 26
  for (let at = 0; at < run.length; at += 1) {
    const code = run.charCodeAt(at)
    const kind = code >= 97 ? 0 : code >= 65 ? 1 : 2
    const letter = kind === 2 ? 26 : (code | 32) - 97
    bits += kindPairs[kindBefore]?.[kind] ?? 0
    bits += kind === 2 ? Math.log2(10) : Number.parseInt(letterPairs[letterBefore]?.[letter] ?? '', 36) / 2
    kindBefore = kind
    letterBefore = letter
  }
  return bits
}

/**
 * Min bits for a word to count as a secret if a name such as "password" says that it is one. A word with `minSureBits` and all kinds of characters is
 * a secret even without a name.
 */
const minBits = 15
const minSureBits = 40

export const isRandom = (text: string): boolean => randomness(text) >= minBits && !isDate.test(text)
export const isVeryRandom = (text: string): boolean => randomness(text) >= minSureBits && !isDate.test(text)

const isDate = /^\d{4}-\d\d-\d\d/u

export const isMixed = (value: string): boolean => /\d/u.test(value) && /[a-z]/u.test(value) && /[A-Z]/u.test(value)

/** A call, an array element or a path of names in program code: `form["password"]`, `settings.database.password`. */
const expression = /^[A-Za-z_]\w{0,100}(?:[\w.]{0,100}[([]|(?:\.[A-Za-z_]\w{0,100}){1,8}$)/u

/**
 * Whether a value is a literal: not an expression, a variable (`$TOKEN`), a path of words, a file, an address or a
 * placeholder (`my-secret-key`, `your…`).
 */
export const isLiteral = (value: string): boolean =>
  !/^(?:[$%<{[]|your|\/\/)|example|placeholder|x{4}/iu.test(value) &&
  !isExpression(value) &&
  !/^(?:\/\p{Ll}[\p{L}_-]{0,60}){1,10}\/?$/u.test(value) &&
  !(/^[A-Za-z_-]+\d?$/u.test(value) && /pass|pwd|secret|token|key|credential/iu.test(value))

function isExpression(value: string): boolean {
  const [written] = expression.exec(value) ?? []
  return written !== undefined && !isRandom(written)
}

/** Matches `min` or more groups of the same length, of small letters, capitals or digits. */
const groupsOfSameLength = (min: number): RegExp => {
  const groups = [4, 5, 6, 7, 8].flatMap((length) =>
    ['[a-z]', '[A-Z]', String.raw`\d`].map((letter) => `(?:${letter}{${length}}-){${min - 1},}${letter}{${length}}`),
  )
  return new RegExp(String.raw`(?<![\w-])(?:${groups.join('|')})(?![\w-])`, 'u')
}

/** The form of app passwords: `abcd-efgh-ijkl-mnop`. */
export const equalGroups = groupsOfSameLength(4)

/** The form of keys that restore a disk. Prose hardly ever has five words of the same length joined by hyphens. */
const manyEqualGroups = groupsOfSameLength(5)

/**
 * Names of random values that are not secrets, such as ids, checksums and addresses. The id of a key does not count,
 * because it is part of the key.
 */
export const otherName =
  /(?<![a-z])(?:(?<!(?:key|secret)[ _-])ids?|identifier|hash|digest|checksum|integrity|fingerprint|(?<!hmac-?)sha\d{0,3}|commit|revision|address(?:es)?)(?![a-z])/iu
const calledOtherwise = new RegExp(`(?:${otherName.source})[^.!?\\n]{0,16}$`, 'iu')

/** Random characters that are not secrets: a hash digest, a hexadecimal number, an SSH public key, a ULID, a file name. */
export const noSecret =
  /^(?:(?:[a-z]{1,12}_)?[0-7][\dA-HJKMNP-TV-Z]{25}$|sha\d{0,3}[-:]|0x[\dA-Fa-f]+$|AAAA[A-Z]3NzaC1)|[\w-]\.[a-z]{2,5}$/u

/** Runs of the characters that credentials consist of. */
const characterRuns = /[\w-][\w+/=~.!%:-]{9,}/gu

/** A label followed by random characters of one case, if there are more of them than in the digests and ids that programs print after a label. */
const labelled =
  /^[A-Za-z][A-Za-z0-9]{0,20}[._-](?:[A-Za-z0-9]{1,30}[._-]){0,3}(?=[A-Za-z]{0,31}\d)(?:[0-9a-z]{28}|[0-9A-Z]{24})/u
const unlabelled = /^(?=[0-9a-f]{0,39}[g-z])(?=[a-z]{0,39}\d)[0-9a-z]{40}/u
/** Groups of capitals and digits, as in a licence key or the key of a vault: `A3-XT5QF9-…`. */
const groups = /^(?:[A-Z\d]{2,8}-){3,8}[A-Z\d]{4,8}$/u

/**
 * The secrets in a text that are recognised without a name beside them: words in a public format, or words that are
 * very random and have more kinds of characters than an id. Also yields null before each word.
 */
export function* findRandomSecrets(text: string): Iterable<Secret | null> {
  for (const { start: at, word } of longWords(text)) {
    yield null
    if (word.length >= minFormatLength)
      for (const { index, 0: found } of word.matchAll(credentialFormat))
        yield { start: at + index, end: at + index + found.length, what: keyOrToken }
    if (!mayBeRandom.test(word) || isAddress(word)) continue
    for (const { index, 0: found } of word.matchAll(characterRuns)) {
      const run = withoutWords(found)
      const start = at + index + found.length - run.length
      if (isRandomRun(run) && !calledOtherwise.test(text.slice(Math.max(0, start - 30), start)))
        yield { start, end: start + run.length, what: keyOrToken }
    }
  }
}

const minFormatLength = 16

/** A run without the words and numbers that punctuation joins to its random part: `reporter:hT5wPq9sVd2x`. */
function withoutWords(run: string): string {
  let start = 0
  for (const { index } of run.matchAll(/[:!%]/gu)) {
    const part = run.slice(start, index)
    if (part === '' || (/\D/u.test(part) && isRandom(part))) break
    start = index + 1
  }
  return run.slice(start)
}

const mayBeRandom = /\d|[a-z][A-Z]|(?:[A-Za-z]{4,8}-){4}/u

const isRandomRun = (run: string): boolean =>
  !noSecret.test(run) &&
  decodeWord(run) === null &&
  (manyEqualGroups.test(run) ||
    (isVeryRandom(run) &&
      (hasMixedPart(run) || labelled.test(run) || unlabelled.test(run) || (groups.test(run) && /\d/u.test(run)))))

const hasMixedPart = (run: string): boolean =>
  (run.match(/[\w+=-]{10,}/gu) ?? []).some(
    (part) =>
      isVeryRandom(part) &&
      (isMixed(part) || (isVeryRandom(part.replace(/[^A-Za-z]/gu, '')) && /[a-z]/u.test(part) && /[A-Z]/u.test(part))),
  )

/** Whether a word is a web address, perhaps without `https://`. Random characters in one are usually the id of a page. */
const isAddress = (word: string): boolean =>
  word.includes('://') || /^["'(<[]{0,2}(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/./u.test(word)

const minLongWordLength = 10

/** The words of at least `minLongWordLength` ASCII characters. */
export function longWords(text: string): readonly { readonly start: number; readonly word: string }[] {
  const words: { start: number; word: string }[] = []
  let start = 0
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    if (code > 32 && code < 127) continue
    if (at - start >= minLongWordLength) words.push({ start, word: text.slice(start, at) })
    start = at + 1
  }
  return words
}
