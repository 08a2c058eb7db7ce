import { join } from 'node:path'
import { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { executePack } from '../kinds/retrieval/execute-pack.ts'
import { type Pack, readPack } from '../kinds/retrieval/pack.ts'
import type { RunnableBenchmark } from '../run/run.ts'
import { manifestName } from '../store/layout.ts'
import { fieldAt, parseArtifact, required } from '../store/parse-artifact.ts'
import { readBounded } from '../store/read-bounded.ts'
import { type Manifest, PackPath } from '../store/schemas/manifest.ts'
import type { Subject } from '../system/subject.ts'
import { packHashOf } from './pack-hash.ts'

/** Reads the manifest of a pack folder. */
export function manifestOf(directory: string): Manifest {
  const file = join(directory, manifestName)
  const bytes = readBounded(file, file)
  return required(bytes.ok ? parseArtifact('manifest', bytes.value, file) : bytes, 'manifest')
}

/** What the runners of retrieval and session packs need beside the fields that every manifest has. */
const RunnerFields = z.looseObject({
  runner: z.enum(['retrieval', 'session', 'calibration']),
  files: z.looseObject({ beliefs: PackPath, cases: PackPath }),
  defaultUser: z.string().min(1).optional(),
  recall: z.looseObject({ editedPins: z.enum(['in-scope', 'everywhere']).optional() }).optional(),
})

/** A pack as its runner reads it, with every case of its manifest. Refuses a pack that names no runner. */
export function loadRunnable(directory: string): { readonly manifest: Manifest; readonly pack: Pack } {
  const manifest = manifestOf(directory)
  const file = join(directory, manifestName)
  if (manifest.runner === undefined) {
    throw new MemoryError('invalid', `The pack ${manifest.benchmarkId} names no runner, so nothing can execute it.`, {
      hint: 'Results made elsewhere can be put into the store as runs; see docs/harness.md.',
    })
  }
  const fields = RunnerFields.safeParse(manifest)
  if (!fields.success) {
    const [issue] = fields.error.issues
    throw invalid(`${file}: ${fieldAt(issue?.path ?? [])} ${issue?.message ?? 'is wrong'}.`)
  }
  const { runner, files, defaultUser, recall } = fields.data
  const pack = readPack({
    kind: runner === 'session' ? 'session' : 'retrieval',
    id: manifest.benchmarkId,
    title: manifest.title,
    beliefsFile: join(directory, files.beliefs),
    casesFile: join(directory, files.cases),
    defaultUser,
    recall: recall?.editedPins === undefined ? {} : { editedPins: recall.editedPins },
  })
  refuseUnlike(file, manifest, promptsOf(pack))
  return { manifest, pack }
}

/** A pack and somebody to ask, ready to be run. */
export async function runnablePack(
  directory: string,
  subject: Subject,
  options: { readonly explain?: boolean } = {},
): Promise<RunnableBenchmark & { readonly warnings: readonly string[] }> {
  const { manifest, pack } = loadRunnable(directory)
  const { name, version } = subject
  return {
    manifest,
    ...(await packHashOf(directory, manifest)),
    system: { name, version },
    ...executePack(pack, subject, options),
    warnings: pack.warnings,
  }
}

function promptsOf(pack: Pack): ReadonlyMap<string, string> {
  if (pack.kind === 'retrieval') return new Map(pack.cases.map(({ caseId, message }) => [caseId, message]))
  return new Map(
    pack.sessions.flatMap(({ caseId, turns }) =>
      turns.map(({ turnIndex, message }) => [`${caseId}#${turnIndex}`, message] as const),
    ),
  )
}

/** Counts come from the manifest and results from the case file: they must speak of the same cases. */
function refuseUnlike(file: string, { cases }: Manifest, prompts: ReadonlyMap<string, string>): void {
  const listed = new Map(cases.map(({ id, prompt }) => [id, prompt]))
  const unlisted = [...prompts.keys()].find((id) => !listed.has(id))
  if (unlisted !== undefined) throw invalid(`${file}: the case "${unlisted}" of the case file is not listed.`)
  for (const [id, prompt] of listed) {
    if (!prompts.has(id)) throw invalid(`${file}: lists "${id}", which is not in the case file.`)
    if (prompts.get(id) !== prompt) throw invalid(`${file}: the prompt of "${id}" is not the one in the case file.`)
  }
}

const invalid = (message: string): MemoryError =>
  new MemoryError('invalid', message, {
    hint: 'The manifest lists every case of the case file once, with its prompt; see docs/harness.md.',
  })
