import { authorityOf, type Belief } from '../beliefs/belief.ts'
import { unnumberedName } from '../beliefs/identity.ts'
import { analyse, type Token } from './analyse.ts'
import { isOrdinaryWord } from './ordinary-words.ts'
import { singular } from './singular.ts'
import { isTypoTarget } from './typo.ts'

/**
 * One spelling of a surface form. `key` is its words, separated by single spaces. It matches a message that contains
 * these words in sequence.
 */
type FormKey = {
  readonly key: string
  readonly words: readonly string[]
  /** Bit i is set if the form itself has a phrase end between its words i and i + 1, as in "Dr. Vasquez". */
  readonly breaks: number
}

/** `ordinal`: 0 for the belief's name, i for the alias at position i - 1. */
type FormKeyOf = FormKey & { readonly ordinal: number }

const maxFormLength = 64
const minJoinedLength = 4

/**
 * All keys of one surface form: as written, in the singular, without hyphens and dots (`nodejs` for `node.js`), with a
 * camelCase identifier split into words (`redis cache` for `redisCache`), and without apostrophes (`oconnor` for
 * `O'Connor`).
 */
export function formKeys(form: string, tokens: readonly Token[] = analyse(form)): readonly FormKey[] {
  if (tokens.length === 0 || tokens.length > maxFormLength) return []
  const keys = [
    literalKey(tokens),
    singularKey(tokens, form),
    joinedKey(tokens),
    splitKey(tokens, form),
    bareKey(tokens),
  ]
  const distinct = new Map<string, FormKey>()
  for (const key of keys) if (key !== null && !distinct.has(key.key)) distinct.set(key.key, key)
  return [...distinct.values()]
}

/** The fields from which the forms of a belief are derived. */
type Named = Pick<Belief, 'name' | 'aliases' | 'editedByPerson' | 'provenance'>

/**
 * All distinct keys of a belief. A key of both the name and an alias counts as the name's. If a person's belief has a number in
 * its name, such as "port (2)", it also has the keys of the name without the number, so that a message with "port" finds both
 * "port" and "port (2)". Beliefs of other authors do not get these keys, because with them they could claim the name of a
 * person's belief.
 */
export function beliefFormKeys(
  belief: Named,
  tokensOf: (form: string) => readonly Token[] = analyse,
): readonly FormKeyOf[] {
  const keys = new Map<string, FormKeyOf>()
  const said = authorityOf(belief) === 'person' ? unnumberedName(belief.name) : belief.name
  const forms = [belief.name, ...belief.aliases].map((form, ordinal) => ({ form, ordinal }))
  for (const { form, ordinal } of said === belief.name ? forms : [{ form: said, ordinal: 0 }, ...forms]) {
    for (const formKey of formKeys(form, tokensOf(form))) {
      const known = keys.get(formKey.key)
      keys.set(formKey.key, known ? { ...known, breaks: known.breaks | formKey.breaks } : { ...formKey, ordinal })
    }
  }
  return [...keys.values()]
}

/** The keys by which a store finds a belief, derived from the belief alone. */
export type IndexEntries = {
  readonly forms: readonly FormKeyOf[]
  /** Distinct words of the forms that may be the correction of a typo. */
  readonly typoTargets: readonly string[]
}

export function indexEntries(belief: Named, tokensOf: (form: string) => readonly Token[] = analyse): IndexEntries {
  const forms = beliefFormKeys(belief, tokensOf)
  return { forms, typoTargets: [...new Set(forms.flatMap((form) => form.words))].filter(isTypoTarget) }
}

/** The surface form with this ordinal. */
export const formAt = (belief: Pick<Belief, 'name' | 'aliases'>, ordinal: number): string =>
  ordinal === 0 ? belief.name : (belief.aliases[ordinal - 1] ?? belief.name)

/** Whether a text can be found at all: it has at least one letter or digit and at most 64 tokens. */
export const isSurfaceForm = (text: string): boolean => {
  const { length } = analyse(text)
  return length > 0 && length <= maxFormLength
}

/** The singular of a word that is written like a plural: HTTPS is not the plural of HTTP, but APIs is the plural of API. */
export function singularOf({ word, isAllCaps, isAcronymPlural }: Token): string {
  if (isAllCaps) return word
  return isAcronymPlural ? word.slice(0, -1) : singular(word)
}

const formKeyOf = (words: readonly string[], breaks: number): FormKey => ({ key: words.join(' '), words, breaks })

const literalKey = (tokens: readonly Token[]): FormKey =>
  formKeyOf(
    tokens.map((token) => token.word),
    breaksBetween(tokens),
  )

/**
 * Null for a form of one capitalised word. If it looks plural, it is a proper name (Rails, Teams, HTTPS), and "the
 * team" does not mention Teams.
 */
function singularKey(tokens: readonly Token[], form: string): FormKey | null {
  const [first] = tokens
  if (tokens.length === 1 && first?.isAcronymPlural === false && /^\P{L}*\p{Lu}/u.test(form)) return null
  return formKeyOf(tokens.map(singularOf), breaksBetween(tokens))
}

/** The form with its hyphens and dots removed: `e-mail` becomes "email". Null if the result may be a different word: `U.S.` is not "us", and `re-sort` is not "resort". */
function joinedKey(tokens: readonly Token[]): FormKey | null {
  const runs = joinedRuns(tokens)
  if (runs.length === tokens.length || !runs.every(isJoinable)) return null
  const words = runs.map((run) => run.map((token) => token.word).join(''))
  return formKeyOf(words, breaksBetween(runs.map((run) => run[0] as Token)))
}

function isJoinable(run: readonly Token[]): boolean {
  if (run.length === 1) return true
  const word = run.map((token) => token.word).join('')
  if (word.length < minJoinedLength) return false
  const isHyphenated = run.slice(1).every(({ joint }) => joint === '-')
  if (isHyphenated && run[0]?.word === 're') return false
  return !isOrdinaryWord(word) || (isHyphenated && word.length > minJoinedLength)
}

/** Splits lower camelCase identifiers. A brand such as FastAPI or LinkedIn must not match the everyday words inside it. */
function splitKey(tokens: readonly Token[], form: string): FormKey | null {
  const [token] = tokens
  if (tokens.length !== 1 || token === undefined || token.parts.length < 2 || !/^\p{Ll}/u.test(form)) return null
  return formKeyOf(token.parts, 0)
}

/** The form without apostrophes, which people often omit. Null if a word would become a different word: "we'll" is not "well". */
function bareKey(tokens: readonly Token[]): FormKey | null {
  const words = tokens.map(({ word }) => word.replaceAll("'", ''))
  const isSafe = words.every((word, index) => word === tokens[index]?.word || !isOrdinaryWord(word))
  return isSafe ? formKeyOf(words, breaksBetween(tokens)) : null
}

/** Groups tokens that are joined by hyphens or dots. */
function joinedRuns(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const runs: Token[][] = []
  for (const token of tokens) {
    const run = runs.at(-1)
    if (run !== undefined && (token.joint === '-' || token.joint === '.')) run.push(token)
    else runs.push([token])
  }
  return runs
}

/** One bit for each gap between neighbouring tokens, set if a phrase ends there. Gaps after the 32nd token are not recorded. */
const breaksBetween = (tokens: readonly Token[]): number =>
  tokens.slice(1, 32).reduce((bits, token, index) => (token.gap === 'broken' ? bits | (1 << index) : bits), 0)
