import { join } from 'node:path'
import { invalid } from '../../errors.ts'
import { hashOfFiles, manifestOf, packHashOf } from '../pack/manifest.ts'
import type { CaseOutcome, ExecutionRequest, Ingested, PackWithSystem } from '../run/run.ts'
import { manifestName } from '../store/documents.ts'
import type { Manifest } from '../store/schemas/manifest.ts'

/** A pack on disk whose manifest has been read. */
export type PackPlace = { readonly directory: string; readonly manifest: Manifest }

/** The fields of a case that all kinds of pack share. */
export type PackCase = {
  readonly id: string
  readonly prompt: string
  /** Whether the right answer is non-empty. If it is empty, a memory that is switched off passes too. */
  readonly expectsSomething: boolean
  /** Other texts that a filter searches: category, label, description. */
  readonly words: readonly string[]
}

/** The checked files of a pack. A kind adds the fields that its cases need. */
export type PackContent = {
  readonly cases: readonly PackCase[]
  /** Whether the cases come from data outside of the pack instead of its manifest. */
  readonly replacesCases?: boolean
  /** Files and folders from which the cases come. They may be sealed. */
  readonly places?: readonly string[]
  /** Sentences about content of the files that was not validated, such as unknown fields. */
  readonly warnings: readonly string[]
  /** Whether the seed determines the order of the cases; if not, they keep the order of the manifest. */
  readonly isShuffled: boolean
}

/** The system under test: a memory, an extractor, an agent. */
export type OpenSystem = {
  readonly name: string
  readonly version: string
  /** False if the same answers cannot be expected twice, regardless of the pack's declaration. */
  readonly isDeterministic?: boolean
  /** Digests of other inputs that affect the figures, such as the graders. Runs with different digests are not compared. */
  readonly hashed?: Readonly<Record<string, string>>
  readonly description?: string
  /** Remarks for readers of the system's figures. */
  readonly notes?: readonly string[]
  /** Whether the harness added prelude, pins and questions to the system's results. */
  readonly hasSuppliedTiers?: boolean
  readonly close: () => Promise<void>
}

/** Facts about a system in a report, in addition to its name and version. */
export type About = Required<Pick<OpenSystem, 'description' | 'notes' | 'hasSuppliedTiers'>>

type OpenOptions = {
  /** Whether every answer includes the omitted beliefs with reasons. */
  readonly explain?: boolean
  readonly ablation?: string | undefined
}

type PackAtWork = Required<Pick<PackWithSystem, 'execute' | 'ingested'>> & { readonly tested: OpenSystem }

/** The checked content of a pack, and how to run it on a system. */
export type ReadPack = PackContent & {
  readonly defaultSystem: string
  readonly open: (system: string, options: OpenOptions) => Promise<PackAtWork>
}

/** How to read, run and score a kind of pack. Manifests name it as their `runner`. */
export type Runner = {
  readonly name: string
  readonly ablations: readonly string[]
  readonly read: (place: PackPlace) => ReadPack
}

/** A pack ready to be run: a folder with a manifest, or files without one. */
export type RunnablePack = ReadPack & {
  readonly manifest: Pick<Manifest, 'benchmarkId' | 'cases' | 'system' | 'deterministic' | 'metrics' | 'ablations'>
  /** The digest of each file that affects a result. */
  readonly packFiles: Readonly<Record<string, string>>
}

export type Observer = {
  readonly explain: boolean
  /** `notices` are sentences about input that the system could not store unchanged. */
  readonly onIngested: (ms: number | null, notices?: readonly string[]) => void
}

