import { isCurrent } from '../../beliefs/belief.ts'
import { nameKey } from '../../beliefs/identity.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { type AnswerHit, emptyAnswer, type System, type SystemQuery } from './system.ts'

type Standpoint = Pick<SystemQuery, 'user' | 'scopes' | 'recall'>

/** The beliefs of a run, with the boundaries that all systems share: user, scope, life cycle, type and pins. */
export class Corpus {
  readonly #beliefs = new Map<string, BeliefRecord>()

  constructor(beliefs: readonly BeliefRecord[] = []) {
    for (const belief of beliefs) this.put(belief)
  }

  get(id: string): BeliefRecord | undefined {
    return this.#beliefs.get(id)
  }

  all(): readonly BeliefRecord[] {
    return [...this.#beliefs.values()]
  }

  put(belief: BeliefRecord): void {
    this.#beliefs.set(belief.id, belief)
  }

  /** Beliefs that may be shown as relevant: current, in view, not pinned, not a question. */
  candidates(from: Standpoint): readonly BeliefRecord[] {
    const pinned = this.pinnedIds(from)
    return this.all().filter(
      (belief) => isShowable(belief, from) && belief.subtype !== 'expertise' && !pinned.has(belief.id),
    )
  }

  /** Beliefs that are shown because they are pinned, even if they exceed the budget. */
  pinnedIds({ user, scopes, recall }: Standpoint): ReadonlySet<string> {
    const visible = visibleScopes(scopes)
    const isPinned = (belief: BeliefRecord): boolean =>
      belief.user === user &&
      belief.agent === null &&
      belief.pinned &&
      isCurrent(toBelief(belief)) &&
      (isIn(belief, visible) || (recall.editedPins === 'everywhere' && belief.editedByPerson))
    const pinned = this.all().filter(isPinned)
    return new Set(pinned.map(({ id }) => id))
  }

  /** The participants of the relations in `found` that may be shown, except those that are already in `found` or pinned. */
  participantsOf(found: readonly BeliefRecord[], from: Standpoint): readonly BeliefRecord[] {
    const present = new Set([...found.map(({ id }) => id), ...this.pinnedIds(from)])
    const showable = this.all().filter((belief) => isShowable(belief, from))
    const wanted = found.filter(({ type }) => type === 'relation').flatMap(({ participants }) => participants)
    return wanted
      .flatMap((participant) => showable.filter((belief) => belief.id === participant || isCalled(belief, participant)))
      .filter(({ id }) => !present.has(id) && present.add(id) !== null)
  }
}

const isIn = (belief: BeliefRecord, visible: readonly string[]): boolean =>
  belief.scopes.some((scope) => visible.includes(scope))

const isShowable = (belief: BeliefRecord, { user, scopes }: Standpoint): boolean =>
  belief.user === user &&
  belief.agent === null &&
  belief.type !== 'open_question' &&
  isCurrent(toBelief(belief)) &&
  isIn(belief, visibleScopes(scopes))

const isCalled = (belief: BeliefRecord, name: string): boolean =>
  [belief.name, ...belief.aliases].some((form) => nameKey(form) === nameKey(name))

/** The version is a placeholder, because no boundary depends on it. */
const toBelief = (record: BeliefRecord) => ({ ...record, version: 1 })

/** A system that searches the whole corpus for every message. `takeIn` gets every new or changed belief. */
export function corpusSystem({
  find,
  takeIn = async () => [],
  ...about
}: Pick<System, 'name' | 'version' | 'description' | 'notes'> & {
  readonly find: (corpus: Corpus, query: SystemQuery) => Promise<readonly AnswerHit[]>
  readonly takeIn?: (beliefs: readonly BeliefRecord[]) => Promise<readonly string[]>
}): System {
  let corpus = new Corpus()
  return {
    ...about,
    tiers: 'relevant',
    reset: async () => {
      corpus = new Corpus()
    },
    ingest: (beliefs) => {
      corpus = new Corpus(beliefs)
      return takeIn(beliefs)
    },
    update: async ({ belief }) => {
      corpus.put(belief)
      await takeIn([belief])
    },
    recall: async (query) => ({ ...emptyAnswer, relevant: await find(corpus, query) }),
    close: async () => {},
  }
}
