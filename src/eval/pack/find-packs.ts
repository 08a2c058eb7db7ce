import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Pack, readPack } from '../kinds/retrieval/pack.ts'
import { invalid } from '../kinds/retrieval/parse-cases.ts'
import { parseJsonFile, readTextFile } from './read-file.ts'

/** `calibration` is a retrieval pack that settings are chosen on, so it counts towards no result. */
const runners = ['retrieval', 'session', 'calibration'] as const
export type Runner = (typeof runners)[number]

/** Only a file of the pack itself. */
const ownFile = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/u, 'must be the name of a file in the pack')

const manifest = z.strictObject({
  schemaVersion: z.literal(1),
  benchmarkId: z.string().regex(/^[a-z0-9][a-z0-9-]*$/u, 'must be lower-case letters, digits and hyphens'),
  benchmarkType: z.literal('standard').optional(),
  title: z.string().min(1),
  tags: z.array(z.string()).optional(),
  sourceLinks: z.array(z.string()).optional(),
  licence: z.string().optional(),
  runner: z.enum(runners),
  files: z.strictObject({ beliefs: ownFile, cases: ownFile }),
  defaultUser: z.string().min(1).optional(),
  recall: z.strictObject({ editedPins: z.enum(['in-scope', 'everywhere']).optional() }).optional(),
  cases: z.array(
    z.strictObject({ id: z.string().min(1), prompt: z.string(), expectedSignals: z.array(z.string()).optional() }),
  ),
})

export type Manifest = z.infer<typeof manifest>

/** A pack together with the folder it came from. */
export type FoundPack = { readonly directory: string; readonly runner: Runner; readonly pack: Pack }

const manifestName = 'manifest.json'

/** The folders below `directory` that are packs of questions to a memory, by name. */
export const findPacks = (directory: string): readonly string[] => packFolders(directory).filter(asksAMemory)

/** Packs of another form, with a runner of their own. Whatever else is wrong is for the reader to complain of. */
const otherRunners: readonly unknown[] = ['learning']

function asksAMemory(folder: string): boolean {
  const file = join(folder, manifestName)
  const value = parseJsonFile(file, readTextFile(file))
  const runner = typeof value === 'object' && value !== null && 'runner' in value ? value.runner : undefined
  return !otherRunners.includes(runner)
}

/** The folders below `directory` that are packs of any kind, by name. */
export function packFolders(directory: string): readonly string[] {
  if (!existsSync(directory))
    throw invalid(`${directory}: no such directory.`, 'Packs are folders with a manifest.json.')
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(directory, entry.name, manifestName)))
    .map(({ name }) => join(directory, name))
    .sort()
}

/** Reads one pack. Our own are always read strictly, so that none of their expectations goes unchecked. */
export function loadPack(
  directory: string,
  options: { readonly strict?: boolean; readonly recall?: Pack['recall'] } = {},
): FoundPack {
  const { runner, files, ...described } = readManifest(directory)
  const pack = readPack({
    kind: runner === 'session' ? 'session' : 'retrieval',
    id: described.benchmarkId,
    title: described.title,
    beliefsFile: join(directory, files.beliefs),
    casesFile: join(directory, files.cases),
    defaultUser: described.defaultUser,
    recall: withoutUndefined({ ...described.recall, ...options.recall }),
    strict: options.strict ?? true,
  })
  refuseOutdated(join(directory, manifestName), described.cases, promptsOf(pack))
  return { directory, runner, pack }
}

export function readManifest(directory: string): Manifest {
  const file = join(directory, manifestName)
  const parsed = manifest.safeParse(parseJsonFile(file, readTextFile(file)))
  if (parsed.success) return parsed.data
  const reasons = parsed.error.issues.map(
    (issue) => `${file}: ${issue.path.join('.') || 'manifest'}: ${issue.message}.`,
  )
  throw invalid(reasons.join('\n'), 'See docs/evaluation.md for the format.')
}

/** What a pack asks, under the ids a manifest gives its cases. */
function promptsOf(pack: Pack): ReadonlyMap<string, string> {
  if (pack.kind === 'retrieval') return new Map(pack.cases.map(({ caseId, message }) => [caseId, message]))
  return new Map(
    pack.sessions.flatMap(({ caseId, turns }) =>
      turns.map(({ turnIndex, message }) => [`${caseId}#${turnIndex}`, message] as const),
    ),
  )
}

function refuseOutdated(file: string, listed: Manifest['cases'], prompts: ReadonlyMap<string, string>): void {
  const hint = 'The manifest lists every case of the case file once, with the same prompt.'
  const ids = new Set(listed.map(({ id }) => id))
  const unlisted = [...prompts.keys()].find((id) => !ids.has(id))
  if (unlisted !== undefined) throw invalid(`${file}: the case "${unlisted}" is not listed.`, hint)
  if (ids.size !== listed.length) throw invalid(`${file}: a case is listed twice.`, hint)
  for (const { id, prompt } of listed) {
    if (!prompts.has(id)) throw invalid(`${file}: lists "${id}", which is no case.`, hint)
    if (prompts.get(id) !== prompt) throw invalid(`${file}: the prompt of "${id}" differs from the case file.`, hint)
  }
}

function withoutUndefined(recall: { editedPins?: 'in-scope' | 'everywhere' | undefined }): Pack['recall'] {
  return recall.editedPins === undefined ? {} : { editedPins: recall.editedPins }
}
