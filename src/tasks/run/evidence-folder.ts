import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
import type { Evidence, EvidenceEvent, KeptFile } from '../evidence.ts'
import type { Task } from '../task.ts'
import { changesBetween, keepFile, type Listing, mostBytesKept } from './keep-files.ts'
import { asJsonLines, type TranscribedSession, transcriptOf } from './transcript-of.ts'

/** What lies in an evidence folder. */
export const evidenceNames = {
  evidence: 'evidence.json',
  task: 'task.md',
  transcript: 'transcript.jsonl',
  sessions: 'sessions',
  changes: 'changes',
  workspace: 'workspace',
} as const

/**
 * Makes the folder ready. What an attempt left that did not come to its end is cleared; anything else that is there
 * already, finished evidence or files of somebody's own, is left alone.
 */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const ours = Object.values(evidenceNames)
  const there = (await readdir(folder)).filter((name) => ours.some((own) => own === name))
  if (there.length === 0) return
  if (!(await isUnfinished(join(folder, evidenceNames.evidence)))) {
    throw new MemoryError('conflict', `${folder} already holds ${there.toSorted().join(', ')}.`, {
      hint: 'Name another folder for the evidence.',
    })
  }
  for (const name of there) await rm(join(folder, name), { recursive: true, force: true })
}

async function isUnfinished(file: string): Promise<boolean> {
  try {
    const found = JSON.parse(await readFile(file, 'utf8')) as Partial<Evidence> | null
    return found?.schemaVersion === 1 && found.isComplete === false
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return false
    throw error
  }
}

/** Keeps the file that the task was read from, so that the evidence can be graded again without it. */
export async function keepTaskFile(task: Task, folder: string): Promise<string> {
  const bytes = await readFile(task.file).catch(() => null)
  const isSame = bytes !== null && createHash('sha256').update(bytes).digest('hex') === task.sha256
  if (bytes === null || !isSame) return basename(task.file)
  await writeAtomically(join(folder, evidenceNames.task), bytes, { existing: 'replace' })
  return evidenceNames.task
}

/** Written after every session, so that even a process that is killed leaves what there was. */
export const writeEvidence = (folder: string, evidence: Evidence): Promise<boolean> =>
  writeAtomically(join(folder, evidenceNames.evidence), asJson(evidence), { existing: 'replace' })

/** A session's own transcript. */
export const writeSessionTranscript = (folder: string, session: TranscribedSession): Promise<KeptFile> => {
  const { header, entries } = transcriptOf(session)
  const name = `${String(session.index + 1).padStart(2, '0')}-${fileNameFor(session.boundary.session)}.jsonl`
  return writeText(folder, `${evidenceNames.sessions}/${name}`, asJsonLines([header, ...entries]))
}

/** All sessions one after the other. */
export const writeMergedTranscript = (folder: string, sessions: readonly TranscribedSession[]): Promise<KeptFile> => {
  const entries = sessions.flatMap((session) => {
    const { header, entries } = transcriptOf(session)
    return session.boundary.isFresh ? [header, ...entries] : entries
  })
  return writeText(folder, evidenceNames.transcript, asJsonLines(entries))
}

async function writeText(folder: string, path: string, text: string): Promise<KeptFile> {
  const bytes = Buffer.from(text)
  await writeAtomically(join(folder, path), bytes, { existing: 'replace' })
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}

/** Session ids are any text; file names are not. */
const fileNameFor = (id: string): string => id.replace(/[^\w.-]+/gu, '_').slice(0, 60) || 'session'

/** Copies files of the workspace into a folder of the evidence, as many as there is room for. */
async function keepAll(
  paths: readonly string[],
  place: { readonly listing: Listing; readonly workspace: string; readonly folder: string; readonly below: string },
): Promise<{
  readonly kept: readonly { readonly path: string; readonly kept: KeptFile }[]
  readonly left: readonly { readonly path: string; readonly reason: string }[]
}> {
  const kept: { readonly path: string; readonly kept: KeptFile }[] = []
  const left: { readonly path: string; readonly reason: string }[] = []
  let total = 0
  for (const path of paths) {
    const bytes = place.listing.files.get(path)?.bytes ?? 0
    if (total + bytes > mostBytesKept) {
      left.push({ path, reason: `has ${bytes} bytes, and only ${mostBytesKept} in all are kept` })
      continue
    }
    const file = await keepFile(join(place.workspace, path), place.folder, `${place.below}/${path}`)
    if (typeof file === 'string') {
      left.push({ path, reason: file })
      continue
    }
    total += file.bytes
    kept.push({ path, kept: file })
  }
  return { kept, left }
}

export type Noticed = {
  readonly at: string
  readonly session: string
  /** The folder below `changes/` where what was written is kept. */
  readonly below: string
}

/** What a session changed in the workspace, as events; what it wrote is kept. */
export async function keepChanges(
  place: { readonly workspace: string; readonly folder: string },
  { before, after }: { readonly before: Listing; readonly after: Listing },
  { at, session, below: name }: Noticed,
): Promise<readonly EvidenceEvent[]> {
  const { written, removed } = changesBetween(before, after)
  if (written.length === 0 && removed.length === 0) return []
  const below = `${evidenceNames.changes}/${name}`
  const { kept, left } = await keepAll(written, { ...place, listing: after, below })
  return [
    { kind: 'files_changed', at, session, written: kept, removed },
    ...left.map(({ path, reason }) => ({ kind: 'not_kept' as const, at, session, path, reason })),
  ]
}

/** The workspace as it was in the end. */
export async function keepWorkspace(
  place: { readonly workspace: string; readonly folder: string },
  listing: Listing,
  { at, session }: Omit<Noticed, 'below'>,
): Promise<{ readonly files: readonly KeptFile[]; readonly events: readonly EvidenceEvent[] }> {
  const { kept, left } = await keepAll([...listing.files.keys()], {
    ...place,
    listing,
    below: evidenceNames.workspace,
  })
  await mkdir(join(place.folder, evidenceNames.workspace), { recursive: true, mode: 0o700 })
  const events = [...listing.others, ...left].map((other) => ({ kind: 'not_kept' as const, at, session, ...other }))
  return { files: kept.map(({ kept: file }) => file), events }
}
