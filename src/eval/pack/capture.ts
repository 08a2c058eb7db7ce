import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Belief } from '../../beliefs/belief.ts'
import { compareStrings } from '../../beliefs/identity.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { conflict, invalid, MemoryError, notFound, nullIfNotFound } from '../../errors.ts'
import { formatJson } from '../../files/atomic-write.ts'
import { type Eraser, forgottenMark } from '../../files/erase-texts.ts'
import { leftoverName } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { makeDirectory } from '../../files/make-directory.ts'
import { checkPlain } from '../../files/own-files.ts'
import type { KeptCase } from '../../memory/explain/trials.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Context } from '../../memory/recall/context.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { reach } from '../../search/turns/quotes.ts'
import { withNames } from '../report/case-detail.ts'
import { type CaseOutcome, slug } from '../run/run.ts'
import { type Expectations, normaliseText } from '../runners/retrieval/expectations.ts'
import { loadPack } from '../runners/retrieval/pack.ts'
import { idsIn as returnedIn } from '../runners/retrieval/retrieval-runner.ts'
import { runPack } from '../runners/retrieval/run-pack.ts'
import { manifestName, packPath, treePath } from '../store/documents.ts'
import { problemText, readJson } from '../store/parse-artifact.ts'
import type { SystemTurn } from '../system/system.ts'
import type { SystemUnderTest } from '../system/under-test.ts'
import { importPack } from './import-pack.ts'

export const ownPack = 'my-cases'

export type CaptureRequest = {
  readonly message: string
  readonly scopes: readonly string[]
  /** Names, aliases or ids of beliefs. */
  readonly expect: readonly string[]
  readonly reject: readonly string[]
  /** Ids of turns, or some of their words. */
  readonly expectQuotes?: readonly string[]
  readonly forbidQuotes?: readonly string[]
  /** Fail the case if a belief is found that is not expected. */
  readonly exactly: boolean
  /** Accept the present answer as the right one. */
  readonly asIs: boolean
  /** Replace the cases that were captured for this message in these scopes. */
  readonly replace: boolean
  readonly note: string | null
}

export type Captured = Awaited<ReturnType<typeof captureCase>>

/** Adds a recall to the user's own pack as a case, with copies of the beliefs and turns it needs, and runs the case on `system`. */
export async function captureCase(
  memory: Memory,
  request: CaptureRequest,
  { root, system }: { readonly root: string; readonly system: SystemUnderTest },
) {
  const { message, scopes, note, exactly } = request
  const context = await memory.recall(message, { scopes, nearMisses: true })
  const expected = await findJudged(memory, request.expect)
  const rejected = await findJudged(memory, request.reject)
  const findQuotes = (references: readonly string[] = []) =>
    Promise.all(references.map((reference) => judgeQuote(memory, context, reference)))
  const judged = request.asIs
    ? { expected: shownBeliefs(context), rejected: [], exactly: true }
    : { expected, rejected, exactly }
  const quotes: JudgedQuotes = {
    expected: await findQuotes(request.asIs ? context.quotes.map(({ turn }) => turn) : request.expectQuotes),
    forbidden: await findQuotes(request.forbidQuotes),
  }
  const said = await gatherTurns(memory, message, context, quotes)
  const captured = buildCase({ message, scopes: context.scopes, note, ...judged, quotes, said })
  const { caseId } = captured
  const beliefs = await gatherBeliefs(memory, context, [...judged.expected, ...judged.rejected])
  const turns = copyTurns(said?.turns ?? [], caseId)

  return withOwnPack(root, async (pack, write) => {
    const isReplaced = ({ query, scope }: (typeof pack.cases)[number]): boolean =>
      request.replace && JSON.stringify([query, scope]) === JSON.stringify([message, context.scopes])
    const replaced = new Set(pack.cases.filter(isReplaced).map((known) => known.caseId))
    if (pack.cases.some((known) => known.caseId === caseId && !replaced.has(caseId))) {
      const hint = `\`credence benchmark capture … --replace\` captures it again, with the beliefs of today. It is in ${join(pack.directory, 'cases.json')}.`
      throw conflict(`The case ${caseId} was captured before.`, hint)
    }
    const listed = { id: caseId, prompt: message, expectedSignals: [captured.category] }
    const staged = await write({
      manifest: {
        ...pack.manifest,
        system: system.name,
        cases: [...pack.manifest.cases.filter(({ id }) => !replaced.has(id)), listed],
      },
      cases: [...pack.cases.filter((known) => !replaced.has(known.caseId)), captured],
      beliefs: [...pack.beliefs.filter(({ user }) => !replaced.has(user)), ...copyBeliefs(beliefs, caseId)],
      turns: [...pack.turns.filter(({ user }) => !replaced.has(user)), ...turns],
    })
    const ready = loadPack(staged, { strict: false }).pack
    const [outcome] = (await runPack(ready, system, { wanted: new Set([caseId]) })).outcomes
    await importPack(root, staged, { force: true })
    // Failures name beliefs and quotes, because the ids of their copies mean nothing to a person.
    const names = Object.fromEntries([
      ...beliefs.map(({ id, name }) => [copiedId(caseId, id), name]),
      ...[...quotes.expected, ...quotes.forbidden].map((one) => [copiedId(caseId, one.turn.id), quoteWordsOf(one)]),
    ])
    return {
      caseId,
      packDir: pack.directory,
      case: captured,
      beliefsCopied: beliefs.length,
      turnsCopied: turns.length,
      casesReplaced: replaced.size,
      passesNow: outcome?.verdict === 'pass',
      failures: [...(outcome?.error === undefined ? [] : [outcome.error.message]), ...(outcome?.failures ?? [])].map(
        (failure) => withNames(failure, names),
      ),
      /** Whether the copy gives the same answer as the memory; if not, the case is unreliable. */
      isFaithful:
        outcome !== undefined && isSameAnswer(outcome, caseId, said === null ? { ...context, quotes: [] } : context),
    }
  })
}

