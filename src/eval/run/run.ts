import { MemoryError } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { summaryOf } from '../score/run-summary-of.ts'
import { casesOf, openCaseLog } from '../store/case-log.ts'
import { createRun, readEnvironment, requireRun, writeEnvironment, writeRun } from '../store/documents.ts'
import { runFolder, treePath } from '../store/layout.ts'
import type { CaseRecord } from '../store/schemas/case-record.ts'
import type { Environment } from '../store/schemas/environment.ts'
import type { Manifest } from '../store/schemas/manifest.ts'
import type { RunSummary } from '../store/schemas/run-summary.ts'

/** What one case came to, as an executor sees it. Ids, repeats and seeds are the runner's business. */
export type CaseOutcome = Pick<CaseRecord, 'caseId' | 'verdict' | 'scores' | 'returned' | 'failures' | 'timings'> & {
  readonly explanation?: unknown
  readonly error?: { readonly class: string; readonly message: string }
}

export type ExecutionRequest = {
  readonly repeat: number
  /** Decides everything that is left to chance in this repeat. */
  readonly seed: number
  /** The cases whose results are asked for. Others may be carried out where these depend on them, but are not reported. */
  readonly wanted: ReadonlySet<string>
  readonly signal: AbortSignal
}

/**
 * Carries out cases one after the other and reports each as soon as it is judged. A case that breaks is an outcome with
 * the verdict `error`; throwing ends the run.
 */
export type ExecuteCases = (request: ExecutionRequest) => AsyncIterable<CaseOutcome>

/** A benchmark that can be run: what is asked, and who answers. */
export type RunnableBenchmark = {
  readonly manifest: Pick<Manifest, 'benchmarkId' | 'cases' | 'deterministic' | 'metrics'>
  readonly packHash: string
  readonly packFiles: Readonly<Record<string, string>>
  readonly system: { readonly name: string; readonly version: string }
  readonly execute: ExecuteCases
  /** Milliseconds the last ingestion took, where there was one. */
  readonly ingestMs?: () => number | null
}

export type RunOptions = {
  readonly repeats: number
  readonly seed: number
  /** Only cases that hold this text in their id, prompt or signals. */
  readonly filter?: string | undefined
  readonly notes?: string | undefined
  readonly gitRef?: string | undefined
}

export type RunContext = {
  /** The eval store. */
  readonly root: string
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Where the run takes place; the runner adds what it knows itself. */
  readonly surroundings: Pick<Environment, 'given' | 'settings' | 'git' | 'node' | 'os'>
  readonly onProgress?: (done: number, total: number) => void
}

/** Runs a benchmark from its beginning. What was reached is kept when it is interrupted or breaks. */
export async function runBenchmark(
  benchmark: RunnableBenchmark,
  runId: string,
  options: RunOptions,
  context: RunContext,
): Promise<RunSummary> {
  const { root, now, surroundings } = context
  const { manifest, packHash, packFiles, system } = benchmark
  const total = wantedCases(manifest.cases, options.filter).length
  if (total === 0) {
    throw new MemoryError('invalid', `No case of ${manifest.benchmarkId} holds "${options.filter}".`, {
      hint: 'The filter is looked for in the id, the prompt and the signals of a case.',
    })
  }
  const startedAt = now().toISOString()
  const { notes, gitRef, filter, seed, repeats } = options
  const begun: RunSummary = {
    schemaVersion: 1,
    runId,
    benchmarkId: manifest.benchmarkId,
    status: 'running',
    startedAt,
    totalCases: total,
    passedCases: 0,
    failedCases: 0,
    pendingCases: total,
    packHash,
    system: { ...system },
    seed,
    repeats,
    ...(manifest.deterministic === undefined ? {} : { deterministic: manifest.deterministic }),
    ...(manifest.metrics === undefined ? {} : { metricDeclarations: manifest.metrics }),
    ...(filter === undefined ? {} : { filter }),
    ...(notes === undefined ? {} : { notes }),
    ...(gitRef === undefined ? {} : { gitRef }),
  }
  await sweepLeftovers(treePath(root, 'runs'))
  await createRun(root, begun)
  const { benchmarkId } = manifest
  const environment = { runId, benchmarkId, recordedAt: startedAt, packHash, packFiles: { ...packFiles }, system, seed }
  await writeEnvironment(root, { schemaVersion: 1, ...environment, ...surroundings })
  return carryOn(benchmark, begun, context)
}

