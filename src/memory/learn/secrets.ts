import { createHash } from 'node:crypto'
import { runToEnd, runYielding } from '../../next-turn.ts'
import { decodeWord, disguise, encodedWord, type Place, withoutDisguise } from './hidden-texts.ts'
import { longWords, type Secret } from './randomness.ts'
import { searchWrittenSecrets } from './secret-patterns.ts'

/** Every secret in a text, in order and without overlaps. */
export const findSecrets = (text: string): readonly Secret[] => runToEnd(searchSecrets(text))

/** Like `findSecrets`, but yields to the event loop in between. */
export const findSecretsInSlices = (text: string): Promise<readonly Secret[]> => runYielding(searchSecrets(text))

function* searchSecrets(text: string): Generator<void, readonly Secret[]> {
  const found = yield* searchDecoded(text)
  if (disguise.test(text)) {
    const { plain, places } = withoutDisguise(text)
    for (const { start, end, what } of yield* searchDecoded(plain))
      found.push({ start: (places[start] as Place).start, end: (places[end - 1] as Place).end, what })
  }
  return withoutOverlaps(text, found)
}

/** Finds secrets, including those that words in base64 or hexadecimal encode. */
function* searchDecoded(text: string): Generator<void, Secret[]> {
  const found = yield* searchWrittenSecrets(text)
  if (!longWords(text).some(({ word }) => word.length >= 20)) return found
  for (const { index, 0: word } of text.matchAll(encodedWord)) {
    yield
    const plain = decodeWord(word)
    const [secret] = plain === null ? [] : yield* searchWrittenSecrets(plain)
    if (secret !== undefined) found.push({ start: index, end: index + word.length, what: secret.what })
  }
  return found
}

/** Removes punctuation at the ends of the secrets, sorts them, and joins those that overlap. */
function withoutOverlaps(text: string, found: readonly Secret[]): readonly Secret[] {
  const merged: Secret[] = []
  const trimmed = found.map((secret) => withoutEndMarks(text, secret)).filter(({ start, end }) => end > start)
  for (const secret of trimmed.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last !== undefined && secret.start < last.end)
      merged[merged.length - 1] = { ...last, end: Math.max(last.end, secret.end) }
    else merged.push(secret)
  }
  return merged
}

function withoutEndMarks(text: string, secret: Secret): Secret {
  let { end } = secret
  while (end > secret.start && /[.,;:)\s]/u.test(text[end - 1] as string)) end -= 1
  return { ...secret, end }
}

/** Describes the kind of secret in a text; null if there is none. */
export const describeSecret = (text: string): string | null => findSecrets(text)[0]?.what ?? null

/** Replaces every character of a secret, so that offsets do not change. */
const mask = '\u2588'

/** Whether a secret in a text was masked. */
export const hasMask = (text: string): boolean => text.includes(mask)

/** The text with its secrets masked; it has the same length. */
export const maskSecrets = (text: string, found = findSecrets(text)): string =>
  replaceAll(text, found, (length) => mask.repeat(length))

/** Like `maskSecrets`, but yields to the event loop in between. */
export const maskSecretsInSlices = async (text: string): Promise<string> =>
  maskSecrets(text, await findSecretsInSlices(text))

export const maskSecret = (secret: string): string => mask.repeat(secret.length)

/** The text for display: an ellipsis in place of each secret. */
export const redactSecrets = (text: string, found = findSecrets(text)): string => replaceAll(text, found, () => '…')

function replaceAll(text: string, found: readonly Secret[], by: (length: number) => string): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of found) {
    parts.push(text.slice(at, start), by(end - start))
    at = end
  }
  return parts.join('') + text.slice(at)
}

/** The form of opencode's ids, which look as random as a key but are not masked. */
const programId = /^(?:ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}$/u

/** Replaces an id that contains a secret with a digest, so that different ids stay different. */
export const maskId = (id: string): string =>
  programId.test(id) || describeSecret(id) === null ? id : `sha256-${createHash('sha256').update(id).digest('hex')}`

/** The texts of a statement; each may be left out. Every field that is a text or a list of texts is searched for secrets. */
export type StatementTexts = {
  readonly name?: string | undefined
  readonly content?: string | undefined
  readonly [field: string]: unknown
}

/** Describes the kind of secret in a statement; null if there is none. Secrets that `known` already contains do not count. */
export async function findSecretIn(told: StatementTexts, known: StatementTexts | null = null): Promise<string | null> {
  const knownText = known === null ? '' : textsOf(known).join('\n')
  for (const text of textsOf(told)) {
    const found = await findSecretsInSlices(text)
    const secret = found.find(({ start, end }) => !knownText.includes(text.slice(start, end)))
    if (secret !== undefined) return secret.what
  }
  return null
}

/** Name and content are also read together, because a number is a secret only with a name such as "PIN". */
function textsOf({ name, content, ...others }: StatementTexts): readonly string[] {
  const beside = name === undefined || content === undefined ? [] : [`${name}: ${content}`]
  return [...beside, name, content, ...Object.values(others).flat()].filter((text) => typeof text === 'string')
}
