const secrets: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/u, 'a private key'],
  [/\bsk-[A-Za-z0-9_-]{12,}/u, 'an API key'],
  [/\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/u, 'an API key'],
  [/\bAKIA[0-9A-Z]{12,}/u, 'an access key'],
  [/\bASIA[0-9A-Z]{16}\b/u, 'an access key'],
  [/\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/u, 'an access token'],
  [/\bglpat-[\w-]{16,}/u, 'an access token'],
  [/\bxox[abeoprs]-[\w-]{10,}/u, 'an access token'],
  [/\bAIza[\w-]{30,}/u, 'an API key'],
  [/\bnpm_[A-Za-z0-9]{30,}/u, 'an access token'],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/u, 'an API key'],
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/u, 'an access token'],
  [/\b[a-z][a-z+]*:\/\/[^\s:/@]+:[^\s:/@]{3,}@/iu, 'an address with a password in it'],
  [/\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*/iu, 'an access token'],
]

/** Words that name a credential, followed by one. A phrase of several plain words is no credential, whatever it is called. */
const named =
  /\b(?:pass(?:word|code|wd)?|pwd|pin(?: code| number)?|api[ -_]?key|access[ -_]?key|secret[ -_]?key|private[ -_]?key|auth(?:entication)?[ -_]?token|access[ -_]?token|api[ -_]?token|token|client[ -_]?secret|cvv|cvc|security code|ssn|social security number|seed phrase|recovery phrase|credentials?)\b(?:\s+(?:for|of|to|on|at|in)\s+[^:=]{1,60}?)?\s*(?:is|are|was|=|:|->|to)\s*["'“‘`]?(?<value>[^\s"'”’`]+)(?<more>\s+\S+)?/iu

const cardNumber = /(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d.-])/gu

/** What kind of secret a text holds, in words; null when it holds none. */
export function secretIn(text: string): string | null {
  for (const [pattern, what] of secrets) if (pattern.test(text)) return what
  for (const [digits] of text.matchAll(cardNumber)) if (isCardNumber(digits)) return 'a card number'
  return credentialIn(text)
}

function credentialIn(text: string): string | null {
  const match = named.exec(text)
  if (match === null) return null
  const value = (match.groups?.value ?? '').replace(/[.,;:!?)]+$/u, '')
  const isPlainWord = /^[a-z]+$/iu.test(value)
  const isNumbered = /\b(?:pin|cvv|cvc|ssn|security code|social security)/iu.test(match[0])
  if (isNumbered) return /^\d[\d-]{2,}$/u.test(value) ? 'a number that proves who somebody is' : null
  if (/seed phrase|recovery phrase/iu.test(match[0])) return 'a recovery phrase'
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
