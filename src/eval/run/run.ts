import { MemoryError } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { sha256 } from '../pack/pack-hash.ts'
import { summaryOf } from '../score/figures.ts'
import { casesOf, openCaseLog } from '../store/case-log.ts'
import { createRun, readEnvironment, requireRun, writeEnvironment, writeRun } from '../store/documents.ts'
import { runFolder, treePath } from '../store/layout.ts'
import { problemText } from '../store/parse-artifact.ts'
import type { Manifest } from '../store/schemas/manifest.ts'
import type { CaseRecord, Environment, RunSummary } from '../store/schemas/run.ts'

/** What one case came to, as an executor sees it. Ids, repeats and seeds are the runner's business. */
export type CaseOutcome = Pick<CaseRecord, 'caseId' | 'verdict' | 'scores' | 'returned' | 'failures' | 'timings'> & {
  readonly explanation?: unknown
  readonly error?: { readonly class: string; readonly message: string }
}

export type ExecutionRequest = {
  readonly repeat: number
  /** Decides everything that is left to chance in this repeat. */
  readonly seed: number
  /**
   * The cases whose results are asked for, in the order to take where none depends on another. Others may be carried out
   * where these depend on them, but are not reported.
   */
  readonly wanted: ReadonlySet<string>
  /** How many cases may be under way at once. The result must not depend on it. */
  readonly jobs: number
  readonly signal: AbortSignal
  /** Where the run keeps its files; null when nothing is kept. */
  readonly folder: string | null
}

/**
 * Carries out cases and reports each as soon as it is judged. A case that breaks is an outcome with
 * the verdict `error`; throwing ends the run.
 */
export type ExecuteCases = (request: ExecutionRequest) => AsyncIterable<CaseOutcome>

/** A benchmark that can be run: what is asked, and who answers. */
export type RunnableBenchmark = {
  readonly manifest: Pick<Manifest, 'benchmarkId' | 'cases' | 'deterministic' | 'metrics'>
  /** What else a filter looks at, by case. */
  readonly words?: ReadonlyMap<string, readonly string[]>
  readonly packHash: string
  readonly packFiles: Readonly<Record<string, string>>
  readonly system: { readonly name: string; readonly version: string }
  readonly execute: ExecuteCases
  /** Whether the seed decides the order of the cases. */
  readonly isShuffled?: boolean
  /** Milliseconds the last ingestion took, where there was one. */
  readonly ingestMs?: () => number | null
}

export type RunOptions = {
  readonly repeats: number
  readonly seed: number
  /** Only cases that hold this text in their id, prompt or signals. */
  readonly filter?: string | undefined
  /** Only every `count`th case, beginning with the `index`th, to be merged with the others. */
  readonly shard?: Shard | undefined
  /** What the run is for, where it is not about a memory. */
  readonly role?: RunSummary['role']
  readonly notes?: string | undefined
  readonly gitRef?: string | undefined
}

export type Shard = { readonly index: number; readonly count: number }

export type RunContext = {
  /** The eval store. */
  readonly root: string
  readonly now: () => Date
  readonly signal: AbortSignal
  /** How many cases may be under way at once; 1 unless given. */
  readonly jobs?: number
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
  const wanted = wantedCases(benchmark, options)
  const total = wanted.length
  if (total === 0) throw nothingWanted(manifest, options)
  const startedAt = now().toISOString()
  const { notes, gitRef, filter, shard, role, seed, repeats } = options
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
    ...(shard === undefined ? {} : { shard: { ...shard } }),
    ...(role === undefined ? {} : { role }),
    ...(notes === undefined ? {} : { notes }),
    ...(gitRef === undefined ? {} : { gitRef }),
  }
  await sweepLeftovers(treePath(root, 'runs'))
  await createRun(root, begun)
  const { benchmarkId } = manifest
  const environment = { runId, benchmarkId, recordedAt: startedAt, packHash, packFiles: { ...packFiles }, system, seed }
  // Merging needs the place of every case in the whole run, which its own shard knows best.
  const parts =
    shard === undefined ? {} : { shard: { ...shard, caseIds: [...wanted], isShuffled: benchmark.isShuffled ?? false } }
  await writeEnvironment(root, { schemaVersion: 1, ...environment, ...surroundings, ...parts })
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
  const { root, now, signal, jobs = 1, onProgress } = context
  const release = await takeLock(`${runFolder(root, run.runId)}/lock`, `The run "${run.runId}"`)
  try {
    const cases = wantedCases(benchmark, run)
    const earlier = await casesOf(root, run.runId)
    const known = new Set(earlier.records.map(({ caseId, repeat }) => keyOf(caseId, repeat)))
    const records = [...earlier.records]
    const { repeats = 1, seed = 0 } = run
    let done = known.size
    let failure: unknown = null
    const log = await openCaseLog(root, run.runId)
    try {
      for (let repeat = 0; repeat < repeats && !signal.aborted; repeat += 1) {
        const seedOfRepeat = seed + repeat
        const order = caseOrder(cases, { isShuffled: benchmark.isShuffled ?? false, seed: seedOfRepeat })
        const wanted = new Set(order.filter((id) => !known.has(keyOf(id, repeat))))
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
      // Kept with the run, whose cases so far are worth keeping too, and thrown once they are safe.
      failure = error
    } finally {
      await log.close()
    }
    // A record that was being written when the process ended has been cut off, and its case was asked again.
    const broken = earlier.problems.find(({ field }) => field !== '(line)')
    if (broken !== undefined) failure ??= new Error(problemText(broken))
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
    release()
  }
}

type Selection = { readonly filter?: string | undefined; readonly shard?: Shard | undefined }

/** Ids in the order of the pack. */
export function wantedCases(
  { manifest, words }: Pick<RunnableBenchmark, 'manifest' | 'words'>,
  { filter, shard }: Selection,
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
    .filter((_, position) => shard === undefined || position % shard.count === shard.index - 1)
}

/** The order in which a repeat carries out cases. */
export function caseOrder(
  ids: readonly string[],
  { isShuffled, seed }: { readonly isShuffled: boolean; readonly seed: number },
): readonly string[] {
  if (!isShuffled) return ids
  // Each case draws by its id, so that a part of the cases has the order it has in the whole.
  const keys = new Map(ids.map((id) => [id, sha256(`${seed}\n${id}`)]))
  return ids.toSorted((one, other) => ((keys.get(one) ?? '') < (keys.get(other) ?? '') ? -1 : 1))
}

function nothingWanted({ benchmarkId }: RunnableBenchmark['manifest'], { filter, shard }: Selection): MemoryError {
  if (filter !== undefined) {
    return new MemoryError('invalid', `No case of ${benchmarkId} holds "${filter}".`, {
      hint: 'The filter is looked for in the id, the prompt, the signals, the category and the description of a case.',
    })
  }
  return new MemoryError('invalid', `Shard ${shard?.index}/${shard?.count} of ${benchmarkId} has no cases.`, {
    hint: 'Use at most as many shards as there are cases.',
  })
}

const keyOf = (caseId: string, repeat: number): string => `${repeat} ${caseId}`

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
