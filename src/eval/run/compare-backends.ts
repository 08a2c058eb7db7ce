import { MemoryError } from '../../errors.ts'
import type { Pack } from '../kinds/retrieval/pack.ts'
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
}

/** Runs every backend on every pack. One whose model is missing is skipped with the reason, unless it is required. */
export async function compareBackends(
  backends: Backends,
  options: ComparisonOptions,
): Promise<readonly BackendResult[]> {
  const { packs, onProgress, explain } = options
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
          runs.push(await runPack(pack, subject, { onProgress: onCase, ...(explain === undefined ? {} : { explain }) }))
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

const sizeOf = (pack: Pack): number =>
  pack.kind === 'retrieval' ? pack.cases.length : pack.sessions.reduce((total, { turns }) => total + turns.length, 0)

/** Only the cases that hold `text` in their id, category or description. Sessions stay whole: a turn alone means nothing. */
export function filterPack(pack: Pack, text: string): Pack | null {
  const wanted = text.toLowerCase()
  const holds = (...parts: readonly (string | null)[]): boolean =>
    parts.some((part) => part?.toLowerCase().includes(wanted))
  if (pack.kind === 'retrieval') {
    const cases = pack.cases.filter(({ caseId, category, description }) => holds(caseId, category, description))
    return cases.length === 0 ? null : { ...pack, cases }
  }
  const sessions = pack.sessions.filter(({ caseId, description }) => holds(caseId, description))
  return sessions.length === 0 ? null : { ...pack, sessions }
}

/** Whether a pack holds a case, by its id or, for a turn, `session#turn`. */
export const hasCase = (pack: Pack, id: string): boolean =>
  pack.kind === 'retrieval'
    ? pack.cases.some(({ caseId }) => caseId === id)
    : pack.sessions.some(({ caseId, turns }) => turns.some(({ turnIndex }) => `${caseId}#${turnIndex}` === id))

/** The one case of a static pack; a session pack stays whole, because what comes before a turn decides what it finds. */
export const onlyCase = (pack: Pack, id: string): Pack =>
  pack.kind === 'retrieval' ? { ...pack, cases: pack.cases.filter(({ caseId }) => caseId === id) } : pack
