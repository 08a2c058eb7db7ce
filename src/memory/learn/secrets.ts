/** Where in a text a secret stands, and what kind it is, in words. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

/**
 * Patterns of whole secrets. White space is always bounded, and what may be long cannot begin in the middle of itself,
 * so that each of them takes time in proportion to the text.
 */
const shapes: readonly (readonly [pattern: RegExp, what: string])[] = [
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]{0,40}PRIVATE KEY-----|[\s\S]*)/gu,
    'a private key',
  ],
  [/\bsk-[A-Za-z0-9_-]{12,}/gu, 'an API key'],
  [/\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/gu, 'an API key'],
  [/\bAKIA[0-9A-Z]{12,}/gu, 'an access key'],
  [/\bASIA[0-9A-Z]{16}\b/gu, 'an access key'],
  [/\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/gu, 'an access token'],
  [/\bglpat-[\w-]{16,}/gu, 'an access token'],
  [/\bxox[abeoprs]-[\w-]{10,}/gu, 'an access token'],
  [/\bAIza[\w-]{30,}/gu, 'an API key'],
  [/\bnpm_[A-Za-z0-9]{30,}/gu, 'an access token'],
  [/(?<![\w-])SG\.[\w-]{16,}\.[\w-]{16,}/gu, 'an API key'],
  [/(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/gu, 'an access token'],
  [/\b[a-z][a-z+]{0,20}:\/\/[^\s:/@]{1,100}:[^\s:/@]{3,200}@\S*/giu, 'an address with a password in it'],
  [/\bbearer\s{1,8}[A-Za-z0-9._~+/-]{16,}=*/giu, 'an access token'],
]

/** Patterns whose group `value` is the secret, and what must hold of it. */
type Named = readonly [pattern: RegExp, what: string, isSecret: (value: string) => boolean]

const any = (): boolean => true
const isMixed = (value: string): boolean => /\d/u.test(value) && /[a-z]/u.test(value) && /[A-Z]/u.test(value)

