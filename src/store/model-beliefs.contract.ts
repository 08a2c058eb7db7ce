import {
  type Belief,
  compareStanding,
  isCurrent,
  isStanding,
  isVisibleTo,
  passesFilter,
  reinforcedAt,
} from '../beliefs/belief.ts'
import type { CommitResult, Viewpoint } from '../beliefs/belief-store.ts'
import { compareText } from '../beliefs/identity.ts'
import type { Commit } from '../beliefs/journal.ts'
import { universalScope } from '../beliefs/scope.ts'
import type { TurnStore } from '../beliefs/turn-store.ts'
import type { FullText, Posting, TextHit } from '../search/form-index.ts'
import type { Store } from '../search/store-port.ts'
import type { MeaningIndex, TurnIndex } from '../search/turns/turn-index.ts'
import { isOneEditApart, typoProbes } from '../search/typo.ts'
import { compareReinforcement, compareUpdate, nameKeyInScope } from './belief-row.ts'
import { type CheckedChange, checkChanges, resultWithoutWrite } from './checked-commit.ts'
import { ModelJournal } from './model-journal.contract.ts'
import { UserBeliefs } from './model-user.contract.ts'
import { rankText, type TermMatch, textFields, textTerm } from './text-terms.ts'

export type ModelOptions = {
  readonly random: (bytes: number) => Uint8Array
  /** `one`: events of all users are numbered and chained together, as in SQLite. `per user`: as in PostgreSQL. Default `one`. */
  readonly journals?: 'one' | 'per user'
  readonly turns: { isStale(commit: Commit): boolean; apply(commit: Commit): void }
}

/** Opens the beliefs of the reference model. */
export function openModelBeliefs({ random, journals = 'one', turns }: ModelOptions): Store {
  const common = new ModelJournal(random)
  const own = new Map<string, ModelJournal>()
  const journalOf = (user: string): ModelJournal => {
    if (journals === 'one') return common
    const journal = own.get(user) ?? new ModelJournal(random)
    own.set(user, journal)
    return journal
  }
  const users = new Map<string, UserBeliefs>()
  const noBeliefs = new UserBeliefs()
  const of = (user: string): UserBeliefs => users.get(user) ?? noBeliefs
  const matching = (user: string, condition: (belief: Belief) => boolean): Belief[] => of(user).all().filter(condition)

  function commit(commit: Commit): CommitResult {
    const { user } = commit
    const journal = journalOf(user)
    const changes = checkChanges(commit).map(withOwnCopy)
    const settled = resultWithoutWrite(commit, {
      eventByKey: (key) => journal.eventByKey(user, key),
      event: (number) => journal.event(user, number),
    })
    if (settled !== null) return settled
    const isStale =
      changes.some((change) => change.expectedVersion !== journal.versionOf(user, change.beliefId)) ||
      turns.isStale(commit) ||
      !of(user).canHold(changes)
    if (isStale) return { outcome: 'stale' }

    const event = journal.append(commit, changes)
    const held = users.get(user) ?? new UserBeliefs()
    users.set(user, held)
    held.apply(changes)
    turns.apply(commit)
    return { outcome: 'committed', event }
  }

  const postings = (view: Viewpoint, keys: readonly string[]): ReadonlyMap<string, readonly Posting[]> =>
    collect(keys, (key) =>
      of(view.user)
        .withKey(key)
        .flatMap(({ belief, ordinal, breaks }) => {
          if (!isCurrent(belief) || !isInView(belief, view)) return []
          const { id: beliefId, type, subtype, pinned } = belief
          return [{ beliefId, type, subtype, pinned, reinforcedAt: reinforcedAt(belief), ordinal, breaks }]
        }),
    )

  function matchText(query: Parameters<FullText['matchText']>[0]): readonly TextHit[] {
    const { user, agent, scopes, includeRetired } = query
    const inView = matching(user, (belief) => {
      if (isCurrent(belief) ? includeRetired === 'only' : !includeRetired) return false
      return isVisibleTo(belief.agent, agent) && (scopes === null || isIn(belief, scopes))
    })
    const texts = inView.map(({ id }) => of(user).textOf(id))
    const words = texts.reduce((total, { length }) => total + length, 0)
    const asked = [...new Set(query.words.map(textTerm))]
    const beginning = query.beginning === undefined ? null : textTerm(query.beginning)
    const matches = asked.map((term, index) =>
      texts.flatMap(({ beliefId, length, terms }): TermMatch[] => {
        const isMeant = (word: string): boolean =>
          word === term || (beginning !== null && index === asked.length - 1 && word.startsWith(beginning))
        const counts = textFields.map((field) => [field, terms[field].filter(isMeant).length] as const)
        return counts.some(([, count]) => count > 0) ? [{ beliefId, length, counts: Object.fromEntries(counts) }] : []
      }),
    )
    const terms = matches.map((holders) => ({ docFreq: holders.length, holders }))
    return rankText(terms, { beliefs: inView.length, words }, query)
  }

  return {
    commit: async (request) => commit(request),
    get: async (user, id) => of(user).get(id),
    getMany: async (user, ids) => [...new Set(ids)].flatMap((id) => of(user).get(id) ?? []),
    idsStartingWith: async (user, prefix, limit) =>
      matching(user, ({ id }) => id.startsWith(prefix))
        .map(({ id }) => id)
        .sort(compareText)
        .slice(0, limit),
    named: async (user, name) =>
      matching(user, (belief) => nameKeyInScope(belief.name) === nameKeyInScope(name)).sort(
        (a, b) => Number(isCurrent(b)) - Number(isCurrent(a)) || compareUpdate(a, b),
      ),
    holders: async (user, name, scopes) => of(user).holders(name, scopes).sort(compareUpdate),
    supersededBy: async (user, id) => matching(user, ({ supersededBy }) => supersededBy === id).sort(compareUpdate),
    proposalsFor: async (user, id) => matching(user, ({ proposedFor }) => proposedFor === id).sort(compareUpdate),
    list: async (filter, { limit, offset, order = 'updated' }) => {
      // This model does not count recalls, so it finds no recalled beliefs.
      const found = filter.recalled === true ? [] : matching(filter.user, (belief) => passesFilter(belief, filter))
      const byName = (a: Belief, b: Belief): number => compareText(nameKeyInScope(a.name), nameKeyInScope(b.name))
      const items = found.sort((a, b) => (order === 'name' ? byName(a, b) : 0) || compareUpdate(a, b))
      return { items: items.slice(offset, offset + limit), total: items.length }
    },
    scopes: async (user) => {
      const counts = new Map<string, number>()
      for (const belief of of(user).all()) {
        for (const scope of new Set(belief.scopes))
          counts.set(scope, (counts.get(scope) ?? 0) + Number(isCurrent(belief)))
      }
      return [...counts].map(([scope, beliefs]) => ({ scope, beliefs })).sort((a, b) => compareText(a.scope, b.scope))
    },
    pinned: async (view, { editedEverywhere }) =>
      matching(
        view.user,
        (belief) =>
          belief.pinned &&
          isCurrent(belief) &&
          isVisibleTo(belief.agent, view.agent) &&
          (isIn(belief, view.scopes) || (editedEverywhere && belief.editedByPerson)),
      ).sort(compareReinforcement),
    standing: async (view, limit) =>
      matching(
        view.user,
        (belief) =>
          isVisibleTo(belief.agent, view.agent) &&
          belief.scopes.some(
            (scope) => (scope === universalScope || view.scopes.includes(scope)) && isStanding(belief, scope),
          ),
      )
        .sort(compareStanding)
        .slice(0, limit),
    events: async (user, page) => journalOf(user).events(user, page),
    event: async (user, number) => journalOf(user).event(user, number),
    eventByKey: async (user, key) => journalOf(user).eventByKey(user, key),
    lastUndoable: async (user) => journalOf(user).lastUndoable(user),
    history: async (user, beliefId) => journalOf(user).history(user, beliefId),
    revisions: async (user, number) => journalOf(user).revisions(user, number),
    formLengths: async (user, words) => collect(words, (word) => of(user).formLengths(word)),
    postings: async (view, keys) => postings(view, keys),
    everyHolder: async (user, keys) =>
      collect(keys, (key) =>
        of(user)
          .withKey(key)
          .map(({ belief }) => belief.id),
      ),
    wordsNear: async (user, words) =>
      collect(words, (written) => {
        const near = new Set(typoProbes(written).flatMap((key) => of(user).wordsWithTypoKey(key)))
        return [...near].filter((word) => isOneEditApart(written, word)).sort(compareText)
      }),
    population: async (view) => matching(view.user, (belief) => isCurrent(belief) && isInView(belief, view)).length,
    matchText: async (query) => matchText(query),
    ...noTurns,
    tryOut: async () => {
      throw new Error('The model tries nothing out.')
    },
    withSnapshot: (work) => work(),
    close: async () => {},
  }
}

