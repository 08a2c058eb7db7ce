import { type Atom, analyse } from '../../../search/analyse.ts'
import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { singular } from '../../../search/singular.ts'
import { functionWords, isPersonWord, isPlaceholder, meaningOf } from './meaning.ts'
import { type Shape, shapeNamedBy } from './shapes.ts'

/** A word of a question that says what it is about. */
export type Term = {
  readonly word: string
  readonly meaning: string
  /** Someone or something called by name: a statement about another one is no answer. */
  readonly isName: boolean
  readonly isPerson: boolean
  /** Followed by 's: what is asked for belongs to it. */
  readonly isOwner: boolean
  /** Says what is wanted rather than what it is about, so a statement need not have it. */
  readonly isOptional: boolean
  /** Stands behind a preposition, and says which one is meant: the budget "for search". */
  readonly isSpecifying: boolean
  /** What the answer looks like when the word itself is not in it. */
  readonly shape: Shape | null
  /** The word before and after, to find "time zone" in "timezone". */
  readonly neighbours: readonly string[]
}

export type Question = {
  readonly text: string
  readonly terms: readonly Term[]
  /** The noun that is asked for. */
  readonly head: Term | null
  /** What an answer must hold. */
  readonly wants: Shape | null
  /** Whether it is about the person who asks. */
  readonly isAboutSpeaker: boolean
  /** Says `my` or `I`, not only `our` or `we`. */
  readonly isAboutSpeakerAlone: boolean
  readonly isYesOrNo: boolean
  /** Whether several things may be meant. */
  readonly wantsSeveral: boolean
  /** Speaks of "it", "she" or "there" and leaves open who or what that is. */
  readonly pronoun: boolean
  readonly isNegative: boolean
}

const whFrame =
  /^(?:\W*(?:in|on|at|to|for|from|by|with|of|about|since|until|under|near|below|above|after|before|over)\s+)?(?:what|which|who|whom|whose|when|where|why|how)\b/iu
