import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { asJson } from '../../files/atomic-write.ts'
import { leftoverName } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import type { BeliefRecord } from '../../memory/belief-record.ts'
import type { Context } from '../../memory/context.ts'
import type { Memory } from '../../memory/memory.ts'
import { loadPack } from '../kinds/retrieval/pack.ts'
import { runPack } from '../kinds/retrieval/run-pack.ts'
import { manifestName, packPath, treePath } from '../store/documents.ts'
import { parseJson, problemText, readBounded } from '../store/parse-artifact.ts'
import type { Subject } from '../system/subject.ts'
import { asIs, type CapturedCase, capturedCase } from './captured-case.ts'
import { importPack } from './import-pack.ts'

/** The pack that captured cases go into. */
export const ownPack = 'my-cases'

export type CaptureRequest = {
  readonly message: string
  readonly scopes: readonly string[]
  /** Names, aliases or ids of beliefs. */
  readonly expect: readonly string[]
  readonly reject: readonly string[]
  /** Nothing but what is expected may be found. */
  readonly exactly: boolean
  /** Take the present answer for the right one. */
  readonly asIs: boolean
  readonly note: string | null
}

export type Captured = {
  readonly caseId: string
  readonly packDir: string
  readonly case: CapturedCase
  readonly beliefsCopied: number
  /** Whether recall does it right today. */
  readonly passesNow: boolean
  readonly failures: readonly string[]
  /** Whether the copy answers as the memory does; if not, why is worth knowing before relying on the case. */
  readonly isFaithful: boolean
}

/**
 * Makes a recall that was wrong, or right and precious, a case of the user's own pack, with the beliefs it needs copied
 * in. `subject` is asked the case at once, to show where it stands.
 */
export async function captureCase(
  memory: Memory,
  request: CaptureRequest,
  { root, subject }: { readonly root: string; readonly subject: Subject },
): Promise<Captured> {
  const { message, scopes, note } = request
  const context = await memory.recall(message, { scopes, nearMisses: true })
  const [expected, rejected] = [await allOf(memory, request.expect), await allOf(memory, request.reject)]
  const judged = request.asIs ? asIs(context) : { expected, rejected, exactly: request.exactly }
  const captured = capturedCase({ message, scopes: context.scopes, note, ...judged })
  const beliefs = await neededBeliefs(memory, context, [...judged.expected, ...judged.rejected])

  const packDir = packPath(root, ownPack)
  await mkdir(treePath(root, 'benchmarks'), { recursive: true, mode: 0o700 })
  const release = await takeLock(join(treePath(root, 'benchmarks'), `.${ownPack}.lock`), `The pack ${ownPack}`)
  const staged = join(treePath(root, 'benchmarks'), leftoverName('staged', ownPack))
  try {
    await mkdir(staged, { mode: 0o700 })
    await writeExtended(packDir, staged, captured, copiedBeliefs(beliefs, captured.caseId))
    const { pack } = loadPack(staged, { strict: false })
    if (pack.kind !== 'retrieval') throw new Error('A pack of captured cases is a retrieval pack.')
    const only = { ...pack, cases: pack.cases.filter(({ caseId }) => caseId === captured.caseId) }
    const [record] = (await runPack(only, subject)).records
    await importPack(root, staged, { force: true })
    const live = context.relevant.map(({ belief }) => copiedId(captured.caseId, belief.id))
    return {
      caseId: captured.caseId,
      packDir,
      case: captured,
      beliefsCopied: beliefs.length,
      passesNow: record?.entry.passed ?? false,
      failures: (record?.entry.failures ?? []).map((failure) => withNames(failure, captured.caseId, beliefs)),
      isFaithful: JSON.stringify(record?.answer?.relevant.map(({ id }) => id)) === JSON.stringify(live),
    }
  } finally {
    await rm(staged, { recursive: true, force: true })
    await release()
  }
}

/** Ids of copies mean nothing to the person who named the beliefs. */
const withNames = (failure: string, caseId: string, beliefs: readonly Belief[]): string =>
  beliefs.reduce((text, { id, name }) => text.replaceAll(copiedId(caseId, id), `"${name}"`), failure)

async function allOf(memory: Memory, references: readonly string[]) {
  const beliefs = []
  for (const reference of references) beliefs.push(await memory.get(reference))
  return beliefs
}

/** Only what is added to; everything else in the files stays as it is. */
const PackManifest = z.looseObject({ cases: z.array(z.unknown()) })
const PackCases = z.array(z.looseObject({ caseId: z.string() }))

const newManifest = {
  schemaVersion: 1,
  benchmarkId: ownPack,
  title: 'Recalls that were wrong, or right and precious',
  tags: ['retrieval', 'captured'],
  runner: 'retrieval',
  files: { beliefs: 'beliefs.json', cases: 'cases.json' },
  recall: {},
  cases: [],
}