const findJudged = (memory: Memory, references: readonly string[]) =>
  Promise.all(
    references.map(async (reference) => {
      const found = await nullIfNotFound(() => memory.get(reference))
      if (found !== null) return found
      const hint = 'List beliefs with `credence beliefs`. For words of a turn, use --expect-quote or --forbid-quote.'
      throw notFound(`There is no belief "${reference}".`, hint)
    }),
  )

function isSameAnswer(outcome: CaseOutcome, caseId: string, { relevant, perhaps, quotes }: Context): boolean {
  const copies = [...relevant, ...perhaps].map(({ belief }) => copiedId(caseId, belief.id))
  const quoted = quotes.map(({ turn }) => copiedId(caseId, turn)).toSorted()
  return isDeepStrictEqual([returnedIn(outcome, 'relevant'), returnedIn(outcome, 'quote').toSorted()], [copies, quoted])
}

/** A turn that a case expects to be quoted or not to be quoted. With `text`, only a quote that contains it counts. */
type JudgedQuote = { readonly turn: Turn; readonly text: string | null }
type JudgedQuotes = { readonly expected: readonly JudgedQuote[]; readonly forbidden: readonly JudgedQuote[] }

/** Finds a turn by its id, by words of a quote in the context, or by words that only one turn in view contains. */
async function judgeQuote(memory: Memory, context: Context, reference: string): Promise<JudgedQuote> {
  const words = normaliseText(reference)
  const named = reference.startsWith('t-') ? await nullIfNotFound(() => memory.turn(reference)) : null
  if (named !== null) return { turn: named, text: null }
  const scopes = visibleScopes(context.scopes)
  const shown = new Set(context.quotes.flatMap(({ turn, text }) => (normaliseText(text).includes(words) ? [turn] : [])))
  const { items } = await memory.turns({ containing: reference.trim(), scopes, limit: 3 })
  const ids = shown.size > 0 ? [...shown] : items.map(({ id }) => id)
  const [id, another] = ids
  if (words === '' || id === undefined)
    throw notFound(
      `No turn in view contains "${reference.slice(0, 80)}".`,
      'Give words of one turn, or its id: `credence search` prints both.',
    )
  if (another !== undefined)
    throw conflict(`Several turns contain "${reference.slice(0, 80)}": ${ids.join(', ')}.`, 'Give the id of one.')
  const turn = await memory.turn(id)
  return { turn, text: normaliseText(turn.text) === words ? null : reference.trim() }
}

