import {
  isLiteral,
  isMixed,
  isRandom,
  isVeryRandom,
  noSecret,
  otherName,
  passwordOrKey,
  randomness,
  type Secret,
} from './randomness.ts'

/**
 * Min points of a secret. Points are added for the name of the value in its sentence, setting or field, for the link
 * between the name and the value, and for the value itself. Chosen on real conversations
 * (secrets-in-conversations.slow.test.ts).
 */
const minPoints = 6
/** The points of a value that cannot be a secret, whatever its name. */
const never = -10

type Naming = {
  /** The kind of value that the name stands for. A number is never a key, and only a password may be a plain word. */
  readonly kind: 'password' | 'key' | 'number'
  readonly points: number
  readonly words: string
  readonly what: string
  /** Whether only the value of a setting or field counts, and no other word of a sentence. */
  readonly onlyGiven?: true
}

const provesWho = 'a number that proves who somebody is'
const opens = 'a number that opens something'

/** Things that are opened with a code. */
const opener =
  '(?:doors?|gate|garage|alarm|keypad|(?:pad|bike ?|key ?|box ?)?lock|(?:key|lock) ?box|safe|vault|access|entry|unlock|arm|user|panel|set-?up|installer|install|pairing|activation|radio|gift[ _]?card|backup|recovery|revocation|verification|confirmation|reset|invite|log-?in)'
const digitName = 'pin(?: code| number)?|puk|tan|passcode|cvv2?|cvc|ssn|social security number|security[ _-]?code'
const codeName = `${opener}[ _-]?(?:panel[ _-]?)?(?:code|combination|pin)|combination|combo`
/** The name of a secret that is a number. */
export const numberName = String.raw`(?<![\p{L}\d])(?:${digitName}|${codeName})s?(?![\p{L}\d])`
const englishPassword = 'pass(?:word|code|wd|phrase)?|pwd?|psk'
const otherPassword = String.raw`(?:passwort|kennwort|wlan-?schlüssel|contrase[nñ]a|clave|mot[ _]?de[ _]?passe|mdp|senha|palavra-passe|parola d['’]ordine|wachtwoord|lösenord|adgangskode|passord|salasana|hasł[oa]|hesl[oa]|jelsz[óa]|parolă|şifre|парол[ья])\p{L}{0,4}|密码|密碼|パスワード|비밀번호`
const keyOwner =
  'api|access|secret|private|licen[cs]e|product|activation|recovery|master|admin|signing|encryption|app|local|shared|auth|stream'
/** The name of any setting. A parameter of a web address does not count. */
const anySetting = String.raw`(?<![\w?&#/.-])[A-Za-z][\w-]{1,60}(?=["']?\s?[=:]\s?["'\w])`
const logIn = String.raw`(?:(?:log|sign)(?:s|ged|ed|ging|ing)?[ -]?in|bind) [^\n.,:;]{0,40}?with`
/** The words before a secret that opens something: "unlock the tablet with …". */
const enter = String.raw`(?:authenticates?|unlocks?|opens?|ssh|rdp) [^\n.,:;]{0,40}?with`

// biome-ignore-start format: one naming to a line
const namings = (
  [
    { kind: 'number', points: 2, what: provesWho, words: digitName },
    { kind: 'number', points: 2, what: opens, words: '(?:opens?|unlocks?) with' },
    { kind: 'number', points: 0, what: opens, words: `${codeName}|keypad` },
    { kind: 'number', points: -1, what: 'the number of an account', words: 'account(?: number)?|log-?in' },
    { kind: 'number', points: -2, what: opens, words: 'code' },
    { kind: 'password', points: 2, what: passwordOrKey, words: `(?<plain>${englishPassword})|${otherPassword}` },
    {
      kind: 'key',
      points: 2,
      what: passwordOrKey,
      words: `(?:client[ _-]?)?secret|(?:(?:auth(?:entication)?|access|api)[ _-]?)?token|(?:${keyOwner})[ _-]?key|credential|bearer|oauth|pat|jwt|otp|snmp[ _-]?community|${logIn}`,
    },
    {
      kind: 'key',
      points: 0,
      what: passwordOrKey,
      words: `(?<!public[ _-]?)key|cookie|signature|sig|auth|dsk|hmac|gift[ _]?card|voucher|${opener}[ _-]?code`,
    },
    { kind: 'key', points: 1, what: passwordOrKey, words: enter },
    { kind: 'key', points: -1, what: passwordOrKey, words: String.raw`api(?=["']?\s?[=:])` },
    { kind: 'key', points: -1, what: passwordOrKey, words: anySetting, onlyGiven: true },
  ] satisfies readonly Naming[]
).map((naming) => ({ ...naming, pattern: new RegExp(naming.words, 'giu') }))
// biome-ignore-end format: one naming to a line

