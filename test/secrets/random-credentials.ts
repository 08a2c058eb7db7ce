import { maskSecrets } from '../../src/memory/learn/secrets.ts'

/** A kind of credential, made of random characters in the publicly known format of its provider. */
export type Kind = {
  readonly label: string
  readonly env: string
  /** The credential. */
  readonly make: (random: Random) => string
  /** Whether the credential has no recognisable format, so that only its name identifies it. */
  readonly isNamed?: true
  /** The secret part, unless the whole credential is secret. */
  readonly part?: RegExp
}

/** Returns this many random characters of an alphabet. */
export type Random = (length: number, alphabet?: string) => string

export const digits = '0123456789'
export const hex = `${digits}abcdef`
export const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
export const lower = 'abcdefghijklmnopqrstuvwxyz'
export const alphanumeric = digits + upper + lower
export const urlSafe = `${alphanumeric}-_`
export const base64 = `${alphanumeric}+/`

export const uuid = (r: Random): string => [8, 4, 4, 4, 12].map((length) => r(length, hex)).join('-')
export const json64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** mulberry32: the same characters in every run. */
export function randomOf(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return (length, alphabet = alphanumeric) =>
    Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join('')
}

/** A text that contains a credential, and the form in which the text contains it. */
export type Written = { readonly text: string; readonly written: string }
export type Shape = (kind: Kind, credential: string, sample: number) => Written

const samplesOfEach = 5

/** The kinds whose credential stays readable, even if only in part. */
export function missedKinds(kinds: readonly Kind[], shape: Shape): readonly string[] {
  return kinds
    .filter((kind, place) =>
      Array.from({ length: samplesOfEach }, (_, sample) => sample).some((sample) => {
        const { text, written } = shape(kind, kind.make(randomOf(1_000 * place + sample)), sample)
        const part = kind.part?.exec(written.normalize('NFKC'))?.[0] ?? written
        const start = text.indexOf(written) + Math.max(0, written.normalize('NFKC').indexOf(part))
        return !/^[\u2588\s]+$/u.test(maskSecrets(text).slice(start, start + part.length))
      }),
    )
    .map(({ label }) => label)
}
