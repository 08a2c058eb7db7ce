import { analyse, type Token } from '../../search/analyse.ts'
import { formKeys } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { isInformative } from '../../search/searchable-text.ts'
import { singular } from '../../search/singular.ts'
import { explainEverydayForm } from '../change/aliases.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import { isFunctionWord } from '../learn/name-of.ts'
import type { Ports } from '../ports.ts'
import type { RecallRequest } from '../recall/recall.ts'
import type { Candidate, RemedyContext } from './remedies.ts'

const maxPhraseLength = 4
const maxCandidates = 4
/** Max tokens of a message in which aliases are looked for: a message may be a whole document. */
const maxTokens = 200

type AliasContext = Pick<RemedyContext, 'ports' | 'belief'> & {
  readonly request: Pick<RemedyContext['request'], 'user' | 'agent' | 'message' | 'aliases'>
}

/** The aliases that `aliasCandidates` finds in a message. Empty if one of them is already the name or an alias of the belief. */
export async function suggestAliases(
  ports: Ports,
  request: RecallRequest & BeliefReference,
): Promise<readonly string[]> {
  const belief = await findBelief(ports, request)
  const found = await aliasCandidates({ ports, request, belief })
  const aliases = found.flatMap(({ change }) => change?.addAliases ?? [])
  const own = new Set([belief.name, ...belief.aliases].flatMap((form) => formKeys(form).map(({ key }) => key)))
  return aliases.some((alias) => formKeys(alias).some(({ key }) => own.has(key))) ? [] : aliases
}

/**
 * The given aliases, and phrases of a message that could become aliases of a belief. A single word comes first if it is in the
 * belief's name and in no other belief, because people type such words. Then come phrases that share words with the belief.
 */
export async function aliasCandidates(situation: AliasContext): Promise<readonly Candidate[]> {
  const { ports, request, belief } = situation
  const wordsOf = (texts: readonly string[]): ReadonlySet<string> =>
    new Set(texts.flatMap((text) => analyse(text).map(({ word }) => singular(word))))
  const name = wordsOf([belief.name])
  const forms = wordsOf([belief.name, ...belief.aliases])
  const content = wordsOf([belief.content, belief.why])
  /** Shared words count most, rare words more than everyday ones, and short phrases more than long ones. */
  const worthOf = ({ words }: Phrase): number => {
    const informative = words.filter(isInformative).map(singular)
    const shared = informative.reduce((sum, word) => sum + (forms.has(word) ? 3 : content.has(word) ? 2 : 0), 0)
    const rare = informative.filter((word) => !isOrdinaryWord(word)).length
    return shared + rare - 0.3 * words.length
  }
  /** False for a phrase of everyday words that are not in the belief's name or aliases: it would match unrelated messages. */
  const isTelling = ({ words, text }: Phrase): boolean =>
    explainEverydayForm(text) === null &&
    words.some((word) => forms.has(singular(word)) || !isOrdinaryWord(singular(word)))
  /** Whether the phrase is one everyday word of the belief's name that no other current belief contains. */
  const isDistinctive = async ({ words: [word = '', ...others] }: Phrase): Promise<boolean> => {
    if (others.length > 0 || isFunctionWord(word) || !isOrdinaryWord(word) || !name.has(singular(word))) return false
    const { user, agent = null } = request
    const query = { user, agent, scopes: null, words: [singular(word)], includeRetired: false, limit: 2 }
    return (await ports.store.matchText(query)).every(({ beliefId }) => beliefId === belief.id)
  }
  const found = phrasesOf(request.message)
  const distinctive: Phrase[] = []
  for (const phrase of found) if (await isDistinctive(phrase)) distinctive.push(phrase)
  const telling = found
    .filter(isTelling)
    .map((phrase) => ({ ...phrase, worth: worthOf(phrase) }))
    .sort((a, b) => b.worth - a.worth || a.start - b.start)
  const phrases = [...distinctive, ...telling].slice(0, maxCandidates)
  const candidates: Candidate[] = []
  for (const text of new Set([...(request.aliases ?? []), ...phrases.map((phrase) => phrase.text)])) {
    const change = { addAliases: [text] }
    const caution = await cautionFor(situation, text)
    candidates.push({ kind: 'add-alias', summary: `Add the alias "${text}".`, change, caution })
  }
  return candidates
}

type Phrase = { readonly text: string; readonly start: number; readonly words: readonly string[] }

/** Every short run of words that begins and ends with an informative word and does not cross the end of a phrase. */
function phrasesOf(message: string): readonly Phrase[] {
  const tokens = analyse(message).slice(0, maxTokens)
  const phrases = new Map<string, Phrase>()
  for (const [first, head] of tokens.entries()) {
    if (!canBound(head)) continue
    for (let last = first; last < Math.min(tokens.length, first + maxPhraseLength); last += 1) {
      const tail = tokens[last] as Token
      if (last > first && tail.gap === 'broken') break
      if (!canBound(tail)) continue
      const text = message.slice(head.start, tail.end).replace(/\s+/gu, ' ')
      const words = tokens.slice(first, last + 1).map(({ word }) => word)
      if (!phrases.has(text.toLowerCase())) phrases.set(text.toLowerCase(), { text, start: head.start, words })
    }
  }
  return [...phrases.values()]
}

const canBound = ({ word }: Token): boolean => word.length > 1 && isInformative(word) && !auxiliaries.has(word)

/** Further words that may not begin or end an alias. */
const auxiliaries = new Set(
  "shall may might must let let's ought cannot can't don't not no yes ok then now here".split(' '),
)

/** A warning about a side effect of an alias; null if there is none. */
async function cautionFor({ ports, request, belief }: AliasContext, alias: string): Promise<string | null> {
  const forms = formKeys(alias)
  const [first] = forms
  if (first?.words.length === 1 && isOrdinaryWord(first.words[0] as string))
    return `"${alias}" is an everyday word; it would be recalled whenever the word occurs.`
  const keys = forms.map(({ key }) => key)
  const holders = [...(await ports.store.everyHolder(request.user, keys)).values()].flat()
  const [other] = await ports.store.getMany(request.user, holders.filter((id) => id !== belief.id).slice(0, 1))
  return other === undefined ? null : `"${other.name}" is found by the same words.`
}
