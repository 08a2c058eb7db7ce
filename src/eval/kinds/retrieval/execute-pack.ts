import { randomFrom } from '../../compare/random.ts'
import type { CaseOutcome, ExecuteCases, ExecutionRequest } from '../../run/run.ts'
import type { Subject } from '../../system/subject.ts'
import type { Answer } from '../../system/system.ts'
import type { RetrievalEntry, SessionEntry } from './entries.ts'
import type { Pack, ReadyTurn, RetrievalPack, SessionPack } from './pack.ts'
import { runPack } from './run-pack.ts'

export type PackExecution = {
  readonly execute: ExecuteCases
  /** Milliseconds the last ingestion took; null before the first and after one that failed. */
  readonly ingestMs: () => number | null
}

/**
 * Asks a subject the cases of a retrieval or session pack, through the same code as every other evaluation. The seed
 * decides the order of static cases and the opaque ids; the order of turns means something and stays.
 */
export function executePack(pack: Pack, subject: Subject, options: { readonly explain?: boolean } = {}): PackExecution {
  let ingestMs: number | null = null
  const begin = (seed: number): Subject => {
    const steady = begunOnce(pack, subject, `${pack.hash}:${seed}`)
    ingestMs = null
    return {
      ...steady,
      begin: async (corpus) => {
        const taken = await steady.begin(corpus)
        ingestMs = taken.ms
        return taken
      },
    }
  }
  const explained = options.explain ?? false
  return {
    ingestMs: () => ingestMs,
    execute: (request) =>
      pack.kind === 'retrieval'
        ? staticCases(pack, begin(request.seed), request, explained)
        : turns(pack, begin(request.seed), request, explained),
  }
}

async function* staticCases(
  pack: RetrievalPack,
  subject: Subject,
  { wanted, seed, signal }: ExecutionRequest,
  explained: boolean,
): AsyncGenerator<CaseOutcome> {
  const cases = shuffled(
    pack.cases.filter(({ caseId }) => wanted.has(caseId)),
    seed,
  )
  for (const one of cases) {
    if (signal.aborted) return
    const run = await runPack({ ...pack, cases: [one] }, subject, explained ? { explain: one.caseId } : {})
    for (const { id, entry, answer } of run.records) yield outcomeOf(id, entry, answer)
  }
}

async function* turns(
  pack: SessionPack,
  subject: Subject,
  { wanted, signal }: ExecutionRequest,
  explained: boolean,
): AsyncGenerator<CaseOutcome> {
  // Beliefs to come count as known from the beginning, as they do when all turns are run together.
  const known: SessionPack = { ...pack, beliefs: [...pack.beliefs, ...createdIn(pack)] }
  for (const session of pack.sessions) {
    for (const turn of session.turns) {
      if (signal.aborted) return
      const id = `${session.caseId}#${turn.turnIndex}`
      if (!wanted.has(id)) {
        await changeOnly(pack, subject, turn)
        continue
      }
      const run = await runPack(
        { ...known, sessions: [{ ...session, turns: [turn] }] },
        subject,
        explained ? { explain: id } : {},
      )
      for (const record of run.records) yield outcomeOf(record.id, record.entry, record.answer)
    }
  }
}

/** A turn whose result is known still changes the store for the turns after it. */
async function changeOnly({ beliefs, hash }: SessionPack, subject: Subject, { updates }: ReadyTurn): Promise<void> {
  try {
    await subject.begin({ beliefs, idsToCome: [], salt: hash })
    for (const update of updates) await subject.change(update)
  } catch {
    // The subject remembers that it is broken, and every later turn says so.
  }
}

/**
 * The same subject, which takes in the whole corpus the first time it is asked to begin and never again, so that cases
 * can be run one by one. Once broken it stays broken: the store is then not the one that later cases are about.
 */
function begunOnce(pack: Pack, subject: Subject, salt: string): Subject {
  const idsToCome = pack.kind === 'session' ? createdIn(pack).map(({ id }) => id) : []
  let begun: ReturnType<Subject['begin']> | null = null
  let broken: { readonly error: unknown } | null = null
  return {
    ...subject,
    begin: () => {
      begun ??= subject.begin({ beliefs: pack.beliefs, idsToCome, salt })
      return begun
    },
    change: async (update) => {
      try {
        await subject.change(update)
      } catch (error) {
        broken ??= { error }
        throw error
      }
    },
    answer: async (query, expect) => {
      if (broken !== null) throw broken.error
      return subject.answer(query, expect)
    },
  }
}

const createdIn = ({ sessions }: SessionPack) =>
  sessions.flatMap(({ turns: own }) =>
    own.flatMap(({ updates }) => updates.flatMap((update) => (update.kind === 'create' ? [update.belief] : []))),
  )

function outcomeOf(caseId: string, entry: RetrievalEntry | SessionEntry, answer: Answer | null): CaseOutcome {
  const { retrievalPrecision, retrievalRecall, pinnedCoverage, questionPrecision, questionRecall } = entry
  const drift = 'driftScore' in entry ? { driftScore: entry.checksNoise ? entry.driftScore : null } : {}
  const shared = {
    caseId,
    scores: { retrievalPrecision, retrievalRecall, pinnedCoverage, questionPrecision, questionRecall, ...drift },
    returned: answer === null ? [] : returnedIn(answer),
    failures: [...entry.failures],
    timings: entry.retrievalLatencyMs === null ? {} : { recall: entry.retrievalLatencyMs },
  }
  if (entry.status === 'error') {
    return { ...shared, verdict: 'error', error: { class: 'system', message: entry.error ?? 'no answer' } }
  }
  return { ...shared, verdict: entry.status === 'passed' ? 'pass' : 'fail', explanation: explanationOf(entry, answer) }
}

const returnedIn = ({ pinned, relevant, questions }: Answer): CaseOutcome['returned'] => [
  ...pinned.map((id, index) => ({ id, score: null, rank: index + 1, tier: 'pinned' })),
  ...relevant.map(({ id, score }, index) => ({ id, score, rank: index + 1, tier: 'relevant' })),
  ...questions.map((id, index) => ({ id, score: null, rank: index + 1, tier: 'question' })),
]

/** Stage by stage: what was searched for, what matched, what was left out. A diff looks for the first that differs. */
function explanationOf(entry: RetrievalEntry | SessionEntry, answer: Answer | null): unknown {
  return {
    group: 'category' in entry ? entry.category : entry.label,
    passType: entry.passType,
    query: entry.expandedQuery,
    prelude: answer?.prelude ?? null,
    matches: answer?.relevant.map(({ id, score, clauses, matches }) => ({ id, score, clauses, matches })) ?? [],
    ...(answer?.nearMisses === undefined ? {} : { nearMisses: answer.nearMisses }),
  }
}

/** In an order that the seed decides. */
function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  const random = randomFrom(seed)
  const order = items.map((item) => ({ item, key: random() }))
  return order.sort((one, other) => one.key - other.key).map(({ item }) => item)
}
