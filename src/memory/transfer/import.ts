import { isDeepStrictEqual } from 'node:util'
import { type ActorKind, authorityOf, type Belief, isCurrent, mayChange } from '../../beliefs/belief.ts'
import { hasName, isSameStatement, nameKey } from '../../beliefs/identity.ts'
import type { BeliefChange } from '../../beliefs/journal.ts'
import { invalid } from '../../errors.ts'
import { forEachInSlices, splitIntoParts } from '../../search/slices.ts'
import { reasonToWait, requireRoomForDocuments } from '../change/authority.ts'
import { hasAdditions, inherit, isSameWish, mergeStatement, supersedeBelief } from '../change/remember.ts'
import { type ChangeRequest, change, reviseChange } from '../change/transaction.ts'
import { findSecretIn } from '../learn/secrets.ts'
import type { Author, Ports } from '../ports.ts'
import { type BeliefRecord, type PlacedRecord, readRecords } from './belief-record.ts'
import type { ImportFinding } from './import-findings.ts'

export type ImportRequest = Omit<ChangeRequest, 'key'> & {
  /** A JSON array of beliefs, one belief, JSON Lines, or any Markdown. */
  readonly text: string
  /** Default `records`. */
  readonly format?: 'records' | 'markdown'
  /** Where the text came from. Also the origin of beliefs that give none. */
  readonly source: string
  /** The scopes of beliefs that name none. */
  readonly scopes: readonly string[]
  /**
   * Whether the person vouches for the text, such as their own export: every belief keeps its original authority. Otherwise
   * it has a document's authority at most, and statements that need a person's wait for review.
   */
  readonly trusted?: boolean
  /** Changes nothing, and reports problems in the file as `findings`. */
  readonly dryRun?: boolean
}

type ImportTally = {
  readonly added: number
  /** Stored already, word for word. */
  readonly unchanged: number
  /** The same statement is known under another id; counted as a repetition. */
  readonly reinforced: number
  /** Replaced a belief that made a different statement. */
  readonly corrected: number
  /** Would replace a belief of a higher authority, or may only be stated by a person, so a person has to decide. */
  readonly proposed: number
}

export type ImportResult = ImportTally & {
  readonly warnings: readonly string[]
  /** The events of the import: one for each user for whom something changed. */
  readonly events: readonly number[]
  /** Only for a dry run. */
  readonly findings?: readonly ImportFinding[]
}

/** Imports a file of beliefs: all of it or, if anything in it is invalid, nothing. Importing it again changes nothing. */
export async function importBeliefs(ports: Ports, request: ImportRequest): Promise<ImportResult> {
  // The Markdown reader is loaded only if needed, because its parser is large.
  const { records, warnings } =
    request.format === 'markdown'
      ? await (await import('../markdown/read-markdown.ts')).readMarkdown(ports, request)
      : readRecords(ports, request)
  const isVouchedFor = request.trusted === true && request.author.actor === 'person'
  const [taken, leftOut] = isVouchedFor ? [records, []] : await withoutSecrets(records)
  const imported = await importRecords(ports, request, taken, [...warnings, ...leftOut])
  if (request.dryRun !== true) return imported
  const { entriesOfMarkdown, entriesOfRecords, findProblems } = await import('./import-findings.ts')
  const isMarkdown = request.format === 'markdown'
  const entries = isMarkdown ? entriesOfMarkdown(request.text, request.source) : entriesOfRecords(records)
  return { ...imported, findings: findProblems(entries, ports.now()) }
}

/**
 * The records without a secret, and a warning about each record that has one. Not called for records that a person vouches
 * for.
 */
async function withoutSecrets(records: readonly PlacedRecord[]): Promise<[readonly PlacedRecord[], readonly string[]]> {
  const warnings: string[] = []
  const taken: PlacedRecord[] = []
  await forEachInSlices(records, async (one) => {
    const { provenance, expertise } = one.record
    const secret = await findSecretIn({ ...one.record, domain: expertise?.domain, ...provenance })
    if (secret === null) taken.push(one)
    else warnings.push(`${one.place}: left out. The text contains ${secret}, so it was not stored.`)
  })
  return [taken, warnings]
}

