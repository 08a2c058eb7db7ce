import { isFirstName } from '../../../memory/learn/for-reference-agent.ts'
import { type Atom, analyse } from '../../../search/analyse.ts'
import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { functionWords, isPersonWord, isPlaceholder, kindsOf, meaningOf } from './meaning.ts'
import { withReplacements } from './replaced.ts'

/** Something that was told, with what it can be found by. */
export type Statement = {
  readonly id: string
  readonly text: string
  /** Its name and aliases, the name first. */
  readonly handles: readonly string[]
  /** Where it was read, when not in the memory. */
  readonly file: string | null
  /** Its place in the order things were told. */
  readonly order: number
}

/** A word of a statement. */
export type Word = {
  readonly word: string
  readonly meaning: string
  readonly isFunction: boolean
  readonly isProper: boolean
  /** Followed by 's: what comes next belongs to it. */
  readonly isOwner: boolean
}

/** A statement taken apart, once for all questions. */
export type ParsedStatement = {
  readonly statement: Statement
  readonly words: readonly Word[]
  /** What its text and handles speak of. */
  readonly meanings: ReadonlySet<string>
  /** What its text alone speaks of. */
  readonly said: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
  readonly written: ReadonlySet<string>
  /** Neighbouring words written as one. */
  readonly compounds: ReadonlySet<string>
  readonly handleMeanings: readonly (readonly string[])[]
  /** Names and person words before the verb: whom it speaks about. */
  readonly subjects: readonly string[]
  readonly isNegative: boolean
  readonly isOutdated: boolean
  /** What was told later and gives another value for the same. */
  readonly replacedBy: Statement | null
  /** Its text without that value. */
  readonly lasting: string
  /** Statements that say what a name in this one stands for, by the words for it: "brother" by "my brother is Tom". */
  readonly through: ReadonlyMap<string, Statement>
}

