import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { conflict, invalid, notFound } from '../../errors.ts'
import { parseJson, problemText, readBounded } from '../../eval/store/parse-artifact.ts'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { Evidence, type KeptFile, type SessionRecord } from '../evidence.ts'
import type { Task } from '../task.ts'
import type { TranscriptEntry, TranscriptMessage } from '../transcript.ts'
import type { Listing } from './workspace.ts'

/** The names of the files and folders in an evidence folder. */
export const evidenceNames = {
  evidence: 'evidence.json',
  task: 'task.md',
  transcript: 'transcript.jsonl',
  sessions: 'sessions',
  workspace: 'workspace',
} as const

const maxBytesKept = 512 * 1024 * 1024
const hint = 'Name a folder that `credence task run` wrote.'
const bytesDigest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Creates the folder, or clears an interrupted attempt. Throws if there is finished evidence, or if the evidence is unreadable. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const ours: readonly string[] = Object.values(evidenceNames)
  const there = (await readdir(folder)).filter((name) => ours.includes(name))
  if (there.length === 0) return
  const found = await readEvidence(folder).catch(() => null)
  if (found === null || found.isComplete)
    throw conflict(
      `${folder} already contains ${there.toSorted().join(', ')}.`,
      'Name another folder for the evidence.',
    )
  for (const name of there) await rm(join(folder, name), { recursive: true, force: true })
}

/** Copies the task file, so that the evidence can be regraded without the original. */
export async function keepTaskFile(task: Task, folder: string): Promise<string> {
  const bytes = await readFile(task.file).catch(() => null)
  if (bytes === null || bytesDigest(bytes) !== task.sha256) return basename(task.file)
  await writeAtomically(join(folder, evidenceNames.task), bytes, { existing: 'replace' })
  return evidenceNames.task
}

/** Must be called after every session, so that the evidence so far survives a crash. */
export const writeEvidence = (folder: string, evidence: Evidence): Promise<boolean> =>
  writeAtomically(join(folder, evidenceNames.evidence), formatJson(evidence), { existing: 'replace' })

/** A completed session, with its messages from the prompt on. */
export type SessionTranscript = { readonly record: SessionRecord; readonly messages: readonly TranscriptMessage[] }

/** The header of a conversation, then the boundary of the session and its messages. */
function transcriptEntriesOf({ record, messages }: SessionTranscript): readonly TranscriptEntry[] {
  const { index, id: session, isFresh, startedAt, endedAt } = record
  const id = (number: number): string => `s${index + 1}-${String(number).padStart(4, '0')}`
  const start = startedAt ?? ''
  const end = endedAt ?? ''
  const conversationId = record.conversationId ?? ''
  const priorMessages = record.priorMessages ?? 0
  const data = { session, conversationId, isFresh, priorMessages }
  return [
    // Not the real path of the workspace, which is meaningless on another machine.
    { type: 'session', version: 3, id: conversationId, timestamp: start, cwd: 'workspace' },
    { type: 'custom', id: id(0), parentId: null, timestamp: start, customType: 'boundary', data },
    ...messages.map((message, number) => ({
      type: 'message' as const,
      id: id(number + 1),
      parentId: id(number),
      // Only the times of the first and the last message are known.
      timestamp: number === 0 ? start : end,
      message,
    })),
  ]
}

export function writeSessionTranscript(folder: string, session: SessionTranscript): Promise<KeptFile> {
  const { id, index } = session.record
  // A session id may contain characters that are not allowed in file names.
  const name = id.replace(/[^\w.-]+/gu, '_').slice(0, 60) || 'session'
  const path = `${evidenceNames.sessions}/${String(index + 1).padStart(2, '0')}-${name}.jsonl`
  return writeLines(folder, path, transcriptEntriesOf(session))
}

/** Writes all sessions in order, with a header at the start of each conversation. */
export function writeMergedTranscript(folder: string, sessions: readonly SessionTranscript[]): Promise<KeptFile> {
  const entries = sessions.flatMap((session) => transcriptEntriesOf(session).slice(session.record.isFresh ? 0 : 1))
  return writeLines(folder, evidenceNames.transcript, entries)
}