const noTurns: TurnStore & TurnIndex & MeaningIndex = {
  knownTurns: async (_, heard) => heard.map(() => null),
  getTurn: async () => null,
  turnIdsStartingWith: async () => [],
  listTurns: async () => ({ items: [], total: 0 }),
  listSessions: async () => ({ items: [], total: 0 }),
  exportTurns: async () => ({ turns: [], next: null }),
  judgeOldTurns: async () => false,
  turnPostings: async () => ({ units: 0, length: 0, humanWords: 0, terms: new Map(), inView: null }),
  turnSpeakers: async () => [],
  lastStep: async () => null,
  unitsAround: async () => [],
  turnsAt: async () => new Map(),
  turnCosines: async () => ({
    rows: new Int32Array(),
    cosines: new Float32Array(),
    isEvery: true,
    mean: 0,
    deviation: 0,
  }),
  beliefCosines: async () => [],
  vectorsAt: async () => new Map(),
  withoutVectors: async () => ({ texts: [], next: null }),
  keepVectors: async () => {},
  hasVectors: async () => false,
  vectorCounts: async () => ({ indexed: 0, waiting: 0 }),
}

const isIn = (belief: Belief, scopes: readonly string[]): boolean =>
  belief.scopes.some((scope) => scopes.includes(scope))

const isInView = (belief: Belief, { agent, scopes }: Viewpoint): boolean =>
  isVisibleTo(belief.agent, agent) && isIn(belief, scopes)

/** The items of each key, in the order of the keys. Keys without items are left out. */
function collect<Item>(
  keys: readonly string[],
  find: (key: string) => readonly Item[],
): ReadonlyMap<string, readonly Item[]> {
  const found = new Map<string, readonly Item[]>()
  for (const key of new Set(keys)) {
    const items = find(key)
    if (items.length > 0) found.set(key, items)
  }
  return found
}

/** A copy, so that a belief does not change when the caller's object does. */
const withOwnCopy = (change: CheckedChange): CheckedChange =>
  change.after === null ? change : { ...change, after: JSON.parse(JSON.stringify(change.after)) as Belief }
