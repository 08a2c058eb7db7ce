import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Kind } from '../eval/kinds/kind.ts'
import { learningKind } from '../eval/kinds/learning/learning-kind.ts'
import { recallKinds } from '../eval/kinds/retrieval/recall-kinds.ts'
import { Backends, readBackendName } from '../eval/system/backends.ts'
import { openEmbedder } from '../eval/system/embedders/open-embedder.ts'
import type { Ports } from '../memory/change/transaction.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
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
  /** The kinds of pack that can be run, but for those of other layers, which their commands add. */
  readonly kinds: (options: {
    readonly embedder: string
    readonly extractor: (spec: string) => Promise<Extractor>
  }) => readonly Kind[]
  /** Shows how far a run has come, where somebody can see it. */
  readonly progress: ProgressBar
}

const inPackage = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Every run begins with an empty store in memory, so that no memory of the user is ever touched. */
export function composeEvaluation({ env, stderr }: Pick<Surroundings, 'env' | 'stderr'>): Evaluation {
  const { version } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { version: string }
  const open = (spec: string): Promise<Embedder> => openEmbedder(spec, { apiKey: env.OPENAI_API_KEY })
  const packs = inPackage('packs')
  const clock = (): number => performance.now()
  const backends: Evaluation['backends'] = ({ packsDirectory, embedder }) =>
    new Backends({
      openStore: () => openMemoryStore({ random: randomBytes }),
      version,
      clock,
      openEmbedder: () => open(embedder),
      packsDirectory,
    })
  return {
    packsDirectory: packs,
    documentFile: inPackage('docs/evaluation.md'),
    openEmbedder: open,
    backends,
    kinds: ({ embedder, extractor }) => {
      const subjects = backends({ packsDirectory: packs, embedder })
      return [
        ...recallKinds((system) => subjects.open(readBackendName(system))),
        learningKind({
          open: (system) => extractorOrControl(system, extractor),
          openPorts: emptyPorts,
          version,
          clock,
        }),
      ]
    },
    progress: new ProgressBar(stderr, env),
  }
}

/** A memory in which nothing was learned yet. */
function emptyPorts(): Ports {
  let last = 0
  return {
    store: openMemoryStore({ random: randomBytes }),
    now: () => new Date(),
    newId: () => {
      last += 1
      return `b-${last}`
    },
  }
}

/** The extractor of this name, or one of the controls. */
async function extractorOrControl(spec: string, open: (spec: string) => Promise<Extractor>): Promise<Extractor> {
  const controls = await import('../eval/kinds/learning/control-extractors.ts')
  if (spec === 'none') return controls.nothingExtractor
  if (spec === 'everything') return controls.everythingExtractor
  return open(spec)
}
