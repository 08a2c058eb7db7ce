import { isUnspaced, type Token } from './analyse.ts'
import { singularOf } from './forms.ts'
import { singular } from './singular.ts'

/** Consecutive tokens of a message that may be a form, and the key to look it up by. `first` and `last` are token positions. */
export type CandidateSpan = {
  readonly key: string
  readonly first: number
  readonly last: number
  /** If a word was corrected: the written word, the intended word, and its position. */
  readonly typo: { readonly written: string; readonly meant: string; readonly at: number } | null
}

/** The normalised words of a message, and the singular of each. */
export type Words = { readonly literal: readonly string[]; readonly singular: readonly string[] }

export const tokenWordsOf = (tokens: readonly Token[]): Words => ({
  literal: tokens.map((token) => token.word),
  singular: tokens.map(singularOf),
})

/** Every run of words that begins with the first word of a known form and has the length of that form. `lengths`: how many words the known forms have, by their first word. */
export function* phraseSpans(words: Words, lengths: ReadonlyMap<string, readonly number[]>): Generator<CandidateSpan> {
  for (let first = 0; first < words.literal.length; first += 1) {
    const tried = new Set<string>()
    for (const spelling of [words.literal, words.singular]) {
      for (const length of lengths.get(spelling[first] as string) ?? []) {
        const last = first + length - 1
        if (last >= spelling.length) continue
        const key = keyBetween(spelling, first, last)
        if (tried.has(key)) continue
        tried.add(key)
        yield { key, first, last, typo: null }
      }
    }
  }
}

/** Like `phraseSpans`, with one word replaced by a known word that it may be a typo for. */
export function* typoSpans(
  words: Words,
  formLengths: ReadonlyMap<string, readonly number[]>,
  meantBy: ReadonlyMap<number, readonly string[]>,
): Generator<CandidateSpan> {
  const maxLength = [...formLengths.values()].reduce((max, lengths) => Math.max(max, ...lengths), 0)
  for (const [at, candidates] of meantBy) {
    const written = words.literal[at] as string
    for (const spelling of [words.literal, words.singular]) {
      for (const meant of candidates) {
        for (let first = Math.max(0, at - maxLength + 1); first <= at; first += 1) {
          for (const length of formLengths.get(first === at ? meant : (spelling[first] as string)) ?? []) {
            const last = first + length - 1
            if (last < at || last >= spelling.length) continue
            const key = spelling
              .slice(first, last + 1)
              .with(at - first, meant)
              .join(' ')
            yield { key, first, last, typo: { written, meant, at } }
          }
        }
      }
    }
  }
}

const maxJoinedRun = 4
const maxOpenedLength = 8

/** Spans that join hyphenated and dotted words (`nodejs` for `node.js`) or split camelCase identifiers. */
export function* compoundSpans(tokens: readonly Token[]): Generator<CandidateSpan> {
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token
    for (let from = 0; from < token.parts.length - 1; from += 1) {
      for (let to = from + 2; to <= Math.min(token.parts.length, from + maxOpenedLength); to += 1) {
        const parts = token.parts.slice(from, to)
        yield { key: parts.join(' '), first: at, last: at, typo: null }
        const inSingular = parts.map(singular).join(' ')
        if (inSingular !== parts.join(' ')) yield { key: inSingular, first: at, last: at, typo: null }
      }
    }
    let joined = token.word
    for (let last = at + 1; last < tokens.length && last < at + maxJoinedRun; last += 1) {
      const next = tokens[last] as Token
      if (next.joint !== '-' && next.joint !== '.') break
      joined += next.word
      yield { key: joined, first: at, last, typo: null }
    }
  }
}

/** The ends of phrases inside a span, as bits like those of `FormKey.breaks`. */
export const breaksIn = (tokens: readonly Token[], { first, last }: CandidateSpan): number => {
  let bits = 0
  for (let at = first + 1; at <= last && at - first <= 31; at += 1) {
    if (tokens[at]?.gap === 'broken') bits |= 1 << (at - first - 1)
  }
  return bits
}

/**
 * Whether a span is a separate mention. The end of a dotted name is not (`index.ts` does not mention TS), nor is either side of
 * an address, but a version may follow (`redis@7`). A single letter must be a separate word, and a word of two letters must not
 * be part of a compound (`go-to`, `ts_node`, `AT&T`).
 */
export function isStandalone(tokens: readonly Token[], { first, last }: CandidateSpan): boolean {
  const before = first === 0 ? '' : (tokens[first]?.joint ?? '')
  const after = tokens[last + 1]?.joint ?? ''
  if (before === '.' && after !== '.') return false
  if (before === '@' || (after === '@' && !/^\d/u.test(tokens[last + 1]?.word ?? ''))) return false
  const word = first === last ? (tokens[first]?.word ?? '') : ''
  if (word.length === 0 || word.length > 2 || isUnspaced(word)) return true
  if (word.length === 1) return [before, after].every((joint) => joint === '' || joint === ',')
  return [before, after].every((joint) => !/[-.&_']/u.test(joint))
}

const keyBetween = (words: readonly string[], first: number, last: number): string =>
  first === last ? (words[first] as string) : words.slice(first, last + 1).join(' ')
