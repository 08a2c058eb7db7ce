import { mergeAliases } from '../../beliefs/identity.ts'
import { type Atom, analyse, isUnspaced } from '../../search/analyse.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { singular } from '../../search/singular.ts'

/** Function words of English, and verbs and adverbs so common that they name nothing. */
const functionWords = new Set(
  `a an the this that these those some any no every each all both either neither much many few several such another other
  i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours
  ourselves they them their theirs themselves one who whom whose which what where when why how there here
  and or but nor so yet if then else than as because since while although though unless until whether
  of in on at by for from to into onto with without within over under about above below between among through during
  before after against toward towards up down out off near across along around behind beside per via like except
  is am are was were be been being do does did doing done have has had having will would shall should can could may might
  must ought need get gets got let lets make makes made keep keeps kept use uses used go goes went say says said want wants
  not never always only just also too very really quite rather ever still already now later soon again maybe perhaps
  please yes ok okay thanks well more most less least same own even back away
  next last today tonight tomorrow yesterday`.split(/\s+/u),
)

/** Whether a word cannot be part of a name. No contraction ("I've", "don't") can. */
export const isFunctionWord = (word: string): boolean => functionWords.has(word) || /['’]/u.test(word)

/** Days and months, which name neither a belief nor a person. */
export const calendarWords: ReadonlySet<string> = new Set(
  `monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
  october november december`.split(/\s+/u),
)

/** Shorter words are too ambiguous to be an alias. */
const shortestWord = 3
const longestName = 5
const longestAlias = 3
const mostAliases = 6

/**
 * The name and aliases of a sentence: phrases of two or three words that follow a determiner ("our staging port") or
 * contain a rare word, and rare words alone. Without any, the name is the first words of the sentence.
 */
export function nameOf(sentence: string): { readonly name: string; readonly aliases: readonly string[] } {
  const runs = runsOf(sentence)
  const written = ({ atoms }: Pick<Run, 'atoms'>): string => sentence.slice(atoms[0]?.start, atoms.at(-1)?.end)
  const phrases = runs
    .filter(({ isDetermined, atoms }) => isDetermined || joinedWords(atoms).some(isRare))
    .flatMap(({ atoms }) => (isInflected(atoms.at(-1)) ? [{ atoms: atoms.slice(0, -1) }, { atoms }] : [{ atoms }]))
    .filter(({ atoms }) => atoms.length > 1 && atoms.length <= longestAlias)
    .map(written)
  const rareWords = runs
    .flatMap(({ atoms }) => joinedWords(atoms))
    .filter(isRare)
    .map((atoms) => written({ atoms }))
  const forms = [...phrases, ...rareWords].filter(isSurfaceForm)
  const telling = runs.flatMap(({ atoms }) => atoms).slice(0, longestName)
  const name = forms[0] ?? (telling.length > longestAlias ? wordsAt(sentence, telling) : openingOf(sentence))
  return { name, aliases: mergeAliases(name, [], forms.slice(1)).slice(0, mostAliases) }
}

/** The first words of a sentence: a name that no other text holds by chance. */
export const openingOf = (sentence: string): string => wordsAt(sentence, analyse(sentence).slice(0, longestName))

const wordsAt = (sentence: string, atoms: readonly Atom[]): string => {
  const words = atoms.map(({ start, end }) => sentence.slice(start, end)).join(' ')
  return (words === '' ? sentence : words).slice(0, 120).trim()
}

/** The last word may be a verb: the name in "the release train leaves" is "release train". */
const isInflected = (atom: Atom | undefined): boolean => /(?:ed|ing|[^s]s)$/u.test(atom?.word ?? '')

const determiners = new Set('a an the this that these those my our your his her its their every each'.split(' '))

type Run = { readonly atoms: readonly Atom[]; readonly isDetermined: boolean }

/** The words between function words and phrase ends, in order. */
function runsOf(sentence: string): readonly Run[] {
  const runs: { readonly atoms: Atom[]; readonly isDetermined: boolean }[] = []
  let before: Atom | null = null
  let isOpen = false
  for (const atom of analyse(sentence)) {
    const written = sentence.slice(atom.start, atom.end).toLowerCase()
    const isContent = !isFunctionWord(written) && !isFunctionWord(atom.word) && !calendarWords.has(singular(atom.word))
    const isApart = atom.gap === 'broken' || sentence.slice(0, atom.start).endsWith(', ')
    if (isContent && isOpen && !isApart) runs.at(-1)?.atoms.push(atom)
    else if (isContent) runs.push({ atoms: [atom], isDetermined: !isApart && determiners.has(before?.word ?? '') })
    before = atom
    isOpen = isContent
  }
  return runs
}

/** What is written as one word: `audit_events`, `node.js`, `3rd`. */
function joinedWords(run: readonly Atom[]): readonly (readonly Atom[])[] {
  const words: Atom[][] = []
  for (const [index, atom] of run.entries()) {
    if (index > 0 && (atom.gap === 'joined' || atom.gap === 'tight')) words.at(-1)?.push(atom)
    else words.push([atom])
  }
  return words
}

/** Whether a word is no ordinary English word, no number, and not two words joined by a hyphen. */
function isRare(word: readonly Atom[]): boolean {
  const letters = word.map((atom) => atom.word).join('')
  if (letters.length < shortestWord || !/\p{L}/u.test(letters) || isUnspaced(letters)) return false
  return (
    word.some(({ joint }) => joint !== '' && joint !== '-') ||
    word.some((atom) => /^\p{L}+$/u.test(atom.word) && !isOrdinaryWord(atom.word))
  )
}