async function writeLines(folder: string, path: string, entries: readonly TranscriptEntry[]): Promise<KeptFile> {
  const bytes = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  await writeAtomically(join(folder, path), bytes, { existing: 'replace' })
  return { path, sha256: bytesDigest(bytes), bytes: bytes.length }
}

/** Copies the files of the workspace into the evidence, and reports which files were left out and why. */
export async function keepWorkspace(
  { workspace, folder }: { readonly workspace: string; readonly folder: string },
  { files, others }: Listing,
): Promise<{ readonly kept: readonly KeptFile[]; readonly left: Listing['others'] }> {
  const kept: KeptFile[] = []
  const left = [...others]
  let total = 0
  await mkdir(join(folder, evidenceNames.workspace), { recursive: true, mode: 0o700 })
  for (const [path, { bytes: size }] of files) {
    if (total + size > maxBytesKept) {
      left.push({ path, reason: `has ${size} bytes, and only ${maxBytesKept} in all are kept` })
      continue
    }
    // The file may have become a link or a pipe since it was listed; the other files are still copied.
    const read = readBounded(join(workspace, path), path, maxBytesKept)
    if (!read.ok) {
      left.push({ path, reason: read.problems[0].message })
      continue
    }
    const bytes = read.value
    const target = `${evidenceNames.workspace}/${path}`
    await mkdir(dirname(join(folder, target)), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, target), bytes, { mode: 0o600 })
    kept.push({ path: target, sha256: bytesDigest(bytes), bytes: bytes.length })
    total += bytes.length
  }
  return { kept, left }
}

/** Reads the evidence in a folder. Throws a MemoryError if it is missing or invalid. */
export async function readEvidence(folder: string): Promise<Evidence> {
  const file = join(folder, evidenceNames.evidence)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw notFound(`There is no evidence in ${folder}.`, hint, cause)
  })
  const parsed = parseJson(bytes, file)
  if (!parsed.ok) throw invalid(`${problemText(parsed.problems[0])}.`, hint)
  const checked = Evidence.safeParse(parsed.value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw invalid(`${file}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not valid'}.`, hint)
}

/** All files listed in the evidence: the transcripts and the workspace. */
export const keptFiles = ({ sessions, transcript, workspace }: Evidence): readonly KeptFile[] => [
  ...[...sessions.map((session) => session.transcript), transcript].filter((file) => file !== null),
  ...workspace,
]

/** The paths of files that are missing or were changed since they were written. */
export async function changedFiles(folder: string, evidence: Evidence): Promise<readonly string[]> {
  const changed: string[] = []
  for (const file of keptFiles(evidence))
    if ((await readKept(folder, file).catch(() => null)) === null) changed.push(file.path)
  return changed
}

/** The bytes of a file of the evidence. Throws if they were changed since they were written. */
export async function readKept(folder: string, { path, sha256 }: KeptFile): Promise<Buffer> {
  const bytes = await readFile(join(folder, path)).catch((cause: unknown) => {
    throw invalid(`${path} is missing from the evidence in ${folder}.`, hint, cause)
  })
  if (bytesDigest(bytes) === sha256) return bytes
  throw invalid(`${path} in ${folder} was changed since the evidence was written.`, hint)
}

export async function readTranscript(folder: string, kept: KeptFile | null): Promise<readonly TranscriptEntry[]> {
  if (kept === null) return []
  const lines = (await readKept(folder, kept)).toString('utf8').split('\n')
  // The hash proves that the lines are unchanged, so they are not validated.
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as TranscriptEntry)
}

export const readMessages = async (
  folder: string,
  { transcript }: SessionRecord,
): Promise<readonly TranscriptMessage[]> =>
  (await readTranscript(folder, transcript)).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))

export const pathInWorkspace = ({ path }: KeptFile): string => path.slice(`${evidenceNames.workspace}/`.length)
