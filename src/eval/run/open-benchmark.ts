import { type Kind, kindOf, type OpenOptions, type PackCase, type Tested } from '../kinds/kind.ts'
import { manifestOf } from '../pack/manifest.ts'
import { hashOfFiles, packHashOf } from '../pack/pack-hash.ts'
import type { RunnableBenchmark } from './run.ts'

/** A pack that is open, and what is known of its cases. */
export type OpenBenchmark = RunnableBenchmark & {
  readonly warnings: readonly string[]
  readonly cases: readonly PackCase[]
  readonly close: Tested['close']
}

/** A pack in a folder together with a system, ready to be run. The kind that its manifest names decides how. */
export async function openBenchmark(
  directory: string,
  kinds: readonly Kind[],
  { system, explain = false, ablation }: Partial<OpenOptions> & { readonly system?: string | undefined } = {},
): Promise<OpenBenchmark> {
  const manifest = manifestOf(directory)
  const place = { directory, manifest }
  const kind = kindOf(place, kinds)
  const pack = kind.read(place)
  const { packFiles: ownFiles } = await packHashOf(directory, manifest)
  const { tested, execute, ingestMs } = await pack.open(system ?? kind.defaultSystem, { explain, ablation })
  return {
    manifest: tested.isDeterministic === false ? { ...manifest, deterministic: false } : manifest,
    ...hashOfFiles({ ...ownFiles, ...tested.hashed }),
    system: { name: tested.name, version: tested.version },
    execute,
    ingestMs,
    isShuffled: pack.isShuffled,
    words: new Map(pack.cases.map(({ id, words }) => [id, words])),
    warnings: pack.warnings,
    cases: pack.cases,
    close: tested.close,
  }
}
