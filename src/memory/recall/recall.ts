import { authorityOf, type Belief, isCurrent, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { compareStrings, isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { leaf } from '../../search/explanation.ts'
import { formAt, formKeys } from '../../search/forms.ts'
import { type Link, type Linked, linkMessage } from '../../search/link.ts'
import { cutMessage, isTooLong, keepEnds, placeInWhole } from '../../search/message.ts'
import { type Score, scoreLinks } from '../../search/score.ts'
import { forEachInSlices, splitIntoParts } from '../../search/slices.ts'
import type { Push } from '../../search/turns/push.ts'
import type { Question } from '../../search/turns/question.ts'
import type { PushedQuote } from '../../search/turns/quotes.ts'
import { meaningFor } from '../conversation/meaning-for.ts'
import type { NearBelief } from '../meaning/belief-meaning.ts'
import type { Ports, Store } from '../ports.ts'
import { ContextBudget, isByAgent, maxPreludeBeliefs, parseBudget, preludeOf } from './budget.ts'
import type {
  Budget,
  Context,
  MatchedForm,
  NamedAnyway,
  NearMiss,
  PerhapsBelief,
  Quote,
  QuoteDecision,
  RelevantBelief,
} from './context.ts'
import type { Retirement } from './retired-quotes.ts'

export type RecallRequest = {
  readonly user: string
  /** Only beliefs in these scopes and their ancestors are in view. */
  readonly scopes: readonly string[]
  readonly message: string
  readonly agent?: string | null
  readonly budget?: Partial<Budget>
  /** Also lists beliefs that the message mentions but the context leaves out, and why. */
  readonly nearMisses?: boolean
  /** Recalls from the state of the memory at this time. */
  readonly asOf?: string
  /** `everywhere`: pinned beliefs that a person edited are shown in every scope. Default `in-scope`. */
  readonly editedPins?: 'in-scope' | 'everywhere'
}

const maxNearMisses = 50
/** Max time that a recall waits for the vector of its message, for example while the model is loaded. */
const defaultWaitMs = 300
/** Max candidates to load when looking for beliefs that no agent wrote. */
const maxLoaded = 1_000

/** Assembles the beliefs that belong in an agent's context for one message, and only those. */
export async function recall(ports: Ports, request: RecallRequest): Promise<Context> {
  const { asOf: time } = request
  if (time === undefined) return recallFrom(ports, request)
  const past = await (await import('./as-of.ts')).asOf(ports, request.user, time)
  return recallFrom(past, request).finally(past.store.close)
}

const recallFrom = (ports: Ports, request: RecallRequest): Promise<Context> =>
  ports.store.withSnapshot(async () => {
    const { context, misses, namedAnyway, quoteDecision } = await assemble(ports, request)
    if (request.nearMisses !== true) return context
    const isTold = ({ belief }: NearMiss): boolean => context.prelude?.beliefIds.includes(belief.id) ?? false
    const nearMisses = (await misses()).filter((miss) => !isTold(miss)).slice(0, maxNearMisses)
    return { ...context, nearMisses, namedAnyway: await namedAnyway(), quoteDecision }
  })

/** Assembles the context, and returns it with a function that finds every near miss. */
export async function assemble(
  ports: Ports,
  request: RecallRequest,
): Promise<{
  readonly context: Context
  readonly misses: () => Promise<readonly NearMiss[]>
  readonly namedAnyway: () => Promise<readonly NamedAnyway[]>
  readonly quoteDecision: QuoteDecision
  readonly push: Push
  /** The beliefs nearest to the message in meaning, shown or not. */
  readonly near: readonly NearBelief[]
}> {
  const { store, agentShare, recallBoldness, recallByMeaning } = ports
  const { user, message, agent = null } = request
  const limits = parseBudget(request.budget, agentShare)
  const scopes = parseScopes(request.scopes)
  const view: Viewpoint = { user, agent, scopes: visibleScopes(scopes) }

  const mayQuote = limits.maxQuotes > 0 && message.trim() !== ''
  const mayBePerhaps = mayQuote && recallByMeaning === true && recallBoldness !== 'quiet'
  // Requested together, since a networked store answers them in one round trip.
  const [standing, pins, linked, push, near] = await Promise.all([
    store.standing(view, maxPreludeBeliefs),
    store.pinned(view, { editedEverywhere: request.editedPins === 'everywhere' }),
    linkMessage(cutMessage(message), view, store),
    mayQuote ? findQuotes(ports, request, view.scopes) : nothingQuoted,
    mayBePerhaps ? findNearBeliefs(ports, request) : [],
  ])
  const budget = new ContextBudget(limits)
  const { pinnedIds, ...inOrder } = pinsInOrder(pins)
  const questions = budget.takeQuestions(inOrder.questions)
  const pinned = budget.takePinned(inOrder.beliefs)

  const candidates = await rankedCandidates(store, linked, { view, pinnedIds, limits })
  const participants = await participantsOf(store, view, candidates, pinnedIds)
  const retirements = await retirementsOf(store, view, push.quotes)
  const named = new Set([...candidates, ...participants].map(({ belief }) => belief.id))
  const prelude = preludeOf(standing, limits.maxPrelude)
  const isThere = (id: string): boolean =>
    named.has(id) || pinnedIds.has(id) || prelude?.beliefIds.includes(id) === true
  const corrections = correctionsIn(retirements).filter(({ belief }) => !isThere(belief.id))
  const relevant: RelevantBelief[] = []
  const taken = budget.takeRelevant<Candidate | RelevantBelief>([...candidates, ...participants, ...corrections])
  await forEachInSlices(taken, (one) => {
    relevant.push('scored' in one ? relevantBelief(message, linked, one) : one)
  })

  const shown = { prelude, pinned, relevant, questions }
  const { asked, unknown, probability, levels, unclear, meaning } = push
  const told = new Set([...standing, ...pinned, ...relevant.map(({ belief }) => belief)].map(({ id }) => id))
  const quotes = await chooseQuotes(push.quotes, { retirements, told, standing, shown, message, limits })
  const known = new Set([...told, ...named, ...pinnedIds, ...linked.links.map(({ posting }) => posting.beliefId)])
  const perhaps = budget.takeRelevant(
    await perhapsAmong(store, near, { view, message, quotes, isKnown: (id) => known.has(id) }),
  )
  const context = { user, agent, scopes, ...shown, quotes, perhaps, isMessageCut: isTooLong(message) }
  const [best] = push.considered
  return {
    context,
    push,
    near,
    quoteDecision: {
      asked,
      unknown,
      probability,
      levels,
      unclear,
      meaning,
      best: best === undefined ? null : quoteOf(best),
    },
    misses: async () => {
      const { nearMissesOf } = await import('../explain/near-misses.ts')
      return nearMissesOf(store, { view, linked, context, leftOut: budget.leftOut })
    },
    namedAnyway: () => {
      const always = new Set([...pinned, ...questions].map(({ id }) => id).concat(shown.prelude?.beliefIds ?? []))
      return findNamed(store, request, linked, always)
    },
  }
}

const nothingQuoted: Push = {
  quotes: [],
  meaning: 'words',
  considered: [],
  unclear: [],
  asked: [],
  unknown: [],
  probability: 0,
  levels: { sure: 1, perhaps: 1 },
}

async function findQuotes(
  { store, now, embedder, recallBoldness, recallByMeaning, recallWaitMs = defaultWaitMs }: Ports,
  { user, message, asOf, nearMisses }: RecallRequest,
  scopes: readonly string[],
): Promise<Push> {
  const said = { user, scopes, ...(asOf === undefined ? {} : { until: now().getTime() }) }
  // Quotes are skipped if there are no turns, because analysing the message for quotes takes as long as finding its mentions.
  if (nearMisses !== true && (await store.turnPostings(said, [])).units === 0) return nothingQuoted
  const meaning = (question: Question) =>
    meaningFor({ store, embedder }, { user, question, message: keepEnds(message) }, recallWaitMs)
  return (await loadQuotes()).pushQuotes(store, said, keepEnds(message), {
    now: now(),
    ...omitUndefined({ boldness: recallBoldness }),
    ...(recallByMeaning === true ? { meaning } : {}),
  })
}

async function findNearBeliefs(
  { store, embedder, recallWaitMs = defaultWaitMs }: Ports,
  { user, message }: RecallRequest,
): Promise<readonly NearBelief[]> {
  const { findBeliefsByMeaning } = await import('../meaning/belief-meaning.ts')
  return findBeliefsByMeaning({ store, embedder }, { user, message: keepEnds(message) }, recallWaitMs)
}

/** The part of a context that is chosen before the quotes. */
type BeforeQuotes = {
  readonly retirements: ReadonlyMap<PushedQuote, Retirement>
  /** Ids of the beliefs that the context shows. */
  readonly told: ReadonlySet<string>
  readonly standing: readonly Belief[]
  readonly shown: Pick<Context, 'prelude' | 'pinned' | 'relevant' | 'questions'>
  readonly message: string
  readonly limits: Budget
}

/** Chooses the quotes to show. Leaves out outdated statements if the current one is not in the context, and quotes that a belief in the context repeats. */
async function chooseQuotes(
  found: readonly PushedQuote[],
  { retirements, told, standing, shown, message, limits }: BeforeQuotes,
): Promise<readonly Quote[]> {
  const mayShow = (quote: PushedQuote): boolean => {
    const retirement = retirements.get(quote)
    // An outdated statement is quoted only after the current one.
    return retirement === undefined || (retirement.current !== null && told.has(retirement.current.id))
  }
  const isStated = (quote: PushedQuote): boolean =>
    !retirements.has(quote) && isShownAlready(quote.text, standing, shown)
  const allowed = found.filter(mayShow)
  const chosen = withNewer([
    ...allowed.filter(isStated),
    ...allowed.filter((quote) => quote.level === 'sure' && !isStated(quote)).slice(0, limits.maxQuotes),
    ...allowed.filter((quote) => quote.level === 'perhaps' && !isStated(quote)),
  ]).filter((quote) => !isStated(quote))
  const correctedAt = new Map(chosen.map((quote) => [quote.turn.id, retirements.get(quote)?.at ?? null]))
  return (await withOvertaken(chosen, shown.relevant, message)).map((quote) =>
    quoteOf(quote, correctedAt.get(quote.turn.id) ?? null),
  )
}

/** The beliefs with these ids that the message names, each with its matches. */
async function findNamed(
  store: Store,
  { user, message }: RecallRequest,
  linked: Linked,
  ids: ReadonlySet<string>,
): Promise<readonly NamedAnyway[]> {
  const links = linked.links.filter(({ posting }) => ids.has(posting.beliefId))
  const beliefs = await store.getMany(user, [...new Set(links.map(({ posting }) => posting.beliefId))])
  const linkOf = new Map(links.map((link) => [link.posting.beliefId, link]))
  const scores = await scoreLinks(
    beliefs.map(({ id }) => linkOf.get(id) as Link),
    linked.population,
  )
  return beliefs.map((belief, at) => {
    const scored = scores[at] as Score
    return { beliefId: belief.id, matches: matchesOf(message, linked, { belief, scored }) }
  })
}

type Shown = {
  readonly view: Viewpoint
  readonly message: string
  readonly quotes: readonly Quote[]
  readonly isKnown: (id: string) => boolean
}

/**
 * The near beliefs that are shown as perhaps relevant: as many as there are lines left after the quotes. Leaves out
 * beliefs that the message names, because recall has already decided about those, and beliefs that a quote repeats.
 */
async function perhapsAmong(
  store: Store,
  near: readonly NearBelief[],
  { view, message, quotes, isKnown }: Shown,
): Promise<readonly PerhapsBelief[]> {
  if (near.length === 0) return []
  const { minCosine } = await import('../meaning/belief-meaning.ts')
  const cosines = new Map(near.map(({ beliefId, cosine }) => [beliefId, cosine]))
  const ids = [...cosines].flatMap(([id, cosine]) => (cosine >= minCosine && !isKnown(id) ? [id] : []))
  if (ids.length === 0) return []
  const { maxLinesFor } = await loadQuotes()
  const { sortNewestValueFirst } = await import('../change/other-value.ts')
  const found = (await store.getMany(view.user, ids))
    .filter(
      (belief) =>
        isCurrent(belief) &&
        isInView(belief, view) &&
        belief.type !== 'open_question' &&
        belief.subtype !== 'expertise' &&
        !quotes.some(({ text }) => areAlike(text, belief.content)),
    )
    .map((belief) => ({ belief, cosine: cosines.get(belief.id) ?? 0, minCosine }))
    .sort((a, b) => b.cosine - a.cosine || byRecency(a.belief, b.belief))
  return sortNewestValueFirst(found).slice(0, Math.max(0, maxLinesFor(keepEnds(message)) - quotes.length))
}

/** Keeps a quote only if all newer quotes about the same thing are kept and come before it. */
function withNewer(quotes: readonly PushedQuote[]): readonly PushedQuote[] {
  const shown = new Set<string>()
  return quotes.filter(({ turn, newer }) => {
    const isShown = newer.every((id) => shown.has(id))
    if (isShown) shown.add(turn.id)
    return isShown
  })
}

/** The retirement of each quote whose statement was corrected or settled. */
async function retirementsOf(
  store: Store,
  view: Viewpoint,
  quotes: readonly PushedQuote[],
): Promise<ReadonlyMap<PushedQuote, Retirement>> {
  if (quotes.length === 0) return new Map()
  const { findRetirement } = await import('./retired-quotes.ts')
  const found = new Map<PushedQuote, Retirement>()
  for (const quote of quotes) {
    const { id, role, at } = quote.turn
    const retirement = await findRetirement(store, view, { turn: id, role, at, text: quote.text })
    if (retirement !== null) found.set(quote, retirement)
  }
  return found
}

/** The current statements that replace quoted ones. */
function correctionsIn(retirements: ReadonlyMap<PushedQuote, Retirement>): readonly RelevantBelief[] {
  const found = [...retirements.values()].flatMap(({ old, current }) => {
    if (current === null) return []
    const explanation = leaf(`the correction of "${old.content}"`, 0)
    return [[current.id, { belief: current, score: 0, explanation, matches: [], through: old.id }] as const]
  })
  return [...new Map(found).values()]
}

/** Marks quotes as earlier if they are older than a shown belief of the person about the same thing. */
async function withOvertaken(
  quotes: readonly PushedQuote[],
  relevant: readonly RelevantBelief[],
  message: string,
): Promise<readonly PushedQuote[]> {
  const stated = relevant
    .filter(({ belief }) => authorityOf(belief) === 'person')
    .map(({ belief: { content, provenance } }) => ({ text: content, at: Date.parse(provenance.at) }))
  return quotes.length === 0 || stated.length === 0
    ? quotes
    : (await import('../../search/turns/quotes.ts')).markOvertaken(quotes, stated, keepEnds(message))
}

/** Loaded only if something can be quoted, because every module slows down a one-shot command. */
let quotesModule: Promise<typeof import('../../search/turns/push.ts')> | undefined
const loadQuotes = () => {
  quotesModule ??= import('../../search/turns/push.ts')
  return quotesModule
}

type Pins = {
  readonly questions: readonly Belief[]
  readonly beliefs: readonly Belief[]
  readonly pinnedIds: ReadonlySet<string>
}

/** The sorted pins of each list of beliefs. */
const knownPins = new WeakMap<readonly Belief[], Pins>()

/** Pinned beliefs in the order in which they are shown, cached: stores return the same list until something changes. */
function pinsInOrder(pinned: readonly Belief[]): Pins {
  const known = knownPins.get(pinned)
  if (known !== undefined) return known
  const sorted = pinned.toSorted((a, b) => Number(b.editedByPerson) - Number(a.editedByPerson) || byRecency(a, b))
  const pins = {
    questions: sorted.filter(({ type }) => type === 'open_question'),
    beliefs: sorted.filter(({ type }) => type !== 'open_question'),
    pinnedIds: new Set(sorted.map(({ id }) => id)),
  }
  knownPins.set(pinned, pins)
  return pins
}

type Candidate = { readonly belief: Belief; readonly link: Link; readonly score: number; readonly scored: Score }

/** The candidates, best first. Loads only as many as could still fit, and those with an equal score. */
async function rankedCandidates(
  store: Store,
  { links, population }: Linked,
  { view, pinnedIds, limits }: { view: Viewpoint; pinnedIds: ReadonlySet<string>; limits: Budget },
): Promise<readonly Candidate[]> {
  const mayBeRelevant = ({ posting }: Link): boolean =>
    !posting.pinned &&
    !pinnedIds.has(posting.beliefId) &&
    posting.type !== 'open_question' &&
    posting.subtype !== 'expertise'
  const possible = links.filter(mayBeRelevant)
  const scores = await scoreLinks(possible, population)
  const scored = possible
    .map((link, at) => ({ link, score: scores[at] as Score }))
    .sort((a, b) => b.score.value - a.score.value)
  const beliefs = new Map<string, Belief>()
  let inReach: typeof scored = []
  // If agents' beliefs exceed their share, loads more: other authors' beliefs with lower scores take their place.
  for (let count = limits.maxBeliefs; inReach.length < Math.min(scored.length, maxLoaded); count *= 4) {
    const lowest = scored[count]?.score.value ?? Number.NEGATIVE_INFINITY
    const known = inReach.length
    inReach = scored.filter(({ score }) => score.value >= lowest)
    const ids = inReach.slice(known).map(({ link }) => link.posting.beliefId)
    await forEachInSlices(splitIntoParts(ids), async (part) => {
      // Checked again, because linking a long message takes several slices, and a belief may have changed in the meantime.
      for (const belief of await store.getMany(view.user, part))
        if (isCurrent(belief) && isInView(belief, view)) beliefs.set(belief.id, belief)
    })
    const byAgents = [...beliefs.values()].filter(isByAgent).length
    if (beliefs.size - Math.max(0, byAgents - limits.maxFromAgents) >= limits.maxBeliefs) break
  }
  return inReach
    .flatMap(({ link, score }) => {
      const belief = beliefs.get(link.posting.beliefId)
      return belief === undefined ? [] : [{ belief, link, score: score.value, scored: score }]
    })
    .sort((a, b) => b.score - a.score || byRecency(a.belief, b.belief))
}

function relevantBelief(message: string, linked: Linked, candidate: Candidate): RelevantBelief {
  const { belief, score, scored } = candidate
  const matches = matchesOf(message, linked, candidate)
  return { belief, score, explanation: scored.explanation, matches, through: null }
}

function matchesOf(
  message: string,
  { tokens, population }: Linked,
  { belief, scored }: Pick<Candidate, 'belief' | 'scored'>,
): readonly MatchedForm[] {
  return scored.clauses.map((clause): MatchedForm => {
    const words = clause.mentions.map(({ first, last, typo }) => {
      const start = placeInWhole(message, tokens[first]?.start ?? 0)
      const end = start + (tokens[last]?.end ?? 0) - (tokens[first]?.start ?? 0)
      return { text: message.slice(start, end), start, end, typo: typo && { written: typo.written, meant: typo.meant } }
    })
    const holders = clause.mentions[0]?.docFreq ?? 0
    const { field, explanation } = clause
    return { field, form: formAt(belief, clause.ordinal), words, holders, population, explanation }
  })
}

/** Most recently reinforced first, then by name; scopes and id only make the order total. */
const byRecency = (a: Belief, b: Belief): number =>
  // Compares the texts of the times first: parsing them is slow, and beliefs that were imported together have equal times.
  (a.reinforcement.at !== b.reinforcement.at && Date.parse(b.reinforcement.at) - Date.parse(a.reinforcement.at)) ||
  compareStrings(nameKey(a.name), nameKey(b.name)) ||
  compareStrings(a.scopes.join(' '), b.scopes.join(' ')) ||
  compareStrings(a.id, b.id)

/** The participants in view of every relation that the message names, without beliefs that it names directly. */
async function participantsOf(
  store: Store,
  view: Viewpoint,
  named: readonly { readonly belief: Belief }[],
  pinnedIds: ReadonlySet<string>,
): Promise<readonly RelevantBelief[]> {
  const present = new Set([...named.map(({ belief }) => belief.id), ...pinnedIds])
  const found: RelevantBelief[] = []
  for (const { belief: relation } of named.filter(({ belief }) => belief.type === 'relation')) {
    for (const belief of await participants(store, view, relation)) {
      const mayBeShown = isInView(belief, view) && isCurrent(belief) && belief.type !== 'open_question'
      if (!mayBeShown || present.has(belief.id)) continue
      present.add(belief.id)
      const explanation = leaf(`part of the relation "${relation.name}"`, 0)
      found.push({ belief, score: 0, explanation, matches: [], through: relation.id })
    }
  }
  return found
}

const isInView = ({ agent, scopes }: Belief, view: Viewpoint): boolean =>
  isVisibleTo(agent, view.agent) && scopes.some((scope) => view.scopes.includes(scope))

/** Finds the participants of a relation. Each is given by an id, or by the name or alias of beliefs in view. */
async function participants(store: Store, view: Viewpoint, relation: Belief): Promise<readonly Belief[]> {
  const byId = new Map((await store.getMany(view.user, relation.participants)).map((belief) => [belief.id, belief]))
  const found: Belief[] = []
  for (const participant of relation.participants) {
    const belief = byId.get(participant)
    if (belief !== undefined) {
      found.push(await successorByName(store, belief))
      continue
    }
    const keys = formKeys(participant).map(({ key }) => key)
    const postings = [...(await store.postings(view, keys)).values()].flat()
    found.push(...(await store.getMany(view.user, [...new Set(postings.map(({ beliefId }) => beliefId))])))
  }
  return found
}

/** Follows a corrected participant of a relation to its successor, as long as the successor still has the old name. */
async function successorByName(store: Store, belief: Belief): Promise<Belief> {
  const key = nameKey(belief.name)
  let successor = belief
  const seen = new Set<string>()
  while (successor.supersededBy !== null && !seen.has(successor.id)) {
    seen.add(successor.id)
    const next = await store.get(successor.user, successor.supersededBy)
    if (next === null || ![next.name, ...next.aliases].some((form) => nameKey(form) === key)) return successor
    successor = next
  }
  return successor
}

/** Whether a belief in the context makes the same statement as a quote, or one of the two texts contains the other. */
function isShownAlready(
  quote: string,
  standing: readonly Belief[],
  { prelude, pinned, relevant, questions }: Pick<Context, 'prelude' | 'pinned' | 'relevant' | 'questions'>,
): boolean {
  // Includes standing instructions, because agents get them at the beginning of a session.
  const beliefs = [...standing, ...pinned, ...relevant.map(({ belief }) => belief), ...questions]
  const statements = [...beliefs.map(({ content }) => content), ...(prelude?.text.split('\n') ?? [])]
  return statements.some((statement) => areAlike(quote, statement))
}

/** Whether two texts are the same, or one contains the other. */
function areAlike(a: string, b: string): boolean {
  const wordsOfA = words(a)
  const wordsOfB = words(b)
  return isSameStatement(a, b) || wordsOfA.includes(wordsOfB) || wordsOfB.includes(wordsOfA)
}

/** The words of a text, without the dates that were added to relative days. */
const words = (text: string): string =>
  text
    .toLowerCase()
    .replace(/ \[\d{4}-\d{2}(?:-\d{2})?\]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

export const quoteOf = (
  { turn, isEarlier, newer: _, text, ...pushed }: PushedQuote,
  correctedAt: string | null = null,
): Quote => ({
  ...pushed,
  text,
  turn: turn.id,
  session: turn.session,
  speaker: turn.speaker,
  role: turn.role,
  at: turn.at,
  utcOffset: turn.utcOffset,
  earlier: isEarlier,
  correctedAt,
})
