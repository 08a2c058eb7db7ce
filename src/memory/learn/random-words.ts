import { credentialFormat } from './credential-formats.ts'
import { decodeWord } from './hidden-texts.ts'

/** The position of a secret in a text, and a description of its kind. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

export const passwordOrKey = 'a password or key'

export const isMixed = (value: string): boolean => /\d/u.test(value) && /[a-z]/u.test(value) && /[A-Z]/u.test(value)

/** A call, an element or a path of names in a program: `form["password"]`, `settings.database.password`. */
const expression = /^[A-Za-z_]\w{0,100}(?:[\w.]{0,100}[([]|(?:\.[A-Za-z_]\w{0,100}){1,8}$)/u

/** Whether a value is no expression or variable (`$TOKEN`), path of words, address or placeholder (`my-secret-key`, `your…`). */
export const isLiteral = (value: string): boolean =>
  !/^(?:[$%<{[]|your|\/\/)|example|placeholder|x{4}/iu.test(value) &&
  !isExpression(value) &&
  !/^(?:\/\p{Ll}[\p{L}_-]{0,60}){1,10}\/?$/u.test(value) &&
  !(/^[A-Za-z_-]+$/u.test(value) && /pass|pwd|secret|token|key|credential/iu.test(value))

function isExpression(value: string): boolean {
  const [names] = expression.exec(value) ?? []
  return names !== undefined && !isRandom(names)
}

/** Whether digits and letters alternate more often than in names, versions and dates, or only few of them are in words. */
export function isRandom(value: string): boolean {
  if (!mayBeRandom(value)) return false
  if (equalGroups.test(value)) return true
  const letters = value.replace(/[^A-Za-z0-9]/gu, '')
  if (!/[A-Za-z]/u.test(letters) || /^\d{4}-\d\d-\d\d/u.test(value)) return false
  const changes = letters.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/gu)?.length ?? 0
  if (changes >= Math.max(3, letters.length / 7)) return true
  return letters.length >= 16 && lettersInWords(value) < letters.length * maxShareInWords
}

/** `min` or more groups of the same length, of small letters, capitals or digits. */
const groupsOfSameLength = (min: number): RegExp => {
  const groups = [4, 5, 6, 7, 8].flatMap((length) =>
    ['[a-z]', '[A-Z]', String.raw`\d`].map((letter) => `(?:${letter}{${length}}-){${min - 1},}${letter}{${length}}`),
  )
  return new RegExp(String.raw`(?<![\w-])(?:${groups.join('|')})(?![\w-])`, 'u')
}

/** Passwords for apps look like this. */
export const equalGroups = groupsOfSameLength(4)

/** Keys that restore a disk look like this. Prose hardly ever has five words of the same length joined by hyphens. */
const manyEqualGroups = groupsOfSameLength(5)

/** Whether a word has a digit, a capital after a small letter, or groups of letters. */
const mayBeRandom = (word: string): boolean => /\d|[a-z][A-Z]/u.test(word) || equalGroups.test(word)
const maxShareInWords = 0.6

/** The number of letters in pronounceable parts: three or more, with a vowel and at most four consonants in a row. */
const lettersInWords = (value: string): number =>
  (value.match(/[A-Z]?[a-z]{2,}|(?<![A-Za-z\d])[A-Z]{3,}(?![A-Za-z\d])/gu) ?? [])
    .filter((run) => run.length >= 3 && /[aeiouy]/iu.test(run) && !/[^aeiouy]{5}/iu.test(run))
    .join('').length

/** Credentials among the long words, which are rare in prose: in a provider's format, random, or called a secret. */
export function longSecrets(text: string): Secret[] {
  const found: Secret[] = []
  for (const { start, word } of longWords(text)) {
    const inWord = word.length >= minFormatLength ? [...formatsIn(word)] : []
    if (mayBeRandom(word) && !isAddress(word))
      inWord.push(...randomRunsIn(word, text, start), ...calledSecretsIn(word, text, start))
    for (const secret of inWord) found.push({ ...secret, start: start + secret.start, end: start + secret.end })
  }
  return found
}

const keyOrToken = 'an API key or access token'

function* formatsIn(word: string): Iterable<Secret> {
  const format = credentialFormat()
  // Not `matchAll`, which copies the pattern for each word.
  format.lastIndex = 0
  for (let match = format.exec(word); match !== null; match = format.exec(word))
    yield { start: match.index, end: match.index + match[0].length, what: keyOrToken }
}

function* randomRunsIn(word: string, text: string, offset: number): Iterable<Secret> {
  if (!/\d/u.test(word) && !manyEqualGroups.test(word)) return
  for (const { index, 0: run } of word.matchAll(characterRuns)) {
    const place = offset + index
    if (!isRandomRun(run) || calledId.test(text.slice(Math.max(0, place - 30), place))) continue
    const end = index + run.length
    const [before = ''] = partBefore.exec(word.slice(Math.max(0, index - maxPart), index)) ?? []
    const [after = ''] = partsAfter.exec(word.slice(end, end + maxPart)) ?? []
    yield {
      start: index - (isNoWord(before) ? before.length : 0),
      end: end + (isNoWord(after) ? after.length : 0),
      what: keyOrToken,
    }
  }
}

/** Values that count as secrets only because the text calls them so: `58a647a9984019307732`. */
function* calledSecretsIn(word: string, text: string, offset: number): Iterable<Secret> {
  for (const { index, 0: chunk } of word.matchAll(/[^"'`<>]{10,}/gu)) {
    const [name = ''] = assignedName.exec(chunk) ?? []
    const isName = name.endsWith('=') ? !isRandom(name) : secretName.test(inParts(name))
    const end = index + chunk.length
    const start = index + (isName ? name.length : 0)
    const value = word.slice(start, end)
    if (value.length < minLongWordLength || !isRandom(value) || fileName.test(value) || !isLiteral(value)) continue
    if (isCalledSecret(text, offset + start, offset + end)) yield { start, end, what: passwordOrKey }
  }
}

/** Random characters in an address are mostly the id of a page. An address may begin with its host name. */
const isAddress = (word: string): boolean =>
  word.includes('://') || /^["'(<[]{0,2}(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/./u.test(word)

/**
 * A word for a secret, alone or at the end of a word (`APIKEY`). Short words for secrets are whole words or parts of a name
 * (`AZURE_DEVOPS_EXT_PAT`).
 */
const secretName =
  /(?<!public[ _-]?)(?:key|secret|token|passw(?:or)?d|pass(?:code|phrase)|credential|cookie|signature|bearer|oauth)s?(?![a-z])|(?<![a-z])(?:auth|pwd?|pat|psk|sig|otp|jwt)(?![a-z])/iu

/** Ids, checksums and addresses are random too, but most are named as such. A key's id is part of the key. */
const otherName =
  /(?<![a-z])(?:(?<!(?:key|secret)[ _-])ids?|identifier|hash|digest|checksum|integrity|fingerprint|sha\d{0,3}|commit|revision|address(?:es)?)(?![a-z])/iu
const anyName = new RegExp(`(?<secret>${secretName.source})|${otherName.source}`, 'giu')
const calledId = new RegExp(`(?:${otherName.source})[^.!?\\n]{0,16}$`, 'iu')

/** The name before a value, with any text before it: `Server=db;Password=`. */
const assignedName = /^(?:.*[^\w.-])?[A-Za-z_][\w.-]{1,80}[=:]{1,2}(?=\w)/u

const nameCharactersBefore = 80
const nameCharactersAfter = 60

/** Whether the nearest name before a value is a word for a secret, or the text after it calls it one: "… is the token". */
function isCalledSecret(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - nameCharactersBefore), start)
  const after = text.slice(end, end + nameCharactersAfter)
  const [sentence = ''] = before.split(/[.!?]\s|\n\s{0,20}\n/u).slice(-1)
  const name = [...inParts(sentence).matchAll(anyName)].at(-1)
  if (name !== undefined) return name.groups?.secret !== undefined
  const [, called = ''] = /^["'`)]{0,2},?\s(?:as|is|was|for)\s([^.!?\n]*)/u.exec(after) ?? []
  return secretName.test(inParts(called))
}

/** The text with the parts of names separated: `apiKeyId` becomes `api_Key_Id`. */
const inParts = (text: string): string => text.replace(/(?<=[a-z\d])(?=[A-Z])/gu, '_')

/** Random runs that are not secrets: the digest of a hash function, a hexadecimal number, a public key of SSH. */
const namedNumber = /^(?:sha\d{0,3}-|0x[\dA-Fa-f]+$|AAAA[A-Z]3NzaC1)/u
const fileName = /[\w-]\.[a-z]{2,5}$/u

/** The characters of credentials; any other character ends one. */
const characterRuns = /[A-Za-z0-9][\w+/=~.-]{9,}/gu

const maxPart = 120

/** The part before or after a run, joined by a mark: `0123!AQ…`. A word or number (`user:…`, `…:8080`) does not belong to it. */
const partBefore = /[A-Za-z0-9][\w+/=~.-]{3,118}[:!%]$/u
const partsAfter = /^[:!%][\w+/=~.!%:-]+/u
const isNoWord = (part: string): boolean =>
  /[A-Za-z]/u.test(part) && lettersInWords(part) < part.length * maxShareInWords

/** Whether a run of characters has a random part and is not encoded text. */
function isRandomRun(run: string): boolean {
  const parts = [...(run.match(/[A-Za-z0-9]{10,}/gu) ?? []), ...(run.match(/[\w-]{20,}/gu) ?? [])]
  const numbers = run.match(/[\w.-]{26,}/gu) ?? []
  const hasRandomPart =
    parts.some((part) => isScrambled(part.replace(/[_-]/gu, ''))) ||
    numbers.some((number) => longNumber.test(number)) ||
    (groups.test(run) && isRandom(run)) ||
    manyEqualGroups.test(run)
  return hasRandomPart && !namedNumber.test(run) && !fileName.test(run) && decodeWord(run) === null
}

/**
 * A long value of digits and letters of one case after a label (`key-…`), or a longer one that is not hexadecimal. Other such
 * values may be a checksum or a commit id.
 */
const longNumber =
  /^[A-Za-z][A-Za-z0-9]{0,20}[._-](?:[A-Za-z0-9]{1,30}[._-]){0,3}(?=[A-Za-z]{0,31}\d)(?:[0-9a-z]{32}|[0-9A-Z]{24})|^(?=[0-9a-f]{0,39}[g-z])(?=[a-z]{0,39}\d)[0-9a-z]{40}/u

/** Groups of capitals and digits, as in a licence key or the key of a vault: `A3-XT5QF9-…`. */
const groups = /^(?:[A-Z\d]{2,8}-){3,8}[A-Z\d]{4,8}$/u

/** Whether small letters, capitals and digits alternate more often than in any sequence of words. */
function isScrambled(letters: string): boolean {
  if (!isMixed(letters)) return false
  const changes = letters.match(/[a-z](?=[A-Z0-9])|[A-Z](?=\d)|\d(?=[A-Za-z])/gu)?.length ?? 0
  return changes >= Math.max(4, letters.length / 5) && lettersInWords(letters) < letters.length / 2
}

const minFormatLength = 16
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
