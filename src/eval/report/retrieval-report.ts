import { namesNoise, type RecallExplanation } from '../kinds/retrieval/carry-out.ts'
import { noiseIn, type PassType, passTypes } from '../kinds/retrieval/expectations.ts'
import type { ReadyCase, ReadyTurn } from '../kinds/retrieval/pack.ts'
import type { PackRun } from '../kinds/retrieval/run-pack.ts'
import type { CaseOutcome } from '../run/run.ts'
import { mean, percentile, round4, wilsonInterval } from '../score/statistics.ts'
import type { Answer } from '../system/system.ts'

/** A case of the published report format. */
export type RetrievalEntry = ReturnType<typeof retrievalEntry>
/** A turn of a session in the published report format. */
export type SessionEntry = ReturnType<typeof sessionEntry>

export function retrievalEntry({ caseId, category, description }: ReadyCase, outcome: CaseOutcome) {
  const { expandedQuery, ...rest } = shared(outcome)
  return {
    ...{ caseId, category, description, expandedQuery },
    pinnedBeliefs: idsIn(outcome, 'pinned'),
    relevantBeliefs: idsIn(outcome, 'relevant'),
    retrievedQuestions: idsIn(outcome, 'question'),
    ...rest,
  }
}

export function sessionEntry(caseId: string, { turnIndex, label, expect }: ReadyTurn, outcome: CaseOutcome) {
  const { expandedQuery, ...rest } = shared(outcome)
  const [relevant, pinned] = [idsIn(outcome, 'relevant'), idsIn(outcome, 'pinned')]
  return {
    ...{ caseId, turnIndex, label, expandedQuery },
    retrievedBeliefIds: relevant,
    pinnedBeliefIds: pinned,
    retrievedQuestions: idsIn(outcome, 'question'),
    noiseBeliefIds: noiseIn(expect, { relevant, pinned }),
    /** Null when the system did not answer. */
    driftScore: outcome.verdict === 'error' ? null : (outcome.scores.driftScore ?? 0),
    /** Whether the turn names noise at all; without, its drift is 0 by definition. */
    checksNoise: namesNoise(expect),
    ...rest,
  }
}

const idsIn = ({ returned }: CaseOutcome, tier: string): readonly string[] =>
  returned.filter((item) => item.tier === tier).map(({ id }) => id)

/** Only `carryOutRecall` makes outcomes of these kinds, and it explains every one. */
const explanationOf = ({ explanation }: CaseOutcome): RecallExplanation => explanation as RecallExplanation

function shared(outcome: CaseOutcome) {
  const { verdict, scores, failures, timings, error } = outcome
  const { query, prelude, matches, passType } = explanationOf(outcome)
  const searchScores = matches.map(({ id, score, clauses }) => ({ id, score, ...(clauses && { clauses }) }))
  return {
    expandedQuery: query,
    personaPrelude: prelude,
    searchScores,
    retrievalPrecision: scores.retrievalPrecision ?? null,
    retrievalRecall: scores.retrievalRecall ?? null,
    pinnedCoverage: scores.pinnedCoverage ?? null,
    questionPrecision: scores.questionPrecision ?? null,
    questionRecall: scores.questionRecall ?? null,
    passed: verdict === 'pass',
    failures,
    /** `error`: the system did not answer. It is counted apart, neither as a pass nor as a zero. */
    status: verdict === 'pass' ? ('passed' as const) : verdict === 'fail' ? ('failed' as const) : ('error' as const),
    /** Null unless passed. */
    passType,
    /** Why the system did not answer. */
    error: error?.message ?? null,
    retrievalLatencyMs: timings.recall ?? null,
  }
}

/** The answer behind an outcome; null when there was none. */
export function answerOf(outcome: CaseOutcome): Answer | null {
  if (outcome.verdict === 'error') return null
  const { prelude, matches, nearMisses } = explanationOf(outcome)
  const [pinned, questions] = [idsIn(outcome, 'pinned'), idsIn(outcome, 'question')]
  return { prelude, pinned, relevant: matches, questions, ...(nearMisses && { nearMisses }) }
}

type Entry = RetrievalEntry | SessionEntry
export type Summary = ReturnType<typeof summarise>

