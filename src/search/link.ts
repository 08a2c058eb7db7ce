import type { Viewpoint } from '../beliefs/belief-store.ts'
import { analyse, type Token } from './analyse.ts'
import {
  breaksIn,
  type CandidateSpan,
  compoundSpans,
  isStandalone,
  phraseSpans,
  tokenWordsOf,
  typoSpans,
  type Words,
} from './candidate-spans.ts'
import type { FormIndex, Posting } from './form-index.ts'
import { forEachInSlices, splitIntoParts } from './slices.ts'
import { isForgivable, isPlausibleTypo } from './typo.ts'

/** An occurrence of a complete surface form in the message. `first` and `last` are token positions, both inclusive. */
export type Mention = {
  readonly first: number
  readonly last: number
  readonly ordinal: number
  readonly typo: CandidateSpan['typo']
  /** The number of beliefs in view that these words may refer to. */
  readonly docFreq: number
}

/** A belief the message mentions. */
export type Link = { readonly posting: Posting; readonly mentions: readonly Mention[] }

export type Linked = {
  readonly tokens: readonly Token[]
  readonly links: readonly Link[]
  /** Number of current beliefs in view, from which every idf is computed; 0 if there are no links. */
  readonly population: number
  /** The candidate spans of the message, except those with a corrected typo. Near misses are looked up by them. */
  readonly spans: readonly CandidateSpan[]
}

/** Finds every current belief in view for which the message contains a complete surface form. */
export async function linkMessage(message: string, view: Viewpoint, index: FormIndex): Promise<Linked> {
  const tokens = analyse(message)
  if (tokens.length === 0) return { tokens, links: [], population: 0, spans: [] }
  const words = tokenWordsOf(tokens)
  const lengths = await lookUpAll([...words.literal, ...words.singular], (part) => index.formLengths(view.user, part))
  const spans = await mentionSpans(tokens, [phraseSpans(words, lengths), compoundSpans(tokens)])
  const postings = await lookUpAll(keysOf(spans), (part) => index.postings(view, part))
  const links: Links = new Map()
  await addMentions(links, tokens, { spans, postings }, () => true)

  const meantBy = await findMeant(words, (suspects) => lookUpAll(suspects, (part) => index.wordsNear(view.user, part)))
  if (meantBy.size > 0) {
    const meantLengths = await lookUpAll([...meantBy.values()].flat(), (part) => index.formLengths(view.user, part))
    const typos = await mentionSpans(tokens, [typoSpans(words, new Map([...lengths, ...meantLengths]), meantBy)])
    const typoPostings = await lookUpAll(keysOf(typos), (part) => index.postings(view, part))
    const ownersAt = ownersByWord(words, postings)
    const mayMean: MayMean = (id, { typo }) => typo === null || (ownersAt(typo.at)?.has(id) ?? true)
    await addMentions(links, tokens, { spans: typos, postings: typoPostings }, mayMean)
  }
  return { tokens, links: [...links.values()], population: links.size === 0 ? 0 : await index.population(view), spans }
}

/** The spans that are separate mentions in the message. */
async function mentionSpans(
  tokens: readonly Token[],
  sources: readonly Iterable<CandidateSpan>[],
): Promise<readonly CandidateSpan[]> {
  const alone: CandidateSpan[] = []
  for (const spans of sources)
    await forEachInSlices(spans, (span) => {
      if (isStandalone(tokens, span)) alone.push(span)
    })
  return alone
}

