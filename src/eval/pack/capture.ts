import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { asJson } from '../../files/atomic-write.ts'
import { leftoverName } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Context } from '../../memory/recall/context.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { loadPack } from '../kinds/retrieval/pack.ts'
import { runPack } from '../kinds/retrieval/run-pack.ts'
import { manifestName, packPath, treePath } from '../store/documents.ts'
import { problemText, readJson } from '../store/parse-artifact.ts'
import type { Subject } from '../system/subject.ts'
import { importPack } from './import-pack.ts'

/** The pack of captured cases. */
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

export type Captured = Awaited<ReturnType<typeof captureCase>>

/**
 * Adds a recall that was wrong, or right and worth keeping, to the user's own pack as a case, with copies of the beliefs
 * it needs, and asks `subject` the case at once.
 */
export async function captureCase(
  memory: Memory,
  request: CaptureRequest,
  { root, subject }: { readonly root: string; readonly subject: Subject },
) {
  const { message, scopes, note, exactly } = request
  const context = await memory.recall(message, { scopes, nearMisses: true })
  const [expected, rejected] = [await found(memory, request.expect), await found(memory, request.reject)]
  const judged = request.asIs
    ? { expected: shownIn(context), rejected: [], exactly: true }
    : { expected, rejected, exactly }
  const captured = capturedCase({ message, scopes: context.scopes, note, ...judged })
  const { caseId } = captured
  const beliefs = await neededBeliefs(memory, context, [...judged.expected, ...judged.rejected])

  const packDir = packPath(root, ownPack)
  const packs = treePath(root, 'benchmarks')
  await mkdir(packs, { recursive: true, mode: 0o700 })
  const release = await takeLock(join(packs, `.${ownPack}.lock`), `The pack ${ownPack}`)
  const staged = join(packs, leftoverName('staged', ownPack))
  try {
    await mkdir(staged, { mode: 0o700 })
    await writeExtended(packDir, staged, captured, copiedBeliefs(beliefs, caseId))
    const { pack } = loadPack(staged, { strict: false })
    const [record] = (await runPack(pack, subject, { isWanted: (id) => id === caseId })).records
    await importPack(root, staged, { force: true })
    const live = context.relevant.map(({ belief }) => copiedId(caseId, belief.id))
    // Ids of copies mean nothing to the person who named the beliefs.
    const withNames = (failure: string): string =>
      beliefs.reduce((text, { id, name }) => text.replaceAll(copiedId(caseId, id), `"${name}"`), failure)
    return {
      caseId,
      packDir,
      case: captured,
      beliefsCopied: beliefs.length,
      /** Whether recall passes the case today. */
      passesNow: record?.entry.passed ?? false,
      failures: (record?.entry.failures ?? []).map(withNames),
      /** Whether the copy answers as the memory does; if not, the case cannot be relied on. */
      isFaithful: JSON.stringify(record?.answer?.relevant.map(({ id }) => id)) === JSON.stringify(live),
    }
  } finally {
    await rm(staged, { recursive: true, force: true })
    release()
  }
}

const shownIn = ({ pinned, relevant, questions }: Context): readonly Belief[] => [
  ...pinned,
  ...relevant.map(({ belief }) => belief),
  ...questions,
]

/** The parts of the files that are added to; everything else in them stays as it is. */
const PackManifest = z.looseObject({ cases: z.array(z.unknown()) })
const PackCases = z.array(z.looseObject({ caseId: z.string() }))

const newManifest = {
  schemaVersion: 1,
  benchmarkId: ownPack,
  title: 'Recalls that were wrong, or right and worth keeping',
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
  const json = readJson(path, path)
  const shaped = json.ok ? schema.safeParse(json.value) : null
  if (shaped?.success) return shaped.data
  const problem = json.ok ? `${path} does not have the form of a pack` : problemText(json.problems[0])
  throw new MemoryError('invalid', `The pack ${ownPack} cannot be added to. ${problem}.`, {
    hint: 'Repair the file, or move the pack away to begin a new one.',
  })
}

/** A case with more beliefs is too large to read. */
const mostBeliefs = 500

/**
 * Every belief that has a part in an answer: recalled ones, near misses, those that the case names, and all that these
 * link to. A store with only these answers the message as the whole store does.
 */
