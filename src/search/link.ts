import type { Viewpoint } from '../beliefs/belief-store.ts'
import { analyse, type Token } from './analyse.ts'
import {
  breaksIn,
  type CandidateSpan,
  compoundSpans,
  phraseSpans,
  standsAlone,
  tokenWordsOf,
  typoSpans,
  type Words,
} from './candidate-spans.ts'
import type { FormIndex, Posting } from './form-index.ts'
import { partsOf, TimeSlices } from './slices.ts'
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
  /** Every candidate span of the message without typos, for looking up near misses. */
  readonly spans: readonly CandidateSpan[]
}

/** Finds every current belief in view of which the message contains a complete surface form. */
export async function linkMessage(message: string, view: Viewpoint, index: FormIndex): Promise<Linked> {
  const slices = new TimeSlices()
  const tokens = analyse(message)
  if (tokens.length === 0) return { tokens, links: [], population: 0, spans: [] }
  const words = tokenWordsOf(tokens)
  const spellings = [...new Set([...words.literal, ...words.singular])]
  const lengths = await inParts(slices, spellings, (part) => index.formLengths(view.user, part))
  const exact: CandidateSpan[] = []
  for (const spans of [phraseSpans(words, lengths), compoundSpans(tokens)]) await addAlone(exact, tokens, spans, slices)
  const exactPostings = await inParts(slices, keysOf(exact), (part) => index.postings(view, part))

  const meantBy = await wordsMeant(words, (suspects) =>
    inParts(slices, suspects, (part) => index.wordsNear(view.user, part)),
  )
  const meantWords = [...new Set([...meantBy.values()].flat())]
  const meantLengths = await inParts(slices, meantWords, (part) => index.formLengths(view.user, part))
  const typos: CandidateSpan[] = []
  const allLengths = new Map([...lengths, ...meantLengths])
  for (const part of partsOf([...meantBy], maxAtOnce))
    await addAlone(typos, tokens, typoSpans(words, allLengths, new Map(part)), slices)
  const typoPostings = await inParts(slices, keysOf(typos), (part) => index.postings(view, part))

  const found = { spans: exact, postings: exactPostings }
  const links = await linksOf(tokens, words, found, { spans: typos, postings: typoPostings }, slices)
  const population = links.length === 0 ? 0 : await index.population(view)
  return { tokens, links, population, spans: exact }
}

/** Adds the spans that are separate mentions in the message. */
async function addAlone(
  alone: CandidateSpan[],
  tokens: readonly Token[],
  spans: Iterable<CandidateSpan>,
  slices: TimeSlices,
): Promise<void> {
  for (const span of spans) {
    if (standsAlone(tokens, span)) alone.push(span)
    if (slices.isOver) await slices.pause()
  }
}

