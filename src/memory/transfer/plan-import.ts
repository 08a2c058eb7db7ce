import { authorityOf, mayChange } from '../../beliefs/authority.ts'
import { type ActorKind, type Belief, isCurrent } from '../../beliefs/belief.ts'
import { holdsName, isSameStatement, nameKey } from '../../beliefs/identity.ts'
import type { BeliefChange } from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import { adds, enriched, inherit, isSameWish, superseded } from '../change/remember.ts'
import { inKeyOrder, type Ports, revised } from '../change/transaction.ts'
import type { Store } from '../store.ts'
import type { BeliefRecord } from './belief-record.ts'
import type { PlacedRecord } from './read-records.ts'

export type ImportTally = Record<'added' | 'unchanged' | 'reinforced' | 'corrected' | 'proposed', number>

/** What an import of one user's records comes to, worked out before anything is written. */
export type ImportPlan = {
  readonly changes: readonly BeliefChange[]
  readonly tally: ImportTally
  readonly warnings: readonly string[]
}

/** The last version of ids that are no longer there; null when the text was forgotten and is not to come back. */
export type BuriedIds = ReadonlyMap<string, number | null>

type Situation = {
  readonly actor: ActorKind
  readonly placed: readonly PlacedRecord[]
  readonly at: string
  readonly buried: BuriedIds
}

/** First what is here under the same ids, then what is new: each record sees what those before it did. */
export async function planImport(ports: Ports, situation: Situation): Promise<ImportPlan> {
  const { placed } = situation
  const user = placed[0]?.record.user ?? ''
  const ids = placed.map(({ record }) => record.id)
  const stored = new Map((await ports.store.getMany(user, ids)).map((belief) => [belief.id, belief]))
  const planner = new Planner(ports, situation)
  for (const one of placed) {
    const known = stored.get(one.record.id)
    if (known !== undefined) await planner.known(one, known)
  }
  for (const known of stored.values()) await planner.makeRoomFor(known)
  for (const one of placed) if (!stored.has(one.record.id)) await planner.added(one)
  await refuseCircles(ports.store, planner.changes, placed)
  return { changes: [...planner.changes.values()], tally: planner.tally, warnings: planner.warnings }
}

/** The memory as it would be after the records looked at so far. */
class Planner {
  readonly changes = new Map<string, BeliefChange>()
  readonly tally: ImportTally = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
  readonly warnings: string[] = []
  readonly #holding = new Map<string, Set<Belief>>()
  readonly #ports: Ports
  readonly #situation: Situation

  constructor(ports: Ports, situation: Situation) {
    this.#ports = ports
    this.#situation = situation
  }

  /** A record whose id is here already: the file's word counts, as far as its author may have one. */
  async known({ record, place }: PlacedRecord, known: Belief): Promise<void> {
    const { actor } = this.#situation
    const belief = { ...asImported(record, actor), createdAt: earlier(known.createdAt, record.createdAt) }
    const predecessors = await this.#predecessorsOf(known)
    const heir = inherit(belief, predecessors)
    const readings = [{ ...record, version: 1 }, belief, heir]
    const isSame = (reading: Belief): boolean =>
      isSameRecord(known, reading) || isSameRecord(known, standing(known, reading, actor))
    if (readings.some(isSame)) this.tally.unchanged += 1
    else if (mayChange(authorityOf(belief), known)) {
      const isProposal = known.proposedFor !== null && actor !== 'person'
      this.#put(known.version, standing(known, isProposal ? heir : belief, actor))
      this.tally[isProposal ? 'proposed' : 'corrected'] += 1
    } else if (isCurrent(known) && isCurrent(belief)) {
      await this.#propose({ ...belief, id: this.#ports.newId() }, known)
    } else {
      this.warnings.push(`${place}: "${known.name}" stays as it is; a higher authority wrote it.`)
      this.tally.unchanged += 1
    }
  }

  /** What a changed belief now calls itself may be another's name: that one is superseded, or has to be asked. */
  async makeRoomFor(known: Belief): Promise<void> {
    const belief = this.changes.get(known.id)?.after
    if (!belief || !isCurrent(belief)) return
    const holders = await this.#holders(belief)
    const protectedOne = holders.find((holder) => !mayChange(authorityOf(belief), holder))
    if (protectedOne === undefined) {
      for (const holder of holders) this.#supersede(holder, belief)
      return
    }
    this.changes.delete(known.id)
    this.tally.corrected -= 1
    await this.#propose({ ...belief, id: this.#ports.newId(), version: 1 }, protectedOne)
  }

  async added({ record, place }: PlacedRecord): Promise<void> {
    const { actor, buried } = this.#situation
    const lastVersion = buried.get(record.id) ?? 0
    if (buried.get(record.id) === null) {
      this.warnings.push(`${place}: ${record.id} was forgotten and is left out; give it another id to have it back.`)
      return
    }
    const belief = { ...asImported(record, actor), version: lastVersion + 1 }
    const holders = isCurrent(belief) ? await this.#holders(belief) : []
    const [holder] = holders
    const protectedOne = holders.find((held) => !mayChange(authorityOf(belief), held))
    if (holder === undefined) {
      this.#put(lastVersion, belief)
      this.tally.added += 1
    } else if (holders.length === 1 && isSameStatement(holder.content, belief.content)) {
      await this.#sayAgain(holder, belief)
    } else if (protectedOne !== undefined) {
      await this.#propose(inherit(belief, holders), protectedOne, lastVersion)
    } else {
      const heir = inherit(belief, holders)
      for (const held of holders) this.#supersede(held, heir)
      this.#put(lastVersion, heir)
      this.tally.corrected += 1
    }
  }