/** Makes a kind of pack: `read` checks the files of a pack, `execute` runs its cases on a system and scores each. */
export const defineRunner = <Content extends PackContent, System extends OpenSystem>(kind: {
  readonly name: string
  readonly defaultSystem: string
  readonly read: (place: PackPlace) => Content
  readonly open: (system: string, content: Content) => Promise<System>
  /** For each ablation name, the system with that part switched off. */
  readonly ablate: Readonly<Record<string, (tested: System) => System>>
  readonly execute: (
    content: Content,
    tested: System,
    request: ExecutionRequest,
    observer: Observer,
  ) => AsyncIterable<CaseOutcome>
}): Runner & { readonly over: (content: Content) => ReadPack } => {
  const over = (content: Content): ReadPack => {
    const open = async (system: string, { explain = false, ablation }: OpenOptions): Promise<PackAtWork> => {
      const ablate = ablation === undefined ? (whole: System) => whole : kind.ablate[ablation]
      if (ablate === undefined) {
        const hint = `Use ${Object.keys(kind.ablate).join(' or ')}.`
        throw invalid(`Packs of the kind ${kind.name} have no ablation "${ablation}".`, hint)
      }
      const whole = await kind.open(system, content)
      const tested = { ...ablate(whole), name: ablation === undefined ? whole.name : `${whole.name} (${ablation})` }
      let ingested: Ingested = { ms: null, notices: [] }
      const onIngested: Observer['onIngested'] = (ms, notices = []) => {
        ingested = { ms, notices }
      }
      return {
        tested,
        ingested: () => ingested,
        execute: (request) => kind.execute(content, tested, request, { explain, onIngested }),
      }
    }
    return { ...content, defaultSystem: kind.defaultSystem, open }
  }
  return { name: kind.name, ablations: Object.keys(kind.ablate), read: (place) => over(kind.read(place)), over }
}

export function runnerOf({ directory, manifest }: PackPlace, runners: readonly Runner[]): Runner {
  if (manifest.runner === undefined) {
    const hint = 'Results made elsewhere can be put into the store as runs; see docs/evaluation.md.'
    throw invalid(`The pack ${manifest.benchmarkId} names no runner, so nothing can execute it.`, hint)
  }
  const runner = runners.find(({ name }) => name === manifest.runner)
  if (runner !== undefined) return runner
  const hint = `Use one of ${runners.map(({ name }) => name).join(', ')}.`
  throw invalid(`${join(directory, manifestName)}: runner is "${manifest.runner}".`, hint)
}

/** Reads the pack in a folder with the runner that its manifest names. */
export async function readPackFolder(directory: string, runners: readonly Runner[]): Promise<RunnablePack> {
  const manifest = manifestOf(directory)
  const place = { directory, manifest }
  const read = runnerOf(place, runners).read(place)
  const cases = read.cases.map(({ id, prompt }) => ({ id, prompt }))
  const { packFiles } = await packHashOf(directory, manifest)
  const places = [directory, ...(read.places ?? [])]
  return { ...read, places, manifest: read.replacesCases ? { ...manifest, cases } : manifest, packFiles }
}

/** Opens a pack with a system, or with the pack's default system. */
export async function openPack(
  { manifest, packFiles, cases, warnings, isShuffled, defaultSystem, open }: RunnablePack,
  { system = manifest.system, ...options }: OpenOptions & { readonly system?: string | undefined } = {},
): Promise<PackWithSystem & Pick<PackContent, 'warnings' | 'cases'> & Pick<OpenSystem, 'close'> & { about: About }> {
  const { tested, execute, ingested } = await open(system ?? defaultSystem, options)
  const { description = '', notes = [], hasSuppliedTiers = false } = tested
  return {
    manifest: tested.isDeterministic === false ? { ...manifest, deterministic: false } : manifest,
    ...hashOfFiles({ ...packFiles, ...tested.hashed }),
    system: { name: tested.name, version: tested.version },
    execute,
    ingested,
    isShuffled,
    words: new Map(cases.map(({ id, words }) => [id, words])),
    warnings,
    cases,
    about: { description, notes, hasSuppliedTiers },
    close: tested.close,
  }
}

export const openPackFolder = async (
  directory: string,
  runners: readonly Runner[],
  options: Parameters<typeof openPack>[1] = {},
): ReturnType<typeof openPack> => openPack(await readPackFolder(directory, runners), options)

/** The outcome of a case that failed before anything could be scored. */
export const brokenOutcome = (caseId: string, error: NonNullable<CaseOutcome['error']>): CaseOutcome => {
  const nothing = { scores: {}, returned: [], failures: [], timings: {} }
  return { caseId, verdict: 'error', ...nothing, error }
}

/** Carries out independent items, `jobs` at a time, and yields the results in order. An abort lets items in progress finish. */
export async function* executeInOrder<Item, Result>(
  items: readonly Item[],
  { jobs, signal }: Pick<ExecutionRequest, 'jobs' | 'signal'>,
  execute: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = []
  let next = 0
  const fill = (): void => {
    while (pending.length < jobs && next < items.length && !signal.aborted) {
      const work = execute(items[next] as Item)
      // A rejection is thrown below in order. Until then it must not end the process as unhandled.
      work.catch(() => {})
      pending.push(work)
      next += 1
    }
  }
  for (fill(); pending.length > 0; fill()) yield await (pending.shift() as Promise<Result>)
}