type ImportTerms = Omit<ChangeRequest, 'key'> & Pick<ImportRequest, 'trusted' | 'dryRun'>

/** Imports beliefs that have been read already. */
export async function importRecords(
  ports: Ports,
  { user: own, author, trusted = false, dryRun = false }: ImportTerms,
  records: readonly PlacedRecord[],
  readWarnings: readonly string[] = [],
): Promise<ImportResult> {
  const foreign = trusted ? undefined : records.find(({ record }) => record.user !== own)
  if (foreign !== undefined)
    throw invalid(
      `${foreign.place}: the belief is for the user "${foreign.record.user}", and this import is for "${own}".`,
      'Leave out the field user. If the file is an export of yours, import it with --trusted.',
    )
  const byUser = [...Map.groupBy(records, ({ record }) => record.user)]
  // Plans the imports of all users first, so that nothing is written if a record of the last user is invalid.
  if (byUser.length > 1) {
    const at = ports.now().toISOString()
    for (const [, placed] of byUser) await planImport(ports, { author, trusted, placed, at, removed: new Map() })
  }
  const tally = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
  const warnings = [...readWarnings]
  const events: number[] = []
  for (const [user, placed] of byUser) {
    const { plan, event } = await importForUser(ports, { user, author, trusted, dryRun, placed })
    for (const kind of Object.keys(tally) as (keyof ImportTally)[]) tally[kind] += plan.tally[kind]
    warnings.push(...plan.warnings)
    if (event !== null) events.push(event)
  }
  return { ...tally, warnings, events }
}

async function importForUser(
  ports: Ports,
  { user, author, trusted, dryRun, placed }: Required<Omit<ImportTerms, 'key'>> & Pick<ImportContext, 'placed'>,
): Promise<{ readonly plan: ImportPlan; readonly event: number | null }> {
  let isRetry = false
  return change<{ readonly plan: ImportPlan; readonly event: number | null }>(
    ports,
    { user, author, operation: 'import' },
    async (at) => {
      // Removed ids are rare and slow to look up, so this happens only after the store has refused the first attempt.
      const removed = isRetry ? await findRemovedIds(ports, user, placed) : new Map()
      isRetry = true
      const plan = await planImport(ports, { author, trusted, placed, at, removed })
      if (dryRun || plan.changes.length === 0) return { kind: 'nothing', result: { plan, event: null } }
      return { kind: 'import', changes: plan.changes, result: (event) => ({ plan, event: event.number }) }
    },
  )
}

/** The last version of each removed id; null if its text was forgotten and must not come back. */
type RemovedIds = ReadonlyMap<string, number | null>

async function findRemovedIds({ store }: Ports, user: string, placed: readonly PlacedRecord[]): Promise<RemovedIds> {
  const removed = new Map<string, number | null>()
  for (const { record } of placed) {
    const last = (await store.history(user, record.id)).at(-1)
    if (last?.outcome === 'erased') removed.set(record.id, null)
    if (last?.outcome === 'absent') removed.set(record.id, last.version)
  }
  return removed
}

/** The changes of an import of one user's records, planned before anything is written. */
type ImportPlan = {
  readonly changes: readonly BeliefChange[]
  readonly tally: ImportTally
  readonly warnings: readonly string[]
}

type ImportContext = {
  readonly author: Author
  readonly trusted: boolean
  readonly placed: readonly PlacedRecord[]
  readonly at: string
  readonly removed: RemovedIds
}