async function writeExtended(
  packDir: string,
  staged: string,
  captured: CapturedCase,
  beliefs: readonly object[],
): Promise<void> {
  const isNew = !existsSync(packDir)
  if (!isNew) await cp(packDir, staged, { recursive: true })
  const manifest = isNew ? newManifest : readShaped(PackManifest, join(packDir, manifestName))
  const cases = isNew ? [] : readShaped(PackCases, join(packDir, 'cases.json'))
  const known = isNew ? [] : readShaped(z.array(z.unknown()), join(packDir, 'beliefs.json'))
  if (cases.some(({ caseId }) => caseId === captured.caseId)) {
    throw new MemoryError('conflict', `The case ${captured.caseId} was captured before.`, {
      hint: `See it in ${join(packDir, 'cases.json')}.`,
    })
  }
  const listed = { id: captured.caseId, prompt: captured.query, expectedSignals: [captured.category] }
  const write = (name: string, document: object): Promise<void> =>
    writeFile(join(staged, name), asJson(document), { mode: 0o600 })
  await write(manifestName, { ...manifest, cases: [...manifest.cases, listed] })
  await write('cases.json', [...cases, captured])
  await write('beliefs.json', [...known, ...beliefs])
}

function readShaped<Value>(schema: z.ZodType<Value>, path: string): Value {
  const bytes = readBounded(path, path)
  const json = bytes.ok ? parseJson(bytes.value, path) : bytes
  const shaped = json.ok ? schema.safeParse(json.value) : null
  if (shaped?.success) return shaped.data
  const problem = json.ok ? `${path} does not have the form of a pack` : problemText(json.problems[0])
  throw new MemoryError('invalid', `The pack ${ownPack} cannot be added to. ${problem}.`, {
    hint: 'Repair the file, or move the pack away to begin a new one.',
  })
}

/** More than this is no longer a case that somebody can read. */
const mostBeliefs = 500

/**
 * Every belief that has a part in an answer: what was recalled, what was mentioned but left out, what the case names, and
 * what these point at. A store with only these answers the message as the whole store does.
 */
export async function neededBeliefs(
  memory: Memory,
  context: Context,
  named: readonly Belief[],
): Promise<readonly Belief[]> {
  const needed = new Map<string, Belief>()
  const waiting: Belief[] = [
    ...named,
    ...context.pinned,
    ...context.relevant.map(({ belief }) => belief),
    ...context.questions,
    ...(context.nearMisses ?? []).map(({ belief }) => belief),
    ...(await found(memory, context.prelude?.beliefIds ?? [])),
  ]
  for (let belief = waiting.pop(); belief !== undefined; belief = waiting.pop()) {
    if (needed.has(belief.id)) continue
    needed.set(belief.id, belief)
    if (needed.size > mostBeliefs) {
      throw new MemoryError('invalid', `The case would need more than ${mostBeliefs} beliefs.`, {
        hint: 'Narrow it down to fewer scopes, or to a message that mentions less.',
      })
    }
    const links = [belief.supersededBy, belief.resolvedBy, belief.proposedFor, ...belief.participants]
    waiting.push(...(await found(memory, links.filter((link) => link !== null && !needed.has(link)) as string[])))
  }
  return [...needed.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** What a link points at may be gone, or be a name that several have; then nothing depends on it. */
async function found(memory: Memory, references: readonly string[]): Promise<readonly Belief[]> {
  const beliefs: Belief[] = []
  for (const reference of references) {
    try {
      beliefs.push(await memory.get(reference))
    } catch (error) {
      if (!(error instanceof MemoryError) || (error.code !== 'not_found' && error.code !== 'conflict')) throw error
    }
  }
  return beliefs
}

/**
 * Copies beliefs into a case as they are now, under ids and a user that only this case has: a later case about the same
 * belief, by then corrected, changes nothing here.
 */
export function copiedBeliefs(beliefs: readonly Belief[], caseId: string): readonly BeliefRecord[] {
  const ids = new Set(beliefs.map(({ id }) => id))
  const copied = (id: string): string => (ids.has(id) ? copiedId(caseId, id) : id)
  const orNull = (id: string | null): string | null => (id === null ? null : copied(id))
  return beliefs.map(({ version: _, ...belief }) => ({
    ...belief,
    id: copied(belief.id),
    user: caseId,
    // Whoever captured it could see it; the cases of a pack are asked by nobody in particular.
    agent: null,
    supersededBy: orNull(belief.supersededBy),
    resolvedBy: orNull(belief.resolvedBy),
    proposedFor: orNull(belief.proposedFor),
    participants: belief.participants.map(copied),
  }))
}

const longestBeliefId = 128

/** Readable where there is room, and unique in any case. */
export function copiedId(caseId: string, beliefId: string): string {
  const id = `${caseId}.${beliefId}`
  if (id.length <= longestBeliefId) return id
  return `${caseId}.${createHash('sha256').update(beliefId).digest('hex').slice(0, 16)}`
}
