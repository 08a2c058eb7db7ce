import { MemoryError } from '../../../errors.ts'
import type { BackendResult } from '../../report/comparison.ts'
import {
  answerOf,
  type RetrievalEntry,
  retrievalEntry,
  type SessionEntry,
  sessionEntry,
} from '../../report/retrieval-report.ts'
import type { CaseOutcome } from '../../run/run.ts'
import type { BackendName, Backends } from '../../system/backends.ts'
import type { Subject } from '../../system/subject.ts'
import type { Answer } from '../../system/system.ts'
import { carryOutRecall } from './carry-out.ts'
import { askedIn, type Pack, type ReadyCase, type ReadyTurn } from './pack.ts'

/** A pack that was run without a store; `credence eval` makes its tables and reports of it. */
export type PackRun = {
  readonly pack: Pack
  readonly subject: Pick<Subject, 'name' | 'version' | 'description' | 'notes' | 'hasSuppliedTiers'>
  readonly ingestion: { readonly beliefCount: number; readonly totalMs: number } | null
  /** Beliefs that the subject could not take in as given, in sentences. */
  readonly notices: readonly string[]
  /** Each case as it was asked, the answer, and the result in the form of the published reports. */
  readonly records: readonly {
    readonly id: string
    readonly asked: ReadyCase | ReadyTurn
    readonly outcome: CaseOutcome
    readonly answer: Answer | null
    readonly entry: RetrievalEntry | SessionEntry
  }[]
}

type RunOptions = {
  /** Called after every case. */
  readonly onProgress?: (done: number, total: number) => void
  /** The id of the case (`case` or `session#turn`) whose answer shall say how it was reached. */
  readonly explain?: string | undefined
  /** Without it, all cases are wanted. */
  readonly isWanted?: (id: string) => boolean
  readonly signal?: AbortSignal
  readonly jobs?: number
}

const never = new AbortController().signal

/** Asks a subject the cases of a pack, in order. */
export async function runPack(pack: Pack, subject: Subject, options: RunOptions = {}): Promise<PackRun> {
  const { onProgress, explain, isWanted = () => true, signal = never, jobs = 1 } = options
  const wanted = askedIn(pack).filter(({ id }) => isWanted(id))
  const byId = new Map(wanted.map((one) => [one.id, one]))
  let ingestion: PackRun['ingestion'] = null
  let notices: readonly string[] = []
  const request = { repeat: 0, seed: 0, wanted: new Set(byId.keys()), jobs, signal, folder: null }
  const records: PackRun['records'][number][] = []
  for await (const outcome of carryOutRecall(pack, subject, request, {
    explains: (id) => id === explain,
    onIngested: (ms) => {
      ingestion = ms === null ? null : { beliefCount: pack.beliefs.length, totalMs: ms }
    },
    onNotices: (given) => {
      notices = given
    },
  })) {
    const one = byId.get(outcome.caseId)
    if (one === undefined) continue
    const { id, caseId, asked } = one
    const entry = 'label' in asked ? sessionEntry(caseId, asked, outcome) : retrievalEntry(asked, outcome)
    records.push({ id, asked, outcome, answer: answerOf(outcome), entry })
    onProgress?.(records.length, byId.size)
  }
  const { name, version, description, notes, hasSuppliedTiers } = subject
  return { pack, subject: { name, version, description, notes, hasSuppliedTiers }, ingestion, notices, records }
}

type ComparisonOptions = {
  readonly packs: readonly Pack[]
  readonly backends: readonly BackendName[]
  /** Called with the backend being asked, and the cases done over all packs and backends. */
  readonly onProgress?: (progress: { readonly backend: string; readonly done: number; readonly total: number }) => void
  /** Backends that were asked for by name: when one of them is missing, nothing is compared. */
  readonly required?: readonly BackendName[]
  readonly explain?: string
  /** Without it, all cases are wanted. */
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
          const wanted = (id: string): boolean => isWanted(pack, id)
          runs.push(await runPack(pack, subject, { onProgress: onCase, isWanted: wanted, explain }))
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

/** A pack of which an empty answer passes a larger share says little about retrieval. */
export const mostPassedByNone = 0.6

export type PackCheck = Awaited<ReturnType<typeof checkPack>>

/** Whether a pack tells good from bad: finding nothing must not be enough, and what it expects must be possible. */
export async function checkPack(pack: Pack, backends: Backends) {
  const results = await compareBackends(backends, { packs: [pack], backends: ['none', 'oracle'] })
  const [none = [], oracle = []] = results.map((result) =>
    'runs' in result ? result.runs.flatMap(({ records }) => records) : [],
  )
  const passedBy = (records: PackRun['records']): number => records.filter(({ entry }) => entry.passed).length
  const [passedByNone, passedByOracle] = [passedBy(none), passedBy(oracle)]
  /** Why the pack is not fit to judge anything by; empty when it is. */
  const problems = oracle.flatMap(({ id, entry: { passed, error, failures } }) =>
    passed ? [] : [`No memory can pass "${id}": ${error ?? failures.join(' ')}`],
  )
  if (passedByNone > none.length * mostPassedByNone) {
    const allowed = `at most ${mostPassedByNone * 100} % are allowed`
    problems.unshift(`An empty answer passes ${passedByNone} of ${none.length} cases; ${allowed}.`)
  }
  return { pack: pack.id, cases: none.length, passedByNone, passedByOracle, problems }
}
