import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { Store } from '../ports.ts'
import type { ItemSegment, MirrorDocument } from './document.ts'
import {
  fieldNames,
  fieldsOfBelief,
  homeScope,
  type Item,
  type ItemFields,
  isSameField,
  isSameItem,
  itemHash,
} from './item.ts'
import type { Section } from './segments.ts'
import type { Imprint } from './state.ts'

/** A file that somebody else has written since we did, and what it was when they had it before them. */
export type Reading = {
  readonly file: string
  readonly document: MirrorDocument
  readonly base: Imprint | null
  /** What the file was when we last wrote it. */
  readonly latest: Imprint | null
}

/** What has to happen because of one item. */
export type Intent = { readonly file: string; readonly document: MirrorDocument; readonly segment: ItemSegment } & (
  | { readonly kind: 'keep' }
  /** The store knows better: show what it says. */
  | { readonly kind: 'show'; readonly belief: Belief }
  /** What the store no longer holds, unchanged in the file: somebody saved an old copy. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'correct'; readonly old: Belief; readonly fields: ItemFields }
  | { readonly kind: 'add'; readonly fields: ItemFields; readonly isNamed: boolean }
  /** Changed here and there. */
  | { readonly kind: 'conflict'; readonly current: Belief; readonly fields: ItemFields }
)

export type Weighed = {
  readonly intents: readonly Intent[]
  /** What is no longer in the files. */
  readonly removed: readonly { readonly file: string; readonly belief: Belief }[]
  /** Removed from the files, and changed in the store meanwhile: these stay. */
  readonly kept: readonly Belief[]
  /** Not in the files because whoever wrote them never saw it: an old copy was saved. These have to be shown again. */
  readonly unseen: readonly string[]
  /** How many items each file had, of those that still hold. */
  readonly known: ReadonlyMap<string, number>
}

/** Whether a belief has its place in the files: it holds, and belongs to no single agent. */
export const isMirrored = (belief: Belief): boolean => isCurrent(belief) && belief.agent === null

type Scales = { readonly store: Store; readonly user: string; readonly key: string }

/** Decides, item by item, what changed files mean. Reads only. */
export async function weigh(scales: Scales, readings: readonly Reading[]): Promise<Weighed> {
  const { store, user } = scales
  const present = new Set(readings.flatMap(({ document }) => document.items().flatMap(({ item }) => item.id ?? [])))
  const intents: Intent[] = []
  const removed: { file: string; belief: Belief }[] = []
  const kept: Belief[] = []
  const unseen: string[] = []
  const known = new Map<string, number>()
  const taken = new Set<string>()
  for (const reading of readings) {
    const { file, document, base } = reading
    const before = (await store.getMany(user, [...(base?.items.keys() ?? [])])).filter(isMirrored)
    known.set(file, before.length)
    unseen.push(...[...(reading.latest?.items.keys() ?? [])].filter((id) => !present.has(id) && !base?.items.has(id)))
    const missing = before.filter(({ id }) => !present.has(id))
    const nameless = matchNameless(document, missing)
    for (const segment of document.items()) {
      const id = nameless.get(segment)?.id ?? segment.item.id
      const place = { file, document, segment }
      const isSecond = id !== null && taken.has(id)
      if (id !== null) taken.add(id)
      intents.push(await intentFor(scales, place, isSecond ? null : id, base, isSecond))
    }
    const found = new Set([...nameless.values()].map(({ id }) => id))
    for (const belief of missing.filter(({ id }) => !found.has(id))) {
      const isAsItWas = itemHash(scales.key, fieldsOfBelief(belief)) === base?.items.get(belief.id)
      if (isAsItWas) removed.push({ file, belief })
      else kept.push(belief)
    }
  }
  return { intents, removed, kept, unseen, known }
}

/** Whoever writes the whole file anew may leave out the comments: the same name or words in the same place are the same item. */
export function matchNameless(document: MirrorDocument, missing: readonly Belief[]): ReadonlyMap<ItemSegment, Belief> {
  const matches = new Map<ItemSegment, Belief>()
  const left = new Set(missing)
  for (const segment of document.items()) {
    if (segment.item.id !== null || left.size === 0) continue
    const { item, section } = segment
    const scope = section === 'new' || section === null ? null : section.scope
    const match = [...left].find(
      (belief) =>
        (scope === null || scope === homeScope(belief)) &&
        (item.name === null
          ? isSameStatement(item.content, belief.content)
          : nameKey(item.name) === nameKey(belief.name)),
    )
    if (match === undefined) continue
    left.delete(match)
    matches.set(segment, match)
  }
  return matches
}

type PlacedSegment = Pick<Intent, 'file' | 'document' | 'segment'>

