import { MemoryError } from '../../errors.ts'
import type { Store } from '../../memory/store.ts'
import { cachedEmbedder, type Embedder } from '../../search/embedder.ts'
import { findPacks, loadPack } from '../kinds/retrieval/pack.ts'
import { bm25System } from './bm25.ts'
import { type Calibration, calibrate, paperProtocol, readCalibration } from './calibration.ts'
import { everythingSystem, exactSystem, hybridSystem, noneSystem, oracleSubject } from './controls.ts'
import { type Clock, type Subject, systemSubject } from './subject.ts'
import { backendNames, type OwnBackend, type System } from './system.ts'
import { type KnownVectors, readVectors, vectorSystem } from './vector.ts'

/** A system outside of Credence, as it is named where a backend is. */
export type OutsideName = `${keyof typeof kinds}:${string}`

/** How each kind of name is opened, and what stands after its colon. What a kind needs is loaded when it is used. */
const kinds = {
  http: {
    rest: '<url>',
    open: async (url: string): Promise<System> => (await import('./outside/http-system.ts')).httpSystem({ url }),
  },
  'http-lean': {
    rest: '<url>',
    open: async (url: string): Promise<System> =>
      (await import('./outside/http-system.ts')).httpSystem({ url, fullMetadata: false }),
  },
  mcp: {
    rest: '<mapping file>',
    open: async (file: string): Promise<System> => {
      const [{ mcpSystem }, { readMcpMapping }] = [
        await import('./outside/mcp-system.ts'),
        await import('./outside/mcp-mapping.ts'),
      ]
      return mcpSystem({ mapping: readMcpMapping(file) })
    },
  },
} as const

/** The forms such a name can have: `http:<url>` and so on. */
export const outsideForms: readonly string[] = Object.entries(kinds).map(([kind, { rest }]) => `${kind}:${rest}`)

export const isOutsideName = (name: string): name is OutsideName =>
  Object.keys(kinds).some((kind) => name.startsWith(`${kind}:`) && name.length > kind.length + 1)

/** Does not start or reach it yet: that is what its first reset does. */
export async function openOutside(name: OutsideName): Promise<System> {
  const colon = name.indexOf(':')
  const kind = Object.entries(kinds).find(([known]) => known === name.slice(0, colon))?.[1]
  if (kind === undefined)
    throw new MemoryError('invalid', `"${name}" names no system.`, { hint: `Write ${outsideForms.join(' or ')}.` })
  return kind.open(name.slice(colon + 1))
}

/** One of ours, or a system outside of Credence. */
export type BackendName = OwnBackend | OutsideName

export const isBackendName = (name: string): name is BackendName =>
  backendNames.some((known) => known === name) || isOutsideName(name)

/** How a system can be named. */
export const backendForms: string = [...backendNames, ...outsideForms].join(', ')

/** A name that was given by a person. */
export function readBackendName(given: string): BackendName {
  if (isBackendName(given)) return given
  throw new MemoryError('invalid', `"${given}" is not a memory that can be asked.`, {
    hint: `Use one of ${backendForms}.`,
  })
}

/** What backends are made of. */
export type BackendParts = {
  /** A new, empty store each time. */
  readonly openStore: () => Store
  readonly version: string
  readonly clock: Clock
  /** Called once, when the first backend needs it. */
  readonly openEmbedder: () => Promise<Embedder>
  /** Where the packs are, whose stored vectors and calibration are used. */
  readonly packsDirectory: string
}

/** Makes subjects by name. What several of them need, such as the model, is loaded once and when first needed. */
export class Backends {
  readonly #parts: BackendParts
  #vectors: Promise<VectorParts> | undefined

  constructor(parts: BackendParts) {
    this.#parts = parts
  }

  async open(name: BackendName): Promise<Subject> {
    if (isOutsideName(name)) return this.behindScreen(await openOutside(name))
    if (name === 'oracle') return oracleSubject(this.ours)
    return this.behindScreen(await this.#system(name))
  }

  /** Puts any system under test, ours or another. */
  behindScreen(system: System): Subject {
    return systemSubject(system, { ours: this.ours, clock: this.#parts.clock })
  }

  readonly ours = (): System => bm25System({ openStore: this.#parts.openStore, version: this.#parts.version })

  async #system(name: Exclude<OwnBackend, 'oracle'>): Promise<System> {
    switch (name) {
      case 'bm25':
        return this.ours()
      case 'vector':
        return paperVector(await this.#vectorParts())
      case 'vector-calibrated':
        return calibratedVector(await this.#vectorParts())
      case 'hybrid':
        return hybridSystem({ precise: this.ours(), similar: calibratedVector(await this.#vectorParts()) })
      case 'none':
        return noneSystem()
      case 'everything':
        return everythingSystem()
      case 'exact':
        return exactSystem()
    }
  }

  #vectorParts(): Promise<VectorParts> {
    this.#vectors ??= vectorPartsOf(this.#parts)
    return this.#vectors
  }
}

type VectorParts = { readonly embedder: Embedder; readonly known: KnownVectors; readonly calibration: Calibration }

async function vectorPartsOf({ openEmbedder, packsDirectory }: BackendParts): Promise<VectorParts> {
  const directories = findPacks(packsDirectory)
  const embedder = cachedEmbedder(await openEmbedder())
  const known = new Map(directories.flatMap((directory) => [...readVectors(directory, embedder)]))
  return { embedder, known, calibration: await calibrationFor(directories, embedder, known) }
}

/** The stored choice for the model, or one made now. */
async function calibrationFor(
  directories: readonly string[],
  embedder: Embedder,
  known: KnownVectors,
): Promise<Calibration> {
  for (const directory of directories) {
    const { runner, pack } = loadPack(directory)
    if (runner !== 'calibration' || pack.kind !== 'retrieval') continue
    return readCalibration(directory, embedder, pack.hash) ?? calibrate(pack, embedder, known)
  }
  throw new MemoryError('unavailable', 'There is no pack to choose a similarity threshold on.', {
    hint: 'Put a pack whose runner is "calibration" beside the others.',
  })
}

const paperVector = ({ embedder, known }: VectorParts): System =>
  vectorSystem({
    name: 'vector',
    description: `cosine over embeddings, the ${paperProtocol.k} nearest in scope, no threshold (the paper's protocol)`,
    embedder,
    known,
    ...paperProtocol,
    notes: [`vector: the top ${paperProtocol.k} of a scope with fewer beliefs are all of them, whatever the model.`],
  })

const calibratedVector = ({
  embedder,
  known,
  calibration: { k, threshold, meanF1, pack, cases },
}: VectorParts): System =>
  vectorSystem({
    name: 'vector-calibrated',
    description: `cosine over embeddings, ${k === 1 ? 'the nearest' : `the ${k} nearest`} in scope with a similarity of at least ${threshold}`,
    embedder,
    known,
    k,
    threshold,
    notes: [
      `vector-calibrated: k = ${k} and threshold = ${threshold} have the best mean F1 (${meanF1.toFixed(3)}) on the ${cases} cases of the pack ${pack}.`,
    ],
  })