/** Looks up many values in batches. */
async function inParts<Found>(
  slices: TimeSlices,
  values: readonly string[],
  lookUp: (part: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): Promise<ReadonlyMap<string, Found>> {
  if (values.length === 0) return new Map()
  if (values.length <= maxAtOnce) return lookUp(values)
  const found = new Map<string, Found>()
  for (const part of partsOf(values, maxAtOnce)) {
    for (const [value, one] of await lookUp(part)) found.set(value, one)
    if (slices.isOver) await slices.pause()
  }
  return found
}

/** Max values per look-up. A networked store answers one in one round trip. */
const maxAtOnce = 500

/** Spans of a message, and the postings in view of their keys. */
type FoundSpans = {
  readonly spans: readonly CandidateSpan[]
  readonly postings: ReadonlyMap<string, readonly Posting[]>
}

/** The beliefs that the spans mention, with every mention of each. */
async function linksOf(
  tokens: readonly Token[],
  words: Words,
  exact: FoundSpans,
  typos: FoundSpans,
  slices: TimeSlices,
): Promise<readonly Link[]> {
  const links: Links = new Map()
  await addMentions(links, tokens, exact, null, slices)
  if (typos.spans.length > 0) {
    const ownersAt = ownersByWord(words, exact.postings)
    const mayMean: MayMean = (id, { typo }) => typo === null || (ownersAt(typo.at)?.has(id) ?? true)
    await addMentions(links, tokens, typos, mayMean, slices)
  }
  return Array.from(links.values(), ({ posting, shared, own }) => {
    const [only, ...others] = shared
    return { posting, mentions: only && others.length + own.length === 0 ? only : [...shared.flat(), ...own] }
  })
}

const keysOf = (spans: readonly CandidateSpan[]): readonly string[] => [...new Set(spans.map((span) => span.key))]

/** For each position whose word may be a typo, the known words that may be its correction. */
async function wordsMeant(
  words: Words,
  wordsNear: (suspects: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const places = [...words.literal.keys()].filter((at) => isForgivable(words.literal[at] as string))
  const suspects = Map.groupBy(places, (at) => words.literal[at] as string)
  if (suspects.size === 0) return new Map()
  const near = await wordsNear([...suspects.keys()])
  const meantBy = new Map<number, readonly string[]>()
  for (const [word, candidates] of near) {
    const meant = candidates.filter((candidate) => isPlausibleTypo(word, candidate))
    if (meant.length > 0) for (const at of suspects.get(word) ?? []) meantBy.set(at, meant)
  }
  return meantBy
}

/**
 * The beliefs with a form that equals the word at a position; null if there are none. Such a word is not a typo for a form of
 * another belief. It may be one for a form of the same belief; otherwise an alias that spells the typo would lower the score of
 * the name.
 */
function ownersByWord(
  { literal, singular }: Words,
  postings: ReadonlyMap<string, readonly Posting[]>,
): (at: number) => ReadonlySet<string> | null {
  const known = new Map<string, ReadonlySet<string> | null>()
  return (at) => {
    const word = literal[at] as string
    const one = singular[at] as string
    const before = known.get(`${word} ${one}`)
    if (before !== undefined) return before
    const found = [...(postings.get(word) ?? []), ...(postings.get(one) ?? [])]
    const owners = found.length === 0 ? null : new Set(found.map(({ beliefId }) => beliefId))
    known.set(`${word} ${one}`, owners)
    return owners
  }
}

/** A belief's mentions. All beliefs that share a form share one list in `shared`; the other mentions are in `own`. */
type BeliefMentions = { readonly posting: Posting; readonly shared: Mention[][]; readonly own: Mention[] }
type Links = Map<string, BeliefMentions>

/** For each list of postings, the mentions of its key by ordinal of the form. */
type SharedMentions = Map<readonly Posting[], Map<number, Mention[]>>

/** Tests whether a span may refer to a belief; null if it may refer to every belief that has the form. */
type MayMean = ((beliefId: string, span: CandidateSpan) => boolean) | null

/** A span, and the postings of its key that have a phrase end wherever the span has one. */
type FoundSpan = { readonly span: CandidateSpan; readonly postings: readonly Posting[] }

/** Adds a mention to its belief for each form found, if the span may mean that belief. */
async function addMentions(
  links: Links,
  tokens: readonly Token[],
  { spans, postings }: FoundSpans,
  mayMean: MayMean,
  slices: TimeSlices,
): Promise<void> {
  const shared: SharedMentions = new Map()
  const runs = new Map<string, FoundSpan[]>()
  for (const span of spans) {
    addToRuns(runs, tokens, span, postings)
    if (slices.isOver) await slices.pause()
  }
  for (const run of runs.values()) {
    const [only, ...others] = run
    const isShared = only && others.length === 0 && mayMean === null && postings.get(only.span.key) === only.postings
    if (isShared) addShared(links, only, shared)
    else addRun(links, run, mayMean)
    if (slices.isOver) await slices.pause()
  }
}

/**
 * Groups spans by their position in the message. Several spans of the same words are one run: `errors` and `error` mention the
 * same beliefs, each form once, with one document frequency.
 */
function addToRuns(
  runs: Map<string, FoundSpan[]>,
  tokens: readonly Token[],
  span: CandidateSpan,
  postings: FoundSpans['postings'],
): void {
  const all = postings.get(span.key) ?? []
  const breaks = all.length === 0 ? 0 : breaksIn(tokens, span)
  const whole = breaks === 0 ? all : all.filter((posting) => (breaks & ~posting.breaks) === 0)
  if (whole.length === 0) return
  const place = `${span.first}-${span.last}-${span.typo?.meant ?? ''}`
  const run = runs.get(place)
  if (run === undefined) runs.set(place, [{ span, postings: whole }])
  else run.push({ span, postings: whole })
}

function linkOf(links: Links, posting: Posting): BeliefMentions {
  const known = links.get(posting.beliefId)
  if (known !== undefined) return known
  const link = { posting, shared: [], own: [] }
  links.set(posting.beliefId, link)
  return link
}

/**
 * Adds a mention to all beliefs that have a form. They share one list of mentions, because a message may repeat thousands of
 * times a form of hundreds of beliefs.
 */
function addShared(links: Links, { span, postings }: FoundSpan, shared: SharedMentions): void {
  const { first, last, typo } = span
  const mentionOf = (ordinal: number): Mention => ({ first, last, ordinal, typo, docFreq: postings.length })
  const known = shared.get(postings)
  if (known !== undefined) {
    for (const [ordinal, mentions] of known) mentions.push(mentionOf(ordinal))
    return
  }
  const lists = new Map<number, Mention[]>()
  for (const posting of postings) {
    const mentions = lists.get(posting.ordinal) ?? [mentionOf(posting.ordinal)]
    lists.set(posting.ordinal, mentions)
    linkOf(links, posting).shared.push(mentions)
  }
  shared.set(postings, lists)
}

function addRun(links: Links, run: readonly FoundSpan[], mayMean: MayMean): void {
  const isOne = run.length === 1
  const docFreq = isOne
    ? (run[0] as FoundSpan).postings.length
    : new Set(run.flatMap(({ postings }) => postings.map(({ beliefId }) => beliefId))).size
  const forms = new Set<string>()
  for (const { span, postings } of run) {
    const { first, last, typo } = span
    // Beliefs that share a form share the mention object, because there may be many beliefs.
    let mention: Mention = { first, last, ordinal: 0, typo, docFreq }
    for (const posting of postings) {
      const { beliefId, ordinal } = posting
      if (!isOne) {
        const form = `${beliefId} ${ordinal}`
        if (forms.has(form)) continue
        forms.add(form)
      }
      if (mayMean !== null && !mayMean(beliefId, span)) continue
      if (mention.ordinal !== ordinal) mention = { ...mention, ordinal }
      linkOf(links, posting).own.push(mention)
    }
  }
}