  /** The same record a second time is not a second saying: it must come from elsewhere, and be newer. */
  async #sayAgain(holder: Belief, belief: Belief): Promise<void> {
    const { actor, at } = this.#situation
    const more = enriched(holder, belief)
    if (adds(holder, more) && !mayChange(actor, holder)) {
      const { type, subtype } = holder
      await this.#propose({ ...belief, type, subtype, ...more }, holder, belief.version - 1)
      return
    }
    const isNews =
      belief.provenance.origin !== holder.provenance.origin && belief.reinforcement.at > holder.reinforcement.at
    if (!isNews && !adds(holder, more)) {
      this.tally.unchanged += 1
      return
    }
    const reinforcement = isNews
      ? { count: holder.reinforcement.count + 1, at: belief.reinforcement.at }
      : holder.reinforcement
    const { expectedVersion, after } = revised(holder, at, { ...more, reinforcement })
    this.#put(expectedVersion, after)
    this.tally.reinforced += 1
  }

  async #propose(belief: Belief, target: Belief, lastVersion = 0): Promise<void> {
    const waiting = await this.#ports.store.proposalsFor(target.user, target.id)
    if (waiting.some((proposal) => isSameWish(proposal, belief))) {
      this.tally.unchanged += 1
      return
    }
    this.#put(lastVersion, { ...belief, status: 'exploratory', proposedFor: target.id })
    this.tally.proposed += 1
  }

  #supersede(belief: Belief, heir: Belief): void {
    const { expectedVersion, after } = superseded(belief, heir, this.#situation.at)
    this.#put(expectedVersion, after)
  }

  /** Several changes of one belief are one: it goes from what is stored to what came of it in the end. */
  #put(readVersion: number, belief: Belief): void {
    const expectedVersion = this.changes.get(belief.id)?.expectedVersion ?? readVersion
    const after = { ...belief, version: expectedVersion + 1 }
    this.changes.set(belief.id, { beliefId: belief.id, expectedVersion, outcome: 'present', after })
    for (const scope of after.scopes) {
      const key = identity(scope, after.name)
      this.#holding.set(key, (this.#holding.get(key) ?? new Set()).add(after))
    }
  }

  /** Whoever else would hold the name: something imported a moment ago, or something in the store. */
  async #holders(belief: Belief): Promise<readonly Belief[]> {
    const fresh = belief.scopes.flatMap((scope) => [...(this.#holding.get(identity(scope, belief.name)) ?? [])])
    const held = await this.#ports.store.holders(belief.user, belief.name, belief.scopes)
    const now = [...fresh, ...held].map((holder) => this.changes.get(holder.id)?.after ?? holder)
    const holding = now.filter(
      (holder) => holder.id !== belief.id && isCurrent(holder) && holdsName(holder, belief.name, belief.scopes),
    )
    return [...new Map(holding.map((holder) => [holder.id, holder])).values()]
  }

  async #predecessorsOf({ user, id, proposedFor }: Belief): Promise<readonly Belief[]> {
    const { store } = this.#ports
    return proposedFor === null ? store.supersededBy(user, id) : store.getMany(user, [proposedFor])
  }
}

const identity = (scope: string, name: string): string => `${scope}\n${nameKey(name)}`

const earlier = (one: string, other: string): string => (one < other ? one : other)

/** A record speaks with the authority it was written with, but never with more than the one who imports it. */
function asImported(record: BeliefRecord, actor: ActorKind): Belief {
  if (actor === 'person') return { ...record, version: 1 }
  const source = record.provenance.actor === 'person' ? 'import' : record.provenance.actor
  const ceiling = actor === 'import' ? source : actor
  return { ...record, editedByPerson: false, provenance: { ...record.provenance, actor: ceiling }, version: 1 }
}

/** A file never revives what was superseded or settled here since, and only a person makes a belief of a proposal. */
function standing(known: Belief, belief: Belief, actor: ActorKind): Belief {
  const { status, supersededBy, resolvedAt, resolvedBy, proposedFor } = known
  if (proposedFor !== null) return actor === 'person' ? belief : { ...belief, status: 'exploratory', proposedFor }
  return isCurrent(known) ? belief : { ...belief, status, supersededBy, resolvedAt, resolvedBy }
}

/** Whether a record says what is known. When it was written down says nothing, and a file may leave it out. */
function isSameRecord(known: Belief, belief: Belief): boolean {
  const comparable = ({ version: _v, updatedAt: _u, createdAt: _c, provenance, reinforcement, ...rest }: Belief) => {
    const { at: _at, ...source } = provenance
    return JSON.stringify(inKeyOrder({ ...rest, source, count: reinforcement.count }))
  }
  return comparable(known) === comparable(belief)
}

/** Every line of supersession must end, in the file and in the store together. */
async function refuseCircles(
  store: Store,
  changes: ReadonlyMap<string, BeliefChange>,
  placed: readonly PlacedRecord[],
): Promise<void> {
  const sound = new Set<string>()
  const heirOf = async (user: string, id: string) =>
    (changes.get(id)?.after ?? (await store.get(user, id)))?.supersededBy ?? null
  for (const { record, place } of placed) {
    const path = new Set<string>()
    for (let id: string | null = record.id; id !== null && !sound.has(id); id = await heirOf(record.user, id)) {
      if (path.has(id)) {
        throw new MemoryError(
          'invalid',
          `${place}: "${record.id}" would supersede itself, through ${[...path].join(' and ')}.`,
          { hint: 'Each belief may be superseded by a newer one only.' },
        )
      }
      path.add(id)
    }
    for (const id of path) sound.add(id)
  }
}