/** Completes a run that was interrupted. Cases that have a result are not repeated. */
export async function resumeBenchmark(
  benchmark: RunnableBenchmark,
  runId: string,
  context: RunContext,
): Promise<RunSummary> {
  const run = requireRun(context.root, runId)
  if (run.status === 'completed') return run
  refuseChanges(run, benchmark)
  return carryOn(benchmark, run, context)
}

/** The options an interrupted run was begun with. */
export function optionsOf(
  root: string,
  runId: string,
): Pick<Environment, 'given' | 'settings'> & { readonly run: RunSummary } {
  const run = requireRun(root, runId)
  const environment = readEnvironment(root, runId)
  if (environment?.ok) return { run, given: environment.value.given, settings: environment.value.settings }
  throw new MemoryError(
    'invalid',
    `The run "${runId}" cannot be resumed: its environment.json is missing or invalid.`,
    {
      hint: 'Begin a new run.',
    },
  )
}

async function carryOn(benchmark: RunnableBenchmark, run: RunSummary, context: RunContext): Promise<RunSummary> {
  const { root, now, signal, onProgress } = context
  const release = await takeLock(`${runFolder(root, run.runId)}/lock`, `The run "${run.runId}"`)
  try {
    const cases = wantedCases(benchmark.manifest.cases, run.filter)
    const known = await finishedCases(root, run.runId)
    const { repeats = 1, seed = 0 } = run
    let done = known.size
    let failure: unknown = null
    const log = await openCaseLog(root, run.runId)
    try {
      for (let repeat = 0; repeat < repeats && !signal.aborted; repeat += 1) {
        const wanted = new Set(cases.filter((id) => !known.has(keyOf(id, repeat))))
        if (wanted.size === 0) continue
        const seedOfRepeat = seed + repeat
        for await (const outcome of benchmark.execute({ repeat, seed: seedOfRepeat, wanted, signal })) {
          if (!wanted.delete(outcome.caseId)) continue
          await log.append({ ...outcome, schemaVersion: 1, repeat, seed: seedOfRepeat })
          done += 1
          onProgress?.(done, cases.length * repeats)
        }
      }
    } catch (error) {
      // Kept with the run, whose cases so far are worth keeping too, and thrown once they are safe.
      failure = error
    } finally {
      await log.close()
    }
    const { records, problems } = await casesOf(root, run.runId)
    if (problems[0] !== undefined)
      failure ??= new Error(`${problems[0].file}: ${problems[0].field} ${problems[0].message}`)
    const summary = summaryOf(run, records, {
      at: now(),
      isInterrupted: signal.aborted,
      failure,
      ingestMs: benchmark.ingestMs?.() ?? null,
    })
    await writeRun(root, summary)
    if (failure !== null && !signal.aborted) throw failure
    return summary
  } finally {
    await release()
  }
}

/** Ids in the order of the pack. */
export function wantedCases(cases: Manifest['cases'], filter: string | undefined): readonly string[] {
  const sought = filter?.toLowerCase()
  return cases
    .filter(({ id, prompt, expectedSignals = [] }) => {
      if (sought === undefined) return true
      return [id, prompt, ...expectedSignals].some((text) => text.toLowerCase().includes(sought))
    })
    .map(({ id }) => id)
}

const keyOf = (caseId: string, repeat: number): string => `${repeat} ${caseId}`

async function finishedCases(root: string, runId: string): Promise<ReadonlySet<string>> {
  const { records } = await casesOf(root, runId)
  return new Set(records.map(({ caseId, repeat }) => keyOf(caseId, repeat)))
}

/** Half a run of one thing and half of another would be a run of neither. */
function refuseChanges(run: RunSummary, { manifest, packHash, system }: RunnableBenchmark): void {
  const changes = [
    run.benchmarkId === manifest.benchmarkId ? null : `the benchmark was ${run.benchmarkId}`,
    run.packHash === packHash ? null : 'the pack has changed since',
    run.system?.name === system.name ? null : `the system was ${run.system?.name}`,
    run.system?.version === system.version ? null : `the version of ${system.name} was ${run.system?.version}`,
  ].filter((change) => change !== null)
  if (changes.length === 0) return
  throw new MemoryError('conflict', `The run "${run.runId}" cannot be resumed: ${changes.join(', ')}.`, {
    hint: 'Begin a new run.',
  })
}
