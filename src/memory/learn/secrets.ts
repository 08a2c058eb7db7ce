/** Where in a text a secret stands, and what kind it is, in words. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

const shapes: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*)/gu, 'a private key'],
  [/\bsk-[A-Za-z0-9_-]{12,}/gu, 'an API key'],
  [/\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/gu, 'an API key'],
  [/\bAKIA[0-9A-Z]{12,}/gu, 'an access key'],
  [/\bASIA[0-9A-Z]{16}\b/gu, 'an access key'],
  [/\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/gu, 'an access token'],
  [/\bglpat-[\w-]{16,}/gu, 'an access token'],
  [/\bxox[abeoprs]-[\w-]{10,}/gu, 'an access token'],
  [/\bAIza[\w-]{30,}/gu, 'an API key'],
  [/\bnpm_[A-Za-z0-9]{30,}/gu, 'an access token'],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/gu, 'an API key'],
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/gu, 'an access token'],
  [/\b[a-z][a-z+]*:\/\/[^\s:/@]+:[^\s:/@]{3,}@\S*/giu, 'an address with a password in it'],
  [/\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*/giu, 'an access token'],
  // A setting of a program: AWS_SECRET_ACCESS_KEY=…
  [
    /(?<=\b[A-Z0-9_]*(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?)[A-Z0-9_]*\s?[=:]\s?)["']?[^\s"']{4,}/gu,
    'a password or key',
  ],
  // Letters of both cases and digits in one long word, called a key.
  [
    /(?<=\b(?:key|token|secret)\b[^\n.]{0,20}[\s:="'])(?=[^\s"']*\d)(?=[^\s"']*[a-z])(?=[^\s"']*[A-Z])[A-Za-z0-9+/_=-]{16,}/gu,
    'a password or key',
  ],
  // Who logs in, a stroke, and with what.
  [
    /(?<=\b(?:log-?in|sign-?in|user(?:name)?|account|credentials?)\b(?:\s+(?:details|data|info))?(?:\s+(?:for|to|of|on)\s[^\n:=]{1,40}?)?\s*(?:is|are|:|=|->)\s*)(?:[^\s/|]+@[^\s/|]+\s*[/|]\s*\S+|[^\s/|]+\s+[/|]\s+(?=\S*[^\p{L}\s.,;!])\S+)/giu,
    'a name and a password to log in with',
  ],
  [/(?<=\b(?:pass(?:word|code)|pwd)\s+)(?=[^\s]*\d)(?=[^\s]*\p{L})[^\s"']{5,}/giu, 'a password or key'],
  [/(?<=\b(?:pin(?: code| number)?|cvv2?|cvc)\s+)\d{3,8}\b/giu, 'a number that proves who somebody is'],
  [
    /(?<=\b(?:(?:safe|vault|padlock|lock|suitcase)(?:['’]s)? (?:combination|combo|code)|(?:combination|combo) (?:of|for|to) (?:the|my|our) [^\n:=]{2,30}?|alarm code)\s*(?:['’]s|is|:|=)\s*)\d[\d -]*\d/giu,
    'a number that opens something',
  ],
]

/** Words that name a credential, followed by one. A phrase of several plain words is no credential, whatever it is called. */
const named =
  /\b(?:pass(?:word|code|wd)?|pwd|pin(?: code| number)?|api[ -_]?key|access[ -_]?key|secret[ -_]?key|private[ -_]?key|auth(?:entication)?[ -_]?token|access[ -_]?token|api[ -_]?token|token|client[ -_]?secret|cvv2?|cvc|security code|ssn|social security number|credentials?)\b(?:\s+(?:for|of|to|on|at|in)\s+[^:=\n]{1,60}?)?\s*(?:is|are|was|['’]s|=|:|->|to)\s*["'“‘`]?(?<value>[^\s"'”’`]+)(?<more>\s+\S+)?/dgiu

/** Made of plain words, and meant to open something all the same. */
const wordy =
  /\b(?<kind>pass ?phrase|seed phrase|recovery phrase)\b(?:\s+(?:for|of|to|on|at|in)\s+[^:=\n]{1,60}?)?\s*(?:is|was|['’]s|=|:|->)\s*["'“‘`]?(?<value>[^\s"'”’`][^\n"”`;.!?]*)/dgiu

const cardNumber = /(?<![\d.-])(?:\d[ -]?){12,18}\d(?!\d|[.-]\d)/gu
/** Until when a card is valid; no secret but beside its number. */
const expiry =
  /(?<=\b(?:exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to))\s*:?\s*)\d{1,2}\s?[/-]\s?\d{2,4}\b/giu
const accountNumber = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}){3,8}\b/giu

/** Every secret in a text, in order. None of them stands within another. */
export function secretsIn(text: string): readonly Secret[] {
  const found: Secret[] = []
  const add = (start: number, length: number, what: string): void => {
    if (length > 0) found.push({ start, end: start + length, what })
  }
  for (const [pattern, what] of shapes)
    for (const match of text.matchAll(pattern)) add(match.index, match[0].length, what)
  for (const match of text.matchAll(cardNumber))
    if (isCardNumber(match[0])) add(match.index, match[0].length, 'a card number')
  if (found.some(({ what }) => what === 'a card number'))
    for (const match of text.matchAll(expiry)) add(match.index, match[0].length, 'a card number')
  for (const match of text.matchAll(accountNumber)) {
    // Words behind it look like further groups of it.
    let number = match[0]
    while (number.length > 14 && !isAccountNumber(number)) number = number.replace(/[ -]?[A-Z0-9]{1,4}$/iu, '')
    if (isAccountNumber(number)) add(match.index, number.length, 'the number of a bank account')
  }
  found.push(...credentialsIn(text))
  // A full stop behind it is the sentence's.
  const inOrder = found
    .map((one) => ({ ...one, end: one.start + text.slice(one.start, one.end).replace(/[.,;:)\s]+$/u, '').length }))
    .sort((one, other) => one.start - other.start || other.end - one.end)
  return inOrder.filter(({ start }, index) => !inOrder.slice(0, index).some(({ end }) => start < end))
}

/** What kind of secret a text holds, in words; null when it holds none. */
export const secretIn = (text: string): string | null => secretsIn(text)[0]?.what ?? null

/** Stands for every character of a secret, so that everything else keeps its place. */
export const mask = '\u2588'

/** The text without its secrets, as long as before. */
export function masked(text: string): string {
  let hidden = text
  for (const { start, end } of secretsIn(text))
    hidden = `${hidden.slice(0, start)}${mask.repeat(end - start)}${hidden.slice(end)}`
  return hidden
}

/** The text as it may be shown: an ellipsis where a secret was. */
export const redacted = (text: string): string => masked(text).replace(new RegExp(`${mask}+`, 'gu'), '…')

function credentialsIn(text: string): readonly Secret[] {
  const found: Secret[] = []
  for (const match of text.matchAll(wordy)) {
    const [start, end] = match.indices?.groups?.value ?? [0, 0]
    const [first = ''] = (match.groups?.value ?? '').split(/\s/u)
    const what = /^pass/iu.test(match.groups?.kind ?? '') ? 'a passphrase' : 'a recovery phrase'
    if (!commonAfterIs.test(first)) found.push({ start, end, what })
  }
  for (const match of text.matchAll(named)) {
    const what = credentialOf(match)
    const [start, end] = match.indices?.groups?.value ?? [0, 0]
    if (what !== null) found.push({ start, end, what })
  }
  return found
}

function credentialOf(match: RegExpExecArray): string | null {
  const value = (match.groups?.value ?? '').replace(/[.,;:!?)]+$/u, '')
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

/** The two check digits of an IBAN (ISO 13616): read as a number, 97 leaves one over. */
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
