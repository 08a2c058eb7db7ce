import type { Belief } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { nameKey } from '../../beliefs/identity.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { formAt } from '../../search/forms.ts'
import { type Link, type Linked, linkMessage } from '../../search/link.ts'
import { type Score, scoreLink } from '../../search/score.ts'
import type { Ports } from '../change/transaction.ts'
import { nearMissesOf } from '../explain/near-misses.ts'
import { parseBudget, Room } from './budget.ts'
import type { Budget, Context, MatchedForm, NearMiss, QuoteDecision, RelevantBelief } from './context.ts'
import { parseTime } from './parse-time.ts'
import { participantsOf } from './participants.ts'
import { mostPreludeBeliefs, preludeOf } from './prelude.ts'
import { quotesFor } from './quotes.ts'

/** Longest message looked at, in characters. */
export const longestMessage = 1_000_000

export type RecallRequest = {
  readonly user: string
  /** Beliefs of exactly these scopes and of their ancestors are in view. */
  readonly scopes: readonly string[]
  readonly message: string
  readonly agent?: string | null
  readonly budget?: Partial<Budget>
  /** Also say which beliefs were mentioned but left out, and why. */
  readonly nearMisses?: boolean
  /** What was known at this time. */
  readonly asOf?: string
  /** `everywhere`: pinned beliefs that a person edited are shown whatever the scope. Default `in-scope`. */
  readonly editedPins?: 'in-scope' | 'everywhere'
}

/** More near misses than this would not be read by anyone. */
const mostNearMisses = 50

/** Assembles the beliefs that belong in an agent's context for one message, and only those. */
export async function recall(ports: Ports, request: RecallRequest): Promise<Context> {
  const { asOf: time } = request
  const then = time === undefined ? ports : await (await import('./as-of.ts')).asOf(ports, request.user, time)
  return then.store.withSnapshot(async () => {
    const { context, misses, quoteDecision } = await assemble(then, request)
    if (request.nearMisses !== true) return context
    return { ...context, nearMisses: (await misses()).slice(0, mostNearMisses), quoteDecision }
  })
}

/** The context, and a way to every near miss there is. */
export async function assemble(
  { store }: Ports,
  request: RecallRequest,
): Promise<{
  readonly context: Context
  readonly misses: () => Promise<readonly NearMiss[]>
  readonly quoteDecision: QuoteDecision
}> {
  const { user, message, agent = null } = request
  const budget = parseBudget(request.budget)
  const scopes = parseScopes(request.scopes)
  const view: Viewpoint = { user, agent, scopes: visibleScopes(scopes) }
  if (message.length > longestMessage) throw tooLong(message.length)

  const [standing, allPinned, linked] = [
    await store.standing(view, mostPreludeBeliefs),
    await store.pinned(view, { editedEverywhere: request.editedPins === 'everywhere' }),
    await linkMessage(message, view, store),
  ]
  const room = new Room(budget)
  const questions = room.takeQuestions(allPinned.filter((belief) => belief.type === 'open_question').sort(byUrgency))
  const pinned = room.takePinned(allPinned.filter((belief) => belief.type !== 'open_question').sort(byUrgency))
  const pinnedIds = new Set(allPinned.map(({ id }) => id))

  const candidates = await rankedCandidates(store, user, linked, { pinnedIds, budget })
  const named = candidates.map((candidate) => relevantBelief(message, linked, candidate))
  const expanded = await participantsOf(store, view, named, pinnedIds)
  const relevant = room.takeRelevant([...named, ...expanded])

  const shown = { prelude: preludeOf(standing, budget.maxPrelude), pinned, relevant, questions }
  const { quotes, decision } = await quotesFor(store, {
    message,
    user,
    scopes: view.scopes,
    shown,
    maxQuotes: budget.maxQuotes,
    ...(request.asOf === undefined ? {} : { until: parseTime('until', request.asOf) }),
  })
  const context = { user, agent, scopes, ...shown, quotes }
  return {
    context,
    quoteDecision: decision,
    misses: () => nearMissesOf(store, { view, linked, context, leftOut: room.leftOut }),
  }
}

type Candidate = { readonly belief: Belief; readonly link: Link; readonly score: Score }

const isRelevantKind = ({ posting }: Link): boolean =>
  !posting.pinned && posting.type !== 'open_question' && posting.subtype !== 'expertise'

/** Best first. Only as many are loaded as could still make the cut, ties included. */
async function rankedCandidates(
  store: Ports['store'],
  user: string,
  linked: Linked,
  { pinnedIds, budget }: { pinnedIds: ReadonlySet<string>; budget: Budget },
): Promise<readonly Candidate[]> {
  const scored = linked.links
    .filter((link) => isRelevantKind(link) && !pinnedIds.has(link.posting.beliefId))
    .map((link) => ({ link, score: scoreLink(link, linked.population) }))
    .sort(
      (one, other) =>
        other.score.value - one.score.value || other.link.posting.reinforcedAt - one.link.posting.reinforcedAt,
    )
  const last = scored[budget.maxBeliefs]
  const inReach = last === undefined ? scored : scored.filter(({ score }) => score.value >= last.score.value)
  const beliefs = new Map(
    (
      await store.getMany(
        user,
        inReach.map(({ link }) => link.posting.beliefId),
      )
    ).map((belief) => [belief.id, belief]),
  )
  return inReach
    .flatMap(({ link, score }) => {
      const belief = beliefs.get(link.posting.beliefId)
      return belief === undefined ? [] : [{ belief, link, score }]
    })
    .sort((one, other) => other.score.value - one.score.value || byRecency(one.belief, other.belief))
}

function relevantBelief(message: string, { tokens }: Linked, { belief, score }: Candidate): RelevantBelief {
  const matches = score.clauses.map((clause): MatchedForm => {
    const words = clause.mentions.map(({ first, last, typo }) => {
      const start = tokens[first]?.start ?? 0
      const end = tokens[last]?.end ?? 0
      return { text: message.slice(start, end), start, end, typo: typo && { written: typo.written, meant: typo.meant } }
    })
    return { field: clause.field, form: formAt(belief, clause.ordinal), words, explanation: clause.explanation }
  })
  return { belief, score: score.value, explanation: score.explanation, matches, through: null }
}

/** Person-edited first, then most recently reinforced. */
const byUrgency = (one: Belief, other: Belief): number =>
  Number(other.editedByPerson) - Number(one.editedByPerson) || byRecency(one, other)

/** Most recently reinforced first, then by name; the rest only makes the order total. */
const byRecency = (one: Belief, other: Belief): number =>
  Date.parse(other.reinforcement.at) - Date.parse(one.reinforcement.at) ||
  compare(nameKey(one.name), nameKey(other.name)) ||
  compare(one.scopes.join(' '), other.scopes.join(' ')) ||
  compare(one.id, other.id)

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const tooLong = (length: number): MemoryError =>
  new MemoryError('invalid', `The message has ${length} characters; at most ${longestMessage} are looked at.`, {
    hint: 'Recall for the part that asks something.',
  })
