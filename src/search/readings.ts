import { type Atom, isUnspaced } from './analyse.ts'
import { singularOf } from './forms.ts'
import { singular } from './singular.ts'

/** A run of the message that reads as the words of a possible form. Positions are of atoms, both inclusive. */
export type Reading = {
  readonly key: string
  readonly first: number
  readonly last: number
  /** Set when one word was taken for another: what was written, what it was taken for, and where it stands. */
  readonly typo: { readonly written: string; readonly meant: string; readonly at: number } | null
}

/** The message's words as looked up: as written, and each in the singular. */
export type Words = { readonly literal: readonly string[]; readonly singular: readonly string[] }

export const wordsOf = (atoms: readonly Atom[]): Words => {
  const literal = atoms.map((atom) => atom.word)
  return { literal, singular: atoms.map(singularOf) }
}

/** How forms begin: how many words those have that begin with a word, and what may follow it where that is known. */
export type Beginnings = {
  readonly lengths: ReadonlyMap<string, readonly number[]>
  readonly seconds: ReadonlyMap<string, ReadonlySet<string>>
}

/** Every run of words that begins like a form and is as long as one. */
export function readPhrases(words: Words, { lengths, seconds }: Beginnings): readonly Reading[] {
  const readings: Reading[] = []
  for (let first = 0; first < words.literal.length; first += 1) {
    const tried = new Set<string>()
    for (const spelling of [words.literal, words.singular]) {
      const head = spelling[first] as string
      const second = spelling[first + 1]
      const isAlone = second === undefined || seconds.get(head)?.has(second) === false
      for (const length of lengths.get(head) ?? []) {
        const last = first + length - 1
        if (last >= spelling.length || (isAlone && length > 1)) continue
        const key = keyBetween(spelling, first, last)
        if (tried.has(key)) continue
        tried.add(key)
        readings.push({ key, first, last, typo: null })
      }
    }
  }
  return readings
}

/** The same with one word of the run replaced by a known word that it may be a slip for. */
export function readTypos(
  words: Words,
  formLengths: ReadonlyMap<string, readonly number[]>,
  meantBy: ReadonlyMap<number, readonly string[]>,
): readonly Reading[] {
  const readings: Reading[] = []
  const longest = [...formLengths.values()].reduce((most, lengths) => Math.max(most, ...lengths), 0)
  for (const [at, candidates] of meantBy) {
    const written = words.literal[at] as string
    for (const spelling of [words.literal, words.singular]) {
      for (const meant of candidates) {
        for (let first = Math.max(0, at - longest + 1); first <= at; first += 1) {
          for (const length of formLengths.get(first === at ? meant : (spelling[first] as string)) ?? []) {
            const last = first + length - 1
            if (last < at || last >= spelling.length) continue
            const key = spelling
              .slice(first, last + 1)
              .with(at - first, meant)
              .join(' ')
            readings.push({ key, first, last, typo: { written, meant, at } })
          }
        }
      }
    }
  }
  return readings
}

const longestJoinedRun = 4
const longestOpened = 8

/** Closed-up readings of hyphenated and dotted words, and opened-up readings of camelCase ones. */
export function readCompounds(atoms: readonly Atom[]): readonly Reading[] {
  const readings: Reading[] = []
  for (const [at, atom] of atoms.entries()) {
    for (let from = 0; from < atom.parts.length - 1; from += 1) {
      for (let to = from + 2; to <= Math.min(atom.parts.length, from + longestOpened); to += 1) {
        const parts = atom.parts.slice(from, to)
        readings.push({ key: parts.join(' '), first: at, last: at, typo: null })
        const inSingular = parts.map(singular).join(' ')
        if (inSingular !== parts.join(' ')) readings.push({ key: inSingular, first: at, last: at, typo: null })
      }
    }
    let joined = atom.word
    for (let last = at + 1; last < atoms.length && last < at + longestJoinedRun; last += 1) {
      const next = atoms[last] as Atom
      if (next.joint !== '-' && next.joint !== '.') break
      joined += next.word
      readings.push({ key: joined, first: at, last, typo: null })
    }
  }
  return readings
}

/** Bits as in `FormKey.breaks`, for a run of the message. */
export const breaksIn = (atoms: readonly Atom[], { first, last }: Reading): number => {
  let bits = 0
  for (let at = first + 1; at <= last && at - first <= 31; at += 1) {
    if (atoms[at]?.gap === 'broken') bits |= 1 << (at - first - 1)
  }
  return bits
}

/**
 * Whether a run stands on its own in the message. The end of a dotted name is not a mention (`index.ts` is not about
 * TS), nor is either side of an address, though a version may follow (`redis@7`); one letter must stand alone, and two
 * must not be part of a compound (`go-to`, `ts_node`, `AT&T`).
 */
export function standsAlone(atoms: readonly Atom[], { first, last }: Reading): boolean {
  const before = first === 0 ? '' : (atoms[first]?.joint ?? '')
  const after = atoms[last + 1]?.joint ?? ''
  if (before === '.' && after !== '.') return false
  if (before === '@' || (after === '@' && !/^\d/u.test(atoms[last + 1]?.word ?? ''))) return false
  const word = first === last ? (atoms[first]?.word ?? '') : ''
  if (word.length === 0 || word.length > 2 || isUnspaced(word)) return true
  if (word.length === 1) return [before, after].every((joint) => joint === '' || joint === ',')
  return [before, after].every((joint) => !/[-.&_']/u.test(joint))
}

const keyBetween = (words: readonly string[], first: number, last: number): string =>
  first === last ? (words[first] as string) : words.slice(first, last + 1).join(' ')