const maxWords = 60

/** The words of a judged quote that identify it for a person. */
function quoteWordsOf({ turn, text }: JudgedQuote): string {
  const words = (text ?? turn.text).replace(/\s+/gu, ' ').trim()
  return words.length > maxWords ? `${words.slice(0, maxWords - 1)}…` : words
}

/** The expectations of the captured cases, with the original ids of the beliefs in the memory. */
export function readKeptCases(root: string): readonly KeptCase[] {
  const packDir = packPath(root, ownPack)
  if (!existsSync(packDir)) return []
  return readOwnPack(packDir).cases.map(({ caseId, query, scope, expect }) => {
    const ids = (isRejection: boolean): readonly string[] =>
      Object.values(expect as Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>)
        .flatMap((tier) => Object.entries(tier).filter(([check]) => (check === 'mustExclude') === isRejection))
        // Skips expectations about quotes, which are objects, not ids.
        .flatMap(([, copies]) => copies.filter((copy) => typeof copy === 'string'))
        .map((copy) => copy.slice(caseId.length + 1))
    return {
      id: caseId,
      message: String(query),
      scopes: scope as readonly string[],
      expect: ids(false),
      reject: ids(true),
    }
  })
}

const shownBeliefs = ({ pinned, relevant, perhaps, questions }: Context): readonly Belief[] => [
  ...pinned,
  ...[...relevant, ...perhaps].map(({ belief }) => belief),
  ...questions,
]

/** The fields of the pack's files that are read; all other fields are preserved. */
const OwnDocuments = z.object({
  manifest: z.looseObject({
    files: z.record(z.string(), z.string()).optional(),
    cases: z.array(z.looseObject({ id: z.string() })),
  }),
  cases: z.array(z.looseObject({ caseId: z.string(), query: z.unknown(), scope: z.unknown(), expect: z.unknown() })),
  beliefs: z.array(z.looseObject({ id: z.string(), user: z.string() })),
  turns: z.array(z.looseObject({ id: z.string(), user: z.string(), text: z.string() })),
})
type OwnDocuments = z.infer<typeof OwnDocuments>

const turnsName = 'turns.json'

const newDocuments: OwnDocuments = {
  manifest: {
    schemaVersion: 1,
    benchmarkId: ownPack,
    title: 'Recalls that were wrong, or right and worth keeping',
    tags: ['retrieval', 'captured'],
    runner: 'retrieval',
    files: { beliefs: 'beliefs.json', cases: 'cases.json' },
    recall: {},
    cases: [],
  },
  cases: [],
  beliefs: [],
  turns: [],
}

type OwnPack = OwnDocuments & { readonly directory: string }
/** The documents to write. New cases, and copies of beliefs and turns, need not have the types that are read. */
type NewDocuments = {
  readonly [Name in keyof OwnDocuments]: Name extends 'manifest' ? OwnDocuments[Name] : readonly object[]
}

