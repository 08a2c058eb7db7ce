import { isSurfaceForm } from '../../search/forms.ts'

/** What a statement without a name is about. */
export type NamedStatement = {
  readonly name: string
  /** Without the name, where the statement was written as `name: value`. */
  readonly content: string
  readonly aliases: readonly string[]
  /** Whether the name stood there as one, rather than being found in the sentence. */
  readonly isGiven: boolean
}

const mostKeyWords = 6
const mostNameWords = 5
const mostAliases = 5

/** Words that announce a statement and say nothing about it. */
const announcements = new Set(
  'note notes nb todo fixme hint tip tips info warning caution important reminder remember example examples update fact facts ps'.split(
    ' ',
  ),
)
const determiners = new Set(
  'the a an my our your his her its their this that these those some any every each'.split(' '),
)
const pronouns = new Set(
  'i we you he she it they there one user users what which who where when why how first then this that here'.split(' '),
)
const verbs = new Set(
  (
    'is are was were be am isn’t aren’t has have had uses use used runs run lives live likes like loves love prefers prefer ' +
    'wants want needs need must should shall will would can cannot could may might works work belongs owns own means ' +
    'equals starts start ends end expires contains contain holds hold keeps keep goes go gets get does do did became becomes ' +
    'called named writes write speaks speak drinks drink eats eat plays play hates hate avoids avoid supports support ' +
    'requires require depends depend stays stay sits sit moved decided chose bought started joined'
  ).split(' '),
)
const commands = new Set(
  'always never please prefer use avoid run keep do don’t not make sure to ensure try call write add put set remember'.split(
    ' ',
  ),
)
const turns = new Set(
  'for in on at with to from because when while since as if unless over than before after by and or but so that which who via into until'.split(
    ' ',
  ),
)

/** Finds what people would call a statement, from its own words. The same statement always gets the same name. */
export function nameStatement(statement: string): NamedStatement {
  const content = statement.trim()
  const given = givenName(content)
  if (given !== null) return { ...given, aliases: marked(given.content, given.name), isGiven: true }
  const [sentence = content] = announced(content).split(/\n|(?<=[.!?;])\s/u)
  const name = fitting(subjectOf(sentence)) ?? fitting(firstWords(sentence, mostKeyWords)) ?? content.slice(0, 80)
  return { name, content, aliases: marked(content, name), isGiven: false }
}

/** `payment terms: 14 days`, the same with a dash, or a bold name before a sentence: `**Queue** We use NATS.` */
function givenName(content: string): { readonly name: string; readonly content: string } | null {
  const [, bold, sentence] = /^\*\*([^*\n]{1,80})\*\*[ \t]+(\p{Lu}.*)$/su.exec(content) ?? []
  const [, key, value] = /^([^\n:]{1,80}?)(?::[ \t]+|[ \t]+[—–][ \t]+)(\S.*)$/su.exec(content) ?? []
  const name = bare(bold ?? key ?? '')
  const words = wordsOf(name)
  const isName =
    words.length <= mostKeyWords &&
    isSurfaceForm(name) &&
    !/[.!?;]\s/u.test(name) &&
    !announcements.has(name.toLowerCase()) &&
    !pronouns.has((words[0] ?? '').toLowerCase()) &&
    // A stressed "Always" or "Never" belongs to the sentence.
    !(bold !== undefined && words.every((word) => commands.has(lower(word))))
  const rest = bold === undefined ? value : sentence
  return isName && rest !== undefined ? { name, content: rest } : null
}

/** The statement without a word that only announces it. */
const announced = (content: string): string =>
  content.replace(/^([\p{L}]+):\s+(?=\S)/u, (whole, word: string) =>
    announcements.has(word.toLowerCase()) ? '' : whole,
  )

function subjectOf(sentence: string): string | null {
  const [, code] = /^(?:[*_]{1,2})?`([^`]+)`/u.exec(sentence) ?? []
  if (code !== undefined) return code
  const words = wordsOf(bare(sentence))
  const first = lower(words[0])
  if (commands.has(first))
    return objectIn(
      words,
      words.findIndex((word) => !commands.has(lower(word))),
    )
  const verb = words.findIndex((word, index) => index > 0 && verbs.has(lower(word)))
  if (verb < 0) return null
  const asked = ['which', 'what', 'whose'].includes(first) && verb > 1 ? 1 : 0
  const subject = withoutDeterminers(words.slice(asked, verb))
  if (subject.length > 0 && subject.length <= mostNameWords && !pronouns.has(lower(subject[0])))
    return subject.join(' ')
  const object = words.findIndex((word, index) => index > verb && !verbs.has(lower(word)) && !commands.has(lower(word)))
  return objectIn(words, object)
}

/** The words from a place on, up to where the sentence turns to something else. */
function objectIn(words: readonly string[], from: number): string | null {
  if (from < 0) return null
  const rest = withoutDeterminers(words.slice(from))
  if (pronouns.has(lower(rest[0]))) return null
  const end = rest.findIndex(
    (word, index) => index > 0 && (turns.has(lower(word)) || /[,;:]$/u.test(rest[index - 1] ?? '')),
  )
  const object = rest.slice(0, Math.min(end < 0 ? rest.length : end, mostNameWords))
  return object.length === 0 ? null : object.join(' ')
}

function firstWords(sentence: string, most: number): string {
  return withoutDeterminers(wordsOf(bare(sentence)))
    .slice(0, most)
    .join(' ')
}

/** What is set in bold or as code inside a statement is what people look for. */
function marked(content: string, name: string): readonly string[] {
  const forms = [...content.matchAll(/\*\*([^*\n]{2,60})\*\*|`([^`\n]{2,60})`/gu)]
    .map(([, bold, code]) => (bold ?? code ?? '').replace(/:$/u, '').trim())
    .filter((form) => form !== name && isSurfaceForm(form) && wordsOf(form).length <= mostNameWords)
  return [...new Set(forms)].slice(0, mostAliases)
}

const fitting = (name: string | null): string | null => {
  const text = name?.replace(/[\s,;:.!?]+$/u, '').slice(0, 120) ?? ''
  return text !== '' && isSurfaceForm(text) ? text : null
}

const bare = (text: string): string =>
  text
    .replace(/\[([^\]\n]*)\]\([^)\n]*\)/gu, '$1')
    .replace(/^\[[ xX]\]\s+/u, '')
    .replace(/[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}/gu, (mark) => (mark.startsWith('_') ? mark : ''))
    .replace(/^["“'‘]|["”'’]$/gu, '')
    .trim()

const wordsOf = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => word !== '')

const lower = (word: string | undefined): string =>
  (word ?? '')
    .toLowerCase()
    .replaceAll("'", '’')
    .replace(/[^\p{L}\p{N}’]+$/u, '')

function withoutDeterminers(words: readonly string[]): readonly string[] {
  const from = words.findIndex((word) => !determiners.has(lower(word)))
  return from < 0 ? [] : words.slice(from)
}
