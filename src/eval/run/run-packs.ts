import { recordLook } from '../pack/sealed-set.ts'
import { type About, openPack, type RunnablePack } from '../runners/runner.ts'
import { type AblationResult, judgeAblation } from '../score/figures.ts'
import { readCaseLog } from '../store/case-log.ts'
import type { RunSummary } from '../store/schemas/run.ts'
import { isBaselineName, isControlName } from '../system/system.ts'
import { newRunId, type RunContext, type RunOptions, resumeRun, startRun } from './run.ts'

export type RunRequest = Omit<RunOptions, 'role' | 'sealed'> &
  Omit<RunContext, 'environment' | 'onProgress'> & {
    /** Returns the environment to record with a run. */
    readonly environment: (of: {
      readonly ablation: string | undefined
      readonly about: About
    }) => RunContext['environment']
    /** The id of the run; only for one pack and one system. */
    readonly runId?: string | undefined
    /** Completes the run with this id; only for one pack and one system. */
    readonly resume?: string | undefined
    /** Whether every answer includes the omitted beliefs, with reasons. */
    readonly explain?: boolean
    /** Runs only with this part switched off. */
    readonly ablation?: string | undefined
    /** Also runs every pack with each of its declared parts switched off. */
    readonly ablations?: boolean
    readonly onProgress?: (label: string, done: number, total: number) => void
  }

/** A run in the store. `ablation` reports whether the cases detected that a part was switched off. */
export type PackRunResult = {
  readonly pack: RunnablePack
  readonly summary: RunSummary
  readonly ablation: AblationResult | null
}

/**
 * Runs every pack with every system (undefined: the pack's default), one after the other. Every run is stored, even if it is
 * interrupted or fails. Throws if a system cannot be opened; that run is not stored.
 */
export async function runPacks(
  packs: readonly RunnablePack[],
  systems: readonly (string | undefined)[],
  request: RunRequest,
): Promise<readonly PackRunResult[]> {
  const results: PackRunResult[] = []
  for (const system of systems) {
    for (const pack of packs) {
      if (request.signal.aborted) return results
      const summary = await runOne(pack, system, request)
      results.push({ pack, summary, ablation: null })
      if (request.ablations && summary.status === 'completed')
        results.push(...(await runAblations(pack, system, summary, request)))
    }
  }
  return results
}

async function runOne(pack: RunnablePack, system: string | undefined, request: RunRequest): Promise<RunSummary> {
  const { runId, resume, explain = false, ablation, ablations: _, environment, onProgress, ...rest } = request
  const { root, now, signal, jobs, ...options } = rest
  const benchmark = await openPack(pack, { system, explain, ablation })
  try {
    const { name } = benchmark.system
    const { benchmarkId } = pack.manifest
    const context: RunContext = {
      root,
      now,
      signal,
      environment: environment({ ablation, about: benchmark.about }),
      jobs,
      onProgress: (done, total) => onProgress?.(`${benchmarkId}, ${name}`, done, total),
    }
    if (resume !== undefined) return await resumeRun(benchmark, resume, context)
    const role = ablation !== undefined ? 'ablation' : isControlName(name) ? 'control' : undefined
    const id = runId ?? newRunId(benchmarkId, name, now())
    const look = {
      at: now().toISOString(),
      runId: id,
      system: name,
      counts: role === undefined && !isBaselineName(name),
    }
    const sealed = (await recordLook(pack.places ?? [], look)) ?? undefined
    return await startRun(benchmark, id, { ...options, role, sealed }, context)
  } finally {
    await benchmark.close()
  }
}

async function runAblations(
  pack: RunnablePack,
  system: string | undefined,
  { runId }: RunSummary,
  request: RunRequest,
): Promise<readonly PackRunResult[]> {
  const { root, signal } = request
  const { records: whole } = await readCaseLog(root, runId)
  const results: PackRunResult[] = []
  for (const ablation of pack.manifest.ablations ?? []) {
    if (signal.aborted) break
    const summary = await runOne(pack, system, { ...request, ablation, runId: undefined })
    const { records: without } = await readCaseLog(root, summary.runId)
    results.push({ pack, summary, ablation: judgeAblation(ablation, pack.cases, { whole, without }) })
  }
  return results
}
