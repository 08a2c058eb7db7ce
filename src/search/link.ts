import type { Viewpoint } from '../beliefs/belief-store.ts'
import { analyse, type Token } from './analyse.ts'
import {
  breaksIn,
  type CandidateSpan,
  compoundSpans,
  phraseSpans,
  standsAlone,
  typoSpans,
  type Words,
  wordsOf,
} from './candidate-spans.ts'
import type { Announced, FormIndex, Posting } from './form-index.ts'
import { isForgivable, isPlausibleTypo } from './typo.ts'

/** A whole surface form of a belief in the message. Positions are of tokens, both inclusive. */
export type Mention = {
  readonly first: number
  readonly last: number
  readonly ordinal: number
  readonly typo: CandidateSpan['typo']
  /** The number of beliefs in view that this run of words can mean. */
  readonly docFreq: number
}

/** A belief the message mentions. */
export type Link = { readonly posting: Posting; readonly mentions: readonly Mention[] }

export type Linked = {
  readonly tokens: readonly Token[]
  readonly links: readonly Link[]
  /** Number of current beliefs in view, the base of every idf. */
  readonly population: number
  /** Every exact span of the message that begins like a form, for looking up near misses. */
  readonly spans: readonly CandidateSpan[]
}

/** Finds every current belief in view that has a whole surface form in the message. */
export async function linkMessage(message: string, view: Viewpoint, index: FormIndex): Promise<Linked> {
  const resident = (await index.resident?.(view)) ?? null
  if (resident !== null) return resident.link(message)
  const tokens = analyse(message)
  if (tokens.length === 0) return { tokens, links: [], population: 0, spans: [] }
  const words = wordsOf(tokens)
  const isAlone = (span: CandidateSpan): boolean => standsAlone(tokens, span)
  if (index.prefetch !== undefined) await index.prefetch(view, announced(tokens, words))
  const lengths = await index.formLengths(view.user, [...new Set([...words.literal, ...words.singular])])
  const seconds = await index.secondWords(view.user, [...lengths.keys()])
  const exact = [...phraseSpans(words, { lengths, seconds }), ...compoundSpans(tokens)].filter(isAlone)
  const exactPostings = await index.postings(view, keysOf(exact))

  const meantBy = await wordsMeant(words, view, index)
  const meantWords = [...new Set([...meantBy.values()].flat())]
  const meantLengths = meantWords.length === 0 ? [] : await index.formLengths(view.user, meantWords)
  const typos = typoSpans(words, new Map([...lengths, ...meantLengths]), meantBy).filter(isAlone)
  const typoPostings = typos.length === 0 ? new Map() : await index.postings(view, keysOf(typos))

  const found = { spans: exact, postings: exactPostings }
  const links = linksOf(tokens, words, found, { spans: typos, postings: typoPostings })
  const population = links.length === 0 ? 0 : await index.population(view)
  return { tokens, links, population, spans: exact }
}

/** Spans of a message, and the postings in view of their keys. */
type FoundSpans = {
  readonly spans: readonly CandidateSpan[]
  readonly postings: ReadonlyMap<string, readonly Posting[]>
}

/** The beliefs that the spans mention, with every mention of each. */
export function linksOf(tokens: readonly Token[], words: Words, exact: FoundSpans, typos: FoundSpans): readonly Link[] {
  const links = new Map<string, { posting: Posting; mentions: Mention[] }>()
  addMentions(links, runsOf(tokens, exact.spans, exact.postings), () => true)
  if (typos.spans.length === 0) return [...links.values()]
  const owners = ownersByWord(words, exact.postings)
  addMentions(
    links,
    runsOf(tokens, typos.spans, typos.postings),
    (id, { typo }) => typo === null || (owners.get(typo.at)?.has(id) ?? true),
  )
  return [...links.values()]
}

/** Longer messages are looked up step by step. */
const mostAnnounced = 500
/** Most forms have at most this many words. */
const usualForm = 3

