import { createHash } from 'node:crypto'
import { atOnce, type Steps } from '../../search/slices.ts'
import { credentialFormat } from './credential-formats.ts'

/** Where in a text a secret is, and what kind it is, in words. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

type SecretPattern = {
  readonly pattern: RegExp
  readonly what: string
  /** Every text with a match has one of these, which are quick to look for. */
  readonly hint?: RegExp
  /** What must hold of the match, or of its group `value` where it has one. */
  readonly isSecret?: (value: string, match: RegExpExecArray) => boolean
}

const cardNumber = 'a card number'
const passwordOrKey = 'a password or key'

const isMixed = (value: string): boolean => /\d/u.test(value) && /[a-z]/u.test(value) && /[A-Z]/u.test(value)

const isPlainWord = (value: string): boolean => /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:-[a-z]+)*$/u.test(value)

const markWithin = /[A-Za-z0-9][!#$^&~?@][A-Za-z0-9]/u

/** Not an expression of a program (`form["password"]`, `$TOKEN`), a path of words, or a placeholder (`my-secret-key`, `your…`). */
const isLiteral = (value: string): boolean =>
  !/^(?:[A-Za-z_][\w.]{0,200}[([]|[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){1,8}$|[$%<{[]|your)|example|placeholder|x{4}/iu.test(
    value,
  ) &&
  !/^(?:\/\p{Ll}[\p{L}_-]{0,60}){1,10}\/?$/u.test(value) &&
  !(/^[A-Za-z_-]+$/u.test(value) && /pass|pwd|secret|token|key|credential/iu.test(value))

/** Digits and letters, or letters of both cases, that are mostly not words, and not an id in the form of a UUID. */
function isRandom(value: string): boolean {
  const kinds = [/\d/u, /[a-z]/u, /[A-Z]/u].filter((kind) => kind.test(value)).length
  if (value.length < 16 || kinds < 2 || /^[A-Za-z]*[_-][A-Za-z_-]*$/u.test(value)) return false
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(value)) return false
  const inWords = (value.match(/[A-Z]?[a-z]{4,}|(?<![A-Z\d])[A-Z]{4,}(?![A-Z\d])/gu) ?? []).join('').length
  return inWords < value.length / 2
}

/**
 * White space is always bounded, and a long match cannot begin in the middle of itself, so that each pattern takes time
 * in proportion to the text.
 */
const patterns: readonly SecretPattern[] = [
  {
    pattern:
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)/gu,
    what: 'a private key',
  },
  {
    pattern: /\b[a-z][a-z+]{0,20}:\/\/[^\s:/@]{0,100}:[^\s:/@]{3,200}@\S*/giu,
    what: 'an address with a password in it',
    hint: /:\/\//u,
  },
  {
    pattern: /\bbearer\s{1,8}[A-Za-z0-9._~+/-]{16,}=*/giu,
    what: 'an access token',
    isSecret: (value) => /\d/u.test(value),
  },
  {
    pattern: /\bbasic\s{1,8}(?<value>[A-Za-z0-9+/]{8,}={0,2})/dgiu,
    what: 'a name and a password to log in with',
    isSecret: (value) => (decoded(value)?.indexOf(':') ?? 0) > 0,
  },
  // Groups of digits as cards print them: 4 4 4 4, 4 6 5 and 4 6 4.
  {
    pattern:
      /(?<![\w.-])(?:[2-6]\d{12,18}|[2-6]\d{3}(?:[ -]\d{4}){3}(?:[ -]?\d{3})?|3\d{3}[ -]\d{6}[ -]\d{4,5})(?!\w|[.-]\d)/gu,
    what: cardNumber,
    isSecret: isCardNumber,
  },
  // A setting of a program: AWS_SECRET_ACCESS_KEY=…
  {
    pattern:
      /(?<![A-Z0-9_])(?=[A-Z0-9_]{0,60}(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASS|PWD|PW(?![A-Z])|CREDENTIAL))(?<name>[A-Z0-9_]{3,80})\s?(?<sign>[=:])\s?["']?(?<value>[^\s"']{4,})/dgu,
    what: passwordOrKey,
    hint: /KEY|SECRET|TOKEN|PASS|PW|CREDENTIAL/u,
    isSecret: (value, { groups }) => {
      if (!isLiteral(value)) return false
      if (/PASS(?:WOR)?D?$|PWD?$/u.test(groups?.name ?? '')) return groups?.sign === '=' || !isPlainWord(value)
      const [first = ''] = value.split(/[,;]/u)
      return isRandom(value) || (/\d/u.test(first) && /[A-Za-z]/u.test(first))
    },
  },
  // A property: "db_password": "…", clientSecret = '…', --api-key …
  {
    pattern:
      /(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|(?<=api|auth|access|client|private|secret))(?:[Kk]ey|[Ss]ecret|[Tt]oken|[Pp]assw(?:or)?d|[Pp]assphrase|[Pp]wd?)(?<sign>["']?\s{0,4}(?:=>|:=|[:=])\s{0,4}["']|["']?\s?[:=]\s?|\s)(?<value>[^\s"',;]{8,400})/dgu,
    what: passwordOrKey,
    hint: /[Kk]ey|[Ss]ecret|[Tt]oken|[Pp]ass|[Pp]w/u,
    isSecret: (value, { groups }) => isLiteral(value) && isRandom(value) && (groups?.sign !== ' ' || isMixed(value)),
  },
  // A name and a password as an option: curl -u name:password
  {
    pattern: /(?<=\s(?:-u|--user)[ =]["']?)[\w.@-]{1,100}:(?<value>[^\s"':/]{8,200})/dgu,
    what: 'a name and a password to log in with',
    hint: /-u/u,
    isSecret: (value) => isLiteral(value) && /\d/u.test(value) && /\p{L}/u.test(value),
  },
  // A long word of digits and letters of both cases, called a key.
  {
    pattern: /\b(?:key|token|secret)\b[^\n.]{0,20}?[\s:="'](?<value>[A-Za-z0-9+/_=-]{16,400})/dgu,
    what: passwordOrKey,
    isSecret: isMixed,
  },
  // The name of an account, a slash or bar, and a password.
  {
    pattern:
      /\b(?:log[ -]?in|sign[ -]?in|user(?:name)?|account|credentials?)\b(?:\s{1,4}(?:details|data|info))?(?:\s{1,4}(?:for|to|of|on)\s[^\n:=]{1,40}?)?(?:\s{0,4}(?:is|are|:|=|->)\s{0,4}|\s{1,4})(?<value>[^\s/|]{1,100}@[^\s/|]{1,100}[ \t]{0,4}[/|][ \t]{0,4}\S{1,200}|[\p{L}\p{N}][^\s/|]{0,100}[ \t]{1,4}[/|][ \t]{1,4}(?=\S{0,200}[^\p{L}\s.,;!-])\S{1,200})/dgiu,
    what: 'a name and a password to log in with',
    hint: /[/|]/u,
  },
  {
    pattern: /\b(?:pass(?:word|code)|pwd?)\s{1,8}(?<value>[^\s"']{5,200})/dgiu,
    what: passwordOrKey,
    isSecret: (value) => isLiteral(value) && /\d/u.test(value) && /\p{L}/u.test(value),
  },
  // Several words, one of them a number: a count stands before a plural.
  {
    pattern:
      /\bpass(?:word|code)(?:\s{1,4}(?:for|of|to|on)\s{1,4}[^:=\n,.]{1,60}?)?\s{0,4}(?:is|was|:|=)\s{0,4}(?<value>(?:[\p{L}\p{N}-]{2,20} ){1,5}[\p{L}\p{N}-]{2,20})(?=[,.;!?\n]|$)/dgiu,
    what: passwordOrKey,
    hint: /pass/iu,
    isSecret: (value) =>
      /(?<![^ ])\d+(?![^ ]| \p{L}+s(?: |$))/iu.test(value) && !commonAfterIs.test(value.split(' ', 1)[0] as string),
  },
  // The text of a Wi-Fi code.
  { pattern: /\bWIFI:[^\n]{0,200}?;P:(?<value>(?:\\.|[^;\n\\]){3,100})/dgu, what: passwordOrKey, hint: /WIFI:/u },
  // A link that logs in anybody who opens it.
  {
    pattern: /[?&#](?<name>[\w-]{1,40})=(?<value>[^\s"'<>&#]{8,400})/dgu,
    what: 'an access token',
    hint: /:\/\//u,
    isSecret: (value, { groups }) =>
      /(?:token|passw(?:or)?d|secret|otp)$/iu.test(groups?.name ?? '') && isLiteral(value),
  },
  {
    pattern:
      /\/[\w-]{0,20}(?:log-?in|sign-?in|auth|token|magic)[\w-]{0,20}\/(?<value>(?=[a-z]{0,40}\d)[a-z\d]{12,200})(?![\w-])/dgiu,
    what: 'an access token',
    hint: /:\/\//u,
  },
  // The words of a wallet.
  {
    pattern: /(?<![\p{L}\p{N}'’-])(?:[a-z]{3,8} ){11,23}[a-z]{3,8}(?![\p{L}\p{N}'’-])/gu,
    what: 'a recovery phrase',
    hint: /wallet|mnemonic|seed|recover/iu,
    isSecret: (words) => !/\b(?:the|and|for|are|was|but|not|your|that|with|from|they|when)\b/u.test(words),
  },
  // What a password is made of and nothing else: small letters, capitals, digits, and a mark between them.
  {
    pattern: /(?<![^\s"'“„«:：=(])[^\s"'“”„«»`()[\]{}<>/\\=.,;:：|%*]{8,40}(?=["'”“»]?[.,;:!?)]{0,3}(?:\s|$))/gu,
    what: passwordOrKey,
    hint: markWithin,
    isSecret: (value) => isMixed(value) && markWithin.test(value),
  },
  // "Das Passwort für den Router ist …": the word in other languages, followed by what is no plain word, or at once by a
  // word of letters and digits.
  {
    pattern:
      /(?:(?<!\p{L})(?:passwort|kennwort|contraseña|mot de passe|senha|palavra-passe|parola d['’]ordine|wachtwoord|lösenord|adgangskode|passord|salasana|hasł[oa]|hesl[oa]|jelsz[óa]|parolă|şifre|парол[ья])|密码|密碼|パスワード|비밀번호)(?:[^\n:=：]{0,60}?(?:\s(?:ist|lautet|war|es|est|é|è|is|är|er|on|to|je|este)\s|[:=：]|は|是)\s{0,4}["'“„«]?|\p{L}{0,4}\s{1,8}(?=[^\s"']{0,40}\d)(?=[^\s"']{0,40}\p{L}))(?<value>[^\s"'”“»]{4,200})/dgiu,
    what: passwordOrKey,
    isSecret: (written) => {
      const value = written.replace(/[.,;:!?)]{1,20}$/u, '')
      return isLiteral(value) && /[\p{N}\p{S}\p{P}]/u.test(value)
    },
  },
  {
    pattern: /\b(?:pin(?: code| number)?|cvv2?|cvc)\s{1,8}(?<value>\d{3,8})\b/dgiu,
    what: 'a number that proves who somebody is',
  },
  {
    pattern:
      /\b(?:(?:safe|vault|padlock|lock|suitcase)(?:['’]s)? (?:combination|combo|code)|(?:combination|combo) (?:of|for|to) (?:the|my|our) [^\n:=]{2,30}?|alarm code)\s{0,4}(?:['’]s|is|:|=)\s{0,4}(?<value>\d[\d -]{0,40}\d)/dgiu,
    what: 'a number that opens something',
    hint: /comb|code/iu,
  },
]

/** A word that names a credential, followed by one. Several plain words are not a credential. */
const credential =
  /\b(?:pass(?:word|code|wd)?|pwd?|pin(?: code| number)?|api[ _-]?key|access[ _-]?key|secret[ _-]?key|private[ _-]?key|auth(?:entication)?[ _-]?token|access[ _-]?token|api[ _-]?token|token|client[ _-]?secret|cvv2?|cvc|security code|ssn|social security number|credentials?)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|are|was|['’]s|=|:|->|to)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`]{1,400})(?<more>\s{1,8}\S)?/dgiu

/** A passphrase consists of plain words. */
const phrase =
  /\b(?<kind>pass ?phrase|seed phrase|recovery phrase)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|was|['’]s|=|:|->)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`][^\n"”`;.!?]{0,400})/dgiu

/** When a card expires; a secret only beside its number. */
const expiry =
  /\b(?:exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to))\s{0,4}:?\s{0,4}(?<value>\d{1,2}\s?[/-]\s?\d{2,4})\b/dgiu
const accountNumber = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/giu

/** Every secret in a text, in order and without overlaps. */
export const secretsIn = (text: string): readonly Secret[] => atOnce(secretsInSteps(text))

/** One step for each pattern, which takes time in proportion to the text. */
function* secretsInSteps(text: string): Steps<readonly Secret[]> {
  const found = [...(yield* secretsAsWritten(text)), ...(yield* encodedSecrets(text))]
  if (invisible.test(text)) {
    const { visible, offsets } = withoutInvisible(text)
    yield
    for (const { start, end, what } of [...(yield* secretsAsWritten(visible)), ...(yield* encodedSecrets(visible))])
      found.push({ start: offsets[start] as number, end: (offsets[end - 1] as number) + 1, what })
  }
  return withoutOverlaps(text, found)
}

/** Characters without width hide a secret from a search, but not from a reader. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

/** The text without them, and where each of the characters that are left was. */
function withoutInvisible(text: string): { readonly visible: string; readonly offsets: readonly number[] } {
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

/** Credentials of any provider are long words, which are rare in prose: in the format of one, or of random characters. */
function* longSecrets(text: string): Steps<Secret[]> {
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
function longWords(text: string): readonly { readonly start: number; readonly word: string }[] {
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

/** A word in base64, or several lines of it as programs break them. */
const base64Word = /(?<![\w+/-])(?:[A-Za-z0-9+/]{60,76}(?:\r?\n[A-Za-z0-9+/]{4,76}){1,5000}|[\w+/-]{20,})={0,2}/gu

/** Words in base64 whose text has a secret. */
function* encodedSecrets(text: string): Steps<readonly Secret[]> {
  const found: Secret[] = []
  if (!longWords(text).some(({ word }) => word.length >= 20)) return found
  for (const { index, 0: word } of text.matchAll(base64Word)) {
    yield
    const plain = decoded(word)
    const [secret] = plain === null ? [] : yield* secretsAsWritten(plain)
    if (secret !== undefined) found.push({ start: index, end: index + word.length, what: secret.what })
  }
  return found
}

/** The text that a word in base64 stands for; null when it stands for anything else. */
function decoded(word: string): string | null {
  const bytes = Buffer.from(word, 'base64')
  // Most words are turned down by their first bytes.
  if (bytes.subarray(0, 12).some((byte) => byte < 9 || byte > 126)) return null
  const text = bytes.toString('latin1')
  return /^[\t\n\r -~]*$/u.test(text) ? text : null
}

/** The secrets of a text that can be read as it stands. They may overlap. */
function* secretsAsWritten(text: string): Steps<readonly Secret[]> {
  const found = yield* longSecrets(text)
  for (const { pattern, what, hint, isSecret } of patterns) {
    yield
    if (hint !== undefined && !hint.test(text)) continue
    for (const match of text.matchAll(pattern))
      if (isSecret === undefined || isSecret(match.groups?.value ?? match[0], match)) found.push(secretOf(match, what))
  }
  if (found.some(({ what }) => what === cardNumber))
    for (const match of text.matchAll(expiry)) found.push(secretOf(match, cardNumber))
  yield
  for (const match of text.matchAll(accountNumber)) {
    const length = accountNumberLength(match[0])
    if (length > 0) found.push({ start: match.index, end: match.index + length, what: 'the number of a bank account' })
  }
  yield
  for (const match of text.matchAll(phrase)) {
    const [first = ''] = (match.groups?.value ?? '').split(/\s/u)
    const what = /^pass/iu.test(match.groups?.kind ?? '') ? 'a passphrase' : 'a recovery phrase'
    if (!commonAfterIs.test(first) && isLiteral(first)) found.push(secretOf(match, what))
  }
  yield
  for (const match of text.matchAll(credential)) {
    const what = credentialOf(match)
    if (what !== null) found.push(secretOf(match, what))
  }
  yield
  return [...found, ...passwordsBeside(text, found)]
}

/** So many characters around a password, in its paragraph, another one may stand. */
const besideCharacters = 200

/**
 * Words that look like passwords, beside one. Credentials come in groups, and not each of them is called what it is in a
 * language that is known here.
 */
const passwordsBeside = (text: string, found: readonly Secret[]): readonly Secret[] =>
  found
    .filter(({ what }) => what === passwordOrKey)
    .flatMap(({ start, end }) => {
      const before = text.slice(Math.max(0, start - besideCharacters), start)
      const after = text.slice(end, end + besideCharacters)
      const above = before.slice(before.lastIndexOf('\n\n') + 1)
      const below = after.split('\n\n', 1)[0] as string
      return [...passwordsIn(above, start - above.length), ...passwordsIn(below, end)]
    })

const passwordsIn = (text: string, offset: number): readonly Secret[] =>
  [...text.matchAll(/(?<![\p{L}\p{N}])[^\s:：/=.,;"'“”„«»()<>]{8,100}/gu)]
    .filter(([word]) => isMixed(word) && isLiteral(word))
    .map(({ index, 0: word }) => ({ start: offset + index, end: offset + index + word.length, what: passwordOrKey }))

function secretOf(match: RegExpExecArray, what: string): Secret {
  const [start, end] = match.indices?.groups?.value ?? [match.index, match.index + match[0].length]
  return { start, end, what }
}

/** In order, without punctuation at the end; those that overlap are one. */
function withoutOverlaps(text: string, found: readonly Secret[]): readonly Secret[] {
  const merged: Secret[] = []
  for (const secret of found.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    let { end } = secret
    while (end > secret.start && /[.,;:)\s]/u.test(text[end - 1] as string)) end -= 1
    const last = merged.at(-1)
    if (last !== undefined && secret.start < last.end)
      merged[merged.length - 1] = { ...last, end: Math.max(last.end, end) }
    else if (end > secret.start) merged.push({ ...secret, end })
  }
  return merged
}

/** What kind of secret a text holds, in words; null when it holds none. */
export const secretIn = (text: string): string | null => secretsIn(text)[0]?.what ?? null

/** Replaces every character of a secret, so that offsets do not change. */
const mask = '\u2588'

/** Whether a secret in a text was masked. */
export const hasMask = (text: string): boolean => text.includes(mask)

/** The text with its secrets masked; of the same length. */
export const masked = (text: string): string => atOnce(maskedInSteps(text))

/** The same, for a text that may be long. */
export const maskedInSteps = (text: string): Steps<string> => replaced(text, (length) => mask.repeat(length))

/** The text for display: an ellipsis in place of each secret. */
export const redacted = (text: string): string => atOnce(replaced(text, () => '…'))

function* replaced(text: string, by: (length: number) => string): Steps<string> {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of yield* secretsInSteps(text)) {
    parts.push(text.slice(at, start), by(end - start))
    at = end
  }
  return parts.join('') + text.slice(at)
}

/** An id that holds no secret: a digest stands for one that does, so that different ids stay different. */
export const idWithoutSecret = (id: string): string =>
  secretIn(id) === null ? id : `sha256-${createHash('sha256').update(id).digest('hex')}`

/** The texts of a statement, as far as it has them. Texts and lists of texts are read, whatever their field. */
export type StatementTexts = {
  readonly name?: string | undefined
  readonly content?: string | undefined
  readonly [field: string]: unknown
}

/** The kind of a secret in a statement, in words. Null when it has none, or none that `known` does not hold already. */
export function secretTold(told: StatementTexts, known: StatementTexts | null = null): string | null {
  const knownText = known === null ? '' : textsOf(known).join('\n')
  for (const text of textsOf(told)) {
    const secret = secretsIn(text).find(({ start, end }) => !knownText.includes(text.slice(start, end)))
    if (secret !== undefined) return secret.what
  }
  return null
}

/** Name and content are also read together: a number is a secret only beside a name such as "PIN". */
function textsOf({ name, content, ...others }: StatementTexts): readonly string[] {
  const beside = name === undefined || content === undefined ? [] : [`${name}: ${content}`]
  return [...beside, name, content, ...Object.values(others).flat()].filter((text) => typeof text === 'string')
}

function credentialOf(match: RegExpExecArray): string | null {
  const value = (match.groups?.value ?? '').replace(/[.,;:!?)]{1,20}$/u, '')
  const isNumbered = /\b(?:pin|cvv2?|cvc|ssn|security code|social security)/iu.test(match[0])
  if (isNumbered) return /^\d[\d-]{2,}$/u.test(value) ? 'a number that proves who somebody is' : null
  if (value.length < 4 || !isLiteral(value)) return null
  // "The password is stored in the vault" and "the token is refreshed hourly" do not give the credential away.
  const isSaidOn = match.groups?.more !== undefined
  const isComment = isPlainWord(value) && (value === value.toLowerCase() || isSaidOn)
  const isGivenAway = !isPlainWord(value) || (/^pass|^pwd/iu.test(match[0]) && !isSaidOn)
  return isGivenAway && !(isComment && commonAfterIs.test(value)) ? passwordOrKey : null
}

const commonAfterIs =
  /^(?:stored|kept|saved|in|on|the|a|an|not|now|too|very|rotated|refreshed|managed|shared|required|needed|optional|expired|wrong|weak|strong|secret|hashed|encrypted|changed|reset|set|missing|empty|valid|invalid|there|safe|somewhere|with|behind|never|always|still|only|being|used|generated|issued|sent|my|our|your|his|her|their)$/iu

/** The check digit that every card number carries (ISO/IEC 7812, Luhn). */
function isCardNumber(written: string): boolean {
  const digits = [...written].filter((character) => /\d/u.test(character)).map(Number)
  if (digits.length < 13 || digits.length > 19 || new Set(digits).size < 2) return false
  const sum = digits.reverse().reduce((total, digit, index) => {
    const counted = index % 2 === 0 ? digit : digit * 2
    return total + (counted > 9 ? counted - 9 : counted)
  }, 0)
  return sum % 10 === 0
}

/** The length of the IBAN (ISO 13616) that a text begins with; the match may include words after it. */
function accountNumberLength(written: string): number {
  for (let length = written.length; length >= 15; length -= 1) {
    const isWhole = length === written.length || !/[A-Z0-9]/iu.test(written[length] as string)
    if (isWhole && isAccountNumber(written.slice(0, length))) return length
  }
  return 0
}

/** An IBAN, read as a number, is 1 modulo 97. */
function isAccountNumber(written: string): boolean {
  const plain = written.replace(/[ -]/gu, '').toUpperCase()
  // Each country's numbers have more digits than this; a product and the words after it do not.
  if (plain.length < 15 || plain.length > 34 || plain.replace(/\D/gu, '').length < 12) return false
  const turned = `${plain.slice(4)}${plain.slice(0, 4)}`
  let rest = 0
  for (const character of turned) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
