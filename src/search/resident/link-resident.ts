import { analyseInSteps, type Token } from '../analyse.ts'
import { type CandidateSpan, compoundSpans, standsAlone } from '../candidate-spans.ts'
import type { Posting } from '../form-index.ts'
import { singularOf } from '../forms.ts'
import { type Linked, linksOf } from '../link.ts'
import { inSteps, Slices, type Steps } from '../slices.ts'
import type { ResidentForms } from './resident-forms.ts'
import type { WordIndex } from './word-index.ts'

/** One way to read the words of a message, as texts and as their numbers in the index. */
type Spelling = { readonly texts: readonly string[]; readonly ids: readonly number[] }

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
  const slices = new Slices()
  const tokens = await slices.run(analyseInSteps(message))
  const { literal, singular, meantBy } = await slices.run(spellingsOf(tokens, forms.words))
  const exact = new FoundForms(tokens, forms, visible)
  const reach = await slices.run(findExact(literal, singular, forms, exact))
  for (const span of compoundSpans(tokens)) {
    const node = forms.nodeOf(span.key)
    if (node !== 0) exact.add(node, span)
    if (slices.areOver) await slices.pause()
  }
  const typos = new FoundForms(tokens, forms, visible)
  for (const { at, meant } of meantBy) {
    for (const spelling of [literal, singular])
      for (const word of meant) findTypos({ at, meant: word, spelling, reach, literal, singular }, forms, typos)
    if (slices.areOver) await slices.pause()
  }
  const words = { literal: literal.texts, singular: singular.texts }
  const links = await slices.run(linksOf(tokens, words, exact, typos))
  return { tokens, links, population: links.length === 0 ? 0 : await population(), spans: exact.spans }
}

/** The words as written and in the singular, and for each position whose word may be a typo the words it may stand for. */
function* spellingsOf(
  tokens: readonly Token[],
  words: WordIndex,
): Steps<{
  readonly literal: Spelling
  readonly singular: Spelling
  readonly meantBy: readonly { readonly at: number; readonly meant: readonly string[] }[]
}> {
  const count = tokens.length
  const literal = { texts: new Array<string>(count), ids: new Array<number>(count) }
  const singular = { texts: new Array<string>(count), ids: new Array<number>(count) }
  const meantBy: { readonly at: number; readonly meant: readonly string[] }[] = []
  yield* inSteps(count, (from, to) => {
    for (let at = from; at < to; at += 1) {
      const token = tokens[at] as Token
      const known = words.know(token.word)
      literal.texts[at] = token.word
      literal.ids[at] = known.id
      // Capitals decide whether a word is a plural.
      const isSpecial = token.isAllCaps || token.isAcronymPlural
      const one = isSpecial ? singularOf(token) : (known.singular ?? token.word)
      singular.texts[at] = one
      singular.ids[at] = isSpecial ? words.idOf(one) : known.singularId
      if (known.meant.length > 0) meantBy.push({ at, meant: known.meant })
    }
  })
  return { literal, singular, meantBy }
}

/** Adds every run of words that is a form. Returns how many words from each position on begin some form. */
function* findExact(
  literal: Spelling,
  singular: Spelling,
  forms: ResidentForms,
  found: FoundForms,
): Steps<readonly number[]> {
  const count = literal.texts.length
  const reach = new Array<number>(count)
  /** The next place at which the two spellings differ. */
  let differs = -1
  yield* inSteps(count, (from, to) => {
    for (let first = from; first < to; first += 1) {
      if (differs < first) {
        differs = first
        while (differs < count && literal.texts[differs] === singular.texts[differs]) differs += 1
      }
      const walked = walk({ spelling: literal, first, differs: first }, forms, found)
      // Words that are the same in both spellings are found once.
      const inSingular = differs > first + walked ? 0 : walk({ spelling: singular, first, differs }, forms, found)
      reach[first] = Math.max(walked, inSingular)
    }
  })
  return reach
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
    readonly reach: readonly number[]
    readonly literal: Spelling
    readonly singular: Spelling
  },
  forms: ResidentForms,
  found: FoundForms,
): void {
  const { at, meant, spelling, reach, literal, singular } = typo
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
