import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Backends } from '../eval/system/backends.ts'
import { openEmbedder } from '../eval/system/embedders/open-embedder.ts'
import type { Embedder } from '../search/embedder.ts'
import { openMemoryStore } from '../store/memory-store.ts'
import type { Surroundings } from './compose.ts'
import { ProgressBar } from './progress-bar.ts'

/** What evaluation commands work with. */
export type Evaluation = {
  /** The packs that ship with Credence. */
  readonly packsDirectory: string
  /** Where the measured table is kept, in a clone. */
  readonly documentFile: string
  readonly openEmbedder: (spec: string) => Promise<Embedder>
  readonly backends: (options: { readonly packsDirectory: string; readonly embedder: string }) => Backends
  /** Shows how far a run has come, where somebody can see it. */
  readonly progress: ProgressBar
}

const inPackage = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Every run begins with an empty store in memory, so that no memory of the user is ever touched. */
export function composeEvaluation({ env, stderr }: Pick<Surroundings, 'env' | 'stderr'>): Evaluation {
  const { version } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { version: string }
  const open = (spec: string): Promise<Embedder> => openEmbedder(spec, { apiKey: env.OPENAI_API_KEY })
  return {
    packsDirectory: inPackage('packs'),
    documentFile: inPackage('docs/evaluation.md'),
    openEmbedder: open,
    backends: ({ packsDirectory, embedder }) =>
      new Backends({
        openStore: () => openMemoryStore({ random: randomBytes }),
        version,
        clock: () => performance.now(),
        openEmbedder: () => open(embedder),
        packsDirectory,
      }),
    progress: new ProgressBar(stderr, env),
  }
}
