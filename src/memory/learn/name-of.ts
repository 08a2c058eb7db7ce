import type { Belief } from '../../beliefs/belief.ts'
import { mergeAliases, nameKey, unnumberedName } from '../../beliefs/identity.ts'
import { analyse, isUnspaced, type Token } from '../../search/analyse.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { endsWithAbbreviation, sentencesOf } from '../../search/sentences.ts'
import { singular } from '../../search/singular.ts'

/** Auxiliary verbs, and verbs too common to be part of a name. */
const commonVerbs =
  `is am are was were be been being do does did doing done have has had having will would shall should can could
  may might must ought need get gets got let lets make makes made keep keeps kept use uses used go goes went say says said want
  wants`.split(/\s+/u)

/** Function words of English, and adverbs too common to be part of a name. */
const functionWords = new Set([
  ...commonVerbs,
  ...`a an the this that these those some any no every each all both either neither much many few several such another other
  i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours
  ourselves they them their theirs themselves one who whom whose which what where when why how there here
  and or but nor so yet if then else than as because since while although though unless until whether
  of in on at by for from to into onto with without within over under about above below between among through during
  before after against toward towards up down out off near across along around behind beside per via like except
  not never always only just also too very really quite rather ever still already now later soon again maybe perhaps
  please yes ok okay thanks well more most less least same own even back away
  next last today tonight tomorrow yesterday`.split(/\s+/u),
])

