import { authorityOf, type Belief, isCurrent } from '../../beliefs/belief.ts'
import { nameKey } from '../../beliefs/identity.ts'
import { universalScope, visibleScopes } from '../../beliefs/scope.ts'
import { analyse, isUnspaced } from '../../search/analyse.ts'
import { formKeys } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { singular } from '../../search/singular.ts'
import { calendarWords, isFunctionWord, statementNameOf } from '../learn/name-of.ts'
import type { Author, Ports } from '../ports.ts'

/** A refused alias, the reason, and an alternative. */
export type RefusedAlias = { readonly alias: string; readonly reason: string; readonly instead: string }

const onlyEveryday = 'It has only everyday words, which many messages contain.'

/**
 * The reason why a form would match unrelated messages: apart from words such as "the" and "how", it has at most one everyday
 * word, letter or number. Null if it is distinctive.
 */
export function explainEverydayForm(form: string): string | null {
  const [word, ...others] = contentWords(form)
  if (word === undefined) return onlyEveryday
  if (others.length > 0) return null
  if (isSign(word)) return 'It is a single letter or a number.'
  if (!isOrdinaryWord(word)) return null
  return analyse(form).length > 1 ? onlyEveryday : 'It is an everyday word.'
}

const contentWords = (form: string): readonly string[] =>
  analyse(form)
    .map(({ word }) => word)
    .filter((word) => !isFunctionWord(word))

/**
 * Whether a form is unrelated to a belief: no word of the form is in the belief, in full or abbreviated. Everyday words are only
 * known for English, so authors other than people may only use forms that are related to the belief, have several English words,
 * or contain a name. Words with digits ("k8s") and identifiers ("pg-main") belong to no language, so they are always allowed.
 */
function isStrange(form: string, { name, content }: Pick<Belief, 'name' | 'content'>): boolean {
  if (isIdentifier(form)) return false
  const words = contentWords(form)
  if (words.length === 0 || words.some((word) => /\p{N}/u.test(word))) return false
  const unknown = words.filter((word) => !isOrdinaryWord(word))
  if (words.length > 1 && (/\p{Lu}/u.test(form) || unknown.length === 0)) return false
  const [named, said] = [name, content].map((text) => analyse(text).map((token) => token.word))
  const runs = named?.map((_, start) => named.slice(start).join('')) ?? []
  // In a script without spaces, a single character is not a word, so the characters are joined.
  const isJoined = words.length > 1 && words.every(isUnspaced)
  const sought = isJoined ? [words.join('')] : unknown.length > 0 ? unknown : words
  // Only a single word, or joined characters, can be an abbreviation.
  const isSaidBy = words.length > 1 && !isJoined ? isBeginningOf : isShortFor
  const texts = [
    ...runs,
    ...(said ?? []),
    ...(said ?? []).map((_, start) => (said ?? []).slice(start, start + words.length).join('')),
  ]
  return !sought.some((word) => texts.some((letters) => isSaidBy(singular(word), letters)))
}

/** Whether a form has parts joined by marks, at least one of which is not an everyday word: "pg-main", but not "follow-up". */
const isIdentifier = (form: string): boolean =>
  /^[a-z\d]+(?:[-_./][a-z\d]+)+$/iu.test(form) &&
  !form
    .toLowerCase()
    .split(/[-_./]/u)
    .every(isOrdinaryWord)

/**
 * The reason why an author other than a person may not use this name; null if they may. One everyday English word is allowed; a
 * proper name is allowed even if the content does not mention it.
 */
export function explainRefusedName(name: string, content: string): string | null {
  const reason = genericNameReason(name)
  if (reason !== null) return reason
  const isKnown = /\p{Lu}/u.test(name) || contentWords(name).every(isOrdinaryWord)
  return !isKnown && isStrange(name, { name: '', content })
    ? 'Its content does not mention it; explain there what it means.'
    : null
}

/** Why a name would match messages about any subject; null if it would not. */
export function genericNameReason(name: string): string | null {
  const words = contentWords(name)
  const [word = '', ...others] = words
  if (words.length === 1 && isSign(word)) return 'It is a single letter or a number.'
  // "Can you help" and "last night" mean something different in every message.
  const isDeictic = others.length === 0 && isOrdinaryWord(word) && deictic.test(name)
  return isDeictic || words.every((word) => calendarWords.has(word)) ? onlyEveryday : null
}

