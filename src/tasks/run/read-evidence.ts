import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { parseJson, problemText } from '../../eval/store/parse-artifact.ts'
import { controls, type Evidence, type KeptFile } from '../evidence.ts'
import { containedPath } from '../parse/fields.ts'
import type { TranscriptEntry } from '../transcript.ts'
import { evidenceNames } from './evidence-folder.ts'

const count = z.int().nonnegative()

/** Paths from a file decide what is read next, so they must stay in the folder. */
const Kept = z.strictObject({
  path: z.string().refine((path) => containedPath(path) === path, {
    error: 'must be a path inside the evidence folder',
  }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
  bytes: count,
})

const UsageCount = z.strictObject({ input: count, output: count, cacheRead: count, cacheWrite: count })

const Session = z.strictObject({
  id: z.string(),
  index: count,
  prompt: z.string(),
  isFresh: z.boolean(),
  conversationId: z.string().nullable(),
  process: z.int().nullable(),
  priorMessages: count.nullable(),
  outcome: z.enum(['answered', 'failed', 'timeout', 'not_reached']),
  problem: z.string().nullable(),
  answer: z.string().nullable(),
  transcript: Kept.nullable(),
  toolCalls: count,
  usage: UsageCount,
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  deadlineMs: z.number().nullable(),
})

const happened = { at: z.string(), session: z.string() }
const Event = z.discriminatedUnion('kind', [
  z.strictObject({
    ...happened,
    kind: z.literal('files_changed'),
    written: z.array(z.strictObject({ path: z.string(), kept: Kept })),
    removed: z.array(z.string()),
  }),
  z.strictObject({ ...happened, kind: z.literal('memory_removed'), paths: z.array(z.string()) }),
  z.strictObject({ ...happened, kind: z.literal('not_kept'), path: z.string(), reason: z.string() }),
])

const EvidenceFile: z.ZodType<Evidence> = z.strictObject({
  schemaVersion: z.literal(1),
  taskId: z.string(),
  taskFile: z.string(),
  taskSha256: z.string(),
  repeat: z.int(),
  seed: z.int(),
  control: z.enum(controls),
  agent: z.strictObject({ name: z.string(), version: z.string(), model: z.string().nullable() }),
  outcome: z.enum(['done', 'agent_failed', 'agent_timeout', 'infra_error', 'skipped']),
  reason: z.string().nullable(),
  isComplete: z.boolean(),
  startedAt: z.string(),
  endedAt: z.string(),
  sessions: z.array(Session),
  transcript: Kept.nullable(),
  workspace: z.array(Kept),
  events: z.array(Event),
  usage: UsageCount,
})

const hint = 'Name a folder that `credence task run` wrote.'

/** Reads the evidence in a folder. Throws a MemoryError when there is none, or when it is not what was written. */
export async function readEvidence(folder: string): Promise<Evidence> {
  const file = join(folder, evidenceNames.evidence)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new MemoryError('not_found', `There is no evidence in ${folder}.`, { hint, cause })
  })
  const parsed = parseJson(bytes, file)
  if (!parsed.ok) throw new MemoryError('invalid', `${problemText(parsed.problems[0])}.`, { hint })
  const checked = EvidenceFile.safeParse(parsed.value)
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
