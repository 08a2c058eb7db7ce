import { MemoryError } from '../../../errors.ts'
import type { CaseOutcome } from '../../run/run.ts'
import type { BackendName, Backends } from '../../system/backends.ts'
import type { Subject } from '../../system/subject.ts'
import type { Observer } from '../kind.ts'
import { carryOutRecall } from './carry-out.ts'
import type { Pack } from './pack.ts'

/** A pack that was run without a store; `credence eval` makes its tables and reports of it. */
export type PackRun = Readonly<Awaited<ReturnType<typeof runPack>>>

type RunOptions = {
  readonly wanted?: ReadonlySet<string> | undefined
  readonly explain?: boolean | undefined
  readonly onCase?: () => void
}

/** Asks a subject the cases of a pack, in order. */
export async function runPack(pack: Pack, subject: Subject, options: RunOptions = {}) {
  const { wanted = idsOf(pack), explain = false, onCase } = options
  /** The time is null when the corpus could not be taken in; notices are sentences about beliefs that were changed. */
  let ingested: { readonly ingestMs: number | null; readonly notices: readonly string[] } = {
    ingestMs: null,
    notices: [],
  }
  const onIngested: Observer['onIngested'] = (ingestMs, notices = []) => {
    ingested = { ingestMs, notices }
  }
  const request = { repeat: 0, seed: 0, wanted, jobs: 1, signal: new AbortController().signal, folder: null }
  const outcomes: CaseOutcome[] = []
  for await (const outcome of carryOutRecall(pack, subject, request, { explain, onIngested })) {
    outcomes.push(outcome)
    onCase?.()
  }
  const { name, version, description, notes, hasSuppliedTiers } = subject
  return { pack, subject: { name, version, description, notes, hasSuppliedTiers }, ...ingested, outcomes }
}

const idsOf = ({ cases }: Pack): ReadonlySet<string> => new Set(cases.map(({ id }) => id))

type BackendResult =
  | { readonly backend: string; readonly runs: readonly PackRun[] }
  | { readonly backend: string; readonly skipped: string }

type ComparisonOptions = {
  readonly packs: readonly Pack[]
  readonly backends: readonly BackendName[]
  /** Called with the backend being asked, and the cases done over all packs and backends. */
  readonly onProgress?: (progress: { readonly backend: string; readonly done: number; readonly total: number }) => void
  /** Backends that were asked for by name: when one of them is missing, nothing is compared. */
  readonly required?: readonly BackendName[]
  readonly explain?: boolean
  readonly wanted?: (pack: Pack) => ReadonlySet<string>
}

/** Runs every backend on every pack. One whose model is missing is skipped with the reason, unless it is required. */
export async function compareBackends(
  backends: Backends,
  options: ComparisonOptions,
): Promise<readonly BackendResult[]> {
  const { packs, onProgress, explain, wanted = idsOf } = options
  const perBackend = packs.reduce((total, pack) => total + wanted(pack).size, 0)
  const total = perBackend * options.backends.length
  const results: BackendResult[] = []
  for (const [index, backend] of options.backends.entries()) {
    let done = index * perBackend
    onProgress?.({ backend, done, total })
    const onCase = (): void => onProgress?.({ backend, done: ++done, total })
    try {
      const runs: PackRun[] = []
      const subject = await backends.open(backend)
      try {
        for (const pack of packs) runs.push(await runPack(pack, subject, { wanted: wanted(pack), explain, onCase }))
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
    'runs' in result ? result.runs.flatMap(({ outcomes }) => outcomes) : [],
  )
  const passedBy = (outcomes: PackRun['outcomes']): number =>
    outcomes.filter(({ verdict }) => verdict === 'pass').length
  const [passedByNone, passedByOracle] = [passedBy(none), passedBy(oracle)]
  /** Why the pack is not fit to judge anything by; empty when it is. */
  const problems = oracle.flatMap(({ caseId, verdict, error, failures }) =>
    verdict === 'pass' ? [] : [`No memory can pass "${caseId}": ${error?.message ?? failures.join(' ')}`],
  )
  if (passedByNone > none.length * mostPassedByNone) {
    const allowed = `at most ${mostPassedByNone * 100} % are allowed`
    problems.unshift(`An empty answer passes ${passedByNone} of ${none.length} cases; ${allowed}.`)
  }
  return { pack: pack.id, cases: none.length, passedByNone, passedByOracle, problems }
}
