import type { CaseOutcome } from '../run/run.ts'
import { noiseIn, type PassType, passTypes } from '../runners/retrieval/expectations.ts'
import type { AskedCase } from '../runners/retrieval/pack.ts'
import { explanationOf, idsIn, namesNoise } from '../runners/retrieval/retrieval-runner.ts'
import type { PackRun } from '../runners/retrieval/run-pack.ts'
import { answerTimes, summariseCases } from '../score/figures.ts'
import { mean, round4, wilsonInterval } from '../score/statistics.ts'

/** The cases or turns of a run in the published report format. */
export function reportEntriesOf({ pack, outcomes }: PackRun) {
  const asked = new Map(pack.cases.map((question) => [question.id, question]))
  return outcomes.flatMap((outcome) => {
    const question = asked.get(outcome.caseId)
    return question === undefined ? [] : [{ pack: pack.id, ...entryOf(question, outcome) }]
  })
}

const statuses = { pass: 'passed', fail: 'failed', error: 'error', skipped: 'not offered', unjudged: 'error' } as const

function entryOf({ caseId, turnIndex, group, description, expect }: AskedCase, outcome: CaseOutcome) {
  const { verdict, scores, failures, timings, error } = outcome
  const { query: expandedQuery, prelude, matches, passType } = explanationOf(outcome)
  const [relevant, pinned, questions] = ['relevant', 'pinned', 'question'].map((tier) => idsIn(outcome, tier))
  const found = { relevant: relevant ?? [], pinned: pinned ?? [] }
  const own =
    turnIndex !== null
      ? {
          caseId,
          turnIndex,
          label: group,
          expandedQuery,
          retrievedBeliefIds: relevant,
          pinnedBeliefIds: pinned,
          retrievedQuestions: questions,
          noiseBeliefIds: noiseIn(expect, found),
          /** Null if the system did not answer. */
          driftScore: verdict === 'error' ? null : (scores.driftScore ?? 0),
          /** Whether the turn lists noise; if not, its drift is 0 by definition. */
          checksNoise: namesNoise(expect),
        }
      : {
          caseId,
          category: group,
          description,
          expandedQuery,
          pinnedBeliefs: pinned,
          relevantBeliefs: relevant,
          retrievedQuestions: questions,
        }
  return {
    ...own,
    personaPrelude: prelude,
    searchScores: matches.map(({ id, score, clauses }) => ({ id, score, ...(clauses && { clauses }) })),
    retrievalPrecision: scores.retrievalPrecision ?? null,
    retrievalRecall: scores.retrievalRecall ?? null,
    pinnedCoverage: scores.pinnedCoverage ?? null,
    questionPrecision: scores.questionPrecision ?? null,
    questionRecall: scores.questionRecall ?? null,
    passed: verdict === 'pass',
    failures,
    /** `error`: the system did not answer. Counted separately, neither as a pass nor as a zero. */
    status: statuses[verdict],
    passType,
    error: error?.message ?? null,
    retrievalLatencyMs: timings.recall ?? null,
  }
}

/** The outcomes of several packs. Case ids get the pack's id as a prefix, because packs may share case ids. */
export const outcomesOf = (runs: readonly PackRun[]): readonly CaseOutcome[] =>
  runs.flatMap(({ pack, outcomes }) => outcomes.map((one) => ({ ...one, caseId: `${pack.id}\n${one.caseId}` })))

export type Summary = ReturnType<typeof summarise>