/** Whether a word cannot be part of a name: a function word, or a contraction ("I've", "don't"). */
export const isFunctionWord = (word: string): boolean => functionWords.has(word) || /['’]/u.test(word)

/** Days and months, which name neither a belief nor a person. */
export const calendarWords: ReadonlySet<string> = new Set(
  `monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
  october november december`.split(/\s+/u),
)

/** Verbs that often follow the subject in a line of a file, and words for the author of the file. */
const linkingWords = new Set(
  `run runs live lives love loves prefer prefers needs work works belong belongs owns means equals start starts started end ends
  expires contain contains hold holds became becomes called named write writes speak speaks drink drinks eat eats play plays
  hate hates avoid avoids support supports require requires depend depends stay stays sit sits moved decided chose bought joined
  ensure sure try call add put set remember user users always never please not don't don’t`.split(/\s+/u),
)

/** Words that announce a statement but have no content. */
const announcements = new Set(
  'note notes nb todo fixme hint tip tips info warning caution important reminder remember example examples update fact facts ps'.split(
    ' ',
  ),
)

/** Words that may precede a colon at the beginning of a sentence but are not names. */
const openers = new Set(
  'i we you he she it they there one user users what which who where when why how first then this that here'.split(' '),
)

/** Min length of a single word; shorter words are too ambiguous for an alias. */
const minWordLength = 3
const maxNameLength = 5
const maxAliasLength = 3
const maxAliases = 6
const maxGivenNameLength = 6
const maxMarked = 5

/** The name, text and aliases of a statement. */
export type NamedStatement = {
  readonly name: string
  /** The text without the name, if the statement was written as `name: value`. */
  readonly content: string
  readonly aliases: readonly string[]
  /** Whether the statement gives the name itself, as in `name: value`. */
  readonly isGiven: boolean
}

/**
 * The name of a written statement: the name it gives, or else its first words that could be a name. A statement from a
 * conversation must not be named after an everyday word; a written one may. The same statement always gets the same name.
 */
export function nameStatement(statement: string): NamedStatement {
  const content = statement.trim()
  const given = givenName(content)
  if (given !== null) return { ...given, aliases: markedIn(given.content, given.name), isGiven: true }
  const announced = content.replace(/^(\p{L}+):\s+(?=\S)/u, (whole, word: string) =>
    announcements.has(word.toLowerCase()) ? '' : whole,
  )
  const sentence = sentencesOf(announced)[0]?.text ?? content
  const [, code] = /^[*_]{0,2}`([^`]+)`/u.exec(sentence) ?? []
  const text = withoutMarkup(sentence)
  const name = [code, subjectOf(text), openingOf(text)]
    .map((form) => (form ?? '').slice(0, 120).trim())
    .find((form) => form !== '' && isSurfaceForm(form))
  const named = name ?? content.slice(0, 80)
  return { name: named, content, aliases: markedIn(content, named), isGiven: false }
}

/**
 * The first words that could be a name, without a verb at their beginning or end. A single everyday word becomes a name
 * only together with its owner: "My car".
 */
function subjectOf(text: string): string | null {
  const all = analyse(text)
  const run = runsOf(text, linkingWords)[0]?.tokens.slice(0, maxNameLength) ?? []
  const first = all.findIndex(({ start }) => start === run[0]?.start)
  const wordAt = (at: number): string => text.slice(all[at]?.start ?? 0, all[at]?.end ?? 0).toLowerCase()
  const isVerbFirst = run.length > 1 && subjects.has(wordAt(first - 1))
  const next = wordAt(first + run.length)
  // Before an auxiliary verb, the last word is a noun, although it may look like a verb.
  const mayEndInVerb = isFunctionWord(next) && !commonVerbs.includes(next)
  const isVerbLast = mayEndInVerb && run.length - Number(isVerbFirst) > 2 && isInflected(run.at(-1))
  const name = run.slice(Number(isVerbFirst), isVerbLast ? -1 : run.length)
  const subject = writtenIn(text, name)
  if (name.length > 1 || isRare(name) || namesIn(text, [name]).includes(subject)) return subject
  const owned = all.slice(0, first).findLastIndex((_, at) => !isOwner.test(wordAt(at))) + 1
  return owned < first && first - owned < maxAliasLength ? writtenIn(text, [...all.slice(owned, first), ...name]) : null
}

const subjects = new Set('i you we he she they'.split(' '))

/** Matches a word that names the owner of the thing after it: "my", "Nele's". */
const isOwner = /^(?:my|our|your|his|her|their)$|['’]s$/u

/** A name before a colon or dash (`payment terms: 14 days`), or a bold name before a sentence (`**Queue** We use NATS.`). */
function givenName(content: string): { readonly name: string; readonly content: string } | null {
  const [, bold, sentence] = /^\*\*([^*\n]{1,80})\*\*[ \t]+(\p{Lu}.*)$/su.exec(content) ?? []
  const [, key, value] = /^([^\n:]{1,80}?)(?::[ \t]+|[ \t]+[—–][ \t]+)(\S.*)$/su.exec(content) ?? []
  const name = withoutMarkup(bold ?? key ?? '')
  const words = name.split(/\s+/u)
  const isName =
    words.length <= maxGivenNameLength &&
    isSurfaceForm(name) &&
    sentencesOf(name).length === 1 &&
    !announcements.has(name.toLowerCase()) &&
    !openers.has((words[0] ?? '').toLowerCase()) &&
    // An emphasised "Always" or "Never" belongs to the sentence and is not a name.
    (bold === undefined || runsOf(name, linkingWords).length > 0)
  const rest = bold === undefined ? value : sentence
  return isName && rest !== undefined ? { name, content: rest } : null
}

/** Bold or code text inside a statement, which people often search for. */
function markedIn(content: string, name: string): readonly string[] {
  const forms = [...content.matchAll(/\*\*([^*\n]{2,60})\*\*|`([^`\n]{2,60})`/gu)]
    .map(([, bold, code]) => (bold ?? code ?? '').replace(/:$/u, '').trim())
    .filter((form) => form !== name && isSurfaceForm(form) && form.split(/\s+/u).length <= maxNameLength)
    .filter((form) => !isOrdinaryWord(form.toLowerCase()))
  return [...new Set(forms)].slice(0, maxMarked)
}

