import { randomBytes } from 'node:crypto'
import { conflict, invalid } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { checkPlain } from '../../files/own-files.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { sha256 } from '../pack/manifest.ts'
import { summaryOf } from '../score/figures.ts'
import { openCaseLog, readCaseLog } from '../store/case-log.ts'
import {
  createRun,
  readEnvironment,
  requireRun,
  runFolder,
  treePath,
  writeEnvironment,
  writeRun,
} from '../store/documents.ts'
import { problemText } from '../store/parse-artifact.ts'
import type { Manifest } from '../store/schemas/manifest.ts'
import type { CaseRecord, RunEnvironment, RunSummary } from '../store/schemas/run.ts'
import { sealOf, sealProblem } from '../store/seal.ts'

/** The result of one case. The runner adds repeat and seed. */
export type CaseOutcome = Pick<CaseRecord, 'caseId' | 'verdict' | 'scores' | 'returned' | 'failures' | 'timings'> & {
  readonly cluster?: string
  readonly explanation?: unknown
  readonly error?: { readonly class: string; readonly message: string }
  /** The whole answer as a line of a rankings file; only for conversation packs. */
  readonly ranking?: object
}

export type ExecutionRequest = {
  readonly repeat: number
  /** The seed of all randomness in this repeat. */
  readonly seed: number
  /** The cases to report, in execution order. Cases that these depend on are carried out too, but not reported. */
  readonly wanted: ReadonlySet<string>
  /** The number of cases to run in parallel. Must not affect the result. */
  readonly jobs: number
  readonly signal: AbortSignal
  /** The folder for the run's files; null if nothing is stored. */
  readonly folder: string | null
}

export type PackWithSystem = {
  readonly manifest: Pick<Manifest, 'benchmarkId' | 'cases' | 'deterministic' | 'metrics'>
  readonly words?: ReadonlyMap<string, readonly string[]>
  readonly packHash: string
  readonly packFiles: Readonly<Record<string, string>>
  readonly system: { readonly name: string; readonly version: string }
  /** Yields each outcome as soon as it is judged. A case that breaks has the verdict `error`; an exception ends the run. */
  readonly execute: (request: ExecutionRequest) => AsyncIterable<CaseOutcome>
  readonly isShuffled?: boolean
  /** The last ingestion, if there was one. */
  readonly ingested?: () => Ingested
}

/** `ms`: the duration, null if ingestion failed. `notices`: a sentence for each belief that the system could not store unchanged. */
export type Ingested = { readonly ms: number | null; readonly notices: readonly string[] }

export type RunOptions = {
  readonly repeats: number
  readonly seed: number
  /** Only cases with this text in their id, prompt or signals. */
  readonly filter?: string | undefined
  /** `control` or `ablation` for a run that measures the pack rather than a memory. */
  readonly role?: RunSummary['role']
  /** The seal of the set, if it is sealed. */
  readonly sealed?: RunSummary['sealed']
  readonly notes?: string | undefined
  readonly gitRef?: string | undefined
}

export type RunContext = {
  readonly root: string
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly jobs?: number | undefined
  /** The environment of the run; the runner adds the pack, the system and the seed. */
  readonly environment: Pick<RunEnvironment, 'given' | 'settings' | 'git' | 'node' | 'os'>
  readonly onProgress?: (done: number, total: number) => void
}

/** Carries out a new run of a benchmark. Stored records survive a crash of the process and, once the run has ended, a power failure. */
export async function startRun(
  benchmark: PackWithSystem,
  runId: string,
  options: RunOptions,
  context: RunContext,
): Promise<RunSummary> {
  const { root, now, environment } = context
  const { manifest, packHash, packFiles, system } = benchmark
  const { benchmarkId, deterministic, metrics: metricDeclarations } = manifest
  const { repeats, seed, ...rest } = options
  const wanted = selectCases(benchmark, options)
  if (wanted.length === 0)
    throw invalid(
      `No case of ${benchmarkId} contains "${options.filter ?? ''}".`,
      'The filter is searched for in the id, prompt, signals, category and description of each case.',
    )
  const startedAt = now().toISOString()
  const counts = { totalCases: wanted.length, passedCases: 0, failedCases: 0, pendingCases: wanted.length }
  const begun: RunSummary = {
    schemaVersion: 1,
    runId,
    benchmarkId,
    status: 'running',
    startedAt,
    ...counts,
    packHash,
    system: { ...system },
    seed,
    repeats,
    ...omitUndefined({ deterministic, metricDeclarations, ...rest }),
  }
  await sweepLeftovers(treePath(root, 'runs'))
  await createRun(root, begun)
  await writeEnvironment(root, {
    schemaVersion: 1,
    runId,
    benchmarkId,
    recordedAt: startedAt,
    packHash,
    packFiles: { ...packFiles },
    system,
    seed,
    ...environment,
  })
  return continueRun(benchmark, begun, context)
}

/** Completes an interrupted run. Does not repeat cases that have a result. */
export async function resumeRun(benchmark: PackWithSystem, runId: string, context: RunContext): Promise<RunSummary> {
  const run = requireRun(context.root, runId)
  if (run.status === 'completed') return run
  refuseChanges(run, benchmark)
  return continueRun(benchmark, run, context)
}

export function optionsOf(
  root: string,
  runId: string,
): Pick<RunEnvironment, 'given' | 'settings'> & { readonly run: RunSummary } {
  const run = requireRun(root, runId)
  const environment = readEnvironment(root, runId)
  if (environment?.ok) return { run, given: environment.value.given, settings: environment.value.settings }
  const message = `The run "${runId}" cannot be resumed: its environment.json is missing or invalid.`
  throw invalid(message, 'Start a new run.')
}