/** Phrases whose words mislead when read one by one. */
export const withPlainPhrases = (text: string): string =>
  text
    .replace(/\b(?:do|does|did)(?: not|n['’]t)(?: really| much)? (?:like|love|enjoy)\b/giu, 'hate')
    .replace(/\b(?:do|does|did)n['’]t((?: \p{L}+){1,2}) (?:really |much )?(?:like|love|enjoy)\b/giu, '$1 hate')
    .replace(/\bcan(?:not|['’]t) stand\b/giu, 'hate')
    .replace(/\b(?:takes? place|took place|happens?|happened)\b/giu, '')
    .replace(/\be-?mails?\b/giu, 'email')
    .replace(/\bhead ?(?:mistress|master)\b|\bprincipal teacher\b/giu, 'head teacher')
    .replace(/\bthe other side\b/giu, 'opposing')
    .replace(
      /\b(?:comes?|came|coming|gets?|got|getting|goes|go|went|fly|flies|be|are|am|is|was) (?:we |i |they |he |she )?back(?: home)?\b/giu,
      'return',
    )
    .replace(/\bwork(?:s|ed|ing)?(?: \p{L}+){0,2} as (?=an?\b)|\bwork(?:s|ed|ing)? as\b|\bfor a living\b/giu, 'job ')
    .replace(/\bleast[\s-](favou?rite|liked)\b/giu, 'unloved')

export function parseStatements(statements: readonly Statement[]): readonly ParsedStatement[] {
  const parsedStatements = withReplacements(statements.map(readOne))
  const introductions = statements.flatMap(introductionsIn)
  return parsedStatements.map((parsed, at) => {
    const through = throughNames(parsed, introductions)
    const before = parsedStatements[at - 1]
    return { ...parsed, through: before === undefined ? through : throughPronoun(parsed, before, through) }
  })
}

function readOne(statement: Statement): ParsedStatement {
  const text = withPlainPhrases(statement.text)
  const atoms = analyse(text)
  const words = atoms.map((atom, at) => wordOf(text, atom, at))
  const handles = statement.handles.map((handle) => analyse(withPlainPhrases(handle)))
  const all = [...atoms, ...handles.flat()]
  const meanings = new Set(all.filter(({ word }) => !functionWords.has(word)).map(({ word }) => meaningOf(word)))
  return {
    statement,
    words,
    meanings,
    said: new Set(words.map(({ meaning }) => meaning)),
    kinds: new Set([...meanings].flatMap(kindsOf)),
    written: new Set(all.map(({ word }) => word)),
    compounds: new Set([compoundsOf(atoms), ...handles.map(compoundsOf)].flat()),
    handleMeanings: handles.map((handle) =>
      handle.filter(({ word }) => !functionWords.has(word)).map(({ word }) => meaningOf(word)),
    ),
    subjects: subjectsOf(wordsBeforeColon(text, atoms, words)),
    isNegative: /\b(?:not|never|no longer|cannot)\b|n['’]t\b/iu.test(text),
    isOutdated: /\b(?:previous|former|used to|ex-|formerly|(?:my|our|his|her|their) (?:old|ex))\b/iu.test(text),
    replacedBy: null,
    lasting: statement.text,
    through: new Map(),
  }
}

function wordOf(text: string, { word, start, end }: Atom, at: number): Word {
  const raw = text.slice(start, end)
  const isCapital = /^\p{Lu}/u.test(raw) && word !== 'i' && !/^i['’]/u.test(word)
  const opensSentence = at === 0 || /[.!?:]["'”’)]*\s+["'“‘(]*$/u.test(text.slice(0, start))
  return {
    word,
    meaning: meaningOf(word),
    isFunction: functionWords.has(word),
    isProper:
      (isCapital &&
        !functionWords.has(word) &&
        (!opensSentence || !isOrdinaryWord(word) || isFirstName(word) || /['’]s$/iu.test(raw))) ||
      /\p{Ll}\p{Lu}|\p{L}\d/u.test(raw),
    isOwner: /['’]s$/iu.test(raw) || /s['’]$/iu.test(`${raw}${text[end] ?? ''}`),
  }
}

/** "Role: Staff Engineer" is about the role. */
function wordsBeforeColon(text: string, atoms: readonly Atom[], words: readonly Word[]): readonly Word[] {
  const colon = /^[^.!?]{1,60}?(?:\s*[:=→]|\s+[-–—])\s/u.exec(text)?.[0].length
  return colon === undefined ? words : words.filter((_, at) => (atoms[at]?.end ?? 0) <= colon)
}

const compoundsOf = (atoms: readonly Atom[]): readonly string[] =>
  atoms.flatMap(({ word, gap }, at) => {
    const before = atoms[at - 1]
    return before === undefined || gap === 'broken' ? [] : [`${before.word}${word}`]
  })

const verb =
  /^(?:is|are|was|were|am|has|have|had|will|would|can|could|does|do|did|should|may|might|must|'s|lives?|lived|works?|worked|likes?|loves?|prefers?|hates?|drinks?|eats?|plays?|uses?|wants?|needs?|owns?|speaks?|studies|teaches|runs?|leads?|manages?|called|named|joined|started|moved|said|told|takes?|goes|keeps?|makes?|gets?|comes?|knows?)$/u

/** Names and person words up to the first verb. */
function subjectsOf(words: readonly Word[]): readonly string[] {
  const end = words.findIndex(({ word }) => verb.test(word))
  const before = words.slice(0, end === -1 ? 3 : Math.min(end, 8))
  // One bare word before the verb may be a name that is also an ordinary word: "Tom is", "Biscuit has".
  const [only] = before
  if (end === 1 && only !== undefined && !only.isFunction) return [only.meaning]
  return before.filter(({ isProper, meaning }) => isProper || isPersonWord(meaning)).map(({ meaning }) => meaning)
}

type Introduction = {
  readonly statement: Statement
  readonly names: readonly string[]
  readonly meanings: readonly string[]
}

const properRun = String.raw`(?:["“'‘\x60][^"”'’\x60]{1,60}["”'’\x60]|\p{Lu}[\p{L}\p{N}.'’-]*(?:\s+\p{Lu}[\p{L}\p{N}.'’-]*){0,3})`
const introductionPatterns: readonly RegExp[] = [
  // "My brother is Tom", "the project I'm working on is called NeonDB", "favourite language: Rust".
  new RegExp(
    String.raw`^(?:(?:[Mm]y|[Oo]ur|[Tt]he)\s+)?(?<thing>[^,;:.!?]{2,60}?)(?:\s*:|\s+(?:is|are|was)(?:\s+(?:now|currently))?(?:\s+(?:called|named))?|['’]s name is|\s+goes by)\s+(?<name>${properRun})`,
    'u',
  ),
  // "our manager is called odette", by somebody who writes everything small.
  /^(?:my|our|the)\s+(?<thing>[^,;:.!?]{2,40}?)\s+(?:is|are|was)\s+(?:called|named)\s+(?:the\s+)?(?<name>\p{Ll}[\p{L}'’-]*(?:\s\p{Ll}[\p{L}'’-]*)?)[.!]?$/u,
  // "Tom is my brother".
  new RegExp(
    String.raw`^(?<name>${properRun})(?:\s+\([^)]*\))?\s+(?:is|was)\s+(?:my|our|the)\s+(?<thing>[\p{Ll}][^,;:.!?]{1,40})`,
    'u',
  ),
  // "a dog called Biscuit".
  new RegExp(
    String.raw`\b(?:a|an|my|our|the)\s+(?<thing>\p{Ll}[\p{L}\s-]{1,40}?),?\s+(?:called|named|whose name is)\s+(?<name>${properRun})`,
    'u',
  ),
]
const besideAName = /\b(?:[Mm]y|[Oo]ur)\s+(?<thing>\p{Ll}[\p{L}-]+)\s+(?<name>\p{Lu}[\p{L}'’-]+)/u

function introductionsIn(statement: Statement): readonly Introduction[] {
  const found = introductionPatterns.map((pattern) => pattern.exec(statement.text))
  const beside = besideAName.exec(statement.text)
  // "my brother Tom", but not "my favourite Monday".
  const matches = [
    ...found,
    beside !== null && isPersonWord(meaningOf((beside.groups?.thing ?? '').toLowerCase())) ? beside : null,
  ]
  return matches.flatMap((match) => {
    if (match?.groups === undefined || match === null) return []
    const names = analyse(match.groups.name ?? '')
      .map(({ word }) => word)
      .filter((word) => !functionWords.has(word))
    const meanings = analyse(match.groups.thing ?? '')
      .map(({ word }) => word)
      .filter((word) => !functionWords.has(word))
      .map(meaningOf)
      .filter((meaning) => !isPlaceholder(meaning))
    return names.length === 0 || meanings.length === 0 ? [] : [{ statement, names, meanings }]
  })
}

function throughNames(parsed: ParsedStatement, introductions: readonly Introduction[]): ReadonlyMap<string, Statement> {
  const through = new Map<string, Statement>()
  for (const { statement, names, meanings } of introductions) {
    if (statement.id === parsed.statement.id) continue
    // A name of several words is meant by its last one too: "Vasquez" is Elena Vasquez.
    const isNamed = names.every((name) => parsed.written.has(name)) || parsed.written.has(names.at(-1) as string)
    const speaksOf = meanings.every((meaning) => isPersonWord(meaning) && parsed.said.has(meaning))
    // "My sister is Ana" also says whom "my sister lives in Porto" is about.
    if (speaksOf && !isNamed)
      for (const name of names.map(meaningOf)) if (!through.has(name)) through.set(name, statement)
    if (isNamed) for (const meaning of meanings) if (!through.has(meaning)) through.set(meaning, statement)
  }
  return through
}

// A pronoun that was resolved has what it stands for in brackets behind it.
const openPronoun = /(?<!["“`][^"”`]*)\b(?:it|its|he|his|him|she|her|they|their|them|there)\b(?!(?:['’]\p{L}+)?\s*\[)/iu

/** "The door code there is 7719" was told right after what "there" means. */
function throughPronoun(
  { statement }: ParsedStatement,
  before: ParsedStatement,
  through: ReadonlyMap<string, Statement>,
): ReadonlyMap<string, Statement> {
  if (!openPronoun.test(statement.text) || before.statement.file !== statement.file) return through
  const spokenOf = [...before.said].filter((meaning) => !functionWords.has(meaning) && !isPlaceholder(meaning))
  return new Map([...spokenOf.map((meaning) => [meaning, before.statement] as const), ...through])
}