async function neededBeliefs(memory: Memory, context: Context, named: readonly Belief[]): Promise<readonly Belief[]> {
  const needed = new Map<string, Belief>()
  const waiting: Belief[] = [
    ...named,
    ...shownIn(context),
    ...(context.nearMisses ?? []).map(({ belief }) => belief),
    ...(await linked(memory, context.prelude?.beliefIds ?? [])),
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
    waiting.push(...(await linked(memory, links.filter((link) => link !== null && !needed.has(link)) as string[])))
  }
  return [...needed.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

async function found(memory: Memory, references: readonly string[]): Promise<readonly Belief[]> {
  const beliefs: Belief[] = []
  for (const reference of references) beliefs.push(await memory.get(reference))
  return beliefs
}

/** The targets of links. A target that is gone, or a name that several beliefs have, is left out: nothing depends on it. */
async function linked(memory: Memory, references: readonly string[]): Promise<readonly Belief[]> {
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

/** A person's judgement of an answer. */
type Judgement = {
  readonly message: string
  readonly scopes: readonly string[]
  /** Beliefs that must come back. */
  readonly expected: readonly Belief[]
  /** Beliefs that must not come back. */
  readonly rejected: readonly Belief[]
  /** Nothing but what is expected may be found for the message. */
  readonly exactly: boolean
  readonly note: string | null
}

/** A case in the format of the retrieval packs. */
type CapturedCase = ReturnType<typeof capturedCase>

function capturedCase(judgement: Judgement) {
  const { message, scopes, expected, rejected, exactly, note } = judgement
  for (const belief of expected) refuseImpossible(belief, scopes)
  const both = expected.find(({ id }) => rejected.some((other) => other.id === id))
  if (both !== undefined) throw new MemoryError('invalid', `"${both.name}" is both expected and rejected.`)

  const caseId = idOf(judgement)
  const idsOf = (beliefs?: readonly Belief[]) => beliefs?.map(({ id }) => copiedId(caseId, id))
  const wanted = Object.groupBy(expected, tierOf)
  const unwanted = Object.groupBy(rejected, (belief) => (tierOf(belief) === 'question' ? 'question' : 'relevant'))
  const relevant = idsOf(exactly ? (wanted.relevant ?? []) : wanted.relevant)
  const tiers = {
    relevantBeliefs: omitUndefined({
      [exactly ? 'shouldOnlyInclude' : 'mustInclude']: relevant,
      mustExclude: idsOf(unwanted.relevant),
    }),
    pinnedFacts: omitUndefined({ mustInclude: idsOf(wanted.pinned) }),
    openQuestions: omitUndefined({ mustInclude: idsOf(wanted.question), mustExclude: idsOf(unwanted.question) }),
  }
  const checks = Object.entries(tiers).filter(([, tier]) => Object.keys(tier).length > 0)
  return {
    caseId,
    category: 'Captured',
    description: descriptionOf(judgement),
    userId: caseId,
    scope: scopes,
    query: message,
    ...(note === null ? {} : { notes: note }),
    expect: Object.fromEntries<Readonly<Record<string, readonly string[] | undefined>>>(checks),
  }
}

const tierOf = ({ type, pinned }: Belief): 'question' | 'pinned' | 'relevant' =>
  type === 'open_question' ? 'question' : pinned ? 'pinned' : 'relevant'

/** Refuses a belief that no answer could ever hold: the case could only fail. */
function refuseImpossible(belief: Belief, scopes: readonly string[]): void {
  if (!isCurrent(belief)) {
    throw new MemoryError('invalid', `"${belief.name}" cannot be expected: it is replaced, settled or only proposed.`, {
      hint: 'Expect the belief that replaced it.',
    })
  }
  const visible = visibleScopes(scopes)
  if (belief.scopes.some((scope) => visible.includes(scope))) return
  const where = `it belongs to ${belief.scopes.join(' ')}, and ${scopes.join(' ')} is in view`
  throw new MemoryError('invalid', `"${belief.name}" cannot be expected here: ${where}.`, {
    hint: 'Give the scope it should be recalled in.',
  })
}

function descriptionOf({ expected, rejected, exactly }: Judgement): string {
  const names = (beliefs: readonly Belief[]): string => beliefs.map(({ name }) => name).join(', ')
  const wanted = expected.length === 0 ? 'nothing' : names(expected)
  const parts = [
    ...(exactly ? [`Recalls ${wanted} and nothing else`] : expected.length === 0 ? [] : [`Recalls ${wanted}`]),
    ...(rejected.length === 0 ? [] : [`does not recall ${names(rejected)}`]),
  ]
  const text = parts.join('; ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** A readable id that is the same for the same judgement. */
function idOf({ message, scopes, expected, rejected, exactly }: Judgement): string {
  const ids = (beliefs: readonly Belief[]): readonly string[] => beliefs.map(({ id }) => id).sort()
  const digest = digestOf(JSON.stringify([message, [...scopes].sort(), ids(expected), ids(rejected), exactly]), 8)
  const words = message
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 40)
    .replace(/-$/u, '')
  return words === '' ? digest : `${words}-${digest}`
}

const digestOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

/**
 * Copies beliefs into a case as they are now, under ids and a user of this case alone: a later case about the same
 * belief, by then corrected, changes nothing here.
 */
function copiedBeliefs(beliefs: readonly Belief[], caseId: string): readonly BeliefRecord[] {
  const ids = new Set(beliefs.map(({ id }) => id))
  const copied = (id: string): string => (ids.has(id) ? copiedId(caseId, id) : id)
  const orNull = (id: string | null): string | null => (id === null ? null : copied(id))
  return beliefs.map(({ version: _, ...belief }) => ({
    ...belief,
    id: copied(belief.id),
    user: caseId,
    // The person who captured the case could see it, and the cases of a pack are asked by no agent.
    agent: null,
    supersededBy: orNull(belief.supersededBy),
    resolvedBy: orNull(belief.resolvedBy),
    proposedFor: orNull(belief.proposedFor),
    participants: belief.participants.map(copied),
  }))
}

const longestBeliefId = 128

/** The id of a copy: readable where it fits, and always unique. */
function copiedId(caseId: string, beliefId: string): string {
  const id = `${caseId}.${beliefId}`
  return id.length <= longestBeliefId ? id : `${caseId}.${digestOf(beliefId, 16)}`
}