const deictic = /\b(?:i|me|my|you|your|we|us|our|this|that|next|last|every|each)\b/iu

const isSign = (word: string): boolean => word.length < 2 || /^\p{N}+$/u.test(word)

const isBeginningOf = (word: string, letters: string): boolean => letters.startsWith(word)

/** Whether a word contains these letters in this order, starting with its first: "GTS" in "goodstrackingsystem". */
function isShortFor(word: string, letters: string): boolean {
  let at = -1
  for (const letter of word) {
    const next = letters.indexOf(letter, at + 1)
    if (next < 0 || (at < 0 && next > 0)) return false
    at = next
  }
  return true
}

/**
 * The aliases that an author may give a belief. A person may give any; beliefs of other authors must not match everyday
 * words, unrelated words, or a person's name for another belief. A new belief may have one everyday word as its name or
 * as one of its aliases.
 */
export async function filterAliases(
  ports: Pick<Ports, 'store'>,
  { actor }: Author,
  belief: Pick<Belief, 'user' | 'name' | 'content' | 'aliases' | 'scopes'>,
  { isNew = false } = {},
): Promise<{ readonly aliases: readonly string[]; readonly refused: readonly RefusedAlias[] }> {
  if (actor === 'person' || belief.aliases.length === 0) return { aliases: belief.aliases, refused: [] }
  const aliases: string[] = []
  const refused: RefusedAlias[] = []
  const everyday = isNew && explainEverydayForm(belief.name) === null ? everydayAlias(belief) : undefined
  for (const alias of belief.aliases) {
    const reason =
      (alias === everyday ? null : explainEverydayForm(alias)) ??
      (isStrange(alias, belief) ? 'Its name and content do not mention it; explain there what it means.' : null) ??
      (await takenReason(ports, belief, alias))
    if (reason === null) aliases.push(alias)
    else refused.push({ alias, reason, instead: findBetterAlias(alias, belief) })
  }
  return { aliases, refused }
}

/** The first alias that is one everyday word of the content, and that no longer form of the belief contains. */
function everydayAlias({ name, content, aliases }: Pick<Belief, 'name' | 'content' | 'aliases'>): string | undefined {
  const said = analyse(content).map(({ word }) => word)
  const isPart = (word: string): boolean =>
    [name, ...aliases].map(contentWords).some((words) => words.length > 1 && words.includes(word))
  return aliases.find((alias) => {
    const [word = ''] = contentWords(alias)
    const isEveryday = explainEverydayForm(alias) !== null && explainRefusedName(alias, content) === null
    return isEveryday && said.includes(word) && !isPart(word)
  })
}

async function takenReason(
  { store }: Pick<Ports, 'store'>,
  { user, name, scopes }: Pick<Belief, 'user' | 'name' | 'scopes'>,
  alias: string,
): Promise<string | null> {
  const keys = formKeys(alias).map(({ key }) => key)
  const holders = [...(await store.everyHolder(user, keys)).values()].flat()
  // The reason names the other belief, so only beliefs that the author can see count.
  const seen = visibleScopes([...scopes, universalScope])
  const owner = (await store.getMany(user, [...new Set(holders)])).find(
    (held) =>
      isCurrent(held) &&
      authorityOf(held) === 'person' &&
      nameKey(held.name) !== nameKey(name) &&
      held.scopes.some((scope) => seen.includes(scope)),
  )
  return owner === undefined ? null : `A person uses it for "${owner.name}".`
}

/** A form of the belief that contains a word of the refused alias; if there is none, the belief's name. */
function findBetterAlias(alias: string, { name, content }: Pick<Belief, 'name' | 'content'>): string {
  const found = statementNameOf(content)
  const words = analyse(alias).map(({ word }) => word)
  const isBetter = (form: string): boolean =>
    explainEverydayForm(form) === null && analyse(form).some(({ word }) => words.includes(word))
  return [name, found.name, ...found.aliases].find(isBetter) ?? name
}

/** The refused aliases as a sentence. */
export const refusalText = ({ alias, reason, instead }: RefusedAlias): string =>
  `The alias "${alias}" was left out. ${reason} Use "${instead}" instead.`