/** Plans records with known ids first, then new ones; each record sees the changes of those before it. */
async function planImport(ports: Ports, situation: ImportContext): Promise<ImportPlan> {
  const { placed } = situation
  const user = placed[0]?.record.user ?? ''
  const stored = new Map<string, Belief>()
  await forEachInSlices(splitIntoParts(placed, 100), async (part) => {
    const ids = part.map(({ record }) => record.id)
    for (const belief of await ports.store.getMany(user, ids)) stored.set(belief.id, belief)
  })
  const planner = openPlanner(ports, situation)
  const { known = [], added = [] } = Object.groupBy(placed, ({ record }) => (stored.has(record.id) ? 'known' : 'added'))
  await forEachInSlices(known, (one) => planner.update(one, stored.get(one.record.id) as Belief))
  await forEachInSlices([...stored.values()], planner.takeName)
  await forEachInSlices(added, planner.add)
  await refuseCycles(ports, planner.changes, placed)
  const waiting = [...planner.changes.values()].filter(
    ({ beliefId, after }) => after !== null && isWaiting(after) && !isWaiting(stored.get(beliefId)),
  )
  if (!situation.trusted) await requireRoomForDocuments(ports, user, waiting.length)
  return { changes: [...planner.changes.values()], tally: planner.tally, warnings: planner.warnings }
}

const isWaiting = (belief: Belief | undefined): boolean =>
  belief !== undefined && (belief.candidate || belief.proposedFor !== null)

