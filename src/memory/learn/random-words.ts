import type { Steps } from '../../search/slices.ts'
import { credentialFormat } from './credential-formats.ts'
import { decoded } from './hidden-texts.ts'

/** Where in a text a secret is, and what kind it is, in words. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

export const isMixed = (value: string): boolean => /\d/u.test(value) && /[a-z]/u.test(value) && /[A-Z]/u.test(value)

/** Not an expression of a program (`form["password"]`, `$TOKEN`), a path of words, or a placeholder (`my-secret-key`, `your…`). */
export const isLiteral = (value: string): boolean =>
  !/^(?:[A-Za-z_][\w.]{0,200}[([]|[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){1,8}$|[$%<{[]|your)|example|placeholder|x{4}/iu.test(
    value,
  ) &&
  !/^(?:\/\p{Ll}[\p{L}_-]{0,60}){1,10}\/?$/u.test(value) &&
  !(/^[A-Za-z_-]+$/u.test(value) && /pass|pwd|secret|token|key|credential/iu.test(value))

/** Digits and letters, or letters of both cases, that are mostly not words, and not an id in the form of a UUID. */
export function isRandom(value: string): boolean {
  const kinds = [/\d/u, /[a-z]/u, /[A-Z]/u].filter((kind) => kind.test(value)).length
  if (value.length < 16 || kinds < 2 || /^[A-Za-z]*[_-][A-Za-z_-]*$/u.test(value)) return false
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(value)) return false
  const inWords = (value.match(/[A-Z]?[a-z]{4,}|(?<![A-Z\d])[A-Z]{4,}(?![A-Z\d])/gu) ?? []).join('').length
  return inWords < value.length / 2
}

/** Credentials of any provider are long words, which are rare in prose: in the format of one, or of random characters. */
export function* longSecrets(text: string): Steps<Secret[]> {
  const found: Secret[] = []
  const format = credentialFormat()
  const add = (start: number, { index, 0: { length } }: RegExpExecArray): void => {
    found.push({ start: start + index, end: start + index + length, what: 'an API key or access token' })
  }
  for (const [at, { start, word }] of longWords(text).entries()) {
    if (at % 64 === 63) yield
    if (word.length >= shortestFormat) {
      // Not `matchAll`, which copies the pattern for each word.
      format.lastIndex = 0
      for (let match = format.exec(word); match !== null; match = format.exec(word)) add(start, match)
    }
    if (!/\d/u.test(word) || isAddress(word)) continue
    for (const match of word.matchAll(characterRuns)) {
      const place = start + match.index
      if (isRandomRun(match[0]) && !calledId.test(text.slice(Math.max(0, place - 30), place))) add(start, match)
    }
  }
  return found
}

/** What is random in an address is mostly the id of a page. It may begin with the name of its host. */
const isAddress = (word: string): boolean =>
  word.includes('://') || /^["'(<[]{0,2}(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/./u.test(word)

/** An id, a checksum and an address are random too, and mostly called what they are. */
const calledId =
  /(?:\b|_)(?:ids?|identifier|hash|digest|checksum|integrity|fingerprint|sha\d{0,3}|commit|revision|address(?:es)?)\b[^.!?\n]{0,16}$/iu

/** What a run is that is random but no secret: a number of a hash function, a number in hexadecimal, a name of a file. */
const namedNumber = /^(?:sha\d{0,3}-|0x[\dA-Fa-f]+$)|[\w-]\.[a-z]{2,5}$/u

/** The characters of credentials; others separate one from what stands beside it. */
const characterRuns = /[A-Za-z0-9][\w+/=~.-]{9,}/gu

/** Whether a run of characters has a random part, and is not the code of a text. */
function isRandomRun(run: string): boolean {
  const parts = [...(run.match(/[A-Za-z0-9]{10,}/gu) ?? []), ...(run.match(/[\w-]{20,}/gu) ?? [])]
  const isRandom = parts.some((part) => isScrambled(part.replace(/[_-]/gu, ''))) || labelledNumber.test(run)
  return isRandom && !namedNumber.test(run) && decoded(run) === null
}

/** A long number of small letters and digits behind a label: `key-…`. Without one it may be a checksum or the id of a commit. */
const labelledNumber =
  /^[A-Za-z][A-Za-z0-9]{0,20}[._-](?:[A-Za-z0-9]{1,30}[._-]){0,3}(?=[a-z]{0,31}\d)[0-9a-z]{32,}(?![\w-]|\.\w)/u

/** Whether small letters, capitals and digits alternate more often than in anything that consists of words. */
function isScrambled(letters: string): boolean {
  if (!isMixed(letters)) return false
  const changes = letters.match(/[a-z](?=[A-Z0-9])|[A-Z](?=\d)|\d(?=[A-Za-z])/gu)?.length ?? 0
  const inWords = (letters.match(/[A-Z][a-z]{2,}|[a-z]{3,}/gu) ?? []).join('').length
  return changes >= Math.max(4, letters.length / 5) && inWords < letters.length / 2
}

const shortestFormat = 16
const shortestLongWord = 10

/** The words of at least so many ASCII characters. */
export function longWords(text: string): readonly { readonly start: number; readonly word: string }[] {
  const words: { start: number; word: string }[] = []
  let start = 0
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    if (code > 32 && code < 127) continue
    if (at - start >= shortestLongWord) words.push({ start, word: text.slice(start, at) })
    start = at + 1
  }
  return words
}