/** Looks up the distinct values in batches, because a single look-up of thousands would block a server. */
async function lookUpAll<Found>(
  values: readonly string[],
  lookUp: (part: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): Promise<ReadonlyMap<string, Found>> {
  const distinct = [...new Set(values)]
  const found = new Map<string, Found>()
  await forEachInSlices(splitIntoParts(distinct), async (part) => {
    for (const [value, one] of await lookUp(part)) found.set(value, one)
  })
  return found
}

const keysOf = (spans: readonly CandidateSpan[]): readonly string[] => spans.map(({ key }) => key)

/** For each position whose word may be a typo, the known words that may be its correction. */
async function findMeant(
  words: Words,
  wordsNear: (suspects: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const places = [...words.literal.keys()].filter((at) => isForgivable(words.literal[at] as string))
  const suspects = Map.groupBy(places, (at) => words.literal[at] as string)
  const meantBy = new Map<number, readonly string[]>()
  for (const [word, candidates] of await wordsNear([...suspects.keys()])) {
    const meant = candidates.filter((candidate) => isPlausibleTypo(word, candidate))
    if (meant.length > 0) for (const at of suspects.get(word) ?? []) meantBy.set(at, meant)
  }
  return meantBy
}

/**
 * The beliefs with a form that equals the word at a position; null if there are none. Such a word is not a typo for a
 * form of a different belief. It may still be a typo for a form of the same belief; otherwise an alias that equals the
 * typo would lower the score of the name.
 */
function ownersByWord(
  { literal, singular }: Words,
  postings: ReadonlyMap<string, readonly Posting[]>,
): (at: number) => ReadonlySet<string> | null {
  const known = new Map<string, ReadonlySet<string> | null>()
  return (at) => {
    const word = literal[at] as string
    const form = singular[at] as string
    const before = known.get(`${word} ${form}`)
    if (before !== undefined) return before
    const found = [...(postings.get(word) ?? []), ...(postings.get(form) ?? [])]
    const owners = found.length === 0 ? null : new Set(found.map(({ beliefId }) => beliefId))
    known.set(`${word} ${form}`, owners)
    return owners
  }
}

type Links = Map<string, { readonly posting: Posting; readonly mentions: Mention[] }>

/** Whether a span may refer to a belief. */
type MayMean = (beliefId: string, span: CandidateSpan) => boolean

/** A span, and the postings of its key that have a phrase end wherever the span has one. */
type FoundSpan = { readonly span: CandidateSpan; readonly postings: readonly Posting[] }

/**
 * Max mentions of one phrase. More would raise a score by less than 2 %, and a message may repeat a form of hundreds of beliefs
 * thousands of times.
 */
const maxMentions = 64

/**
 * Adds a mention to its belief for each form found, if the span may mean that belief. Several spans of the same words, such as
 * the keys `errors` and `error` of "errors", are counted together: each form is mentioned once, and all spans share one
 * document frequency.
 */
async function addMentions(
  links: Links,
  tokens: readonly Token[],
  found: { readonly spans: readonly CandidateSpan[]; readonly postings: ReadonlyMap<string, readonly Posting[]> },
  mayMean: MayMean,
): Promise<void> {
  const runs = new Map<string, FoundSpan[]>()
  const counts = new Map<string, number>()
  await forEachInSlices(found.spans, (span) => {
    const { key, first, last, typo } = span
    const all = found.postings.get(key) ?? []
    const breaks = all.length === 0 ? 0 : breaksIn(tokens, span)
    const postings = breaks === 0 ? all : all.filter((posting) => (breaks & ~posting.breaks) === 0)
    const count = counts.get(key) ?? 0
    if (postings.length === 0 || count === maxMentions) return
    counts.set(key, count + 1)
    const place = `${first}-${last}-${typo?.meant ?? ''}`
    const run = runs.get(place)
    if (run === undefined) runs.set(place, [{ span, postings }])
    else run.push({ span, postings })
  })
  await forEachInSlices(runs.values(), (run) => addRun(links, run, mayMean))
}

function addRun(links: Links, run: readonly FoundSpan[], mayMean: MayMean): void {
  const docFreq = new Set(run.flatMap(({ postings }) => postings.map(({ beliefId }) => beliefId))).size
  const forms = new Set<string>()
  for (const { span, postings } of run) {
    const { first, last, typo } = span
    // Beliefs that share a form also share the mention and its score.
    let mention: Mention = { first, last, ordinal: 0, typo, docFreq }
    for (const posting of postings) {
      const { beliefId, ordinal } = posting
      const form = `${beliefId} ${ordinal}`
      if (forms.has(form) || !mayMean(beliefId, span)) continue
      forms.add(form)
      if (mention.ordinal !== ordinal) mention = { ...mention, ordinal }
      const link = links.get(beliefId)
      if (link === undefined) links.set(beliefId, { posting, mentions: [mention] })
      else link.mentions.push(mention)
    }
  }
}
