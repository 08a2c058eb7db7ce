import { analyse, type Token } from '../../search/analyse.ts'
import { formKeys } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { isInformative } from '../../search/searchable-text.ts'
import { singular } from '../../search/singular.ts'
import type { Candidate, Situation } from './remedy-candidate.ts'

const longestPhrase = 4
const mostCandidates = 4
/** A message may be a whole document; an alias is looked for at its beginning. */
const mostAtoms = 200

/** Words of the message that a belief could be found by: those that have to do with it first, and what somebody gave. */
export async function aliasCandidates(situation: Situation): Promise<readonly Candidate[]> {
  const { request, belief } = situation
  const given = request.aliases ?? []
  const words = (texts: readonly string[]): ReadonlySet<string> =>
    new Set(texts.flatMap((text) => analyse(text).map(({ word }) => singular(word))))
  const known = { forms: words([belief.name, ...belief.aliases]), content: words([belief.content, belief.why]) }
  const found = phrasesOf(request.message)
    .map((phrase) => ({ ...phrase, worth: worthOf(phrase.words, known) }))
    .sort((one, other) => other.worth - one.worth || one.start - other.start)
  const texts = [...new Set([...given, ...found.slice(0, mostCandidates).map(({ text }) => text)])]
  const candidates: Candidate[] = []
  for (const text of texts) {
    const caution = await cautionFor(situation, text)
    candidates.push({
      kind: 'add-alias',
      summary: `Add the alias "${text}".`,
      change: { addAliases: [text] },
      ...(caution === null ? {} : { caution }),
    })
  }
  return candidates
}

type Phrase = { readonly text: string; readonly start: number; readonly words: readonly string[] }

/** Every short run of words that begins and ends with one that says something, and is not cut by the end of a phrase. */
function phrasesOf(message: string): readonly Phrase[] {
  const atoms = analyse(message).slice(0, mostAtoms)
  const phrases = new Map<string, Phrase>()
  for (const [first, head] of atoms.entries()) {
    if (!saysSomething(head)) continue
    for (let last = first; last < Math.min(atoms.length, first + longestPhrase); last += 1) {
      const tail = atoms[last] as Token
      if (last > first && tail.gap === 'broken') break
      if (!saysSomething(tail)) continue
      const text = message.slice(head.start, tail.end).replace(/\s+/gu, ' ')
      const words = atoms.slice(first, last + 1).map(({ word }) => word)
      if (!phrases.has(text.toLowerCase())) phrases.set(text.toLowerCase(), { text, start: head.start, words })
    }
  }
  return [...phrases.values()]
}

const saysSomething = ({ word }: Token): boolean => word.length > 1 && isInformative(word) && !auxiliaries.has(word)

/** Nobody calls anything by these either. */
const auxiliaries = new Set(
  "shall may might must let let's ought cannot can't don't not no yes ok then now here".split(' '),
)

type Known = { readonly forms: ReadonlySet<string>; readonly content: ReadonlySet<string> }

/** More for words that the belief has already, less for everyday ones alone, and a little less for each word. */
function worthOf(words: readonly string[], { forms, content }: Known): number {
  const said = words.filter(isInformative).map(singular)
  const shared = said.reduce((sum, word) => sum + (forms.has(word) ? 3 : content.has(word) ? 2 : 0), 0)
  const rare = said.filter((word) => !isOrdinaryWord(word)).length
  const isEveryday = words.length === 1 && rare === 0
  return shared + rare - (isEveryday ? 1.5 : 0) - 0.3 * words.length
}

/** What else the alias would do. */
async function cautionFor({ ports, request, belief }: Situation, alias: string): Promise<string | null> {
  const keys = formKeys(alias)
  const [first] = keys
  if (first?.words.length === 1 && isOrdinaryWord(first.words[0] as string)) {
    return `"${alias}" is an everyday word; it would be recalled whenever somebody says it.`
  }
  const holders = await ports.store.everyHolder(
    request.user,
    keys.map(({ key }) => key),
  )
  const others = [...new Set([...holders.values()].flat())].filter((id) => id !== belief.id)
  const [other] = await ports.store.getMany(request.user, others.slice(0, 1))
  return other === undefined ? null : `"${other.name}" is found by the same words.`
}
