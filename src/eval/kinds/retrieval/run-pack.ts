import { MemoryError } from '../../../errors.ts'
import type { BackendResult } from '../../report/comparison.ts'
import {
  answerOf,
  type RetrievalEntry,
  retrievalEntry,
  type SessionEntry,
  sessionEntry,
  summarise,
} from '../../report/retrieval-report.ts'
import type { CaseOutcome } from '../../run/run.ts'
import type { BackendName, Backends } from '../../system/backends.ts'
import type { Subject } from '../../system/subject.ts'
import type { Answer } from '../../system/system.ts'
import { carryOutRecall } from './carry-out.ts'
import { askedIn, type Pack, type ReadyCase, type ReadyTurn } from './pack.ts'

export type Ingestion = { readonly beliefCount: number; readonly totalMs: number }

/** One case as it was asked, and its outcome in the forms that reports and people need. */
export type RanCase = {
  readonly id: string
  readonly asked: ReadyCase | ReadyTurn
  readonly outcome: CaseOutcome
  readonly answer: Answer | null
  readonly entry: RetrievalEntry | SessionEntry
}

/** A pack that was run in one go, without a store: what the tables and reports of `credence eval` are made of. */
export type PackRun = {
  readonly pack: Pack
  readonly subject: Pick<Subject, 'name' | 'version' | 'description' | 'notes' | 'hasSuppliedTiers'>
  readonly ingestion: Ingestion | null
  /** What the subject could not take in as given. */
  readonly notices: readonly string[]
  readonly records: readonly RanCase[]
}

export type RunOptions = {
  /** Called after every case. */
  readonly onProgress?: (done: number, total: number) => void
  /** The id of the case (`case` or `session#turn`) whose answer shall say how it was reached. */
  readonly explain?: string
  /** Which cases; without it, all. */
  readonly isWanted?: (id: string) => boolean
  readonly signal?: AbortSignal
  readonly jobs?: number
}

const never = new AbortController().signal

/** Asks a subject the cases of a pack, in order. */
export async function runPack(pack: Pack, subject: Subject, options: RunOptions = {}): Promise<PackRun> {
  const { onProgress, explain, isWanted = () => true, signal = never, jobs = 1 } = options
  const asked = new Map(
    askedIn(pack)
      .filter(({ id }) => isWanted(id))
      .map((one) => [one.id, one]),
  )
  let ingestion: Ingestion | null = null
  let notices: readonly string[] = []
  const request = { repeat: 0, seed: 0, wanted: new Set(asked.keys()), jobs, signal, folder: null }
  const records: RanCase[] = []
  for await (const outcome of carryOutRecall(pack, subject, request, {
    explains: (id) => id === explain,
    onIngested: (ms) => {
      ingestion = ms === null ? null : { beliefCount: pack.beliefs.length, totalMs: ms }
    },
    onNotices: (given) => {
      notices = given
    },
  })) {
    const one = asked.get(outcome.caseId)
    if (one === undefined) continue
    records.push({ id: one.id, asked: one.asked, outcome, answer: answerOf(outcome), entry: entryOf(one, outcome) })
    onProgress?.(records.length, asked.size)
  }
  const { name, version, description, notes, hasSuppliedTiers } = subject
  return { pack, subject: { name, version, description, notes, hasSuppliedTiers }, ingestion, notices, records }
}

const entryOf = (
  { caseId, asked }: { readonly caseId: string; readonly asked: ReadyCase | ReadyTurn },
  outcome: CaseOutcome,
): RetrievalEntry | SessionEntry =>
  'label' in asked ? sessionEntry(caseId, asked, outcome) : retrievalEntry(asked, outcome)

export type ComparisonOptions = {
  readonly packs: readonly Pack[]
  readonly backends: readonly BackendName[]
  /** What is being asked, and how far it has come over all packs and backends. */
  readonly onProgress?: (progress: { readonly backend: string; readonly done: number; readonly total: number }) => void
  /** Backends that were asked for by name: when one of them is missing, nothing is compared. */
  readonly required?: readonly BackendName[]
  /** Id of the case whose answers shall say how they were reached. */
  readonly explain?: string
  /** Which cases; without it, all. */
  readonly isWanted?: (pack: Pack, id: string) => boolean
}

/** Runs every backend on every pack. One whose model is missing is skipped with the reason, unless it is required. */
export async function compareBackends(
  backends: Backends,
  options: ComparisonOptions,
): Promise<readonly BackendResult[]> {
  const { packs, onProgress, explain, isWanted = () => true } = options
  const sizeOf = (pack: Pack): number => askedIn(pack).filter(({ id }) => isWanted(pack, id)).length
  const perBackend = packs.reduce((total, pack) => total + sizeOf(pack), 0)
  const total = perBackend * options.backends.length
  const results: BackendResult[] = []
  for (const [index, backend] of options.backends.entries()) {
    let done = index * perBackend
    onProgress?.({ backend, done, total })
    try {
      const runs: PackRun[] = []
      const subject = await backends.open(backend)
      try {
        for (const pack of packs) {
          const onCase = (count: number): void => onProgress?.({ backend, done: done + count, total })
          runs.push(
            await runPack(pack, subject, {
              onProgress: onCase,
              isWanted: (id) => isWanted(pack, id),
              ...(explain === undefined ? {} : { explain }),
            }),
          )
          done += sizeOf(pack)
        }
      } finally {
        await subject.close()
      }
      results.push({ backend: subject.name, runs })
    } catch (error) {
      const isMissing = error instanceof MemoryError && error.code === 'unavailable'
      if (!isMissing || options.required?.includes(backend)) throw error
      results.push({ backend, skipped: [error.message, error.hint].filter((part) => part !== undefined).join(' ') })
    }
  }
  return results
}

/** A pack that silence passes to a larger part says little about finding. */
export const mostPassedByNone = 0.6

export type PackCheck = {
  readonly pack: string
  readonly cases: number
  readonly passedByNone: number
  readonly passedByOracle: number
  /** Why the pack is not fit to judge anything by; empty when it is. */
  readonly problems: readonly string[]
}

/**
 * Whether a pack, which has been read strictly, tells good from bad: returning nothing must not be enough, and what it
 * expects must be possible.
 */
export async function checkPack(pack: Pack, backends: Backends): Promise<PackCheck> {
  const none = await passesOf(pack, backends, 'none')
  const oracle = await passesOf(pack, backends, 'oracle')
  const problems: string[] = []
  if (none.passed > none.total * mostPassedByNone) {
    problems.push(
      `Finding nothing passes ${none.passed} of ${none.total} cases; at most ${mostPassedByNone * 100} % are allowed.`,
    )
  }
  for (const { id, reasons } of oracle.failed) problems.push(`No memory can pass "${id}": ${reasons.join(' ')}`)
  return { pack: pack.id, cases: none.total, passedByNone: none.passed, passedByOracle: oracle.passed, problems }
}

async function passesOf(pack: Pack, backends: Backends, control: 'none' | 'oracle') {
  const subject = await backends.open(control)
  try {
    const { records } = await runPack(pack, subject)
    const { totalPassed, totalCases } = summarise(records.map(({ entry }) => entry))
    const failed = records.flatMap(({ id, entry }) =>
      entry.passed ? [] : [{ id, reasons: entry.error === null ? entry.failures : [entry.error] }],
    )
    return { passed: totalPassed, total: totalCases, failed }
  } finally {
    await subject.close()
  }
}
