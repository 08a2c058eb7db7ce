import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { loadPack } from '../manifest.ts'
import type { Subject } from '../subject.ts'
import { executePack } from './execute-pack.ts'
import { readBounded } from './files/read-bounded.ts'
import { packHashOf } from './pack-hash.ts'
import { parseArtifact, required } from './parse-artifact.ts'
import type { RunnableBenchmark } from './runner.ts'
import type { Manifest } from './schemas/manifest.ts'
import { manifestName } from './store/layout.ts'

/** Reads the manifest of a pack folder. */
export function manifestOf(directory: string): Manifest {
  const file = join(directory, manifestName)
  const bytes = readBounded(file, file)
  return required(bytes.ok ? parseArtifact('manifest', bytes.value, file) : bytes, 'manifest')
}

/** A pack and somebody to ask, ready to be run. Refuses a pack that names no runner. */
export async function runnablePack(
  directory: string,
  subject: Subject,
  options: { readonly explain?: boolean } = {},
): Promise<RunnableBenchmark> {
  const manifest = manifestOf(directory)
  if (manifest.runner === undefined) {
    throw new MemoryError('invalid', `The pack ${manifest.benchmarkId} names no runner, so nothing can execute it.`, {
      hint: 'Results made elsewhere can be put into the store as runs; see docs/harness.md.',
    })
  }
  const { pack } = loadPack(directory)
  const { name, version } = subject
  return {
    manifest,
    ...(await packHashOf(directory, manifest)),
    system: { name, version },
    ...executePack(pack, subject, options),
  }
}
