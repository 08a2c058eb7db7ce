import { MemoryError } from '../../errors.ts'
import type { Pack } from '../kinds/retrieval/pack.ts'
import { askedIn } from '../kinds/retrieval/read-folder.ts'
import { type PackRun, runPack } from '../kinds/retrieval/run-pack.ts'
import type { BackendResult } from '../report/comparison.ts'
import type { BackendName, Backends } from '../system/backends.ts'

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
