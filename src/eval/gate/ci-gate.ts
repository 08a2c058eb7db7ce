import { statSync } from 'node:fs'
import { MemoryError } from '../../errors.ts'
import { readBaseline } from '../store/documents.ts'
import type { Problem } from '../store/parse-artifact.ts'
import { type DeltaReport, deltaReport, type Reference } from './delta-report.ts'
import { baselineSide, type GateReason, invalidReason, type JudgeOptions, judge, type Side } from './gate.ts'
import type { WantedSystem } from './latest-runs.ts'
import { type InvalidCounts, storeSide } from './store-side.ts'

/** The snapshot a gate looks for when none is named. */
export const requiredSnapshot = 'required-main'

export type GateRequest = JudgeOptions & {
  readonly base: string
  readonly candidate: string
  /** Without one: the base's `required-main`; else its latest runs; else the candidate's `required-main`. */
  readonly snapshotId?: string | undefined
  /** The base has no store at all yet. Must be said, because a mistyped path looks the same. */
  readonly bootstrap?: boolean
  readonly requireCleanTree?: boolean
}

/**
 * Decides whether the candidate store may follow the base store. The base's snapshot counts; the candidate's own only
 * where the base has never had one. Fails closed: whatever cannot be read or compared is a reason not to pass.
 */
export async function gateStores(request: GateRequest): Promise<DeltaReport> {
  const { base, candidate, acceptedChanges = {}, requireCleanTree = false } = request
  const about = { baseRootDir: base, candidateRootDir: candidate }
  if (!isDirectory(candidate)) {
    const problem = { file: candidate, field: '(directory)', message: 'does not exist' }
    const side: Side = { figures: new Map(), reasons: [invalidReason(problem, 'candidate')] }
    const judgement = judge(side, { figures: new Map(), reasons: [] })
    return deltaReport(judgement, { ...about, reference: { kind: 'nothing' }, invalid: { candidate: noneInvalid } })
  }
  const resolved = await resolveBase(request)
  const theirs = await storeSide(candidate, { name: 'candidate', requireCleanTree, system: systemsOf(resolved.side) })
  const judgement = judge(resolved.side, theirs, { acceptedChanges })
  const invalid = { candidate: theirs.invalid, ...(resolved.invalid === null ? {} : { base: resolved.invalid }) }
  return deltaReport(judgement, { ...about, reference: resolved.reference, invalid })
}

/** Compares the latest runs of a store with a snapshot of the same store. */
export async function reportAgainstBaseline(
  root: string,
  snapshotId: string,
  options: JudgeOptions = {},
): Promise<DeltaReport> {
  const found = readBaseline(root, snapshotId)
  if (found === null) {
    throw new MemoryError('not_found', `There is no baseline "${snapshotId}" in ${root}.`, {
      hint: 'Make one with `credence benchmark snapshot --snapshot-id ID`.',
    })
  }
  // An invalid snapshot is among the invalid documents of the store already.
  const base = found.ok ? baselineSide(found.value) : nothing
  const candidate = await storeSide(root, { name: 'store', system: systemsOf(base) })
  const judgement = judge(base, candidate, options)
  const reference: Reference = found.ok
    ? { kind: 'snapshot', snapshot: found.value, resolvedFrom: 'base' }
    : { kind: 'nothing' }
  return deltaReport(judgement, {
    reference,
    baseRootDir: null,
    candidateRootDir: root,
    invalid: { candidate: candidate.invalid },
  })
}

/** A benchmark is compared on the system that its base was run on. */
const systemsOf =
  ({ figures }: Side): WantedSystem =>
  (id) =>
    figures.get(id)?.system?.name ?? null

type ResolvedBase = {
  readonly side: Side
  readonly reference: Reference
  readonly invalid: InvalidCounts | null
}

async function resolveBase(request: GateRequest): Promise<ResolvedBase> {
  const { base, candidate, bootstrap = false } = request
  const snapshotId = request.snapshotId ?? requiredSnapshot
  if (!isDirectory(base)) {
    if (bootstrap) return candidatesOwn(candidate, snapshotId)
    return blocked(`The base has no eval store at ${base}. Where it has none yet, say so with --bootstrap.`)
  }
  const found = readBaseline(base, snapshotId)
  if (found !== null && !found.ok) return unreadable(found.problems, 'base')
  if (found?.ok) {
    const reference = { kind: 'snapshot', snapshot: found.value, resolvedFrom: 'base' } as const
    return { side: baselineSide(found.value), reference, invalid: null }
  }
  if (request.snapshotId === undefined) {
    const side = await storeSide(base, { name: 'base' })
    if (side.figures.size > 0 || side.reasons.length > 0) {
      return { side, reference: { kind: 'store' }, invalid: side.invalid }
    }
  }
  return candidatesOwn(candidate, snapshotId)
}

function candidatesOwn(candidate: string, snapshotId: string): ResolvedBase {
  const found = readBaseline(candidate, snapshotId)
  if (found === null) return blocked(`Neither the base nor the candidate has a baseline "${snapshotId}".`)
  if (!found.ok) return unreadable(found.problems, 'candidate')
  const reference = { kind: 'snapshot', snapshot: found.value, resolvedFrom: 'candidate' } as const
  return { side: baselineSide(found.value), reference, invalid: null }
}

const nothing: Side = { figures: new Map(), reasons: [] }
const noneInvalid: InvalidCounts = { benchmarks: 0, runs: 0, shadows: 0, baselines: 0 }

function blocked(line: string): ResolvedBase {
  const reason: GateReason = { kind: 'not-comparable', benchmarkId: null, line }
  return { side: { ...nothing, reasons: [reason] }, reference: { kind: 'nothing' }, invalid: null }
}

function unreadable(problems: readonly Problem[], side: string): ResolvedBase {
  const reasons = problems.map((problem) => invalidReason(problem, side))
  return { side: { ...nothing, reasons }, reference: { kind: 'nothing' }, invalid: null }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
