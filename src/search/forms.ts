import type { Belief } from '../beliefs/belief.ts'
import { type Atom, analyse } from './analyse.ts'
import { isOrdinaryWord } from './ordinary-words.ts'
import { singular } from './singular.ts'

/**
 * One way a surface form may be written. `key` is its words separated by single spaces; it is found when the same
 * words follow each other in a message.
 */
export type FormKey = {
  readonly key: string
  readonly words: readonly string[]
  /** Bit i is set when the form itself has a phrase end between its words i and i + 1, as in "Dr. Vasquez". */
  readonly breaks: number
}

/** 0 is the belief's name, i the alias at position i - 1. */
export type FormKeyOf = FormKey & { readonly ordinal: number }

const longestForm = 64
const shortestJoined = 4

/**
 * All keys of one surface form: as written, in the singular, with its hyphens and dots closed up (`nodejs` for
 * `node.js`), a lower camelCase identifier opened up (`redis cache` for `redisCache`), and a name without its
 * apostrophe (`oconnor` for `O'Connor`).
 */
export function formKeys(form: string): readonly FormKey[] {
  const atoms = analyse(form)
  if (atoms.length === 0 || atoms.length > longestForm) return []
  const keys = [literalKey(atoms), singularKey(atoms, form), joinedKey(atoms), openedKey(atoms, form), bareKey(atoms)]
  const seen = new Set<string>()
  return keys
    .filter((key) => key !== null && !seen.has(key.key) && seen.add(key.key) !== null)
    .map((key) => key as FormKey)
}

/** All keys of a belief, each once, with the name's taking precedence over an alias that reads the same. */
export function beliefFormKeys(belief: Pick<Belief, 'name' | 'aliases'>): readonly FormKeyOf[] {
  const keys = new Map<string, FormKeyOf>()
  for (const [ordinal, form] of [belief.name, ...belief.aliases].entries()) {
    for (const formKey of formKeys(form)) {
      const known = keys.get(formKey.key)
      keys.set(formKey.key, known ? { ...known, breaks: known.breaks | formKey.breaks } : { ...formKey, ordinal })
    }
  }
  return [...keys.values()]
}

/** The surface form an ordinal stands for. */
export const formAt = (belief: Pick<Belief, 'name' | 'aliases'>, ordinal: number): string =>
  ordinal === 0 ? belief.name : (belief.aliases[ordinal - 1] ?? belief.name)

/** Whether a text can be found at all: it holds at least one letter or digit and is not absurdly long. */
export const isSurfaceForm = (text: string): boolean => formKeys(text).length > 0

/** The singular of a word, where it is written like a plural: HTTPS is not several HTTP, but APIs are several API. */
export function singularOf({ word, isAllCaps, isAcronymPlural }: Atom): string {
  if (isAllCaps) return word
  return isAcronymPlural ? word.slice(0, -1) : singular(word)
}

const keyOf = (words: readonly string[], breaks: number): FormKey => ({ key: words.join(' '), words, breaks })

const literalKey = (atoms: readonly Atom[]): FormKey =>
  keyOf(
    atoms.map((atom) => atom.word),
    breaksBetween(atoms),
  )

/**
 * One capitalised word that looks plural is a proper name (Rails, Teams, HTTPS) and is not found by its singular:
 * "the team" is not about Teams.
 */
function singularKey(atoms: readonly Atom[], form: string): FormKey | null {
  const [first] = atoms
  if (atoms.length === 1 && first?.isAcronymPlural === false && /^\P{L}*\p{Lu}/u.test(form)) return null
  return keyOf(atoms.map(singularOf), breaksBetween(atoms))
}

/**
 * Closed up only where that does not make another word of it: `U.S.` is not "us", and `re-sort` is not "resort". A
 * hyphen otherwise joins what grows together in time: `e-mail` is "email".
 */
function joinedKey(atoms: readonly Atom[]): FormKey | null {
  const runs = joinedRuns(atoms)
  if (runs.length === atoms.length || !runs.every(closesUp)) return null
  const words = runs.map((run) => run.map((atom) => atom.word).join(''))
  return keyOf(words, breaksBetween(runs.map((run) => run[0] as Atom)))
}

function closesUp(run: readonly Atom[]): boolean {
  if (run.length === 1) return true
  const word = run.map((atom) => atom.word).join('')
  if (word.length < shortestJoined) return false
  const isHyphenated = run.slice(1).every(({ joint }) => joint === '-')
  if (isHyphenated && run[0]?.word === 're') return false
  return !isOrdinaryWord(word) || (isHyphenated && word.length > shortestJoined)
}

/** Identifiers only. A brand such as FastAPI or LinkedIn is not found by the everyday words inside it. */
function openedKey(atoms: readonly Atom[], form: string): FormKey | null {
  const [atom] = atoms
  if (atoms.length !== 1 || atom === undefined || atom.parts.length < 2 || !/^\p{Ll}/u.test(form)) return null
  return keyOf(atom.parts, 0)
}

/** People leave the apostrophe out, but "we'll" must not become "well". */
function bareKey(atoms: readonly Atom[]): FormKey | null {
  const words = atoms.map(({ word }) => word.replaceAll("'", ''))
  const isSafe = words.every((word, index) => word === atoms[index]?.word || !isOrdinaryWord(word))
  return isSafe ? keyOf(words, breaksBetween(atoms)) : null
}

/** Groups atoms that hang together by hyphens or dots. */
export function joinedRuns(atoms: readonly Atom[]): readonly (readonly Atom[])[] {
  const runs: Atom[][] = []
  for (const atom of atoms) {
    const run = runs.at(-1)
    if (run !== undefined && (atom.joint === '-' || atom.joint === '.')) run.push(atom)
    else runs.push([atom])
  }
  return runs
}

/** One bit per gap between neighbouring atoms; forms longer than 31 words have no room for more and need none. */
export const breaksBetween = (atoms: readonly Atom[]): number =>
  atoms.slice(1, 32).reduce((bits, atom, index) => (atom.gap === 'broken' ? bits | (1 << index) : bits), 0)