/** The figures of a set of cases. Every case has the same weight; values that were not measured are omitted. */
export function summarise(outcomes: readonly CaseOutcome[]) {
  const { counts, metrics, latency } = summariseCases(outcomes)
  const { passedCases: totalPassed, failedCases: totalFailed, errorCases: errors } = counts
  const judged = totalPassed + totalFailed
  const meanOf = (metric: string): number | null => round4(metrics[metric] ?? null)
  const types = outcomes.map((outcome) => explanationOf(outcome).passType)
  const countOf = (type: PassType): number => types.filter((passType) => passType === type).length
  return {
    totalCases: outcomes.length,
    totalPassed,
    totalFailed,
    /** Cases that the system did not answer. Excluded from all means and rates. */
    errors,
    passRate: judged === 0 ? null : round4(totalPassed / judged),
    passRateInterval95: wilsonInterval(totalPassed, judged),
    meanPrecision: meanOf('retrievalPrecision'),
    meanRecall: meanOf('retrievalRecall'),
    meanDriftScore: meanOf('driftScore'),
    activeRetrievalPasses: countOf('activeRetrieval'),
    passTypes: Object.fromEntries(passTypes.map((type) => [type, countOf(type)])) as Record<PassType, number>,
    meanLatencyMs: round4(mean(answerTimes(outcomes))),
    p50LatencyMs: round4(latency?.p50Ms ?? null),
    p95LatencyMs: round4(latency?.p95Ms ?? null),
  }
}

/** The summary by category, in the order in which categories first occur. Turns are grouped by label. */
const summariseCategories = (outcomes: readonly CaseOutcome[]) =>
  [...Map.groupBy(outcomes, (outcome) => explanationOf(outcome).group ?? 'uncategorised')].map(([category, own]) => {
    const { totalCases, totalPassed, totalFailed, errors, meanPrecision, meanRecall } = summarise(own)
    const counts = { caseCount: totalCases, passed: totalPassed, failed: totalFailed, errors }
    return { category, ...counts, meanPrecision, meanRecall }
  })

/** The report of one system on all packs of one kind. All runs must have the same system and the same kind of pack. */
export function reportOf(runs: readonly [PackRun, ...PackRun[]]) {
  const [{ system, pack: firstPack }] = runs
  const { name, version, description } = system
  const outcomes = outcomesOf(runs)
  const cases = runs.flatMap(reportEntriesOf)
  return {
    schemaVersion: 1 as const,
    provider: name,
    system: { name, version, description },
    /** Whether Credence's own recall added prelude, pins and questions, because the system returns relevant beliefs only. */
    suppliedTiers: system.hasSuppliedTiers,
    packs: runs.map(({ pack: { id, title, hash, recall }, outcomes: own }) => {
      const { totalPassed, totalCases } = summarise(own)
      return { id, title, hash, recall, totalPassed, totalCases }
    }),
    notes: [...system.notes, ...runs.flatMap(({ pack, notices }) => notices.map((notice) => `${pack.id}: ${notice}`))],
    warnings: runs.flatMap(({ pack }) => pack.warnings),
    retrieval: {
      ...summarise(outcomes),
      caseCount: new Set(cases.map(({ pack, caseId }) => `${pack}\n${caseId}`)).size,
      ...(firstPack.kind === 'session' ? { turnCount: cases.length } : {}),
      categories: summariseCategories(outcomes),
    },
    ingestion: ingestionOf(runs.filter(({ ingestMs }) => ingestMs !== null)),
    cases,
  }
}

function ingestionOf(runs: readonly PackRun[]) {
  if (runs.length === 0) return null
  const beliefCount = runs.reduce((total, { pack }) => total + pack.beliefs.length, 0)
  const totalMs = runs.reduce((total, { ingestMs }) => total + (ingestMs ?? 0), 0)
  const meanPerBeliefMs = beliefCount === 0 ? null : round4(totalMs / beliefCount)
  return { beliefCount, totalMs: round4(totalMs) ?? 0, meanPerBeliefMs }
}

/** Credence's own report is `retrieval-report.json`; reports of other systems have the system's name as a suffix. */
export function reportFileName({ provider }: { readonly provider: string }, kind: 'retrieval' | 'session'): string {
  const base = kind === 'session' ? 'session-retrieval-report' : 'retrieval-report'
  return provider === 'bm25' ? `${base}.json` : `${base}-${provider.replace(/[^A-Za-z0-9._-]+/gu, '-')}.json`
}

/** A report of the retrieval packs and one of the session packs, for the runs of one system. */
export const reportsOf = (runs: readonly PackRun[]) =>
  (['retrieval', 'session'] as const).flatMap((kind) => {
    const [first, ...rest] = runs.filter((run) => run.pack.kind === kind)
    if (first === undefined) return []
    const report = reportOf([first, ...rest])
    return [{ name: reportFileName(report, kind), report }]
  })
