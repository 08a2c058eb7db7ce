import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { parseJson, problemText } from '../../eval/store/parse-artifact.ts'
import { Evidence, type KeptFile } from '../evidence.ts'
import type { TranscriptEntry } from '../transcript.ts'
import { evidenceNames } from './evidence-folder.ts'

const hint = 'Name a folder that `credence task run` wrote.'

/** Reads the evidence in a folder. Throws a MemoryError when there is none, or when it is not what was written. */
export async function readEvidence(folder: string): Promise<Evidence> {
  const file = join(folder, evidenceNames.evidence)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new MemoryError('not_found', `There is no evidence in ${folder}.`, { hint, cause })
  })
  const parsed = parseJson(bytes, file)
  if (!parsed.ok) throw new MemoryError('invalid', `${problemText(parsed.problems[0])}.`, { hint })
  const checked = Evidence.safeParse(parsed.value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw new MemoryError('invalid', `${file}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not valid'}.`, {
    hint,
  })
}

/** The files of the evidence that are gone or not what they were. */
export async function changedFiles(folder: string, evidence: Evidence): Promise<readonly string[]> {
  const kept = [
    ...evidence.sessions.flatMap(({ transcript }) => transcript ?? []),
    ...(evidence.transcript === null ? [] : [evidence.transcript]),
    ...evidence.workspace,
    ...evidence.events.flatMap((event) => (event.kind === 'files_changed' ? event.written.map((one) => one.kept) : [])),
  ]
  const changed: string[] = []
  for (const file of kept) if ((await readKept(folder, file).catch(() => null)) === null) changed.push(file.path)
  return changed
}

/** The bytes of a kept file, as they were when it was kept. */
export async function readKept(folder: string, { path, sha256 }: KeptFile): Promise<Buffer> {
  const bytes = await readFile(join(folder, path)).catch((cause: unknown) => {
    throw new MemoryError('invalid', `${path} is missing from the evidence in ${folder}.`, { hint, cause })
  })
  if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes
  throw new MemoryError('invalid', `${path} in ${folder} is not what it was when the evidence was written.`, { hint })
}

/** The entries of a kept transcript. */
export async function readTranscript(folder: string, kept: KeptFile): Promise<readonly TranscriptEntry[]> {
  const text = (await readKept(folder, kept)).toString('utf8')
  // Its hash says that these are the lines that were written here.
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TranscriptEntry)
}