const named: readonly Named[] = [
  // A setting of a program: AWS_SECRET_ACCESS_KEY=…
  [
    /(?<![A-Z0-9_])(?=[A-Z0-9_]{0,60}(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASS|PWD|CREDENTIAL))[A-Z0-9_]{3,80}\s?[=:]\s?(?<value>["']?[^\s"']{4,})/dgu,
    'a password or key',
    any,
  ],
  // Letters of both cases and digits in one long word, called a key.
  [/\b(?:key|token|secret)\b[^\n.]{0,20}?[\s:="'](?<value>[A-Za-z0-9+/_=-]{16,400})/dgu, 'a password or key', isMixed],
  // The name of an account, a slash or bar, and a password.
  [
    /\b(?:log-?in|sign-?in|user(?:name)?|account|credentials?)\b(?:\s{1,4}(?:details|data|info))?(?:\s{1,4}(?:for|to|of|on)\s[^\n:=]{1,40}?)?\s{0,4}(?:is|are|:|=|->)\s{0,4}(?<value>[^\s/|]{1,100}@[^\s/|]{1,100}\s{0,4}[/|]\s{0,4}\S{1,200}|[^\s/|]{1,100}\s{1,4}[/|]\s{1,4}(?=\S{0,200}[^\p{L}\s.,;!])\S{1,200})/dgiu,
    'a name and a password to log in with',
    any,
  ],
  [
    /\b(?:pass(?:word|code)|pwd)\s{1,8}(?<value>[^\s"']{5,200})/dgiu,
    'a password or key',
    (value) => /\d/u.test(value) && /\p{L}/u.test(value),
  ],
  [/\b(?:pin(?: code| number)?|cvv2?|cvc)\s{1,8}(?<value>\d{3,8})\b/dgiu, 'a number that proves who somebody is', any],
  [
    /\b(?:(?:safe|vault|padlock|lock|suitcase)(?:['’]s)? (?:combination|combo|code)|(?:combination|combo) (?:of|for|to) (?:the|my|our) [^\n:=]{2,30}?|alarm code)\s{0,4}(?:['’]s|is|:|=)\s{0,4}(?<value>\d[\d -]{0,40}\d)/dgiu,
    'a number that opens something',
    any,
  ],
]

/** Words that name a credential, followed by one. A phrase of several plain words is no credential, whatever it is called. */
const credential =
  /\b(?:pass(?:word|code|wd)?|pwd|pin(?: code| number)?|api[ _-]?key|access[ _-]?key|secret[ _-]?key|private[ _-]?key|auth(?:entication)?[ _-]?token|access[ _-]?token|api[ _-]?token|token|client[ _-]?secret|cvv2?|cvc|security code|ssn|social security number|credentials?)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|are|was|['’]s|=|:|->|to)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`]{1,400})(?<more>\s{1,8}\S)?/dgiu

/** Made of plain words, and meant to open something all the same. */
const phrase =
  /\b(?<kind>pass ?phrase|seed phrase|recovery phrase)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|was|['’]s|=|:|->)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`][^\n"”`;.!?]{0,400})/dgiu

const cardNumber = /(?<![\d.-])(?:\d[ -]?){12,18}\d(?!\d|[.-]\d)/gu
/** Until when a card is valid; no secret but beside its number. */
const expiry =
  /\b(?:exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to))\s{0,4}:?\s{0,4}(?<value>\d{1,2}\s?[/-]\s?\d{2,4})\b/dgiu
const accountNumber = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/giu

/** Every secret in a text, in order. None of them stands within another. */
export function secretsIn(text: string): readonly Secret[] {
  const found: Secret[] = []
  for (const [pattern, what] of shapes)
    for (const match of text.matchAll(pattern))
      found.push({ start: match.index, end: match.index + match[0].length, what })
  for (const [pattern, what, isSecret] of named)
    for (const match of text.matchAll(pattern))
      if (isSecret(match.groups?.value ?? '')) found.push(secretOf(match, what))
  for (const match of text.matchAll(cardNumber))
    if (isCardNumber(match[0]))
      found.push({ start: match.index, end: match.index + match[0].length, what: 'a card number' })
  if (found.some(({ what }) => what === 'a card number'))
    for (const match of text.matchAll(expiry)) found.push(secretOf(match, 'a card number'))
  for (const match of text.matchAll(accountNumber)) {
    const length = accountNumberLength(match[0])
    if (length > 0) found.push({ start: match.index, end: match.index + length, what: 'the number of a bank account' })
  }
  for (const match of text.matchAll(phrase)) {
    const [first = ''] = (match.groups?.value ?? '').split(/\s/u)
    const what = /^pass/iu.test(match.groups?.kind ?? '') ? 'a passphrase' : 'a recovery phrase'
    if (!commonAfterIs.test(first)) found.push(secretOf(match, what))
  }
  for (const match of text.matchAll(credential)) {
    const what = credentialOf(match)
    if (what !== null) found.push(secretOf(match, what))
  }
  return apart(text, found)
}

const secretOf = (match: RegExpExecArray, what: string): Secret => {
  const [start, end] = match.indices?.groups?.value ?? [0, 0]
  return { start, end, what }
}

/** In order, without the punctuation of the sentence behind them, and without those that begin within another. */
function apart(text: string, found: readonly Secret[]): readonly Secret[] {
  const trimmed = found.map(({ start, end: last, what }) => {
    let end = last
    while (end > start && /[.,;:)\s]/u.test(text[end - 1] as string)) end -= 1
    return { start, end, what }
  })
  let reached = 0
  return trimmed
    .filter(({ start, end }) => end > start)
    .sort((one, other) => one.start - other.start || other.end - one.end)
    .filter(({ start, end }) => {
      const isApart = start >= reached
      reached = Math.max(reached, end)
      return isApart
    })
}

/** What kind of secret a text holds, in words; null when it holds none. */
export const secretIn = (text: string): string | null => secretsIn(text)[0]?.what ?? null

/** Stands for every character of a secret, so that everything else keeps its place. */
const mask = '\u2588'

/** The text without its secrets, as long as before. */
export const masked = (text: string): string => replaced(text, (length) => mask.repeat(length))

/** The text as it may be shown: an ellipsis where a secret was. */
export const redacted = (text: string): string => replaced(text, () => '…')

function replaced(text: string, by: (length: number) => string): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of secretsIn(text)) {
    parts.push(text.slice(at, start), by(end - start))
    at = end
  }
  return parts.join('') + text.slice(at)
}

/** The texts of a statement, as far as it has them. */
export type StatementTexts = {
  readonly name?: string | undefined
  readonly content?: string | undefined
  readonly why?: string | undefined
  readonly relation?: string | null | undefined
  readonly aliases?: readonly string[] | undefined
  readonly participants?: readonly string[] | undefined
}

/** What kind of secret a statement tells, in words. Null when it tells none, or none that `known` has not told already. */
export function secretTold(told: StatementTexts, known: StatementTexts | null = null): string | null {
  const knownText = known === null ? '' : textsOf(known).join('\n')
  for (const text of textsOf(told)) {
    const secret = secretsIn(text).find(({ start, end }) => !knownText.includes(text.slice(start, end)))
    if (secret !== undefined) return secret.what
  }
  return null
}

/** A number alone is a secret only beside the name that says what it opens. */
function textsOf({ name, content, why, relation, aliases = [], participants = [] }: StatementTexts): readonly string[] {
  const beside = name === undefined || content === undefined ? undefined : `${name}: ${content}`
  return [beside, name, content, why, relation, ...aliases, ...participants].filter((text) => typeof text === 'string')
}

function credentialOf(match: RegExpExecArray): string | null {
  const value = (match.groups?.value ?? '').replace(/[.,;:!?)]{1,20}$/u, '')
  const isPlainWord = /^[a-z]+$/iu.test(value)
  const isNumbered = /\b(?:pin|cvv2?|cvc|ssn|security code|social security)/iu.test(match[0])
  if (isNumbered) return /^\d[\d-]{2,}$/u.test(value) ? 'a number that proves who somebody is' : null
  // "The password is stored in the vault", "the token is refreshed hourly": said about it, not given away.
  const isSaidAboutIt = isPlainWord && (value === value.toLowerCase() || match.groups?.more !== undefined)
  const isGivenAway = !isPlainWord || (/^pass|^pwd/iu.test(match[0]) && match.groups?.more === undefined)
  return isGivenAway && !(isSaidAboutIt && commonAfterIs.test(value)) && value.length >= 4 ? 'a password or key' : null
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

/** How much of a text is an IBAN (ISO 13616): read as a number, 97 leaves one over. Words behind it look like part of it. */
function accountNumberLength(written: string): number {
  for (let length = written.length; length >= 15; length -= 1) {
    const isWhole = length === written.length || !/[A-Z0-9]/iu.test(written[length] as string)
    if (isWhole && isAccountNumber(written.slice(0, length))) return length
  }
  return 0
}

function isAccountNumber(written: string): boolean {
  const plain = written.replace(/[ -]/gu, '').toUpperCase()
  if (plain.length < 15 || plain.length > 34) return false
  const turned = `${plain.slice(4)}${plain.slice(0, 4)}`
  let rest = 0
  for (const character of turned) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