/** The figures of a set of entries. Every case weighs the same, and what was not measured weighs nothing. */
export function summarise(entries: readonly Entry[]) {
  const passed = entries.filter(({ status }) => status === 'passed')
  const failed = entries.filter(({ status }) => status === 'failed')
  const judged = passed.length + failed.length
  const latencies = entries.flatMap(({ retrievalLatencyMs }) => retrievalLatencyMs ?? [])
  const drift = entries.map((entry) => ('driftScore' in entry && entry.checksNoise ? entry.driftScore : null))
  const countOf = (type: PassType): number => passed.filter(({ passType }) => passType === type).length
  return {
    totalCases: entries.length,
    totalPassed: passed.length,
    totalFailed: failed.length,
    /** Cases that the system did not answer. They are in no mean and no rate. */
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

/** The same by category, in the order in which categories first occur. Turns are grouped by their label. */
function summariseCategories(entries: readonly Entry[]) {
  const nameOf = (entry: Entry): string => ('label' in entry ? entry.label : (entry.category ?? 'uncategorised'))
  return [...Map.groupBy(entries, nameOf)].map(([category, own]) => {
    const { totalCases, totalPassed, totalFailed, errors, meanPrecision, meanRecall } = summarise(own)
    const counts = { caseCount: totalCases, passed: totalPassed, failed: totalFailed, errors }
    return { category, ...counts, meanPrecision, meanRecall }
  })
}

/** The report file of one backend on all packs of one kind. */
type Report = ReturnType<typeof reportOf>

/** All runs must be of the same subject and the same kind of pack. */
export function reportOf(runs: readonly [PackRun, ...PackRun[]]) {
  const [{ subject, pack: firstPack }] = runs
  const cases = runs.flatMap((run) => run.records.map(({ entry }) => ({ pack: run.pack.id, ...entry })))
  const { name, version, description } = subject
  return {
    schemaVersion: 1 as const,
    provider: name,
    system: { name, version, description },
    /** Whether Credence's own recall added prelude, pins and questions, because the system finds relevant beliefs only. */
    suppliedTiers: subject.hasSuppliedTiers,
    packs: runs.map(({ pack: { id, title, hash, recall }, records }) => ({
      ...{ id, title, hash, recall },
      totalPassed: records.filter(({ entry }) => entry.passed).length,
      totalCases: records.length,
    })),
    notes: [...subject.notes, ...runs.flatMap(({ pack, notices }) => notices.map((notice) => `${pack.id}: ${notice}`))],
    /** Content of the files that nothing checks. */
    warnings: runs.flatMap(({ pack }) => pack.warnings),
    retrieval: {
      ...summarise(cases),
      caseCount: new Set(cases.map(({ pack, caseId }) => `${pack}\n${caseId}`)).size,
      ...(firstPack.kind === 'session' ? { turnCount: cases.length } : {}),
      categories: summariseCategories(cases),
    },
    ingestion: ingestionOf(runs),
    cases,
  }
}

function ingestionOf(runs: readonly PackRun[]) {
  const known = runs.flatMap(({ ingestion }) => ingestion ?? [])
  if (known.length === 0) return null
  const beliefCount = known.reduce((total, one) => total + one.beliefCount, 0)
  const totalMs = known.reduce((total, one) => total + one.totalMs, 0)
  const meanPerBeliefMs = beliefCount === 0 ? null : round4(totalMs / beliefCount)
  return { beliefCount, totalMs: round4(totalMs) ?? 0, meanPerBeliefMs }
}

/** `retrieval-report.json` is our own backend's; the names of the other files end with their backend's name. */
export function reportFileName({ provider }: Pick<Report, 'provider'>, kind: 'retrieval' | 'session'): string {
  const base = kind === 'session' ? 'session-retrieval-report' : 'retrieval-report'
  return provider === 'bm25' ? `${base}.json` : `${base}-${provider.replace(/[^A-Za-z0-9._-]+/gu, '-')}.json`
}

/** One file for the cases and one for the sessions among the runs of one subject. */
export function reportsOf(runs: readonly PackRun[]): readonly { readonly name: string; readonly report: Report }[] {
  return (['retrieval', 'session'] as const).flatMap((kind) => {
    const [first, ...rest] = runs.filter((run) => run.pack.kind === kind)
    if (first === undefined) return []
    const report = reportOf([first, ...rest])
    return [{ name: reportFileName(report, kind), report }]
  })
}