async function intentFor(
  scales: Scales,
  place: PlacedSegment,
  id: string | null,
  base: Imprint | null,
  isSecond: boolean,
): Promise<Intent> {
  const { store, user } = scales
  const { item, section } = place.segment
  const belief = id === null ? null : await store.get(user, id)
  if (belief !== null && isMirrored(belief)) return currentIntent(scales, place, belief, base)
  const own = isSecond && item.id !== null ? await store.get(user, item.id) : null
  const fields = fieldsOfItem(item, section, own)
  const added = { ...place, kind: 'add', fields, isNamed: item.name !== null } as const
  // The same line twice says nothing twice; changed, it is a line somebody copied to begin with.
  if (own !== null && isSameItem(fields, fieldsOfBelief(own))) return { ...place, kind: 'drop' }
  if (id === null) return added
  return retiredIntent(scales, place, id, belief)
}

async function currentIntent(
  scales: Scales,
  place: PlacedSegment,
  belief: Belief,
  base: Imprint | null,
): Promise<Intent> {
  const { store, user, key } = scales
  const { item, section } = place.segment
  const stored = fieldsOfBelief(belief)
  const said = fieldsOfItem(item, section, belief)
  if (isSameItem(said, stored))
    return item.id === belief.id ? { ...place, kind: 'keep' } : { ...place, kind: 'show', belief }
  const baseHash = base?.items.get(belief.id)
  if (baseHash === itemHash(key, said)) return { ...place, kind: 'show', belief }
  if (baseHash === itemHash(key, stored)) return { ...place, kind: 'correct', old: belief, fields: said }
  const past = (await store.history(user, belief.id)).flatMap((revision) => revision.belief ?? [])
  if (past.some((earlier) => isSameItem(said, fieldsOfBelief(earlier)))) return { ...place, kind: 'show', belief }
  const origin = past.find((earlier) => itemHash(key, fieldsOfBelief(earlier)) === baseHash)
  if (origin === undefined) return { ...place, kind: 'correct', old: belief, fields: said }
  const merged = mergeFields(fieldsOfBelief(origin), stored, said)
  return merged === null
    ? { ...place, kind: 'conflict', current: belief, fields: said }
    : { ...place, kind: 'correct', old: belief, fields: merged }
}

/** An item whose belief was corrected, closed, withdrawn or forgotten in the store. */
async function retiredIntent(
  { store, user }: Scales,
  place: PlacedSegment,
  id: string,
  belief: Belief | null,
): Promise<Intent> {
  const { item, section } = place.segment
  const revisions = await store.history(user, id)
  // An id nobody here ever gave: copied from another memory.
  if (revisions.length === 0)
    return { ...place, kind: 'add', fields: fieldsOfItem(item, section, null), isNamed: item.name !== null }
  if (revisions.some(({ outcome }) => outcome === 'erased')) return { ...place, kind: 'drop' }
  const past = revisions.flatMap((revision) => revision.belief ?? [])
  const last = belief ?? past.at(-1) ?? null
  const said = fieldsOfItem(item, section, last)
  if (past.some((earlier) => isSameItem(said, fieldsOfBelief(earlier)))) return { ...place, kind: 'drop' }
  const heir = belief === null ? null : await currentHeir(store, belief)
  if (heir === null) return { ...place, kind: 'add', fields: said, isNamed: true }
  const isTakenIn = isSameField('content', said, fieldsOfBelief(heir)) && isSameField('why', said, fieldsOfBelief(heir))
  return isTakenIn
    ? { ...place, kind: 'show', belief: heir }
    : { ...place, kind: 'conflict', current: heir, fields: said }
}

/** What now stands in the place of a superseded belief. */
export async function currentHeir(store: Store, belief: Belief): Promise<Belief | null> {
  const seen = new Set<string>()
  let heir: Belief | null = belief
  while (heir !== null && heir.supersededBy !== null && !seen.has(heir.id)) {
    seen.add(heir.id)
    heir = await store.get(heir.user, heir.supersededBy)
  }
  return heir !== null && isMirrored(heir) ? heir : null
}

/** Takes each field from whoever changed it; null when both did, differently. */
function mergeFields(base: ItemFields, stored: ItemFields, said: ItemFields): ItemFields | null {
  const isTorn = fieldNames.some(
    (field) =>
      !isSameField(field, stored, base) && !isSameField(field, said, base) && !isSameField(field, stored, said),
  )
  if (isTorn) return null
  const from = (field: keyof ItemFields): ItemFields => (isSameField(field, said, base) ? stored : said)
  return {
    name: from('name').name,
    content: from('content').content,
    why: from('why').why,
    aliases: from('aliases').aliases,
    scopes: from('scopes').scopes,
    type: from('type').type,
  }
}

/** What an item says about itself, about its section, and otherwise about the belief it was. */
export function fieldsOfItem(item: Item, section: Section | 'new' | null, belief: Belief | null): ItemFields {
  const home = belief === null ? universalScope : homeScope(belief)
  const placed = section === null || section === 'new' ? home : section.scope
  const listed = item.scopes ?? [placed]
  const scopes = placed === home || item.scopes === null ? listed : listed.map((one) => (one === home ? placed : one))
  const type = section === null || section === 'new' ? null : section.type
  return {
    name: item.name ?? belief?.name ?? '',
    content: item.content,
    why: item.why,
    aliases: item.aliases,
    scopes: [...new Set(scopes)].sort(),
    type: type ?? belief?.type ?? 'entity',
  }
}
