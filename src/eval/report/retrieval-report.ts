import { namesNoise, noiseOf, type RecallExplanation } from '../kinds/retrieval/carry-out.ts'
import { type Metrics, type PassType, passTypes } from '../kinds/retrieval/expectations.ts'
import type { ReadyCase, ReadyTurn } from '../kinds/retrieval/pack.ts'
import type { PackRun } from '../kinds/retrieval/run-pack.ts'
import type { CaseOutcome } from '../run/run.ts'
import { mean, percentile, round4, wilsonInterval } from '../score/statistics.ts'
import type { Answer, AnswerClause } from '../system/system.ts'

/** The result of one backend on all packs of one kind, as it stands in a report file. */
export type Report = ReturnType<typeof reportOf>

/** All runs must be of the same subject and the same kind of pack. */
export function reportOf(runs: readonly [PackRun, ...PackRun[]]) {
  const [{ subject }] = runs
  const isSession = runs[0].pack.kind === 'session'
  const cases = runs.flatMap((run) => run.records.map(({ entry }) => ({ pack: run.pack.id, ...entry })))
  const sessions = new Set(cases.map(({ pack, caseId }) => `${pack}\n${caseId}`)).size
  const { name, version, description } = subject
  return {
    schemaVersion: 1 as const,
    provider: name,
    system: { name, version, description },
    /** Whether prelude, pins and questions came from Credence's own recall because the system finds relevant beliefs only. */
    suppliedTiers: subject.hasSuppliedTiers,
    packs: runs.map(({ pack, records }) => ({
      id: pack.id,
      title: pack.title,
      hash: pack.hash,
      recall: pack.recall,
      totalPassed: records.filter(({ entry }) => entry.passed).length,
      totalCases: records.length,
    })),
    notes: [...subject.notes, ...runs.flatMap(({ pack, notices }) => notices.map((notice) => `${pack.id}: ${notice}`))],
    /** What the files ask for and nobody checked. */
    warnings: runs.flatMap(({ pack }) => pack.warnings),
    retrieval: {
      ...summarise(cases),
      caseCount: sessions,
      ...(isSession ? { turnCount: cases.length } : {}),
      categories: summariseCategories(cases),
    },
    ingestion: ingestionOf(runs),
    cases,
  }
}

function ingestionOf(runs: readonly PackRun[]) {
  const known = runs.flatMap(({ ingestion }) => (ingestion === null ? [] : [ingestion]))
  if (known.length === 0) return null
  const beliefCount = known.reduce((total, one) => total + one.beliefCount, 0)
  const totalMs = known.reduce((total, one) => total + one.totalMs, 0)
  return {
    beliefCount,
    totalMs: round4(totalMs) ?? 0,
    meanPerBeliefMs: beliefCount === 0 ? null : round4(totalMs / beliefCount),
  }
}

/** `retrieval-report.json` is ours; every other backend has its name in the file's. */
export function reportFileName(report: Pick<Report, 'provider'>, kind: 'retrieval' | 'session'): string {
  const base = kind === 'session' ? 'session-retrieval-report' : 'retrieval-report'
  return report.provider === 'bm25'
    ? `${base}.json`
    : `${base}-${report.provider.replace(/[^A-Za-z0-9._-]+/gu, '-')}.json`
}

/** One file for the cases and one for the sessions among the runs of one subject. */
export function reportsOf(runs: readonly PackRun[]): readonly { readonly name: string; readonly report: Report }[] {
  const kinds = [
    { kind: 'retrieval', own: runs.filter((run) => run.pack.kind !== 'session') },
    { kind: 'session', own: runs.filter((run) => run.pack.kind === 'session') },
  ] as const
  return kinds.flatMap(({ kind, own: [first, ...rest] }) => {
    if (first === undefined) return []
    const report = reportOf([first, ...rest])
    return [{ name: reportFileName(report, kind), report }]
  })
}

/** `error`: the system did not answer. Never a pass, never a zero: it is counted apart. */
export type EntryStatus = 'passed' | 'failed' | 'error'

export type SearchScore = {
  readonly id: string
  readonly score: number | null
  readonly clauses?: readonly AnswerClause[]
}

type EntryBase = Metrics & {
  readonly caseId: string
  readonly status: EntryStatus
  readonly passed: boolean
  /** What kind of pass it was; null unless passed. */
  readonly passType: PassType | null
  readonly failures: readonly string[]
  /** What went wrong when the system did not answer. */
  readonly error: string | null
  readonly expandedQuery: string
  readonly personaPrelude: string | null
  readonly searchScores: readonly SearchScore[]
  readonly retrievalLatencyMs: number | null
}

/** The result of one case, as reports show it. */
export type RetrievalEntry = EntryBase & {
  readonly category: string | null
  readonly description: string
  readonly pinnedBeliefs: readonly string[]
  readonly relevantBeliefs: readonly string[]
  readonly retrievedQuestions: readonly string[]
}

/** The result of one turn of a session. */
export type SessionEntry = EntryBase & {
  readonly turnIndex: number
  readonly label: string
  readonly retrievedBeliefIds: readonly string[]
  readonly pinnedBeliefIds: readonly string[]
  readonly retrievedQuestions: readonly string[]
  readonly noiseBeliefIds: readonly string[]
  /** Null when the system did not answer. */
  readonly driftScore: number | null
  /** Whether the turn names noise at all; without, its drift is 0 by definition. */
  readonly checksNoise: boolean
}

