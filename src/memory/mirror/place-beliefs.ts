import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Belief } from '../../beliefs/belief.ts'
import type { Store } from '../ports.ts'
import type { ItemSegment } from './document.ts'
import { homeScope } from './item.ts'
import { beginningOf, type MirrorFiles, type OpenFile } from './mirror-files.ts'
import { fitsInMirrorFile, mostInMirrorFile, roomIn, weightOf } from './mirror-size.ts'
import { topicFile, topicSlug, topicsFile } from './places.ts'
import { setLinks } from './topic-links.ts'

/** Puts beliefs in that stand nowhere yet: into MEMORY.md while there is room, else into the file of their scope. */
export async function placeBeliefs(files: MirrorFiles, beliefs: readonly Belief[], store: Store): Promise<void> {
  const mirror = files.mirror()
  for (const [scope, group] of Map.groupBy(oldestFirst(beliefs), homeScope)) {
    const isTopic = files.state.topics[scope] !== undefined
    const shown = mirror.document.items().filter((segment) => scopeOfItem(segment) === scope).length
    if (isTopic || shown + group.length > mostInMirrorFile) await placeInTopic(files, scope, group)
    else files.insert(mirror, group)
  }
  await makeRoom(files, store)
}

/** Moves whole scopes out of MEMORY.md until the rest fits, the one that takes most lines first. */
async function makeRoom(files: MirrorFiles, store: Store): Promise<void> {
  const { document } = files.mirror()
  for (;;) {
    setLinks(files)
    if (fitsInMirrorFile(document.render())) return
    const scope = largestScope(document.items())
    if (scope === null) return
    const segments = document.items().filter((segment) => scopeOfItem(segment) === scope)
    const ids = segments.flatMap(({ item }) => item.id ?? [])
    const beliefs = (await store.getMany(files.state.user, ids)).filter((belief) => homeScope(belief) === scope)
    const moved = new Set(beliefs.map(({ id }) => id))
    // Lines that could not be taken in stay where somebody put them.
    for (const segment of segments) if (moved.has(segment.item.id ?? '')) document.remove(segment)
    if (moved.size === 0) return
    await placeInTopic(files, scope, oldestFirst(beliefs))
  }
}

function largestScope(items: readonly ItemSegment[]): string | null {
  const sizes = new Map<string, number>()
  for (const segment of items) {
    const scope = scopeOfItem(segment)
    if (scope !== null) sizes.set(scope, (sizes.get(scope) ?? 0) + segment.raw.length + 40)
  }
  const [largest] = [...sizes].sort(
    ([one, size], [other, otherSize]) => weightOf(other, otherSize) - weightOf(one, size),
  )
  return largest?.[0] ?? null
}

async function placeInTopic(files: MirrorFiles, scope: string, beliefs: readonly Belief[]): Promise<void> {
  const topic = topicOf(files, scope)
  let rest = beliefs
  while (rest.length > 0) {
    const name = topicFile(topic.slug, topic.parts)
    const file = files.openTopic(name) ?? beginTopic(files, name, scope, topic.parts)
    const room = roomIn(file.document, rest)
    for (const { id } of rest.slice(0, room)) await files.where.set(id, name)
    files.insert(file, rest.slice(0, room))
    rest = rest.slice(room)
    if (rest.length > 0) topic.parts += 1
  }
}

function topicOf({ state, places }: MirrorFiles, scope: string): { readonly slug: string; parts: number } {
  const known = state.topics[scope]
  if (known !== undefined) return known
  const used = new Set(Object.values(state.topics).map(({ slug }) => slug))
  const isTaken = (slug: string): boolean =>
    used.has(slug) || `${slug}.md` === topicsFile || existsSync(join(places.dir, `${slug}.md`))
  const topic = { slug: topicSlug(scope, isTaken), parts: 1 }
  state.topics[scope] = topic
  return topic
}

function beginTopic(files: MirrorFiles, name: string, scope: string, part: number): OpenFile {
  files.state.files[name] = { scope, signature: '', hash: '', items: 0, bytes: 0, outside: '' }
  return files.add(name, null, beginningOf(scope, part))
}

const scopeOfItem = ({ section }: ItemSegment): string | null =>
  section === null || section === 'new' ? null : section.scope

const oldestFirst = (beliefs: readonly Belief[]): readonly Belief[] =>
  [...beliefs].sort((one, other) =>
    one.createdAt === other.createdAt ? (one.id < other.id ? -1 : 1) : one.createdAt < other.createdAt ? -1 : 1,
  )
