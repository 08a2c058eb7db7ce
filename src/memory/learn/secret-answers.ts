import { isPassword, numberName } from './named-secrets.ts'
import { isLiteral, isRandom } from './randomness.ts'
import { spokenDigits } from './secret-patterns.ts'

/** Max words of a message that may be nothing but an answer. */
const maxAnswerWords = 6

/** Whether a message is short enough to be nothing but an answer. */
export const mayBeAnswer = (text: string): boolean =>
  text.trim().split(/\s+/u, maxAnswerWords + 1).length <= maxAnswerWords

const passwordName =
  /(?<![\p{L}\d])(?:pass(?:word|code|phrase|wort)|pwd|kennwort|contraseña|mot de passe|senha|wachtwoord)(?![\p{L}\d])/iu
const keyName = /(?<![\p{L}\d])(?:token|(?:api|access|secret|private|licen[cs]e|recovery)[ -]key)(?![\p{L}\d])/iu
const asksOtherwise = /^(?:and |but )?(?:when|how|why|who|where)\b/iu

/**
 * Masks the secret in a message that answers a request for one: in a short answer, masks numbers and words with digits
 * or mixed characters, unless the question offers them as choices. A question about a time or a reason does not ask for
 * a secret.
 */
export function maskAnswer(text: string, asked: string, mask: (secret: string) => string): string {
  if (!mayBeAnswer(text)) return text
  const asking = asked
    .trim()
    .split(/(?<=[.!?])\s+|\n/u)
    .filter((sentence, place, { length }) => sentence.endsWith('?') || place === length - 1)
    .filter((sentence) => !asksOtherwise.test(sentence))
  const asksFor = (name: RegExp): boolean => asking.some((sentence) => name.test(sentence))
  const isNumber = asksFor(new RegExp(numberName, 'iu'))
  const isPassword = asksFor(passwordName)
  if (!isNumber && !isPassword && !asksFor(keyName)) return text
  const isAlone = !/\s/u.test(text.trim())
  const masked = text.replace(/(?<![^\s"'“‘`(:])[^\s"'”’`()]{5,400}/gu, (word) => {
    const value = word.replace(/[.,;:!?]{1,20}$/u, '')
    const isSecret = isPassword || isNumber ? isPasswordLike(value, isAlone) : value.length >= 10 && isRandom(value)
    return isSecret && isLiteral(value) && !asked.includes(value) ? mask(value) + word.slice(value.length) : word
  })
  if (!isNumber && !(isPassword && isAlone)) return masked
  return masked.replace(spokenDigits, mask).replace(/(?<![\p{L}\p{N}])\d(?:[ -]?\d){3,18}(?![\p{L}\p{N}])/gu, mask)
}

/** Masks the output in the text of a tool step if the call asks for a secret and the output is one word in the form of a password. */
export function maskOutput(text: string, mask: (secret: string) => string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const [call = '', value = '', ...more] = lines.filter((line) => line !== '')
  const asks = passwordName.test(call) || keyName.test(call)
  const isSecret = more.length === 0 && !/\s/u.test(value) && isPassword(value) && !/^[\da-f]+$/iu.test(value)
  return asks && isSecret && isLiteral(value) ? text.replace(value, mask) : text
}

const isPasswordLike = (value: string, isAlone: boolean): boolean =>
  value.length >= 5 &&
  /\p{L}/u.test(value) &&
  !/^\d+\p{L}{1,8}$|^(?:sha|md|v)-?\d|:\/\//iu.test(value) &&
  (/\d/u.test(value) || /\p{L}[!#$^&~?@*_+=%]\p{L}/u.test(value) || (isAlone && /\p{L}[-.]\p{L}/u.test(value)))