/** Removes link addresses, a task box, emphasis, code marks and surrounding quotation marks from a text. */
export const withoutMarkup = (text: string): string =>
  text
    .replace(/!?\[([^[\]\n]*)\]\([^)\n]{0,500}\)/gu, '$1')
    .replace(/^\[[ xX]\]\s+/u, '')
    .replace(/[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)/gu, '')
    .replace(/^["“'‘]|["”'’]$/gu, '')
    .trim()

/**
 * The name and aliases of a sentence from a conversation: phrases of two or three words that follow a determiner ("our staging
 * port") or contain a rare word, and names. If there are none, the name is a rare word or the first words of the sentence.
 */
export function statementNameOf(sentence: string): { readonly name: string; readonly aliases: readonly string[] } {
  const forms = phrasesOf(sentence)
  const name = forms[0] ?? rareWordIn(sentence) ?? openingOf(sentence)
  return { name, aliases: mergeAliases(name, [], forms.slice(1)).slice(0, maxAliases) }
}

/** Whether the name of a belief was derived from its content, and not given by a person or a program. */
export const isDerivedName = ({ name, content }: Pick<Belief, 'name' | 'content'>): boolean =>
  [statementNameOf(content).name, openingOf(content), nameStatement(content).name].some(
    (derived) => nameKey(derived) === nameKey(unnumberedName(name)),
  )

/** The phrases and names in a sentence; empty if it has only everyday words. A single word counts only if it is a name. */
export function phrasesOf(sentence: string): readonly string[] {
  const runs = runsOf(sentence)
  const phrases = runs
    .filter(({ isDetermined, tokens }) => isDetermined || joinedWords(tokens).some(isRare))
    .flatMap(({ tokens }) => (isInflected(tokens.at(-1)) ? [tokens.slice(0, -1), tokens] : [tokens]))
    .filter((tokens) => tokens.length > 1 && tokens.length <= maxAliasLength)
    .map((tokens) => writtenIn(sentence, tokens))
  const names = namesIn(
    sentence,
    runs.map(({ tokens }) => tokens),
  )
  return [...phrases, ...names].filter(isSurfaceForm)
}

const rareWordIn = (sentence: string): string | undefined =>
  runsOf(sentence)
    .flatMap(({ tokens }) => joinedWords(tokens))
    .filter(isRare)
    .map((tokens) => writtenIn(sentence, tokens))
    .find(isSurfaceForm)

const writtenIn = (sentence: string, tokens: readonly Token[]): string =>
  sentence.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0)

/**
 * The names in runs of words: identifiers, and words with a capital letter together with the capitalised words next to
 * them ("New York"). An everyday word at the beginning of the sentence or within a longer name does not count.
 */
function namesIn(sentence: string, runs: readonly (readonly Token[])[]): readonly string[] {
  // In a sentence without lower case, capital letters do not mark names.
  const hasLowerCase = /(?<!\p{L})\p{Ll}/u.test(sentence)
  const isCapitalised = (word: readonly Token[]): boolean => hasLowerCase && /^\p{Lu}/u.test(writtenIn(sentence, word))
  const groupsOf = (run: readonly Token[]): readonly (readonly Token[])[][] => {
    const groups: (readonly Token[])[][] = []
    for (const word of joinedWords(run)) {
      const before = groups.at(-1)
      if (before?.[0] !== undefined && isCapitalised(word) && isCapitalised(before[0])) before.push(word)
      else groups.push([word])
    }
    return groups
  }
  return runs.flatMap(groupsOf).flatMap((words) => {
    const isOne = words.length === 1
    const alone = words.filter(
      (word) =>
        (isCode(word) || (isCapitalised(word) && ((isOne && word[0]?.gap !== 'broken') || isRare(word)))) &&
        !endsWithAbbreviation(sentence.slice(0, (word.at(-1)?.end ?? 0) + 2)),
    )
    return [...(isOne ? [] : [words.flat()]), ...alone]
      .filter((word) => word.reduce((length, token) => length + token.word.length, 0) >= minWordLength)
      .map((word) => writtenIn(sentence, word))
  })
}

/** Whether a word is an identifier: `audit_events`, `node.js`, `redisCache`, `k8s`, `PRs`. */
const isCode = (word: readonly Token[]): boolean =>
  word.some(
    ({ joint, word: letters, parts, isAcronymPlural }) =>
      (joint !== '' && joint !== '-') || /\p{L}\p{N}/u.test(letters) || parts.length > 1 || isAcronymPlural,
  )

/**
 * The first words of a sentence, without a trailing "to" or "the": a name that no other text contains by chance. Function words
 * before a comma are left out. Function words at the beginning do not count towards the length if they would leave room for fewer
 * than two other words. The name ends where its phrase ends.
 */
export function openingOf(sentence: string): string {
  const all = analyse(sentence)
  const tells = ({ word }: Token): boolean => !isFunctionWord(word)
  const first = Math.max(0, all.findIndex(tells))
  const start = Math.max(
    0,
    all.slice(0, first + 1).findLastIndex((token) => isApart(token, sentence)),
  )
  const tokens = all.slice(start)
  const isShort = tokens.slice(0, maxNameLength).filter(tells).length < 2
  const opening = tokens.slice(0, maxNameLength + (isShort ? first - start : 0))
  const phraseEnd = opening.findIndex(
    (token, at) => at > 2 && isApart(token, sentence) && opening.slice(0, at).filter(tells).length > 1,
  )
  const phrase = phraseEnd === -1 ? opening : opening.slice(0, phraseEnd)
  const end = tokens.length === phrase.length ? -1 : phrase.findLastIndex(tells)
  return wordsAt(sentence, end < 2 ? phrase : phrase.slice(0, end + 1))
}

/** Whether a word begins a new phrase. The word after an abbreviation ("Dr. Okafor") does not. */
const isApart = ({ gap, start }: Token, sentence: string): boolean => {
  const before = sentence.slice(0, start)
  return before.endsWith(', ') || (gap === 'broken' && !endsWithAbbreviation(before))
}

const wordsAt = (sentence: string, tokens: readonly Token[]): string => {
  const words = tokens.map(({ start, end }) => sentence.slice(start, end)).join(' ')
  return (words === '' ? sentence : words).slice(0, 120).trim()
}

/** Whether a word may be a verb. The words before it are then a name too: "release train" in "the release train leaves". */
const isInflected = (token: Token | undefined): boolean => /(?:ed|ing|[^s]s)$/u.test(token?.word ?? '')

const determiners = new Set('a an the this that these those my our your his her its their every each'.split(' '))

/** Words that may occur between a determiner and a name. */
const qualifiers = new Set('next last other same own most least'.split(' '))

type Run = { readonly tokens: readonly Token[]; readonly isDetermined: boolean }

/** The runs of words between function words, words of `others` and phrase ends, in order. */
function runsOf(sentence: string, others: ReadonlySet<string> = new Set()): readonly Run[] {
  const runs: { readonly tokens: Token[]; readonly isDetermined: boolean }[] = []
  let isDetermined = false
  let isOpen = false
  for (const token of analyse(sentence)) {
    const written = sentence.slice(token.start, token.end).toLowerCase()
    const isContent =
      ![written, token.word].some((word) => isFunctionWord(word) || others.has(word)) &&
      !calendarWords.has(singular(token.word))
    const isNewPhrase = isApart(token, sentence)
    if (isContent && isOpen && !isNewPhrase) runs.at(-1)?.tokens.push(token)
    else if (isContent) runs.push({ tokens: [token], isDetermined: !isNewPhrase && isDetermined })
    // A qualifier after a determiner does not end the phrase: "the last good build", "our own keys".
    isDetermined = determiners.has(token.word) || (isDetermined && !isContent && qualifiers.has(token.word))
    isOpen = isContent
  }
  return runs
}

/** Tokens that are written as one word: `audit_events`, `node.js`, `3rd`. */
function joinedWords(run: readonly Token[]): readonly (readonly Token[])[] {
  const words: Token[][] = []
  for (const [index, token] of run.entries()) {
    if (index > 0 && (token.gap === 'joined' || token.gap === 'tight')) words.at(-1)?.push(token)
    else words.push([token])
  }
  return words
}

/** Whether a word is neither an ordinary English word, nor a number, nor two words joined by a hyphen. */
function isRare(word: readonly Token[]): boolean {
  const letters = word.map((token) => token.word).join('')
  if (letters.length < minWordLength || !/\p{L}/u.test(letters) || isUnspaced(letters)) return false
  return (
    word.some(({ joint }) => joint !== '' && joint !== '-') ||
    word.some((token) => /^\p{L}+$/u.test(token.word) && !isOrdinaryWord(token.word))
  )
}
