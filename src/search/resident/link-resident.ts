import { analyseInSteps, type Token } from '../analyse.ts'
import { type CandidateSpan, compoundSpans, standsAlone } from '../candidate-spans.ts'
import type { Posting } from '../form-index.ts'
import { singularOf } from '../forms.ts'
import { type Linked, linksOf } from '../link.ts'
import { Slices, type Steps } from '../slices.ts'
import type { ResidentForms } from './resident-forms.ts'
import type { WordIndex } from './word-index.ts'

/** One way to read the words of a message, as texts and as their numbers in the index. */
type Spelling = { readonly texts: string[]; readonly ids: number[] }

/** Spans of the message that are forms, and the postings in view of each key. */
class FoundForms {
  readonly spans: CandidateSpan[] = []
  readonly postings = new Map<string, readonly Posting[]>()
  readonly #tokens: readonly Token[]
  readonly #forms: ResidentForms
  readonly #visible: Uint8Array

  constructor(tokens: readonly Token[], forms: ResidentForms, visible: Uint8Array) {
    this.#tokens = tokens
    this.#forms = forms
    this.#visible = visible
  }

  add(node: number, span: CandidateSpan): void {
    if (!standsAlone(this.#tokens, span)) return
    this.spans.push(span)
    if (!this.postings.has(span.key)) this.postings.set(span.key, this.#forms.postingsAt(node, this.#visible))
  }
}

type FormsInView = {
  readonly forms: ResidentForms
  /** What is in view, from `visibleFrom`. */
  readonly visible: Uint8Array
  readonly population: () => Promise<number>
}

/**
 * What `linkMessage` returns, from an index in memory. Walks the words of the message through the tree of forms instead of
 * asking for possible keys.
 */
export async function linkResident(message: string, { forms, visible, population }: FormsInView): Promise<Linked> {
  const linked = await new Slices().run(linkInSteps(message, forms, visible))
  return { ...linked, population: linked.links.length === 0 ? 0 : await population() }
}

/** Words of one step. */
const stepLength = 64

function* linkInSteps(message: string, forms: ResidentForms, visible: Uint8Array): Steps<Omit<Linked, 'population'>> {
  const tokens = yield* analyseInSteps(message)
  const count = tokens.length
  const words = new MessageWords(count)
  for (let from = 0; from < count; from += stepLength) {
    if (from > 0) yield
    words.read(tokens, from, forms.words)
  }
  const exact = new FoundForms(tokens, forms, visible)
  for (let from = 0; from < count; from += stepLength) {
    if (from > 0) yield
    findExact(words, from, forms, exact)
  }
  for (const span of compoundSpans(tokens)) {
    const node = forms.nodeOf(span.key)
    if (node !== 0) exact.add(node, span)
    yield
  }
  const typos = new FoundForms(tokens, forms, visible)
  for (const { at, meant } of words.meantBy) {
    for (const spelling of [words.literal, words.singular])
      for (const word of meant) findTypos({ at, meant: word, spelling, words }, forms, typos)
    yield
  }
  const texts = { literal: words.literal.texts, singular: words.singular.texts }
  return { tokens, links: yield* linksOf(tokens, texts, exact, typos), spans: exact.spans }
}

/** The words of a message as written and in the singular. */
class MessageWords {
  readonly literal: Spelling
  readonly singular: Spelling
  /** For each position whose word may be a typo, the words it may stand for. */
  readonly meantBy: { readonly at: number; readonly meant: readonly string[] }[] = []
  /** The number of words from each position on that begin some form. */
  readonly reach: number[]

  constructor(count: number) {
    this.literal = { texts: new Array<string>(count), ids: new Array<number>(count) }
    this.singular = { texts: new Array<string>(count), ids: new Array<number>(count) }
    this.reach = new Array<number>(count)
  }

  /** Looks up the words of one step. */
  read(tokens: readonly Token[], from: number, words: WordIndex): void {
    const { literal, singular } = this
    for (let at = from; at < Math.min(from + stepLength, tokens.length); at += 1) {
      const token = tokens[at] as Token
      const known = words.know(token.word)
      literal.texts[at] = token.word
      literal.ids[at] = known.id
      // Capitals decide whether a word is a plural.
      const isSpecial = token.isAllCaps || token.isAcronymPlural
      const one = isSpecial ? singularOf(token) : (known.singular ?? token.word)
      singular.texts[at] = one
      singular.ids[at] = isSpecial ? words.idOf(one) : known.singularId
      if (known.meant.length > 0) this.meantBy.push({ at, meant: known.meant })
    }
  }
}

/** Adds every run of words that begins in one step and is a form. */
function findExact({ literal, singular, reach }: MessageWords, from: number, forms: ResidentForms, found: FoundForms) {
  for (let first = from; first < Math.min(from + stepLength, reach.length); first += 1) {
    const walked = walk({ spelling: literal, first, differs: first }, forms, found)
    // Words that are the same in both spellings are found once.
    let differs = first
    while (differs <= first + walked && literal.texts[differs] === singular.texts[differs]) differs += 1
    const inSingular = differs > first + walked ? 0 : walk({ spelling: singular, first, differs }, forms, found)
    reach[first] = Math.max(walked, inSingular)
  }
}

/** Follows the words from one position on, and adds the forms that end at `differs` or later. Returns how many words it went. */
function walk(
  { spelling, first, differs }: { readonly spelling: Spelling; readonly first: number; readonly differs: number },
  forms: ResidentForms,
  found: FoundForms,
): number {
  const { texts, ids } = spelling
  let node = 0
  let last = first
  for (; last < texts.length; last += 1) {
    const word = ids[last] as number
    if (word < 0) break
    node = last === first ? forms.firstNode(word) : forms.child(node, word)
    if (node === 0) break
    if (last >= differs && forms.isForm(node))
      found.add(node, { key: keyOf(texts, first, last), first, last, typo: null })
  }
  return last - first
}

/** Adds every form that is in one spelling of the message if the word at one position is taken for another. */
function findTypos(
  typo: {
    readonly at: number
    readonly meant: string
    readonly spelling: Spelling
    readonly words: MessageWords
  },
  forms: ResidentForms,
  found: FoundForms,
): void {
  const { at, meant, spelling } = typo
  const { reach, literal, singular } = typo.words
  const { texts, ids } = spelling
  const meantId = forms.words.idOf(meant)
  const written = literal.texts[at] as string
  for (let first = Math.max(0, at - longestForm + 1); first <= at; first += 1) {
    if (first < at && (reach[first] as number) < at - first) continue
    let isOther = spelling === literal
    let node = 0
    for (let last = first; last < texts.length; last += 1) {
      const word = last === at ? meantId : (ids[last] as number)
      if (word < 0) break
      node = last === first ? forms.firstNode(word) : forms.child(node, word)
      if (node === 0) break
      isOther ||= last !== at && literal.texts[last] !== singular.texts[last]
      if (!isOther || last < at || !forms.isForm(node)) continue
      const words = texts.slice(first, last + 1).with(at - first, meant)
      found.add(node, { key: words.join(' '), first, last, typo: { written, meant, at } })
    }
  }
}

/** In words; see `formKeys`. */
const longestForm = 64

const keyOf = (texts: readonly string[], first: number, last: number): string =>
  first === last ? (texts[first] as string) : texts.slice(first, last + 1).join(' ')
