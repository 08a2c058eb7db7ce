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
import type { FormIndex, Posting } from './form-index.ts'
import { isForgivable, isPlausibleTypo } from './typo.ts'

/** A whole surface form of a belief, found in the message. Positions are of tokens, both inclusive. */
export type Mention = {
  readonly first: number
  readonly last: number
  readonly ordinal: number
  readonly typo: CandidateSpan['typo']
  /** How many beliefs in view this run of words can mean. */
  readonly docFreq: number
}

/** A belief the message mentions. */
export type Link = { readonly posting: Posting; readonly mentions: readonly Mention[] }

export type Linked = {
  readonly tokens: readonly Token[]
  readonly links: readonly Link[]
  /** Number of current beliefs in view, the base of every idf. */
  readonly population: number
  /** Every exact span of the message that begins like a form; near misses are looked up from it. */
  readonly spans: readonly CandidateSpan[]
}

/** Finds every current belief in view that has a whole surface form in the message. */
export async function linkMessage(message: string, view: Viewpoint, index: FormIndex): Promise<Linked> {
  const tokens = analyse(message)
  if (tokens.length === 0) return { tokens, links: [], population: 0, spans: [] }
  const words = wordsOf(tokens)
  const heads = [...new Set([...words.literal, ...words.singular])]
  const lengths = await index.formLengths(view.user, heads)
  const seconds = await index.secondWords(view.user, [...lengths.keys()])
  const exact = [...phraseSpans(words, { lengths, seconds }), ...compoundSpans(tokens)].filter((span) =>
    standsAlone(tokens, span),
  )
  const exactPostings = await index.postings(view, keysOf(exact))

  const meantBy = await wordsMeant(words, view, index)
  const typos = meantBy.size === 0 ? [] : await findTypoSpans(tokens, words, view, index, { lengths, meantBy })
  const typoPostings = typos.length === 0 ? new Map() : await index.postings(view, keysOf(typos))

  const links = new Map<string, { posting: Posting; mentions: Mention[] }>()
  const owners = ownersByWord(words, exactPostings)
  collect(links, tokens, exact, { postings: exactPostings, mayMean: () => true })
  collect(links, tokens, typos, {
    postings: typoPostings,
    mayMean: (id, typo) => typo === null || (owners.get(typo.at)?.has(id) ?? true),
  })
  const population = links.size === 0 ? 0 : await index.population(view)
  return { tokens, links: [...links.values()], population, spans: exact }
}

const keysOf = (spans: readonly CandidateSpan[]): readonly string[] => [...new Set(spans.map((span) => span.key))]

/** For each position whose word may be a slip, the known words it may stand for. */
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
 * A word that is itself a form is no slip for another's. Its own beliefs may still be meant by it in both ways, or an
 * alias for the slip would take away from the name it is a slip for.
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

async function findTypoSpans(
  tokens: readonly Token[],
  words: Words,
  view: Viewpoint,
  index: FormIndex,
  found: { lengths: ReadonlyMap<string, readonly number[]>; meantBy: ReadonlyMap<number, readonly string[]> },
): Promise<readonly CandidateSpan[]> {
  const meantLengths = await index.formLengths(view.user, [...new Set([...found.meantBy.values()].flat())])
  const lengths = new Map([...found.lengths, ...meantLengths])
  return typoSpans(words, lengths, found.meantBy).filter((span) => standsAlone(tokens, span))
}

/** Turns spans with postings into mentions, grouped by belief. */
function collect(
  links: Map<string, { posting: Posting; mentions: Mention[] }>,
  tokens: readonly Token[],
  spans: readonly CandidateSpan[],
  found: {
    readonly postings: ReadonlyMap<string, readonly Posting[]>
    readonly mayMean: (beliefId: string, typo: CandidateSpan['typo']) => boolean
  },
): void {
  for (const run of runsOf(tokens, spans, found.postings).values()) {
    const docFreq = new Set([...run.values()].map(({ posting }) => posting.beliefId)).size
    for (const { span, posting } of run.values()) {
      if (!found.mayMean(posting.beliefId, span.typo)) continue
      const link = links.get(posting.beliefId) ?? { posting, mentions: [] }
      links.set(posting.beliefId, link)
      const { first, last, typo } = span
      link.mentions.push({ first, last, ordinal: posting.ordinal, typo, docFreq })
    }
  }
}

type Run = Map<string, { readonly span: CandidateSpan; readonly posting: Posting }>

/**
 * The forms found, by the words of the message they were found in. Several spans of the same words are one run:
 * `errors` and `error` name the same beliefs, each form once, with one frequency.
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
