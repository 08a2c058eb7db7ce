import { mayChange } from '../beliefs/authority.ts'
import { type Belief, isCurrent } from '../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../beliefs/identity.ts'
import type { BeliefChange } from '../beliefs/journal.ts'
import { MemoryError } from '../errors.ts'
import type { BeliefRecord } from './belief-record.ts'
import { type PlacedRecord, readRecords } from './read-records.ts'
import { superseded } from './remember.ts'
import { type ChangeRequest, change, created, revised, type Workshop } from './workshop.ts'

export type ImportRequest = Omit<ChangeRequest, 'key'> & {
  /** A JSON array of beliefs, one belief, or JSON Lines. */
  readonly text: string
  /** Where the text came from; the origin of beliefs that name none. */
  readonly source: string
  /** For beliefs that name no scope. */
  readonly scopes: readonly string[]
}

export type Imported = {
  readonly added: number
  /** Already here, word for word. */
  readonly unchanged: number
  /** Here under another id, saying the same; it counts as said once more. */
  readonly reinforced: number
  /** Took the place of something that said otherwise. */
  readonly corrected: number
  /** Would take the place of something written by a higher authority. */
  readonly proposed: number
  readonly warnings: readonly string[]
  /** One for each user in the file that something changed for. */
  readonly events: readonly number[]
}

/** Takes in a file of beliefs: the whole of it or, when any of it is wrong, nothing. Doing it again changes nothing. */
export async function importBeliefs(workshop: Workshop, request: ImportRequest): Promise<Imported> {
  const { records, warnings } = readRecords(workshop, request)
  return importRecords(workshop, request, records, warnings)
}

/** Takes in beliefs that have been read already. */
export async function importRecords(
  workshop: Workshop,
  request: Omit<ChangeRequest, 'key'>,
  records: readonly PlacedRecord[],
  warnings: readonly string[] = [],
): Promise<Imported> {
  checkSupersession(records)
  const tally = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
  const events: number[] = []
  for (const user of new Set(records.map(({ record }) => record.user))) {
    const own = records.filter(({ record }) => record.user === user)
    const done = await change<{ tally: Plan['tally']; event: number | null }>(
      workshop,
      { user, author: request.author },
      async (at) => {
        const plan = await planImport(workshop, request.author.actor, own, at)
        if (plan.changes.length === 0) return { kind: 'nothing', result: { tally: plan.tally, event: null } }
        return {
          kind: 'import',
          changes: plan.changes,
          result: (event) => ({ tally: plan.tally, event: event.number }),
        }
      },
      () => Promise.reject(new Error('an import has no key to replay')),
    )
    for (const kind of Object.keys(tally) as (keyof typeof tally)[]) tally[kind] += done.tally[kind]
    if (done.event !== null) events.push(done.event)
  }
  return { ...tally, warnings, events }
}

type Plan = {
  readonly changes: readonly BeliefChange[]
  readonly tally: Record<'added' | 'unchanged' | 'reinforced' | 'corrected' | 'proposed', number>
}

/** Works out the effect of every record in turn, seeing what the records before it did. */
async function planImport(
  workshop: Workshop,
  actor: Belief['provenance']['actor'],
  placed: readonly PlacedRecord[],
  at: string,
): Promise<Plan> {
  const user = placed[0]?.record.user ?? ''
  const changes = new Map<string, BeliefChange>()
  const tally = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
  const stored = new Map(
    (
      await workshop.store.getMany(
        user,
        placed.map(({ record }) => record.id),
      )
    ).map((belief) => [belief.id, belief]),
  )
  const holding = new Map<string, Belief>()
  const now = (belief: Belief): Belief => changes.get(belief.id)?.after ?? belief
  const put = (change: BeliefChange): void => {
    const earlier = changes.get(change.beliefId)
    changes.set(
      change.beliefId,
      earlier === undefined ? change : { ...change, expectedVersion: earlier.expectedVersion },
    )
    const belief = change.after
    if (belief !== null && isCurrent(belief))
      for (const scope of belief.scopes) holding.set(identity(scope, belief.name), belief)
  }
  for (const { record } of placed) {
    const known = stored.get(record.id)
    const belief = asImported(record, actor)
    if (known !== undefined) {
      if (isSameRecord(known, belief)) tally.unchanged += 1
      else if (mayChange(actor, known)) {
        put({
          beliefId: known.id,
          expectedVersion: known.version,
          outcome: 'present',
          after: { ...belief, version: known.version + 1 },
        })
        tally.corrected += 1
      } else {
        put(created({ ...belief, id: workshop.newId(), status: 'exploratory', proposedFor: known.id }))
        tally.proposed += 1
      }
      continue
    }
    const holder = isCurrent(belief) ? await holderOf(workshop, belief, holding, now) : null
    if (holder === null) {
      put(created(belief))
      tally.added += 1
    } else if (isSameStatement(holder.content, belief.content)) {
      put(revised(holder, at, { reinforcement: { count: holder.reinforcement.count + 1, at } }))
      tally.reinforced += 1
    } else if (mayChange(actor, holder)) {
      put(superseded(holder, belief, at))
      put(created(belief))
      tally.corrected += 1
    } else {
      put(created({ ...belief, status: 'exploratory', proposedFor: holder.id }))
      tally.proposed += 1
    }
  }
  return { changes: [...changes.values()], tally }
}

const identity = (scope: string, name: string): string => `${scope}\n${nameKey(name)}`

/** Whoever holds the name now: something imported a moment ago, or something in the store. */
async function holderOf(
  { store }: Workshop,
  belief: Belief,
  holding: ReadonlyMap<string, Belief>,
  now: (belief: Belief) => Belief,
): Promise<Belief | null> {
  for (const scope of belief.scopes) {
    const fresh = holding.get(identity(scope, belief.name))
    if (fresh !== undefined && isCurrent(now(fresh))) return now(fresh)
  }
  const held = (await store.holders(belief.user, belief.name, belief.scopes)).map(now).find(isCurrent)
  return held ?? null
}

/** A file cannot claim more authority than the one who imports it. */
function asImported(record: BeliefRecord, actor: Belief['provenance']['actor']): Belief {
  if (actor === 'person') return { ...record, version: 1 }
  const source = record.provenance.actor === 'person' ? 'import' : record.provenance.actor
  const ceiling = actor === 'import' ? source : actor
  return { ...record, editedByPerson: false, provenance: { ...record.provenance, actor: ceiling }, version: 1 }
}

function isSameRecord(known: Belief, belief: Belief): boolean {
  const comparable = ({ version: _version, updatedAt: _updatedAt, ...rest }: Belief) =>
    JSON.stringify(Object.entries(rest).sort())
  return comparable(known) === comparable(belief)
}

/** Every line of supersession must end. */
function checkSupersession(placed: readonly PlacedRecord[]): void {
  const heirs = new Map(placed.map(({ record }) => [record.id, record.supersededBy]))
  const sound = new Set<string>()
  for (const { record, place } of placed) {
    const path = new Set<string>()
    for (
      let id: string | null | undefined = record.id;
      id !== null && id !== undefined && !sound.has(id);
      id = heirs.get(id)
    ) {
      if (path.has(id)) {
        throw new MemoryError(
          'invalid',
          `${place}: "${record.id}" supersedes itself, through ${[...path].join(' and ')}.`,
          { hint: 'Each belief may be superseded by a newer one only.' },
        )
      }
      path.add(id)
    }
    for (const id of path) sound.add(id)
  }
}
