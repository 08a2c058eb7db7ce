import type { PackRun } from '../kinds/retrieval/run-pack.ts'
import { round4 } from '../score/statistics.ts'
import { summarise, summariseCategories } from '../score/summary.ts'

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