/** Runs `work` on the pack of captured cases, under its lock. `write` makes a changed copy in a staging folder, ready for import. */
async function withOwnPack<Result>(
  root: string,
  work: (pack: OwnPack, write: (documents: NewDocuments) => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const directory = packPath(root, ownPack)
  const packs = treePath(root, 'benchmarks')
  checkPlain(root, packs)
  makeDirectory(packs)
  const lock = join(packs, `.${ownPack}.lock`)
  checkPlain(root, lock)
  const release = await takeLock(lock, `The pack ${ownPack}`, maxWaitMs)
  const staged = join(packs, leftoverName('staged', ownPack))
  try {
    const isNew = !existsSync(directory)
    const pack = { directory, ...(isNew ? newDocuments : readOwnPack(directory)) }
    return await work(pack, async ({ manifest, cases, beliefs, turns }) => {
      if (isNew) await mkdir(staged, { mode: 0o700 })
      else await cp(directory, staged, { recursive: true })
      await rm(join(staged, turnsName), { force: true })
      const { turns: _, ...files } = manifest.files ?? {}
      const named = turns.length === 0 ? files : { ...files, turns: turnsName }
      for (const [name, document] of [
        [manifestName, { ...manifest, files: named }],
        ['cases.json', cases],
        ['beliefs.json', beliefs],
        ...(turns.length === 0 ? [] : ([[turnsName, turns]] as const)),
      ] as const)
        await writeFile(join(staged, name), formatJson(document), { mode: 0o600 })
      return staged
    })
  } finally {
    await rm(staged, { recursive: true, force: true })
    release()
  }
}

/** Removes captured cases about a forgotten belief or turn, and erases forgotten texts from other cases. Returns the changed files. */
export async function eraseCases(root: string, eraser: Eraser): Promise<readonly string[]> {
  if (!existsSync(packPath(root, ownPack))) return []
  return withOwnPack(root, async (pack, write) => {
    const { directory, manifest, cases, beliefs, turns } = pack
    const isLost = ({ expect }: (typeof cases)[number]): boolean =>
      idsIn(expect).some((id) => eraser.namesForgotten(id))
    const lost = new Set(cases.filter(isLost).map(({ caseId }) => caseId))
    const listed = manifest.cases.filter(({ id }) => !lost.has(id))
    const kept = beliefs.filter(({ user }) => !lost.has(user))
    const said = turns.filter(({ user }) => !lost.has(user))
    const erased = {
      manifest: eraser.eraseValue({ ...manifest, cases: listed }),
      cases: cases.filter(({ caseId }) => !lost.has(caseId)).map((kept) => eraser.eraseValue(kept)),
      beliefs: kept.map((belief) => eraser.eraseValue(eraser.namesForgotten(belief.id) ? blankBelief(belief) : belief)),
      turns: said.map((turn) =>
        eraser.eraseValue(eraser.namesForgotten(turn.id) ? { ...turn, text: forgottenMark } : turn),
      ),
    }
    if (JSON.stringify(erased) === JSON.stringify({ manifest, cases, beliefs, turns })) return []
    if (lost.size === cases.length) await rm(directory, { recursive: true })
    else await importPack(root, await write(erased as NewDocuments), { force: true })
    const names = [manifestName, 'cases.json', 'beliefs.json', ...(turns.length === 0 ? [] : [turnsName])]
    return names.map((name) => join(directory, name))
  })
}

const maxWaitMs = 10_000

const idsIn = (expectations: unknown): readonly string[] =>
  typeof expectations === 'string'
    ? [expectations]
    : Object.values((expectations ?? {}) as Readonly<Record<string, unknown>>).flatMap(idsIn)

/** A placeholder for a forgotten belief that no case expects. Nothing can match it, and its name is unique. */
const blankBelief = (belief: { readonly id: string }): object => ({
  ...belief,
  name: `${forgottenMark} ${belief.id.slice(belief.id.lastIndexOf('.') + 1)}`,
  aliases: [],
  content: forgottenMark,
  why: '',
})

function readOwnPack(directory: string): OwnDocuments {
  const read = (name: string): unknown => {
    const file = join(directory, name)
    if (name === turnsName && !existsSync(file)) return []
    const json = readJson(file, file)
    if (json.ok) return json.value
    throw unusablePack(problemText(json.problems[0]))
  }
  const documents = { manifest: read(manifestName), cases: read('cases.json'), beliefs: read('beliefs.json') }
  const { data, error } = OwnDocuments.safeParse({ ...documents, turns: read(turnsName) })
  if (data !== undefined) return data
  throw unusablePack(`${directory} does not have the form of a pack: ${error.issues[0]?.path.join('.')}`)
}

const unusablePack = (problem: string): MemoryError =>
  invalid(`The pack ${ownPack} cannot be added to. ${problem}.`, 'Repair it, or move it away to begin a new one.')

/** Max beliefs of a case; a larger case would be unreadable. */
const maxBeliefs = 500

/** The beliefs that contribute to an answer, and all that these link to. A store with only these beliefs gives the same answer. */
async function gatherBeliefs(memory: Memory, context: Context, named: readonly Belief[]): Promise<readonly Belief[]> {
  const needed = new Map<string, Belief>()
  const waiting: Belief[] = [
    ...named,
    ...shownBeliefs(context),
    ...(context.nearMisses ?? []).map(({ belief }) => belief),
    ...(await findLinked(memory, context.prelude?.beliefIds ?? [])),
  ]
  for (let belief = waiting.pop(); belief !== undefined; belief = waiting.pop()) {
    if (needed.has(belief.id)) continue
    needed.set(belief.id, belief)
    if (needed.size > maxBeliefs) {
      const hint = 'Narrow it down to fewer scopes, or to a message that mentions less.'
      throw invalid(`The case would need more than ${maxBeliefs} beliefs.`, hint)
    }
    const links = [belief.supersededBy, belief.resolvedBy, belief.proposedFor, ...belief.participants]
    waiting.push(...(await findLinked(memory, links.filter((link) => link !== null && !needed.has(link)) as string[])))
  }
  return [...needed.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The targets of links. Ignores missing targets and ambiguous names, because nothing depends on them. */
async function findLinked(memory: Memory, references: readonly string[]): Promise<readonly Belief[]> {
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

/** Max other turns that might be quoted for the message. They are copied too, because they compete with the judged turns. */
const maxRivals = 10

/** The turns that a case about quotes needs, and the amount of text in all turns in view; null for a case about beliefs only. */
async function gatherTurns(memory: Memory, message: string, context: Context, quotes: JudgedQuotes) {
  const judged = [...quotes.expected, ...quotes.forbidden].map(({ turn }) => turn)
  const [first] = judged
  if (first === undefined) return null
  const { scopes } = context
  const visible = visibleScopes(scopes)
  const elsewhere = judged.find(({ scope }) => !visible.includes(scope))
  if (elsewhere !== undefined) {
    const where = `it was said in ${elsewhere.scope}, and ${scopes.join(' ')} is in view`
    throw invalid(`The turn ${elsewhere.id} cannot be quoted here: ${where}.`, 'Give the scope it was said in.')
  }
  const { saidInAll } = await memory.whyTurn(message, first.id, { scopes })
  const rivals = await memory.search(message, { in: 'turns', scopes, limit: maxRivals })
  const ids = new Set([...judged.map(({ id }) => id), ...[...context.quotes, ...rivals.quotes].map(({ turn }) => turn)])
  const needed = new Map<string, Turn>()
  for (const id of ids) {
    const { session, index } = await memory.turn(id)
    // Neighbours are copied too, because they affect the score of a turn.
    const offset = Math.max(0, index - reach)
    const { items } = await memory.turns({ session, offset, limit: index - offset + reach + 1 })
    for (const turn of items) if (visible.includes(turn.scope)) needed.set(turn.id, turn)
  }
  return { turns: [...needed.values()], saidInAll }
}

/** Copies turns for one case. Turns that were not adjacent become separate conversations. */
function copyTurns(turns: readonly Turn[], caseId: string): readonly SystemTurn[] {
  const inOrder = turns.toSorted(
    (a, b) => compareStrings(a.session, b.session) || a.index - b.index || compareStrings(a.id, b.id),
  )
  let conversations = 0
  let index = 0
  return inOrder.map(({ id, session, role, speaker, at, scope, origin, text, ...turn }, place) => {
    const previous = inOrder[place - 1]
    const follows = previous?.session === session && previous.index + 1 === turn.index
    index = follows ? index + 1 : 0
    conversations += follows ? 0 : 1
    return {
      id: copiedId(caseId, id),
      user: caseId,
      scope,
      session: `conversation-${conversations}`,
      index,
      role,
      ...(speaker === null ? {} : { speaker }),
      at,
      ...(role === 'user' && origin !== 'person' ? { origin: 'document' as const } : {}),
      text,
    }
  })
}

type Judgement = Pick<CaptureRequest, 'message' | 'scopes' | 'exactly' | 'note'> & {
  readonly expected: readonly Belief[]
  readonly rejected: readonly Belief[]
  readonly quotes: JudgedQuotes
  readonly said: Awaited<ReturnType<typeof gatherTurns>>
}

function buildCase(judgement: Judgement) {
  const { message, scopes, expected, rejected, exactly, note, quotes, said } = judgement
  const both = expected.find(({ id }) => rejected.some((other) => other.id === id))
  if (both !== undefined) throw invalid(`"${both.name}" is both expected and rejected.`)

  const inBoth = quotes.expected.find((quote) => quotes.forbidden.some((other) => isSameQuote(quote, other)))
  if (inBoth !== undefined) throw invalid(`"${quoteWordsOf(inBoth)}" is both expected and forbidden.`)

  const caseId = caseIdOf(judgement)
  const quotesOf = (judged: readonly JudgedQuote[]) =>
    judged.length === 0
      ? undefined
      : judged.map(({ turn, text }) => ({ turn: copiedId(caseId, turn.id), ...(text === null ? {} : { text }) }))
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
    quotes: omitUndefined({ mustInclude: quotesOf(quotes.expected), mustExclude: quotesOf(quotes.forbidden) }),
  }
  const checks = Object.entries(tiers).filter(([, tier]) => Object.keys(tier).length > 0)
  return {
    caseId,
    category: 'Captured',
    description: descriptionOf(judgement),
    userId: caseId,
    scope: scopes,
    query: message,
    ...(said === null ? {} : { saidInAll: said.saidInAll }),
    ...(note === null ? {} : { notes: note }),
    expect: Object.fromEntries(checks) as Expectations,
  }
}

const isSameQuote = (a: JudgedQuote, b: JudgedQuote): boolean => a.turn.id === b.turn.id && a.text === b.text

const tierOf = ({ type, pinned }: Belief): 'question' | 'pinned' | 'relevant' =>
  type === 'open_question' ? 'question' : pinned ? 'pinned' : 'relevant'

function descriptionOf({ expected, rejected, exactly, quotes }: Judgement): string {
  const names = (beliefs: readonly Belief[]): string => beliefs.map(({ name }) => name).join(', ')
  const texts = (judged: readonly JudgedQuote[]): string => judged.map((quote) => `"${quoteWordsOf(quote)}"`).join(', ')
  const none = exactly ? ['Recalls no belief'] : []
  const parts = [
    ...(expected.length === 0 ? none : [`Recalls ${names(expected)}${exactly ? ' and no other belief' : ''}`]),
    ...(rejected.length === 0 ? [] : [`does not recall ${names(rejected)}`]),
    ...(quotes.expected.length === 0 ? [] : [`quotes ${texts(quotes.expected)}`]),
    ...(quotes.forbidden.length === 0 ? [] : [`does not quote ${texts(quotes.forbidden)}`]),
  ]
  const text = parts.join('; ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** A readable id, always the same for the same judgement. */
function caseIdOf({ message, scopes, expected, rejected, exactly, quotes }: Judgement): string {
  const ids = (beliefs: readonly Belief[]): readonly string[] => beliefs.map(({ id }) => id).sort()
  const quoted = [quotes.expected, quotes.forbidden].map((judged) => judged.map(({ turn, text }) => [turn.id, text]))
  const judgedQuotes = quoted.flat().length === 0 ? [] : quoted
  const judged = [message, [...scopes].sort(), ids(expected), ids(rejected), exactly, ...judgedQuotes]
  const digest = shortDigest(JSON.stringify(judged), 8)
  const words = slug(message.normalize('NFKD').toLowerCase(), 40)
  return words === '' ? digest : `${words}-${digest}`
}

const shortDigest = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

/** Copies beliefs for one case, under new ids and a new user, so that later corrections do not change the case. */
function copyBeliefs(beliefs: readonly Belief[], caseId: string): readonly BeliefRecord[] {
  const ids = new Set(beliefs.map(({ id }) => id))
  const copyId = (id: string): string => (ids.has(id) ? copiedId(caseId, id) : id)
  const orNull = (id: string | null): string | null => (id === null ? null : copyId(id))
  return beliefs.map(({ version: _, ...belief }) => ({
    ...belief,
    id: copyId(belief.id),
    user: caseId,
    // Visible to all: the person who captured the case could see the belief, and a pack's cases are asked without an agent.
    agent: null,
    supersededBy: orNull(belief.supersededBy),
    resolvedBy: orNull(belief.resolvedBy),
    proposedFor: orNull(belief.proposedFor),
    participants: belief.participants.map(copyId),
  }))
}

const maxBeliefIdLength = 128

/** The id of a copy: readable if it fits, and always unique. */
function copiedId(caseId: string, beliefId: string): string {
  const id = `${caseId}.${beliefId}`
  return id.length <= maxBeliefIdLength ? id : `${caseId}.${shortDigest(beliefId, 16)}`
}
