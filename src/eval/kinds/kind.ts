import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { hashOfFiles, manifestOf, packHashOf } from '../pack/manifest.ts'
import type { CaseOutcome, ExecutionRequest, RunnableBenchmark } from '../run/run.ts'
import { manifestName } from '../store/documents.ts'
import type { Manifest } from '../store/schemas/manifest.ts'

/** A pack on disk whose manifest has been read. */
export type PackPlace = { readonly directory: string; readonly manifest: Manifest }

/** One case as every kind of pack has it. */
export type PackCase = {
  readonly id: string
  readonly prompt: string
  /** Whether something must come back. Where silence is right, a memory that is switched off is right too. */
  readonly expectsSomething: boolean
  /** What else a filter looks at: category, label, description. */
  readonly words: readonly string[]
}

/** What the files of a pack hold, checked. A kind adds what its cases need. */
export type PackContent = {
  readonly cases: readonly PackCase[]
  /** What the files say that nothing checks. */
  readonly warnings: readonly string[]
  /** Whether the seed decides the order of the cases; else they are carried out in the order of the manifest. */
  readonly isShuffled: boolean
}

/** What a pack is run on: a memory, an extractor, an agent. */
export type Tested = {
  readonly name: string
  readonly version: string
  /** False when the same answers cannot be expected twice, whatever the pack says. */
  readonly isDeterministic?: boolean
  /** Digests of what else decides the figures, such as the graders. Runs with others are not compared. */
  readonly hashed?: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export type OpenOptions = {
  /** Whether every answer shall say what was left out, and why. */
  readonly explain: boolean
  /** The part that is switched off, to show that the cases measure it. */
  readonly ablation?: string | undefined
}

/** A pack together with what it is run on, ready to be carried out. */
export type OpenPack = {
  readonly tested: Tested
  readonly execute: (request: ExecutionRequest) => AsyncIterable<CaseOutcome>
  /** Milliseconds the last ingestion took, where there was one. */
  readonly ingestMs: () => number | null
}

export type ReadPack = PackContent & {
  readonly open: (system: string, options: OpenOptions) => Promise<OpenPack>
}

/** How a kind of pack is read, carried out and scored. Manifests name it as their `runner`. */
export type Kind = {
  readonly name: string
  /** What its packs are run on unless told otherwise. */
  readonly defaultSystem: string
  /** What can be switched off in what its packs are run on. */
  readonly ablations: readonly string[]
  readonly read: (place: PackPlace) => ReadPack
}

/** What happens besides the outcomes. */
export type Observer = { readonly explain: boolean; readonly onIngested: (ms: number | null) => void }

/**
 * Makes a kind of two functions: `read`, which checks the files of a pack, and `carryOut`, which puts its cases to what
 * is tested and scores each. `open` belongs to whoever composes the program, because only there concrete things are made.
 */
export const defineKind = <Content extends PackContent, Under extends Tested>(kind: {
  readonly name: string
  readonly defaultSystem: string
  readonly read: (place: PackPlace) => Content
  readonly open: (system: string, content: Content) => Promise<Under>
  /** The same with one part switched off, by the name of the ablation. */
  readonly ablate: Readonly<Record<string, (tested: Under) => Under>>
  readonly carryOut: (
    content: Content,
    tested: Under,
    request: ExecutionRequest,
    observer: Observer,
  ) => AsyncIterable<CaseOutcome>
}): Kind => ({
  name: kind.name,
  defaultSystem: kind.defaultSystem,
  ablations: Object.keys(kind.ablate),
  read: (place) => {
    const content = kind.read(place)
    return {
      ...content,
      open: async (system, { explain, ablation }) => {
        const ablate = ablation === undefined ? (whole: Under) => whole : kind.ablate[ablation]
        if (ablate === undefined) throw unknownAblation(kind.name, ablation ?? '', Object.keys(kind.ablate))
        const whole = await kind.open(system, content)
        const name = ablation === undefined ? whole.name : `${whole.name} (${ablation})`
        const tested = { ...ablate(whole), name }
        let ingestMs: number | null = null
        const observer: Observer = {
          explain,
          onIngested: (ms) => {
            ingestMs = ms
          },
        }
        return {
          tested,
          ingestMs: () => ingestMs,
          execute: (request) => kind.carryOut(content, tested, request, observer),
        }
      },
    }
  },
})

const unknownAblation = (kind: string, ablation: string, known: readonly string[]): MemoryError =>
  new MemoryError('invalid', `Packs of the kind ${kind} have no ablation "${ablation}".`, {
    hint: `Use ${known.join(' or ')}.`,
  })

/** The kind that a manifest names. */
export function kindOf({ directory, manifest }: PackPlace, kinds: readonly Kind[]): Kind {
  if (manifest.runner === undefined) {
    throw new MemoryError('invalid', `The pack ${manifest.benchmarkId} names no runner, so nothing can execute it.`, {
      hint: 'Results made elsewhere can be put into the store as runs; see docs/harness.md.',
    })
  }
  const kind = kinds.find(({ name }) => name === manifest.runner)
  if (kind !== undefined) return kind
  const known = kinds.map(({ name }) => name).join(', ')
  throw new MemoryError('invalid', `${join(directory, manifestName)}: runner is "${manifest.runner}".`, {
    hint: `Use one of ${known}.`,
  })
}

/** The outcome of a case that went wrong before anything could be scored. */
export const brokenOutcome = (caseId: string, error: NonNullable<CaseOutcome['error']>): CaseOutcome => {
  const nothing = { scores: {}, returned: [], failures: [], timings: {} }
  return { caseId, verdict: 'error', ...nothing, error }
}

/**
 * Carries out items of which none depends on another, `jobs` at a time, and yields in their order, so that the result is
 * the same for any number of jobs. What was begun when the signal comes is finished and yielded.
 */
export async function* carriedOut<Item, Result>(
  items: readonly Item[],
  { jobs, signal }: Pick<ExecutionRequest, 'jobs' | 'signal'>,
  carryOut: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const underway: Promise<Result>[] = []
  let next = 0
  const fill = (): void => {
    while (underway.length < jobs && next < items.length && !signal.aborted) {
      const work = carryOut(items[next] as Item)
      // Whoever takes it hears of its failure; until then it must not end the process.
      work.catch(() => {})
      underway.push(work)
      next += 1
    }
  }
  for (fill(); underway.length > 0; fill()) yield await (underway.shift() as Promise<Result>)
}

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