/** The keys that the look-ups of a message will use, as far as they are known before the first answer. */
function announced(tokens: readonly Token[], words: Words): Announced {
  if (tokens.length > mostAnnounced) return { words: [], keys: [], suspects: [] }
  const spellings = [...new Set([...words.literal, ...words.singular])]
  const lengths = new Map(spellings.map((word) => [word, Array.from({ length: usualForm }, (_, at) => at + 1)]))
  const spans = [...phraseSpans(words, { lengths, seconds: new Map() }), ...compoundSpans(tokens)]
  const alone = spans.filter((span) => standsAlone(tokens, span))
  return { words: spellings, keys: keysOf(alone), suspects: [...new Set(words.literal.filter(isForgivable))] }
}

const keysOf = (spans: readonly CandidateSpan[]): readonly string[] => [...new Set(spans.map((span) => span.key))]

/** For each position whose word may be a typo, the known words that it may stand for. */
async function wordsMeant(
  words: Words,
  view: Viewpoint,
  index: FormIndex,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const suspects = new Map<string, number[]>()
  for (const [at, word] of words.literal.entries()) {
    if (!isForgivable(word)) continue
    const places = suspects.get(word)
    if (places) places.push(at)
    else suspects.set(word, [at])
  }
  if (suspects.size === 0) return new Map()
  const near = await index.wordsNear(view.user, [...suspects.keys()])
  const meantBy = new Map<number, readonly string[]>()
  for (const [word, candidates] of near) {
    const meant = candidates.filter((candidate) => isPlausibleTypo(word, candidate))
    if (meant.length > 0) for (const at of suspects.get(word) ?? []) meantBy.set(at, meant)
  }
  return meantBy
}

/**
 * The beliefs that each word names exactly. Such a word is no typo for a form of another belief. It may still be a typo for
 * a form of the same belief, or an alias that spells the typo would lower the score of the name.
 */
function ownersByWord(
  { literal, singular }: Words,
  postings: ReadonlyMap<string, readonly Posting[]>,
): ReadonlyMap<number, ReadonlySet<string>> {
  const owners = new Map<number, ReadonlySet<string>>()
  for (const [at, word] of literal.entries()) {
    const found = [...(postings.get(word) ?? []), ...(postings.get(singular[at] as string) ?? [])]
    if (found.length > 0) owners.set(at, new Set(found.map(({ beliefId }) => beliefId)))
  }
  return owners
}

/** Adds a mention to its belief for each form found, where the span may mean that belief. */
function addMentions(
  links: Map<string, { posting: Posting; mentions: Mention[] }>,
  runs: ReadonlyMap<string, Run>,
  mayMean: (beliefId: string, span: CandidateSpan) => boolean,
): void {
  for (const run of runs.values()) {
    const docFreq = new Set([...run.values()].map(({ posting }) => posting.beliefId)).size
    for (const { span, posting } of run.values()) {
      if (!mayMean(posting.beliefId, span)) continue
      const link = links.get(posting.beliefId) ?? { posting, mentions: [] }
      links.set(posting.beliefId, link)
      const { first, last, typo } = span
      link.mentions.push({ first, last, ordinal: posting.ordinal, typo, docFreq })
    }
  }
}

type Run = Map<string, { readonly span: CandidateSpan; readonly posting: Posting }>

/**
 * The forms found, by the words of the message in which they were found. Several spans of the same words are one run:
 * `errors` and `error` name the same beliefs, each form once, with one document frequency.
 */
function runsOf(
  tokens: readonly Token[],
  spans: readonly CandidateSpan[],
  postings: ReadonlyMap<string, readonly Posting[]>,
): ReadonlyMap<string, Run> {
  const runs = new Map<string, Run>()
  for (const span of spans) {
    const breaks = breaksIn(tokens, span)
    for (const posting of postings.get(span.key) ?? []) {
      if ((breaks & ~posting.breaks) !== 0) continue
      const place = `${span.first}-${span.last}-${span.typo?.meant ?? ''}`
      const run = runs.get(place) ?? new Map()
      runs.set(place, run)
      const form = `${posting.beliefId} ${posting.ordinal}`
      if (!run.has(form)) run.set(form, { span, posting })
    }
  }
  return runs
}
