import { join } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../../../did-you-mean.ts'
import { invalid, manifestOf, packFolders, refuseUnlike } from '../../pack/manifest.ts'
import { manifestName } from '../../store/layout.ts'
import { fieldAt } from '../../store/parse-artifact.ts'
import { Manifest, PackPath } from '../../store/schemas/manifest.ts'
import type { RecallOptions } from '../../system/system.ts'
import type { PackContent, PackPlace } from '../kind.ts'
import { expectsSomething } from './expectations.ts'
import { type Pack, readPack } from './pack.ts'

/** `calibration` is a retrieval pack that settings are chosen on, so it counts towards no result. */
const recallRunners = ['retrieval', 'session', 'calibration'] as const
export type RecallRunner = (typeof recallRunners)[number]

/** A pack together with the folder it came from. */
export type FoundPack = { readonly directory: string; readonly runner: RecallRunner; readonly pack: Pack }

type ReadOptions = {
  /** Turns every warning into an error: none of the expectations may go unchecked. */
  readonly strict?: boolean
  readonly recall?: RecallOptions
}

/** What the runners of these packs need beside the fields that every manifest has. */
const RunnerFields = z.looseObject({
  runner: z.enum(recallRunners),
  files: z.looseObject({ beliefs: PackPath, cases: PackPath }),
})

/** The folders below `directory` that are packs of questions to a memory, by name. */
export const findPacks = (directory: string): readonly string[] =>
  packFolders(directory).filter((folder) => recallRunners.some((runner) => runner === manifestOf(folder).runner))

/** Reads one pack. Our own are read strictly unless told otherwise. */
export function loadPack(directory: string, { strict = true, recall = {} }: ReadOptions = {}): FoundPack {
  return readFolder({ directory, manifest: manifestOf(directory) }, { strict, recall })
}

/** Reads the corpus and the cases that a manifest names. */
export function readFolder(place: PackPlace, { strict = false, recall = {} }: ReadOptions = {}): FoundPack {
  const { directory, manifest } = place
  const file = join(directory, manifestName)
  const fields = RunnerFields.safeParse(manifest)
  if (!fields.success) {
    const [issue] = fields.error.issues
    throw invalid(`${file}: ${fieldAt(issue?.path ?? [])} ${issue?.message ?? 'is wrong'}.`, 'See docs/harness.md.')
  }
  const { runner, files } = fields.data
  const misspelt = misspeltFields(file, manifest)
  if (strict && misspelt.length > 0) throw invalid(misspelt.join('\n'), 'See docs/harness.md for the format.')
  const pack = readPack({
    kind: runner === 'session' ? 'session' : 'retrieval',
    id: manifest.benchmarkId,
    title: manifest.title,
    beliefsFile: join(directory, files.beliefs),
    casesFile: join(directory, files.cases),
    defaultUser: manifest.defaultUser,
    recall: withoutUndefined({ ...manifest.recall, ...recall }),
    strict,
  })
  refuseUnlike(
    place,
    askedIn(pack).map(({ id, asked }) => ({ id, prompt: asked.message })),
  )
  return { directory, runner, pack: { ...pack, warnings: [...misspelt, ...pack.warnings] } }
}

/** Fields nobody knows are kept, but one that is nearly a known one was probably meant to be it. */
function misspeltFields(file: string, manifest: Manifest): readonly string[] {
  const known = Object.keys(Manifest.shape)
  return Object.keys(manifest).flatMap((name) => {
    const meant = known.includes(name) ? undefined : didYouMean(name, known)
    return meant === undefined ? [] : [`${file}: manifest: ${name} is not a known field; did you mean ${meant}?`]
  })
}

/** What is asked in a pack, one after the other, under the ids of its cases. */
export function askedIn(pack: Pack) {
  if (pack.kind === 'retrieval') return pack.cases.map((asked) => ({ id: asked.caseId, caseId: asked.caseId, asked }))
  return pack.sessions.flatMap(({ caseId, turns }) =>
    turns.map((asked) => ({ id: `${caseId}#${asked.turnIndex}`, caseId, asked })),
  )
}

/** The ids of the cases that hold `text` in their id, message, category or description. */
export function casesHolding(pack: Pack, text: string): ReadonlySet<string> {
  const sought = text.toLowerCase()
  const holding = contentOf(pack).cases.filter(({ id, prompt, words }) =>
    [id, prompt, ...words].some((part) => part.toLowerCase().includes(sought)),
  )
  return new Set(holding.map(({ id }) => id))
}

export type RecallContent = PackContent & { readonly pack: Pack }

/** A pack as the runner sees it. The order of turns means something and stays. */
export function contentOf(pack: Pack): RecallContent {
  const described = new Map(
    pack.kind === 'session' ? pack.sessions.map(({ caseId, description }) => [caseId, description]) : [],
  )
  return {
    pack,
    warnings: pack.warnings,
    isShuffled: pack.kind === 'retrieval',
    cases: askedIn(pack).map(({ id, caseId, asked }) => ({
      id,
      prompt: asked.message,
      expectsSomething: expectsSomething(asked.expect),
      words: 'label' in asked ? [asked.label, described.get(caseId) ?? ''] : [asked.category ?? '', asked.description],
    })),
  }
}

const withoutUndefined = ({ editedPins }: { editedPins?: RecallOptions['editedPins'] | undefined }): RecallOptions =>
  editedPins === undefined ? {} : { editedPins }
