import { invalid, unavailable } from '../../errors.ts'
import type { Store } from '../../memory/ports.ts'
import { cacheEmbedder, type Embedder } from '../../search/embedder.ts'
import { findPacks, loadPack } from '../runners/retrieval/pack.ts'
import { bm25System } from './bm25.ts'
import { type Calibration, calibrate, paperProtocol } from './calibration.ts'
import { everythingSystem, exactSystem, noneSystem, oracleUnderTest } from './controls.ts'
import { type HearingSystem, type OwnSystemName, ownSystemNames, type System } from './system.ts'
import { type Clock, type SystemUnderTest, underTest } from './under-test.ts'
import { vectorSystem } from './vector.ts'

/** The syntax of names of external systems. */
export const outsideForms = ['http:<url>', 'http-lean:<url>', 'mcp:<mapping file>'] as const
type OutsideName = `${'http' | 'http-lean' | 'mcp'}:${string}`

export const isOutsideName = (name: string): name is OutsideName => /^(?:http|http-lean|mcp):./u.test(name)

/** The interface through which a system was measured. Red-team packs use the interfaces of their steps; tasks use an agent. */
export function interfaceNameOf(system: string | undefined, runner: string | undefined): string {
  if (runner === 'red-team' || runner === 'task') return runner === 'task' ? 'agent' : 'hook, MCP, HTTP'
  const [kind = ''] = system?.split(':') ?? []
  const doors: Readonly<Record<string, string>> = { http: 'HTTP', 'http-lean': 'HTTP', mcp: 'MCP', rankings: 'file' }
  return doors[kind] ?? 'function'
}

/** Opens an external system. Its code is loaded only here. An MCP server is started by the first `reset`. */
export async function openOutside(name: OutsideName): Promise<HearingSystem> {
  const kind = name.slice(0, name.indexOf(':'))
  const place = name.slice(name.indexOf(':') + 1)
  if (kind !== 'mcp') {
    const { openHttpSystem } = await import('./outside/http-system.ts')
    return openHttpSystem({ url: place, fullMetadata: kind === 'http' })
  }
  const { mcpSystem } = await import('./outside/mcp-system.ts')
  return mcpSystem({ mapping: (await import('./outside/mcp-mapping.ts')).readMcpMapping(place) })
}

export type SystemName = OwnSystemName | OutsideName

export const isSystemName = (name: string): name is SystemName =>
  ownSystemNames.some((known) => known === name) || isOutsideName(name)

export const systemForms: string = [...ownSystemNames, ...outsideForms].join(', ')

export function readSystemName(name: string): SystemName {
  if (isSystemName(name)) return name
  throw invalid(`Unknown system "${name}".`, `Use one of ${systemForms}.`)
}

export type SystemsParts = {
  /** Opens a store that can also store turns. */
  readonly openStore: () => Store
  readonly version: string
  readonly clock: Clock
  /** Called once, when the first system needs it. */
  readonly openEmbedder: () => Promise<Embedder>
  /** The folder of the packs, including one for calibration. */
  readonly packsDirectory: string
}

/** Opens systems by name. Shared parts, such as the model, are loaded once, on first use. */
export class Systems {
  readonly #parts: SystemsParts
  #vectors: Promise<VectorParts> | undefined

  constructor(parts: SystemsParts) {
    let embedder: Promise<Embedder> | undefined
    const openEmbedder = (): Promise<Embedder> => {
      embedder ??= parts.openEmbedder().then((opened) => cacheEmbedder(opened))
      return embedder
    }
    this.#parts = { ...parts, openEmbedder }
  }

  async open(name: SystemName): Promise<SystemUnderTest> {
    if (isOutsideName(name)) return this.underTest(await openOutside(name))
    if (name === 'oracle') return oracleUnderTest(this.ours)
    return this.underTest(await this.#system(name))
  }

  underTest(system: System): SystemUnderTest {
    return underTest(system, { ours: this.ours, clock: this.#parts.clock })
  }

  readonly ours = (): System => bm25System({ openStore: this.#parts.openStore, version: this.#parts.version })

  async #system(name: Exclude<OwnSystemName, 'oracle'>): Promise<System> {
    switch (name) {
      case 'bm25':
        return this.ours()
      case 'credence-vectors':
        return bm25System(this.#parts)
      case 'vector':
        return paperVector(await this.#vectorParts())
      case 'vector-calibrated':
        return calibratedVector(await this.#vectorParts())
      case 'none':
        return noneSystem()
      case 'everything':
        return everythingSystem()
      case 'exact':
        return exactSystem()
    }
  }

  #vectorParts(): Promise<VectorParts> {
    this.#vectors ??= loadVectorParts(this.#parts)
    return this.#vectors
  }
}

type VectorParts = { readonly embedder: Embedder; readonly calibration: Calibration }

async function loadVectorParts({ openEmbedder, packsDirectory }: SystemsParts): Promise<VectorParts> {
  const embedder = await openEmbedder()
  for (const directory of findPacks(packsDirectory)) {
    const { runner, pack } = loadPack(directory)
    if (runner === 'calibration') return { embedder, calibration: await calibrate(pack, embedder) }
  }
  const hint = 'Put a pack whose runner is "calibration" next to the others.'
  throw unavailable('There is no pack to choose a similarity threshold on.', hint)
}

const paperVector = ({ embedder }: VectorParts): System =>
  vectorSystem({
    name: 'vector',
    description: `cosine over embeddings, the ${paperProtocol.k} nearest in scope, no threshold (the paper's protocol)`,
    embedder,
    ...paperProtocol,
    notes: [`vector: the top ${paperProtocol.k} of a scope with fewer beliefs are all of them, whatever the model.`],
  })

const calibratedVector = ({ embedder, calibration }: VectorParts): System => {
  const { k, threshold, meanF1, pack, cases } = calibration
  const nearest = k === 1 ? 'the nearest' : `the ${k} nearest`
  return vectorSystem({
    name: 'vector-calibrated',
    description: `cosine over embeddings, ${nearest} in scope with a similarity of at least ${threshold}`,
    embedder,
    k,
    threshold,
    notes: [
      `vector-calibrated: k = ${k} and threshold = ${threshold} have the best mean F1 (${meanF1.toFixed(3)}) on the ${cases} cases of the pack ${pack}.`,
    ],
  })
}