/** The memory as it would be after the records seen so far. */
function openPlanner(ports: Ports, { author, trusted, at, removed }: ImportContext) {
  const changes = new Map<string, BeliefChange>()
  const tally = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
  const warnings: string[] = []
  /** The highest authority that a record can have. */
  const ceiling = author.actor === 'person' && !trusted ? 'document' : author.actor
  /** Planned beliefs by scope and name. */
  const holding = new Map<string, Set<Belief>>()

  /** Replaces a stored belief with the record that has its id, as far as the author of the import may. */
  async function update({ record, place }: PlacedRecord, known: Belief): Promise<void> {
    const createdAt = earlierTime(known.createdAt, record.createdAt)
    const read = { ...limitAuthority(record), createdAt }
    const predecessors = await predecessorsOf(known)
    const isSame = (belief: Belief): boolean =>
      [belief, keepRetired(known, belief, ceiling)].some(
        (state) => isSameRecord(known, state) || isSameRecord(known, countAsDocument(state)),
      )
    const { belief, refused } = await limitForms(read)
    const successor = inherit(belief, predecessors)
    if ([{ ...record, version: 1 }, read, inherit(read, predecessors), belief, successor].some(isSame)) {
      tally.unchanged += 1
      return
    }
    warnings.push(...refused.map((warning) => `${place}: ${warning}`))
    if (mayChange(writerOf(belief), known) && !(await mustWait(belief))) {
      const isProposal = known.proposedFor !== null && ceiling !== 'person'
      put(known.version, keepRetired(known, isProposal ? successor : belief, ceiling))
      tally[isProposal ? 'proposed' : 'corrected'] += 1
    } else if (isCurrent(known) && isCurrent(belief)) {
      await propose({ ...belief, id: ports.newId() }, known)
    } else {
      warnings.push(`${place}: "${known.name}" is unchanged; a higher authority wrote it.`)
      tally.unchanged += 1
    }
  }

  /** If another belief has the name of an updated one, supersedes that belief. If that belief is protected, makes the update a proposal for it. */
  async function takeName(known: Belief): Promise<void> {
    const belief = changes.get(known.id)?.after
    if (!belief || !isCurrent(belief)) return
    const holders = await holdersOf(belief)
    const protectedOne = holders.find((holder) => !mayChange(writerOf(belief), holder))
    if (protectedOne === undefined) {
      for (const holder of holders) supersedeBy(holder, belief)
      return
    }
    changes.delete(known.id)
    tally.corrected -= 1
    await propose({ ...belief, id: ports.newId(), version: 1 }, protectedOne)
  }

  async function add({ record, place }: PlacedRecord): Promise<void> {
    const lastVersion = removed.get(record.id) ?? 0
    if (removed.get(record.id) === null) {
      warnings.push(`${place}: ${record.id} was forgotten and is left out; give it another id to have it back.`)
      return
    }
    if (await isReplacedByHigher(record)) {
      warnings.push(`${place}: left out. It claims that a belief of a person replaced it, which only a person decides.`)
      return
    }
    const { belief, refused } = await limitForms({ ...limitAuthority(record), version: lastVersion + 1 })
    warnings.push(...refused.map((warning) => `${place}: ${warning}`))
    const holders = isCurrent(belief) ? await holdersOf(belief) : []
    const [holder] = holders
    const isWaiting = isCurrent(belief) && (await mustWait(belief))
    const protectedOne = holders.find((held) => isWaiting || !mayChange(writerOf(belief), held))
    if (holder === undefined) {
      put(lastVersion, isWaiting ? { ...belief, status: 'exploratory', candidate: true } : belief)
      tally[isWaiting ? 'proposed' : 'added'] += 1
    } else if (holders.length === 1 && isSameStatement(holder.content, belief.content)) {
      await restate(holder, belief)
    } else if (protectedOne !== undefined) {
      await propose(inherit(belief, holders), protectedOne, lastVersion)
    } else {
      const successor = inherit(belief, holders)
      for (const held of holders) supersedeBy(held, successor)
      put(lastVersion, successor)
      tally.corrected += 1
    }
  }

  /** Whether the record claims that a person's belief replaced it. A file must not claim that, because it would thereby correct people's statements. */
  async function isReplacedByHigher({ user, supersededBy }: BeliefRecord): Promise<boolean> {
    if (ceiling === 'person' || supersededBy === null) return false
    const successor = changes.get(supersededBy)?.after ?? (await ports.store.get(user, supersededBy))
    return successor !== null && authorityOf(successor) === 'person'
  }

  /** Handles a repeated statement. It reinforces the belief only if it is newer and comes from a different source. */
  async function restate(holder: Belief, belief: Belief): Promise<void> {
    const merged = mergeStatement(holder, belief)
    const { type, subtype } = holder
    const said = { ...belief, type, subtype, ...merged }
    const writer = { ...writerOf(belief), actor: ceiling }
    if (hasAdditions(holder, merged) && (!mayChange(writer, holder) || (await mustWait(said)))) {
      await propose(said, holder, belief.version - 1)
      return
    }
    const isNews =
      belief.provenance.origin !== holder.provenance.origin && belief.reinforcement.at > holder.reinforcement.at
    if (!isNews && !hasAdditions(holder, merged)) {
      tally.unchanged += 1
      return
    }
    const { count } = holder.reinforcement
    const reinforcement = isNews ? { count: count + 1, at: belief.reinforcement.at } : holder.reinforcement
    const { expectedVersion, after } = reviseChange(holder, at, { ...merged, reinforcement })
    put(expectedVersion, after)
    tally.reinforced += 1
  }

  async function propose(belief: Belief, target: Belief, lastVersion = 0): Promise<void> {
    const waiting = await ports.store.proposalsFor(target.user, target.id)
    if (waiting.some((proposal) => isSameWish(proposal, belief))) {
      tally.unchanged += 1
      return
    }
    put(lastVersion, { ...belief, status: 'exploratory', proposedFor: target.id })
    tally.proposed += 1
  }

  /** A record keeps the authority it was written with, but gets at most what its importer may give. */
  function limitAuthority(record: BeliefRecord): Belief {
    if (ceiling === 'person') return { ...record, version: 1 }
    const written = record.provenance.actor === 'person' ? 'document' : record.provenance.actor
    const writer = ceiling === 'document' ? { actor: written } : author
    return { ...record, editedByPerson: false, provenance: { ...record.provenance, ...writer }, version: 1 }
  }

  /** The record without aliases that only a person may give. */
  async function limitForms(belief: Belief): Promise<{ readonly belief: Belief; readonly refused: readonly string[] }> {
    if (ceiling === 'person' || belief.aliases.length === 0) return { belief, refused: [] }
    const { filterAliases, refusalText } = await import('../change/aliases.ts')
    const { aliases, refused } = await filterAliases(ports, writerOf(belief), belief)
    return { belief: { ...belief, aliases }, refused: refused.map(refusalText) }
  }

  /** A waiting record counts towards the limit for documents, whichever author it claims. */
  function countAsDocument(belief: Belief): Belief {
    if (ceiling !== 'document' || !isWaiting(belief)) return belief
    return { ...belief, provenance: { ...belief.provenance, actor: ceiling } }
  }

  async function mustWait(belief: Belief): Promise<boolean> {
    return ceiling !== 'person' && (await reasonToWait(writerOf(belief), belief)) !== null
  }

  function supersedeBy(belief: Belief, successor: Belief): void {
    const { expectedVersion, after } = supersedeBelief(belief, successor, at)
    put(expectedVersion, after)
  }

  /** Several changes to one belief are merged into one, from the stored version to the final one. */
  function put(readVersion: number, belief: Belief): void {
    const expectedVersion = changes.get(belief.id)?.expectedVersion ?? readVersion
    const after = { ...countAsDocument(belief), version: expectedVersion + 1 }
    changes.set(belief.id, { beliefId: belief.id, expectedVersion, outcome: 'present', after })
    for (const scope of after.scopes) {
      const key = identity(scope, after.name)
      holding.set(key, (holding.get(key) ?? new Set()).add(after))
    }
  }

  /** Other beliefs, planned or stored, that have the name. */
  async function holdersOf(belief: Belief): Promise<readonly Belief[]> {
    const planned = belief.scopes.flatMap((scope) => [...(holding.get(identity(scope, belief.name)) ?? [])])
    const stored = await ports.store.holders(belief.user, belief.name, belief.scopes)
    const now = [...planned, ...stored].map((holder) => changes.get(holder.id)?.after ?? holder)
    const others = now.filter(
      (holder) => holder.id !== belief.id && isCurrent(holder) && hasName(holder, belief.name, belief.scopes),
    )
    return [...new Map(others.map((holder) => [holder.id, holder])).values()]
  }

  async function predecessorsOf({ user, id, proposedFor }: Belief): Promise<readonly Belief[]> {
    const { store } = ports
    return proposedFor === null ? store.supersededBy(user, id) : store.getMany(user, [proposedFor])
  }

  return { changes, tally, warnings, update, takeName, add }
}

