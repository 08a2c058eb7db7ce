import { authorityOf, type Belief } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey, unnumberedName } from '../../beliefs/identity.ts'
import { informativeWords, isInformative, searchableWords } from '../../search/searchable-text.ts'
import { nameStatement } from '../learn/name-of.ts'

type Named = Pick<Belief, 'name' | 'content'>

/**
 * Whether two statements give different values of the same thing: they have the same name, or the same informative words with
 * different numbers ("I take 5 mg of cetirizine", "I take 10 mg of cetirizine now"). Symmetric, and false if the words are equal.
 */
export const isOtherValue = (a: Named, b: Named): boolean => areOtherValues(statementParts(a), statementParts(b))

/** For each belief, the beliefs that give a different value of the same thing. */
export function findOtherValues<One extends Named>(beliefs: readonly One[]): ReadonlyMap<One, readonly One[]> {
  if (beliefs.length < 2) return new Map(beliefs.map((belief) => [belief, []]))
  const parts = new Map(beliefs.map((belief) => [belief, statementParts(belief)]))
  const othersOf = (own: Parts): readonly One[] =>
    [...parts].filter(([, other]) => areOtherValues(own, other)).map(([belief]) => belief)
  return new Map([...parts].map(([belief, own]) => [belief, othersOf(own)]))
}

/**
 * Whether `belief` is older than `newer`, in a scope that both have. A person's statement never counts as older than a statement
 * of lower authority.
 */
export const isEarlierThan = (belief: Belief, newer: Belief): boolean =>
  newer.user === belief.user &&
  newer.scopes.some((scope) => belief.scopes.includes(scope)) &&
  newer.provenance.at > belief.provenance.at &&
  (authorityOf(newer) === 'person' || authorityOf(belief) !== 'person')

/** Moves each newer value of a thing before the older values. All other hits keep their order. */
export function sortNewestValueFirst<Hit extends { readonly belief: Belief }>(hits: readonly Hit[]): readonly Hit[] {
  const others = findOtherValues(hits.map(({ belief }) => belief))
  const ordered: Hit[] = []
  for (const hit of hits) {
    const values = others.get(hit.belief) ?? []
    const place = ordered.findIndex(({ belief }) => values.includes(belief) && isEarlierThan(belief, hit.belief))
    ordered.splice(place === -1 ? ordered.length : place, 0, hit)
  }
  return ordered
}

type Parts = ReturnType<typeof statementParts>

/** The parts by which two statements are compared. */
function statementParts({ name, content }: Named) {
  const words = [...new Set(informativeWords(content))].sort()
  const topic = words.filter((word) => !hasDigit(word))
  // The number in "Room 214 is for samples" is part of a name, so a statement about "Room 215" is about a different thing.
  const [first = '', second = ''] = searchableWords(content).filter((word) => !determiners.includes(word))
  return {
    content,
    words,
    owners: ownersIn(content),
    names: [nameKey(unnumberedName(name)), nameKey(nameStatement(content).name)],
    topic: topic.join(' '),
    topicSize: topic.length,
    numbers: words.filter(hasDigit).join(' '),
    hasNumberedName: isInformative(first) && !hasDigit(first) && hasDigit(second),
  }
}

function areOtherValues(a: Parts, b: Parts): boolean {
  const isPart = isPartOf(a.words, b.words) || isPartOf(b.words, a.words)
  if (isPart || isSameStatement(a.content, b.content) || a.owners !== b.owners) return false
  if (a.names.some((name) => b.names.includes(name))) return true
  const isNumbered = [a, b].every(({ numbers, hasNumberedName }) => numbers !== '' && !hasNumberedName)
  return isNumbered && a.topic === b.topic && a.topicSize > 1
}

/** The owners that a statement names, except "my" and "our". They are compared, because "Tom's gym code" is not "the gym code". */
const ownersIn = (content: string): string =>
  [...content.toLowerCase().matchAll(/(?<!\p{L})(?<owner>\p{L}+)['’]s\s|\b(?<pronoun>his|her|their|your|its)\s/gu)]
    .map(({ groups }) => groups?.owner ?? groups?.pronoun ?? '')
    .filter((owner) => !contracted.includes(owner))
    .sort()
    .join(' ')

/** Words after which "'s" is a contraction and does not name an owner. */
const contracted = ['it', 'that', 'this', 'there', 'here', 'he', 'she', 'who', 'what', 'where', 'when', 'how', 'let']

const isPartOf = (words: readonly string[], all: readonly string[]): boolean =>
  words.every((word) => all.includes(word))

const hasDigit = (word: string): boolean => /\p{N}/u.test(word)

const determiners = ['a', 'an', 'the', 'my', 'our']
