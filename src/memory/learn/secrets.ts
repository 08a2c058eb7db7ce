/** Where in a text a secret is, and what kind it is, in words. */
export type Secret = { readonly start: number; readonly end: number; readonly what: string }

/** A pattern, the kind of secret, and what must hold of the match, or of its group `value` where it has one. */
type SecretPattern = readonly [pattern: RegExp, what: string, isSecret?: (value: string) => boolean]

const isMixed = (value: string): boolean => /\d/u.test(value) && /[a-z]/u.test(value) && /[A-Z]/u.test(value)

const cardNumber = 'a card number'

/**
 * White space is always bounded, and a long match cannot begin in the middle of itself, so that each pattern takes time
 * in proportion to the text.
 */
const patterns: readonly SecretPattern[] = [
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
  [/(?<![\d.-])(?:\d[ -]?){12,18}\d(?!\d|[.-]\d)/gu, cardNumber, isCardNumber],
  // A setting of a program: AWS_SECRET_ACCESS_KEY=…
  [
    /(?<![A-Z0-9_])(?=[A-Z0-9_]{0,60}(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASS|PWD|CREDENTIAL))[A-Z0-9_]{3,80}\s?[=:]\s?(?<value>["']?[^\s"']{4,})/dgu,
    'a password or key',
  ],
  // A long word of digits and letters of both cases, called a key.
  [/\b(?:key|token|secret)\b[^\n.]{0,20}?[\s:="'](?<value>[A-Za-z0-9+/_=-]{16,400})/dgu, 'a password or key', isMixed],
  // The name of an account, a slash or bar, and a password.
  [
    /\b(?:log-?in|sign-?in|user(?:name)?|account|credentials?)\b(?:\s{1,4}(?:details|data|info))?(?:\s{1,4}(?:for|to|of|on)\s[^\n:=]{1,40}?)?\s{0,4}(?:is|are|:|=|->)\s{0,4}(?<value>[^\s/|]{1,100}@[^\s/|]{1,100}\s{0,4}[/|]\s{0,4}\S{1,200}|[^\s/|]{1,100}\s{1,4}[/|]\s{1,4}(?=\S{0,200}[^\p{L}\s.,;!])\S{1,200})/dgiu,
    'a name and a password to log in with',
  ],
  [
    /\b(?:pass(?:word|code)|pwd)\s{1,8}(?<value>[^\s"']{5,200})/dgiu,
    'a password or key',
    (value) => /\d/u.test(value) && /\p{L}/u.test(value),
  ],
  [/\b(?:pin(?: code| number)?|cvv2?|cvc)\s{1,8}(?<value>\d{3,8})\b/dgiu, 'a number that proves who somebody is'],
  [
    /\b(?:(?:safe|vault|padlock|lock|suitcase)(?:['’]s)? (?:combination|combo|code)|(?:combination|combo) (?:of|for|to) (?:the|my|our) [^\n:=]{2,30}?|alarm code)\s{0,4}(?:['’]s|is|:|=)\s{0,4}(?<value>\d[\d -]{0,40}\d)/dgiu,
    'a number that opens something',
  ],
]

/** A word that names a credential, followed by one. Several plain words are not a credential. */
const credential =
  /\b(?:pass(?:word|code|wd)?|pwd|pin(?: code| number)?|api[ _-]?key|access[ _-]?key|secret[ _-]?key|private[ _-]?key|auth(?:entication)?[ _-]?token|access[ _-]?token|api[ _-]?token|token|client[ _-]?secret|cvv2?|cvc|security code|ssn|social security number|credentials?)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|are|was|['’]s|=|:|->|to)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`]{1,400})(?<more>\s{1,8}\S)?/dgiu

/** A passphrase consists of plain words. */
const phrase =
  /\b(?<kind>pass ?phrase|seed phrase|recovery phrase)\b(?:\s{1,4}(?:for|of|to|on|at|in)\s{1,4}[^:=\n]{1,60}?)?\s{0,4}(?:is|was|['’]s|=|:|->)\s{0,4}["'“‘`]?(?<value>[^\s"'”’`][^\n"”`;.!?]{0,400})/dgiu

/** When a card expires; a secret only beside its number. */
const expiry =
  /\b(?:exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to))\s{0,4}:?\s{0,4}(?<value>\d{1,2}\s?[/-]\s?\d{2,4})\b/dgiu
const accountNumber = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/giu

/** Every secret in a text, in order and without overlaps. */
export function secretsIn(text: string): readonly Secret[] {
  const found: Secret[] = []
  for (const [pattern, what, isSecret] of patterns)
    for (const match of text.matchAll(pattern))
      if (isSecret === undefined || isSecret(match.groups?.value ?? match[0])) found.push(secretOf(match, what))
  if (found.some(({ what }) => what === cardNumber))
    for (const match of text.matchAll(expiry)) found.push(secretOf(match, cardNumber))
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
  return withoutOverlaps(text, found)
}

function secretOf(match: RegExpExecArray, what: string): Secret {
  const [start, end] = match.indices?.groups?.value ?? [match.index, match.index + match[0].length]
  return { start, end, what }
}

/** In order, without punctuation at the end, and without those that begin within another. */
function withoutOverlaps(text: string, found: readonly Secret[]): readonly Secret[] {
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
      const isNext = start >= reached
      reached = Math.max(reached, end)
      return isNext
    })
}

/** What kind of secret a text holds, in words; null when it holds none. */
export const secretIn = (text: string): string | null => secretsIn(text)[0]?.what ?? null

/** Replaces every character of a secret, so that offsets do not change. */
const mask = '\u2588'

/** The text with its secrets masked; of the same length. */
export const masked = (text: string): string => replaced(text, (length) => mask.repeat(length))

/** The text for display: an ellipsis in place of each secret. */
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
function textsOf({ name, content, why, relation, aliases = [], participants = [] }: StatementTexts): readonly string[] {
  const beside = name === undefined || content === undefined ? undefined : `${name}: ${content}`
  return [beside, name, content, why, relation, ...aliases, ...participants].filter((text) => typeof text === 'string')
}

function credentialOf(match: RegExpExecArray): string | null {
  const value = (match.groups?.value ?? '').replace(/[.,;:!?)]{1,20}$/u, '')
  const isPlainWord = /^[a-z]+$/iu.test(value)
  const isNumbered = /\b(?:pin|cvv2?|cvc|ssn|security code|social security)/iu.test(match[0])
  if (isNumbered) return /^\d[\d-]{2,}$/u.test(value) ? 'a number that proves who somebody is' : null
  // "The password is stored in the vault" and "the token is refreshed hourly" do not give the credential away.
  const isComment = isPlainWord && (value === value.toLowerCase() || match.groups?.more !== undefined)
  const isGivenAway = !isPlainWord || (/^pass|^pwd/iu.test(match[0]) && match.groups?.more === undefined)
  return isGivenAway && !(isComment && commonAfterIs.test(value)) && value.length >= 4 ? 'a password or key' : null
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
  if (plain.length < 15 || plain.length > 34) return false
  const turned = `${plain.slice(4)}${plain.slice(0, 4)}`
  let rest = 0
  for (const character of turned) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