async function continueRun(benchmark: PackWithSystem, run: RunSummary, context: RunContext): Promise<RunSummary> {
  const { root, now, signal, jobs = 1, onProgress } = context
  const lock = `${runFolder(root, run.runId)}/lock`
  checkPlain(root, lock)
  const release = await takeLock(lock, `The run "${run.runId}"`)
  try {
    await breakSeal(root, run)
    const cases = selectCases(benchmark, run)
    const earlier = await readCaseLog(root, run.runId)
    const known = new Set(earlier.records.map(({ caseId, repeat }) => caseKeyOf(caseId, repeat)))
    const records = [...earlier.records]
    const { repeats = 1, seed = 0 } = run
    let done = known.size
    let failure: unknown = null
    const log = await openCaseLog(root, run.runId)
    try {
      for (let repeat = 0; repeat < repeats && !signal.aborted; repeat += 1) {
        const seedOfRepeat = seed + repeat
        const order = caseOrder(cases, { isShuffled: benchmark.isShuffled ?? false, seed: seedOfRepeat })
        const wanted = new Set(order.filter((id) => !known.has(caseKeyOf(id, repeat))))
        if (wanted.size === 0) continue
        const waiting = new Set(wanted)
        const request = { repeat, seed: seedOfRepeat, wanted, jobs, signal, folder: runFolder(root, run.runId) }
        for await (const outcome of benchmark.execute(request)) {
          if (!waiting.delete(outcome.caseId)) continue
          records.push(log.append({ ...outcome, schemaVersion: 1, repeat, seed: seedOfRepeat }))
          done += 1
          onProgress?.(done, cases.length * repeats)
        }
      }
    } catch (error) {
      // Rethrown below, after the cases so far and this error were written to the summary.
      failure = error
    } finally {
      await log.close()
    }
    // Ignores a record that was cut off when the process was killed, because its case has been run again.
    const broken = earlier.problems.find(({ field }) => field !== '(line)')
    if (broken !== undefined) failure ??= new Error(problemText(broken))
    const summary = summaryOf(run, records, {
      at: now(),
      isInterrupted: signal.aborted,
      failure,
      ingested: benchmark.ingested?.() ?? { ms: null, notices: [] },
    })
    const sealed = { ...summary, seal: sealOf(root, summary) }
    await writeRun(root, sealed)
    if (failure !== null && !signal.aborted) throw failure
    return sealed
  } finally {
    release()
  }
}

/** Removes the seal of an interrupted run that is resumed, after checking that nothing was edited. */
async function breakSeal(root: string, run: RunSummary): Promise<void> {
  const { seal, ...unsealed } = run
  if (seal === undefined) return
  const problem = sealProblem(root, run, null)
  if (problem !== null)
    throw invalid(`The run "${run.runId}" cannot be resumed: ${problemText(problem)}.`, 'Start a new run.')
  await writeRun(root, { ...unsealed, status: 'running' })
}

/** The ids of the wanted cases, in the order of the pack. */
export function selectCases(
  { manifest, words }: { readonly manifest: Pick<Manifest, 'cases'> } & Pick<PackWithSystem, 'words'>,
  { filter }: Pick<RunOptions, 'filter'>,
): readonly string[] {
  const sought = filter?.toLowerCase()
  return manifest.cases
    .filter(({ id, prompt, expectedSignals = [] }) => {
      if (sought === undefined) return true
      return [id, prompt, ...expectedSignals, ...(words?.get(id) ?? [])].some((text) =>
        text.toLowerCase().includes(sought),
      )
    })
    .map(({ id }) => id)
}

/** The order in which a repeat carries out cases. */
export function caseOrder(
  ids: readonly string[],
  { isShuffled, seed }: { readonly isShuffled: boolean; readonly seed: number },
): readonly string[] {
  if (!isShuffled) return ids
  // The sort key of a case depends only on its id and the seed, so that a filtered run keeps the order of the whole run.
  const keys = new Map(ids.map((id) => [id, sha256(`${seed}\n${id}`)]))
  return ids.toSorted((a, b) => ((keys.get(a) ?? '') < (keys.get(b) ?? '') ? -1 : 1))
}

const caseKeyOf = (caseId: string, repeat: number): string => `${repeat} ${caseId}`

function refuseChanges(run: RunSummary, { manifest, packHash, system }: PackWithSystem): void {
  const changes = [
    run.benchmarkId === manifest.benchmarkId ? null : `the benchmark was ${run.benchmarkId}`,
    run.packHash === packHash ? null : 'the pack has changed since',
    run.system?.name === system.name ? null : `the system was ${run.system?.name}`,
    run.system?.version === system.version ? null : `the version of ${system.name} was ${run.system?.version}`,
  ].filter((change) => change !== null)
  if (changes.length === 0) return
  throw conflict(`The run "${run.runId}" cannot be resumed: ${changes.join(', ')}.`, 'Start a new run.')
}

/** A readable, unique run id that sorts by time. */
export function newRunId(benchmarkId: string, system: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/gu, '').replace('T', '-')
  const parts = [stamp, slug(benchmarkId, 60), slug(system, 24), randomBytes(2).toString('hex')]
  return parts.filter((part) => part !== '').join('-')
}

/** Replaces each sequence of characters other than letters and digits with one hyphen. Neither end is a hyphen. */
export const slug = (text: string, maxLength: number): string =>
  text
    .replaceAll(/[^A-Za-z0-9]+/gu, '-')
    .replace(/^-/u, '')
    .slice(0, maxLength)
    .replace(/-$/u, '')
