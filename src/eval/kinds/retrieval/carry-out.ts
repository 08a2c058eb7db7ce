import { isCurrent } from '../../../beliefs/belief.ts'
import type { BeliefRecord } from '../../../memory/transfer/belief-record.ts'
import type { CaseOutcome, ExecutionRequest } from '../../run/run.ts'
import type { Subject } from '../../system/subject.ts'
import type { Answer, BeliefUpdate } from '../../system/system.ts'
import { brokenOutcome, carriedOut, type Observer } from '../kind.ts'
import { checkExpectations, type Expectations, noiseIn, type Outcome } from './expectations.ts'
import { driftScore, measure, type PassType, passTypeOf } from './metrics.ts'
import type { Pack, ReadyCase, ReadyTurn } from './pack.ts'

/** What a carried-out pack tells besides its outcomes. */
export type RecallObserver = Pick<Observer, 'onIngested'> & {
  /** Whether the answer to a case shall say how it was reached. */
  readonly explains: (id: string) => boolean
  /** Hears what the subject could not take in as given. */
  readonly onNotices?: (notices: readonly string[]) => void
}

/** Asks a subject the wanted cases of a pack. A case that goes wrong is an outcome with the verdict `error`. */
export async function* carryOutRecall(
  pack: Pack,
  subject: Subject,
  request: ExecutionRequest,
  observer: RecallObserver,
): AsyncGenerator<CaseOutcome> {
  const asking = await begun(pack, subject, request.seed, observer)
  if (pack.kind === 'retrieval') {
    const byId = new Map(pack.cases.map((one) => [one.caseId, one]))
    const wanted = [...request.wanted].flatMap((id) => byId.get(id) ?? [])
    yield* carriedOut(wanted, request, (one) => asking.ask(one.caseId, one, one.category))
    return
  }
  // The store lives through all sessions of a pack: what one teaches, the next may use. So a turn whose result is known
  // still changes the store for the turns after it.
  for (const { caseId, turns } of pack.sessions) {
    for (const turn of turns) {
      if (request.signal.aborted) return
      const id = `${caseId}#${turn.turnIndex}`
      if (request.wanted.has(id)) yield await asking.ask(id, turn, null)
      for (const update of turn.updates) await asking.change(id, update)
    }
  }
}

/** Gives the subject the whole corpus. Once broken it stays broken: the store is then not the one that later cases are about. */
async function begun(pack: Pack, subject: Subject, seed: number, observer: RecallObserver) {
  const created = createdIn(pack)
  let broken: string | null = null
  try {
    // The salt is known to whoever has the case file, and to no system.
    const salt = `${pack.hash}:${seed}`
    const idsToCome = created.map(({ id }) => id)
    const { value, ms } = await subject.begin({ beliefs: pack.beliefs, idsToCome, salt })
    observer.onIngested(ms)
    observer.onNotices?.(value)
  } catch (error) {
    observer.onIngested(null)
    broken = `The corpus could not be taken in: ${messageOf(error)}`
  }
  const pinned = pinnedIn([...pack.beliefs, ...created])
  return {
    ask: async (id: string, asked: ReadyCase | ReadyTurn, category: string | null): Promise<CaseOutcome> => {
      if (broken !== null) return failedOutcome(id, asked, broken)
      const { user, scopes, message, budget, expect } = asked
      const explain = observer.explains(id) ? { explain: true } : {}
      try {
        const query = { user, scopes, message, budget, recall: pack.recall, ...explain }
        const { value, ms } = await subject.answer(query, expect)
        return outcomeOf(id, { asked, category, answer: value, ms }, pinned)
      } catch (error) {
        return failedOutcome(id, asked, messageOf(error))
      }
    },
    change: async (id: string, update: BeliefUpdate): Promise<void> => {
      if (broken !== null) return
      try {
        await subject.change(update)
      } catch (error) {
        broken = `The store could not be changed after ${id}: ${messageOf(error)}`
      }
    },
  }
}

/** How an answer was reached, stage by stage; a diff looks for the first stage that differs. */
export type RecallExplanation = {
  readonly group: string | null
  readonly passType: PassType | null
  readonly query: string
  readonly prelude: string | null
  readonly matches: Answer['relevant']
  readonly nearMisses?: Answer['nearMisses']
}

type Answered = {
  readonly asked: ReadyCase | ReadyTurn
  readonly category: string | null
  readonly answer: Answer
  readonly ms: number
}

function outcomeOf(
  caseId: string,
  { asked, category, answer, ms }: Answered,
  pinnedInCorpus: ReadonlySet<string>,
): CaseOutcome {
  const { prelude, pinned, relevant, questions, nearMisses } = answer
  const outcome: Outcome = { prelude, pinned, relevant: relevant.map(({ id }) => id), questions }
  const failures = checkExpectations(asked.expect, outcome)
  const metrics = measure(asked.expect, outcome, pinnedInCorpus)
  const explanation: RecallExplanation = {
    group: groupOf(asked),
    passType: failures.length === 0 ? passTypeOf(category, metrics) : null,
    query: answer.expandedQuery ?? asked.message,
    prelude,
    matches: relevant,
    ...(nearMisses === undefined ? {} : { nearMisses }),
  }
  const tier = (name: string, ids: readonly string[]): CaseOutcome['returned'] =>
    ids.map((id, index) => ({ id, score: null, rank: index + 1, tier: name }))
  return {
    caseId,
    verdict: failures.length === 0 ? 'pass' : 'fail',
    scores: { ...metrics, ...driftOf(asked, outcome) },
    returned: [
      ...tier('pinned', pinned),
      ...relevant.map(({ id, score }, index) => ({ id, score, rank: index + 1, tier: 'relevant' })),
      ...tier('question', questions),
    ],
    failures: [...failures],
    timings: { recall: ms },
    explanation,
  }
}

const failedOutcome = (caseId: string, asked: ReadyCase | ReadyTurn, message: string): CaseOutcome => ({
  ...brokenOutcome(caseId, { class: 'system', message }),
  explanation: { group: groupOf(asked), passType: null, query: asked.message, prelude: null, matches: [] },
})

const groupOf = (asked: ReadyCase | ReadyTurn): string | null => ('label' in asked ? asked.label : asked.category)

/** Only turns can drift, and only where they name noise. */
const driftOf = (asked: ReadyCase | ReadyTurn, outcome: Outcome): { readonly driftScore?: number | null } =>
  'label' in asked ? { driftScore: namesNoise(asked.expect) ? driftScore(asked.expect, outcome) : null } : {}

export const namesNoise = ({ noiseCheck }: Expectations): boolean => (noiseCheck?.mustNotSurface ?? []).length > 0

/** The noise among what a case returned. */
export const noiseOf = (expect: Expectations, returned: CaseOutcome['returned']): readonly string[] => {
  const ids = (tier: string) => returned.filter((item) => item.tier === tier).map(({ id }) => id)
  return noiseIn(expect, { prelude: null, pinned: ids('pinned'), relevant: ids('relevant'), questions: [] })
}

const createdIn = (pack: Pack): readonly BeliefRecord[] =>
  pack.kind === 'retrieval'
    ? []
    : pack.sessions.flatMap(({ turns }) =>
        turns.flatMap(({ updates }) => updates.flatMap((one) => (one.kind === 'create' ? [one.belief] : []))),
      )

const pinnedIn = (beliefs: readonly BeliefRecord[]): ReadonlySet<string> =>
  new Set(beliefs.filter((belief) => belief.pinned && isCurrent({ ...belief, version: 1 })).map(({ id }) => id))

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