/** The record of a case in the form of the published reports. */
export function retrievalEntry({ caseId, category, description }: ReadyCase, outcome: CaseOutcome): RetrievalEntry {
  const { expandedQuery, ...rest } = shared(outcome)
  return {
    caseId,
    category,
    description,
    expandedQuery,
    pinnedBeliefs: idsIn(outcome, 'pinned'),
    relevantBeliefs: idsIn(outcome, 'relevant'),
    retrievedQuestions: idsIn(outcome, 'question'),
    ...rest,
  }
}

export function sessionEntry(caseId: string, turn: ReadyTurn, outcome: CaseOutcome): SessionEntry {
  const { expandedQuery, ...rest } = shared(outcome)
  const checksNoise = namesNoise(turn.expect)
  return {
    caseId,
    turnIndex: turn.turnIndex,
    label: turn.label,
    expandedQuery,
    retrievedBeliefIds: idsIn(outcome, 'relevant'),
    pinnedBeliefIds: idsIn(outcome, 'pinned'),
    retrievedQuestions: idsIn(outcome, 'question'),
    noiseBeliefIds: noiseOf(turn.expect, outcome.returned),
    driftScore: outcome.verdict === 'error' ? null : (outcome.scores.driftScore ?? 0),
    checksNoise,
    ...rest,
  }
}

/** The answer behind an outcome; null when there was none. */
export function answerOf(outcome: CaseOutcome): Answer | null {
  if (outcome.verdict === 'error') return null
  const { prelude, matches, nearMisses } = explanationOf(outcome)
  return {
    prelude,
    pinned: idsIn(outcome, 'pinned'),
    relevant: matches,
    questions: idsIn(outcome, 'question'),
    ...(nearMisses === undefined ? {} : { nearMisses }),
  }
}

const idsIn = ({ returned }: CaseOutcome, tier: string): readonly string[] =>
  returned.filter((item) => item.tier === tier).map(({ id }) => id)

/** Outcomes of these kinds are made by `carryOutRecall` alone, which explains every one. */
export const explanationOf = ({ explanation }: CaseOutcome): RecallExplanation => explanation as RecallExplanation

const statuses: Readonly<Record<CaseOutcome['verdict'], EntryStatus>> = {
  pass: 'passed',
  fail: 'failed',
  error: 'error',
  skipped: 'error',
  unjudged: 'error',
}

function shared(outcome: CaseOutcome): Omit<EntryBase, 'caseId'> {
  const { verdict, scores, failures, timings, error } = outcome
  const { query, prelude, matches, passType } = explanationOf(outcome)
  return {
    expandedQuery: query,
    personaPrelude: prelude,
    searchScores: matches.map(({ id, score, clauses }) => ({
      id,
      score,
      ...(clauses === undefined ? {} : { clauses }),
    })),
    retrievalPrecision: scores.retrievalPrecision ?? null,
    retrievalRecall: scores.retrievalRecall ?? null,
    pinnedCoverage: scores.pinnedCoverage ?? null,
    questionPrecision: scores.questionPrecision ?? null,
    questionRecall: scores.questionRecall ?? null,
    passed: verdict === 'pass',
    failures,
    status: statuses[verdict],
    passType,
    error: error?.message ?? null,
    retrievalLatencyMs: timings.recall ?? null,
  }
}

type Entry = RetrievalEntry | SessionEntry

/** What a set of results comes to. */
export type Summary = ReturnType<typeof summarise>

/** Every case weighs the same, and what was not measured weighs nothing. */
export function summarise(entries: readonly Entry[]) {
  const passed = entries.filter(({ status }) => status === 'passed')
  const failed = entries.filter(({ status }) => status === 'failed')
  const judged = passed.length + failed.length
  const latencies = entries.flatMap(({ retrievalLatencyMs }) =>
    retrievalLatencyMs === null ? [] : [retrievalLatencyMs],
  )
  const drift = entries.map((entry) => ('driftScore' in entry && entry.checksNoise ? entry.driftScore : null))
  const countOf = (type: PassType): number => passed.filter(({ passType }) => passType === type).length
  return {
    totalCases: entries.length,
    totalPassed: passed.length,
    totalFailed: failed.length,
    /** Cases the system did not answer. They are in no mean and no rate. */
    errors: entries.length - judged,
    passRate: judged === 0 ? null : round4(passed.length / judged),
    passRateInterval95: wilsonInterval(passed.length, judged),
    meanPrecision: round4(mean(entries.map(({ retrievalPrecision }) => retrievalPrecision))),
    meanRecall: round4(mean(entries.map(({ retrievalRecall }) => retrievalRecall))),
    /** Over the turns that name noise; null when none does. */
    meanDriftScore: round4(mean(drift)),
    activeRetrievalPasses: countOf('activeRetrieval'),
    passTypes: Object.fromEntries(passTypes.map((type) => [type, countOf(type)])) as Record<PassType, number>,
    meanLatencyMs: round4(mean(latencies)),
    p50LatencyMs: round4(percentile(latencies, 50)),
    p95LatencyMs: round4(percentile(latencies, 95)),
  }
}

export type CategorySummary = ReturnType<typeof summariseCategories>[number]

/** The same by category, in the order in which categories first occur. Turns are grouped by their label. */
export function summariseCategories(entries: readonly Entry[]) {
  const nameOf = (entry: Entry): string => ('label' in entry ? entry.label : (entry.category ?? 'uncategorised'))
  const groups = Map.groupBy(entries, nameOf)
  return [...groups].map(([category, own]) => {
    const { totalCases, totalPassed, totalFailed, errors, meanPrecision, meanRecall } = summarise(own)
    return {
      category,
      caseCount: totalCases,
      passed: totalPassed,
      failed: totalFailed,
      errors,
      meanPrecision,
      meanRecall,
    }
  })
}