const identity = (scope: string, name: string): string => `${scope}\n${nameKey(name)}`

const earlierTime = (a: string, b: string): string => (a < b ? a : b)

const writerOf = (belief: Belief): Author => ({ actor: authorityOf(belief), origin: belief.provenance.origin })

/** A file never revives a belief that was superseded or resolved since. Only a person accepts a proposal or a candidate. */
function keepRetired(known: Belief, belief: Belief, actor: ActorKind): Belief {
  const { status, supersededBy, resolvedAt, resolvedBy, proposedFor, candidate } = known
  if (proposedFor !== null || candidate)
    return actor === 'person' ? belief : { ...belief, status, proposedFor, candidate }
  return isCurrent(known) ? belief : { ...belief, status, supersededBy, resolvedAt, resolvedBy }
}

/** Whether a record equals the stored belief. Times are not compared, because a file may leave them out. */
function isSameRecord(known: Belief, belief: Belief): boolean {
  const comparable = ({ version: _v, updatedAt: _u, createdAt: _c, provenance, reinforcement, ...rest }: Belief) => {
    const { at: _at, ...source } = provenance
    return { ...rest, source, count: reinforcement.count }
  }
  return isDeepStrictEqual(comparable(known), comparable(belief))
}

/** Throws if the file and the store together have a circular chain of supersession. */
async function refuseCycles(
  { store }: Ports,
  changes: ReadonlyMap<string, BeliefChange>,
  placed: readonly PlacedRecord[],
): Promise<void> {
  const checked = new Set<string>()
  const successorOf = async (user: string, id: string) =>
    (changes.get(id)?.after ?? (await store.get(user, id)))?.supersededBy ?? null
  await forEachInSlices(placed, async ({ record, place }) => {
    const path = new Set<string>()
    for (let id: string | null = record.id; id !== null && !checked.has(id); id = await successorOf(record.user, id)) {
      if (path.has(id)) {
        const message = `${place}: "${record.id}" would supersede itself, through ${[...path].join(' and ')}.`
        throw invalid(message, 'A belief can be superseded only by a newer one.')
      }
      path.add(id)
    }
    for (const id of path) checked.add(id)
  })
}