/** The values that a nearby name marks as secret. Also yields null before each name, so that the search can be divided. */
export function* findNamedSecrets(text: string): Iterable<Secret | null> {
  for (const naming of namings)
    for (const match of text.matchAll(naming.pattern)) {
      yield null
      const place = nameAt(text, match)
      if (place === null || (naming.onlyGiven && (!place.isSetting || otherName.test(match[0])))) continue
      const name = { ...naming, ...place, allowsWords: match.groups?.plain !== undefined }
      for (const value of [...valuesAfter(text, name), ...valuesBefore(text, name)])
        if (naming.points + value.link + pointsOf(value, name) >= minPoints)
          yield { start: value.start, end: value.start + value.text.length, what: naming.what }
    }
}

type Name = Pick<Naming, 'kind' | 'points' | 'onlyGiven'> & {
  readonly start: number
  readonly end: number
  /** Whether the name belongs to a setting or field, so that the value follows it. */
  readonly isSetting: boolean
  /** Whether the value may be a plain word. */
  readonly allowsWords: boolean
}

/**
 * The position of a name that is a word, or a part of an identifier: `dbPassword`, `DB_PASSWORD`, `dbpassword`. Null if
 * it is inside another word, or if the text after it is program code.
 */
function nameAt(
  text: string,
  { 0: word, index: start }: RegExpExecArray,
): Pick<Name, 'start' | 'end' | 'isSetting'> | null {
  const end =
    start + word.length + (/^s(?!\p{L})/iu.test(text.slice(start + word.length, start + word.length + 2)) ? 1 : 0)
  const before = text[start - 1] ?? ''
  const after = text.slice(end, end + 60)
  const isCapital = word === word.toUpperCase()
  const isHump = /^\p{Lu}/u.test(word) && /[\p{Ll}\d]/u.test(before)
  const isJoined = word.length > 4 && /[a-z]/iu.test(before) && (before === before.toUpperCase()) === isCapital
  const endsWord = !/^\p{L}/u.test(after) || (/^\p{Lu}/u.test(after) && !isCapital)
  const isLatin = /^[\x20-\x7f]*$/u.test(word)
  if (isLatin && ((/\p{L}/u.test(before) && !isHump && !isJoined) || !endsWord)) return null
  if (/^\d/u.test(after) && !isCapital) return null
  if (/^[\w-]{0,30}(?:\.\w|[(@])/u.test(after)) return null
  // "Pat" and "tan" are also ordinary words, so they count only in capitals or in an identifier.
  if (/^(?:tan|pat)$/iu.test(word) && !isCapital && !isHump && !/[_-]/u.test(before)) return null
  const isPart = /[\w-]/u.test(before) || word.includes('_') || (before === '"' && after.startsWith('"'))
  const isSetting = isPart && /^[\w-]{0,30}["']?(?:,\s{1,20}["']value["'])?\s?[=:]/u.test(after)
  return { start, end, isSetting: isSetting || /^["']?=\S/u.test(after) }
}

type Value = {
  readonly text: string
  readonly start: number
  /**
   * The points of the link to the name: 4 for a setting, 3 after "is", 2 if announced, 1 in the same sentence, 0 in the
   * next one.
   */
  readonly link: number
  /** Whether no more words follow on the line. */
  readonly isLast: boolean
}

/** Max characters between a name and a value in the same sentence; `maxGiven` if the value is given directly, as in a setting. */
const maxAway = 80
const maxGiven = 140
const sentenceEnd = /["'”]\s{0,2}[,}\]]|[.!?](?=\s)(?!\s{1,2}(?:it|that|this|the new one)(?:['’]s|\s(?:is|was))\s)|\n/iu
const given =
  /^(?:[_-][\w-]{0,30})?["'”’`\])*]{0,3}(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?(?:,?\s{1,20}["']?value["']?)?\s{0,4}(?:is|are|was|ist|lautet|['’]s|:=|[=:：]>?|->|は|是)\s{0,4}(?:[|>][+-]?[ \t]{0,4}\n\s{1,40})?["'“‘`「([{]{0,2}$|^>$/iu
const announced =
  /(?:\b(?:is|are|was|to|type|enter|use|took|ist|lautet|war|es|c['’]est|est)|['’]s|[=:：(]|->|\s(?:é|è|är|er|on|je|este))(?:\s(?:now|still))?\s{0,4}["'“‘`([]{0,2}$/iu
const direct = /^[\w-]{0,10}["'”’`]?\s{1,8}["'“‘`(]?$/u
/** A word that is itself a setting, and not the value of the name before it: "token refreshed in 12ms span=…". */
const ofSetting = /^[A-Za-z][\w.-]{0,40}=[^=]/u

/** The words after a name that may be its value. */
function* valuesAfter(text: string, { end, isSetting, kind, points, onlyGiven }: Name): Iterable<Value> {
  const after = text.slice(end, end + 600)
  const stop = sentenceEnd.exec(after.slice(0, maxAway))?.index ?? maxAway
  for (const { index, 0: word } of after.matchAll(/(?<![\w-])[^\s\p{Lo}"'“”„«»「’`:：=(>\\][^\s\p{Lo}"'“”»」`\\]*/gu)) {
    if (index > maxGiven) return
    const before = after.slice(0, index)
    const isGiven = given.test(before)
    const rest = after.slice(index + word.length, index + word.length + 30)
    // A number before a plural noun is a count. Excludes "this" and "was", which also end in "s".
    const isCount = /^\d+$/u.test(word) && /^\s\p{L}+(?<![aiu])s\b/u.test(rest)
    if (index === 0 || (index > maxAway && !isGiven) || isCount) continue
    if (onlyGiven === true && !isGiven) return
    if (!isGiven && /\S\s/u.test(before) && ofSetting.test(word)) continue
    const isOfSetting = isSetting && (points > 0 || kind === 'number' || onlyGiven === true)
    const inSentence = announced.test(before) || direct.test(before) ? 2 : 1
    const link = isGiven ? (isOfSetting ? 4 : 3) : index > stop ? 0 : inSentence
    const isWhole = link === 4 || /["'“]$/u.test(before)
    yield {
      text: withoutEnd(word, isWhole ? /[,;)\]}]{1,20}$/u : /[.,;:!?)\]}>]{1,20}$/u),
      start: end + index,
      link: otherName.test(before) ? link - 4 : link,
      isLast: !/^\s{1,8}\S/u.test(rest),
    }
  }
}

/** A word without the punctuation at its end, and without the next setting if that follows without a space. */
const withoutEnd = (word: string, marks: RegExp): string =>
  word.replace(/(?:[;&,|](?=[\w.-]{1,40}[=:])|<\/).*$/u, '').replace(marks, '')

const calls =
  /["'”’`)]{0,2},?\s(?:as|(?:is|was|as|for)\s(?:the|my|our|your|their|his|her|an?))\s(?:[\p{L}\d'’.-]{1,20}\s){0,4}$/iu

/** The word before "… is the password", "… as our token". */
function* valuesBefore(text: string, { start }: Name): Iterable<Value> {
  const before = text.slice(Math.max(0, start - 300), start)
  const call = calls.exec(before)
  const [value] = call === null ? [] : (/[^\s"'“”‘’`(]{5,200}$/u.exec(before.slice(0, call.index)) ?? [])
  if (call !== null && value !== undefined)
    yield { text: value, start: start - (before.length - call.index) - value.length, link: 2, isLast: false }
}

function pointsOf({ text, link, isLast }: Value, { kind, points, allowsWords, onlyGiven }: Name): number {
  if (text.length < 3 || text.length > 500 || !isLiteral(text) || isPath(text) || text.includes('://')) return never
  const digits = text.replace(/[\s-]/gu, '')
  if (/^[#*]?[A-Z]?\d{3,}[#*]?$/u.test(digits)) {
    if (/^\d{4}-\d\d-\d\d$/u.test(text)) return never
    if (kind === 'number') return /^(?:\d{2,3}-){2}\d{2,4}$|^\d{12,}$/u.test(text) ? 6 : digits.length > 5 ? 3 : 2
    return allowsWords && link >= 3 && digits.length > 4 ? 1 : never
  }
  if (kind === 'number' || text.length < 4 || (onlyGiven && !isUnusual(text))) return never
  const signs = text.replace(/%[\dA-F]{2}/gu, '')
  if (isVeryRandom(text)) return 5
  if (isRandom(text) && text.length >= 10) return 4
  // A weak name, such as "key", often precedes values that are not secret, so only a random value in the form of a password counts.
  if (points <= 0 && link >= 3 && isMixed(signs) && isPassword(signs) && randomness(signs) > fewBits) return 3
  if (points <= 0 || /^\p{L}{1,12}:/u.test(text)) return never
  if (isPlainWord(text)) return allowsWords && isLast && link >= 3 && !commonAfterIs.test(text) ? 1 : never
  if (isPassword(signs)) return 3
  if (/^\d+\p{L}{1,8}[.!?)]?$|^(?:sha|md)\d/iu.test(text) || (text.length < 7 && link < 3)) return never
  if (/\d/u.test(signs) && /\p{L}/u.test(signs)) return 2
  return /[\p{L}\d][!#$^&~?@*+-][\p{L}\d]/u.test(text) ? 1 : never
}

/** Whether a value has a mix of characters that is unusual in settings: versions, places and program names do not have it. */
const isUnusual = (text: string): boolean =>
  isMixed(text) && /[A-Za-z]\d|\d[A-Za-z]/u.test(text) && !noSecret.test(text)

/** Min randomness of a value after a weak name, exclusive. An identifier such as `RemovedInDjango40Warning` has fewer bits. */
const fewBits = 5

/**
 * Whether a text has letters on both sides of digits, or three kinds of characters and a punctuation mark. No version,
 * date or user name with a year has these.
 */
export const isPassword = (text: string): boolean =>
  !/^(?:sha|md)\d/iu.test(text) &&
  (/\p{L}{2}\d{2,}\p{L}/u.test(text) || (isMixed(text) && /[\p{L}\d][^\p{L}\d.]/u.test(text)))

/** Whether a value is the path of a file: its first part is a word. */
const isPath = (text: string): boolean => {
  const [, part = ''] = /^[.~]{0,2}\/?(\w{3,})\//u.exec(text) ?? []
  return part !== '' && randomness(part) < 0
}

const isPlainWord = (text: string): boolean => /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+)(?:-\p{Ll}+)*$/u.test(text)

export const commonAfterIs =
  /^(?:stored|kept|saved|in|on|the|a|an|not|now|too|very|rotated|refreshed|managed|shared|required|needed|optional|expired|wrong|weak|strong|secret|hashed|encrypted|changed|reset|set|missing|empty|none|null|string|true|false|valid|invalid|there|safe|somewhere|with|behind|never|always|still|only|being|used|generated|issued|sent|my|our|your|his|her|their)$/iu