const pronouns =
  /\b(?:it|its|it['’]s|he|him|his|she|her|hers|they|them|their|theirs|there|(?:that|this|those|these)(?=\s+(?:is|was|are|were|will|start|end)|\W*$))\b/iu
const negative = /\b(?:not|never|no longer|n['’]t|without|avoid)\b|n['’]t\b/iu

const measure = /\b(how)(\s+(?:many|much|old|long|far|big|large|high|fast|deep|often|soon|late|early))\b/giu

export function parseQuestion(text: string): Question {
  // "How many" says what the answer looks like, not what it is about. Places in the text stay the same.
  const atoms = analyse(
    text
      .replace(measure, (_, how: string, rest: string) => how + ' '.repeat(rest.length))
      .replace(/\b(?:since|until|till)(?=\s+(?:when|what|which)\b)/iu, (word) => ' '.repeat(word.length)),
  )
  const content = atoms.flatMap((atom, at) => (isContent(atom) ? [{ atom, at }] : []))
  const isShouted = content.length > 1 && content.every(({ atom }) => /^\p{Lu}/u.test(text.slice(atom.start, atom.end)))
  const terms = content.map(({ atom, at }) => termOf(text, atoms, at, { atom, isShouted }))
  const isOpen = terms.every(({ isOptional }) => isOptional)
  // When nothing says more, what says little is what the question is about: "Where do I work?"
  const weighed = isOpen ? terms.map((term) => ({ ...term, isOptional: false })) : terms
  const headAt = headOf(text, content, weighed)
  const head = headAt === -1 ? null : (weighed[headAt] ?? null)
  const headAtom = content[headAt]?.atom
  return {
    text,
    terms: weighed,
    head,
    wants: wantedShape(text),
    isAboutSpeaker: /\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|we|we['’](?:re|ve|d|ll)|us|our|ours)\b/iu.test(text),
    isAboutSpeakerAlone:
      /\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself)\b/iu.test(text) && !/\b(?:he|him|she|her|they|them)\b/iu.test(text),
    isYesOrNo:
      !whFrame.test(text) &&
      /^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b/iu.test(text),
    wantsSeveral:
      /\b(?:all|any|every|list|ones|things|which of|both|some)\b/iu.test(text) ||
      (headAtom !== undefined && isPlural(headAtom.word)) ||
      /^what\s+(?:else\s+)?(?:do|did|does|am|have|has|can|should)\s+(?:i|we)\b/iu.test(text),
    pronoun: pronouns.test(
      text.replace(
        /\bis there\b|\bare there\b|\bthere (?:is|are)\b|(?<=^\W*(?:what|which)\s+\p{L}.*)\b(?:is|was) it\W*$/giu,
        '',
      ),
    ),
    isNegative: negative.test(text),
  }
}

const isContent = ({ word }: Atom): boolean => !functionWords.has(word) && /[\p{L}\p{N}]/u.test(word)

const isPlural = (word: string): boolean => singular(word) !== word

function termOf(
  text: string,
  atoms: readonly Atom[],
  at: number,
  { atom, isShouted }: { readonly atom: Atom; readonly isShouted: boolean },
): Term {
  const raw = text.slice(atom.start, atom.end)
  const meaning = meaningOf(atom.word)
  const isFirst = at === 0
  const looksProper = /^\p{Lu}/u.test(raw) && !isShouted && !isCalendarWord(atom.word)
  const isName = (looksProper && (!isFirst || !isOrdinaryWord(atom.word))) || /\p{L}\d|\d\p{L}|\p{Ll}\p{Lu}/u.test(raw)
  return {
    word: atom.word,
    meaning,
    isName,
    isPerson: isPersonWord(meaning),
    isOwner: /['’]s$/iu.test(raw) || /s['’]$/iu.test(`${raw}${text[atom.end] ?? ''}`),
    isSpecifying: specifying.test(text.slice(0, atom.start)),
    isOptional: (isPlaceholder(meaning) || (asksWhen.test(text) && atTime.has(atom.word))) && !isName,
    shape: shapeNamedBy(atom.word) ?? shapeNamedBy(singular(atom.word)),
    neighbours: [atoms[at - 1]?.word ?? '', atoms[at + 1]?.word ?? ''],
  }
}

const asksWhen = /^\W*(?:(?:by|since|until|from)\s+)?when\b/iu
/** "When are they due?" asks no more than when they are. */
const atTime: ReadonlySet<string> = new Set(['due', 'scheduled', 'planned', 'held', 'next', 'day', 'time', 'date'])

const specifying = /\b(?:for|of|in|at|with)\s+(?:(?:the|a|an|my|our|his|her|their|its|this|that)\s+)?$/iu

const isCalendarWord = (word: string): boolean =>
  /^(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/u.test(
    word,
  )

/** The last word of the first run of words that stand together and say something: in "my team's code phrase", "phrase". */
function headOf(
  text: string,
  content: readonly { readonly atom: Atom; readonly at: number }[],
  terms: readonly Term[],
): number {
  let last = -1
  for (const [index, { at, atom }] of content.entries()) {
    const before = content[index - 1]
    const follows =
      before !== undefined && before.at === at - 1 && !/[,;:?]/u.test(text.slice(before.atom.end, atom.start))
    if (last !== -1 && !follows) return last
    const term = terms[index]
    if (term !== undefined && !term.isOptional && (term.shape === null || last === -1)) last = index
  }
  return last
}

function wantedShape(text: string): Shape | null {
  if (
    /\bwhen\b/iu.test(text.slice(0, 40)) &&
    whFrame.test(text) &&
    !/^\W*(?:what|which|who|where|how|why)\b/iu.test(text)
  )
    return 'time'
  if (
    /\b(?:what|which) (?:date|day|time|year|month|weekday|hour)(?:\s+(?:is|are|was|were|do|does|did|will|should|can|would|of|on|in|at|for|to|has|have|the|my|our|it|am|i|we)\b|\W*$)/iu.test(
      text,
    )
  )
    return 'time'
  if (/\bhow old\b/iu.test(text)) return 'age'
  if (/\bhow (?:long|far)\b/iu.test(text)) return 'extent'
  if (/\bhow (?:many|much|tall|heavy|big|large|high|fast|deep)\b/iu.test(text)) return 'number'
  if (/\bhow often\b/iu.test(text)) return 'often'
  if (/^\W*why\b/iu.test(text)) return 'reason'
  if (/\b(?:phone|telephone|mobile|cell)(?:\s+number)?\W*$/iu.test(text)) return 'phone'
  if (/\bemail(?:\s+address)?\W*$/iu.test(text)) return 'email'
  if (/^\W*(?:(?:in|from|to|at)\s+)?where\b/iu.test(text)) return 'place'
  if (/^\W*(?:(?:with|for|by|to|from)\s+)?who(?:m|['’]s)?\b/iu.test(text)) return 'name'
  if (/^\W*what\b.*\b(?:called|named?)\b/iu.test(text)) return 'title'
  const kind = /^\W*(?:(?:in|from|to|at|on|for|by|of)\s+)?(?:what|which)\s+(?<kind>\p{L}+)/iu.exec(text)?.groups?.kind
  const shape = kind === undefined ? null : shapeNamedBy(kind.toLowerCase())
  return shape === 'time' ? null : shape
}
