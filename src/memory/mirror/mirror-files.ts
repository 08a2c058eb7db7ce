import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Belief } from '../../beliefs/belief.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { Store } from '../store.ts'
import { compareScopes, type ItemSegment, MirrorDocument, type TopicLink } from './document.ts'
import { fieldsOfBelief, homeScope, isSameItem, itemHash, renderItem } from './item.ts'
import { bytesHash, type LiveFile, readLive } from './live-file.ts'
import { type MirrorPlaces, mirrorFile, ownIntroduction, topicFile, topicSlug } from './places.ts'
import { type Imprint, type MirrorState, saveImprint, saveOutside, type Whereabouts } from './state.ts'
import { lineHash, swapIn } from './swap.ts'
import { fieldsOfItem } from './weigh.ts'

/** MEMORY.md stays below 200 lines and 25 KB, with room for what others append. */
export const mostLines = 180
export const mostBytes = 22_000
/** A topic file is begun anew beyond this, so that one more belief costs the same however many there are. */
const mostItemsPerFile = 200
const mostBytesPerFile = 200_000
/** A scope with more than this never stands in MEMORY.md itself. */
const mostInMirrorFile = 150
/** Links to other files beyond these stand in a file of their own. */
const mostLinks = 40
const topicsFile = 'memory-scopes.md'

type OpenFile = {
  readonly name: string
  readonly scope: string | null
  /** As it is on the disk; null when it is not there. */
  readonly live: Extract<LiveFile, { kind: 'read' }> | null
  readonly document: MirrorDocument
  /** What was read, with what was found in displaced files put in. */
  readonly text: string
  mustWrite: boolean
  /** Whether somebody else wrote it, and may have put lines of other files into it. */
  readonly isEdited: boolean
}

const header = `# Memory\n\n${ownIntroduction}\n`

const topicsBeginning = '# Scopes\n\nThe scopes that have files of their own.\n'

/** The files of a mirror while it is brought up to date. */
export class MirrorFiles {
  readonly #places: MirrorPlaces
  readonly #state: MirrorState
  readonly #where: Whereabouts
  readonly #open = new Map<string, OpenFile>()
  /** Which open file an item stands in. */
  readonly #standing = new Map<string, string>()

  constructor(places: MirrorPlaces, state: MirrorState, where: Whereabouts) {
    this.#places = places
    this.#state = state
    this.#where = where
  }

  /** Opens a file with the text it has, or is to have. */
  add(name: string, live: Extract<LiveFile, { kind: 'read' }> | null, text: string, isEdited = false): OpenFile {
    const scope = this.#state.files[name]?.scope ?? null
    const file: OpenFile = { name, scope, live, document: new MirrorDocument(text), text, mustWrite: false, isEdited }
    this.#open.set(name, file)
    for (const { item } of file.document.items()) if (item.id !== null) this.#standing.set(item.id, name)
    return file
  }

  /** The mirror file of a directory that has none, or the beginning of a topic file. */
  static beginning(scope: string | null, part = 1): string {
    if (scope === null) return header
    return `# ${scope}${part === 1 ? '' : `, part ${part}`}\n\nA part of [${mirrorFile}](${mirrorFile}); lines here count like lines there.\n`
  }

  get(name: string): OpenFile | undefined {
    return this.#open.get(name)
  }

  /** Notes that a file has to be written even if its text stays the same, so that it says which writing it is. */
  touch(name: string): void {
    const file = this.#open.get(name)
    if (file !== undefined) file.mustWrite = true
  }

  isStanding(id: string): boolean {
    return this.#standing.has(id)
  }

  /** Items that do not say all about themselves: somebody took the name off, or moved them out of their section. */
  unplacedIds(): readonly string[] {
    return [...this.#open.values()].flatMap(({ document }) =>
      document
        .items()
        .filter(
          ({ item, section }) => item.name === null || section === null || section === 'new' || section.type === null,
        )
        .flatMap(({ item }) => item.id ?? []),
    )
  }

  /** Writes a belief where another item stands. */
  replace(name: string, segment: ItemSegment, belief: Belief): void {
    const file = this.#open.get(name)
    if (file === undefined) return
    file.document.replace(segment, belief)
    const { id } = segment.item
    // Somebody may have copied the line.
    if (id !== null && !file.document.items().some(({ item }) => item.id === id)) this.#standing.delete(id)
    this.#standing.set(belief.id, name)
  }

  /** Shows a belief where it stands, and returns false when it stands nowhere. */
  async show(belief: Belief): Promise<boolean> {
    const found = await this.#find(belief.id)
    if (found === null) return false
    const { file, segment } = found
    // In a file of its own scope nothing else may stand.
    if (file.scope !== null && file.scope !== homeScope(belief)) {
      await this.hide(belief.id)
      return false
    }
    const said = fieldsOfItem(segment.item, segment.section, belief)
    const isShown =
      isSameItem(said, fieldsOfBelief(belief)) && commentOf(segment.raw) === commentOf(renderItem(belief)[0] ?? '')
    if (isShown) return true
    file.document.replace(segment, belief)
    return true
  }

  /** Takes what no longer holds out of the file it stands in. */
  async hide(id: string): Promise<void> {
    for (let found = await this.#find(id); found !== null; found = await this.#find(id)) {
      found.file.document.remove(found.segment)
      if (found.file.document.items().some(({ item }) => item.id === id)) continue
      this.#standing.delete(id)
      if (found.file.scope !== null) await this.#where.set(id, null)
    }
  }

  async #find(id: string): Promise<{ readonly file: OpenFile; readonly segment: ItemSegment } | null> {
    const name = this.#standing.get(id) ?? (await this.#where.fileOf(id))
    const file = name === null ? null : this.#openTopic(name)
    const segment = file?.document.items().find(({ item }) => item.id === id)
    return file === null || segment === undefined ? null : { file, segment }
  }

  #openTopic(name: string): OpenFile | null {
    const known = this.#open.get(name)
    if (known !== undefined) return known
    const live = readLive(join(this.#places.dir, name))
    return live.kind === 'read' ? this.add(name, live, live.text) : null
  }

  /** Puts beliefs in that stand nowhere yet: into MEMORY.md while there is room, else into the file of their scope. */
  async place(beliefs: readonly Belief[], store: Store): Promise<void> {
    const mirror = this.#mirror()
    for (const [scope, group] of Map.groupBy(oldestFirst(beliefs), homeScope)) {
      const isTopic = this.#state.topics[scope] !== undefined
      const shown = mirror.document.items().filter((segment) => scopeOfItem(segment) === scope).length
      if (isTopic || shown + group.length > mostInMirrorFile) await this.#placeInTopic(scope, group)
      else this.#insert(mirror, group)
    }
    await this.#makeRoom(store)
  }

  #insert(file: OpenFile, beliefs: readonly Belief[]): void {
    for (const { id } of beliefs) this.#standing.set(id, file.name)
    file.document.insert(beliefs)
  }

  #mirror(): OpenFile {
    return this.#open.get(mirrorFile) as OpenFile
  }

  /** Moves whole scopes out of MEMORY.md until the rest fits, the one that takes most lines first. */
  async #makeRoom(store: Store): Promise<void> {
    const { document } = this.#mirror()
    for (;;) {
      this.setLinks()
      if (fits(document.render())) return
      const sizes = new Map<string, number>()
      for (const segment of document.items()) {
        const scope = scopeOfItem(segment)
        if (scope !== null) sizes.set(scope, (sizes.get(scope) ?? 0) + segment.raw.length + 40)
      }
      const [largest] = [...sizes].sort(
        ([one, size], [other, otherSize]) => weight(other, otherSize) - weight(one, size),
      )
      if (largest === undefined) return
      const [scope] = largest
      const segments = document.items().filter((segment) => scopeOfItem(segment) === scope)
      const ids = segments.flatMap(({ item }) => item.id ?? [])
      const beliefs = (await store.getMany(this.#state.user, ids)).filter((belief) => homeScope(belief) === scope)
      const moved = new Set(beliefs.map(({ id }) => id))
      // Lines that could not be taken in stay where somebody put them.
      for (const segment of segments) if (moved.has(segment.item.id ?? '')) document.remove(segment)
      if (moved.size === 0) return
      await this.#placeInTopic(scope, oldestFirst(beliefs))
    }
  }

  async #placeInTopic(scope: string, beliefs: readonly Belief[]): Promise<void> {
    const topic = this.#topic(scope)
    let rest = beliefs
    while (rest.length > 0) {
      const name = topicFile(topic.slug, topic.parts)
      const file = this.#openTopic(name) ?? this.#beginTopic(name, scope, topic.parts)
      const room = roomIn(file.document, rest)
      for (const { id } of rest.slice(0, room)) await this.#where.set(id, name)
      this.#insert(file, rest.slice(0, room))
      rest = rest.slice(room)
      if (rest.length > 0) topic.parts += 1
    }
  }

  #topic(scope: string): { readonly slug: string; parts: number } {
    const known = this.#state.topics[scope]
    if (known !== undefined) return known
    const used = new Set(Object.values(this.#state.topics).map(({ slug }) => slug))
    const isTaken = (slug: string): boolean =>
      used.has(slug) || `${slug}.md` === topicsFile || existsSync(join(this.#places.dir, `${slug}.md`))
    const topic = { slug: topicSlug(scope, isTaken), parts: 1 }
    this.#state.topics[scope] = topic
    return topic
  }

  #beginTopic(name: string, scope: string, part: number): OpenFile {
    this.#state.files[name] = { scope, signature: '', hash: '', items: 0, bytes: 0, outside: '' }
    return this.add(name, null, MirrorFiles.beginning(scope, part))
  }

  /** Says in MEMORY.md what stands elsewhere, and how much. */
  setLinks(): void {
    const counts = new Map<string, number>()
    for (const [name, { scope, items }] of Object.entries(this.#state.files)) {
      const count = this.#open.get(name)?.document.items().length ?? items
      if (scope !== null) counts.set(scope, (counts.get(scope) ?? 0) + count)
    }
    const scopes = Object.keys(this.#state.topics).sort(compareScopes)
    const links = scopes.map((scope) => ({ scope, text: this.#link(scope, counts.get(scope) ?? 0) }))
    const isLong = links.length > mostLinks
    const more = {
      scope: 'topics',
      text: `[all scopes](${topicsFile}): ${links.length} of them have files of their own`,
    }
    this.#mirror().document.setTopics(isLong ? [...links.slice(0, mostLinks - 1), more] : links)
    if (isLong) this.#setTopicsFile(links)
  }

  #setTopicsFile(links: readonly TopicLink[]): void {
    if (readLive(join(this.#places.dir, topicsFile)).kind === 'unreadable') return
    const file = this.#openTopic(topicsFile) ?? this.add(topicsFile, null, topicsBeginning)
    file.document.setTopics(links)
  }

  #link(scope: string, count: number): string {
    const { slug, parts } = this.#state.topics[scope] as { readonly slug: string; readonly parts: number }
    const beliefs = count === 1 ? '1 belief' : `${count} beliefs`
    const spread = parts === 1 ? '' : ` in ${parts} files, up to [part ${parts}](${topicFile(slug, parts)})`
    return `[${scope}](${topicFile(slug, 1)}): ${beliefs}${spread}`
  }

  /** Writes every file whose text is no longer what is on the disk. Returns their names. */
  async write({ now, baseOf }: { readonly now: () => Date; readonly baseOf: BaseOf }): Promise<readonly string[]> {
    const changed = [...this.#open.values()].filter(
      ({ document, live, mustWrite }) => mustWrite || live === null || document.render() !== live.text,
    )
    const generation = this.#nextGeneration()
    for (const file of changed) {
      if (file.scope !== null && file.isEdited)
        for (const { item } of file.document.items()) if (item.id !== null) await this.#where.set(item.id, file.name)
      file.document.setGeneration(generation)
      const content = file.document.render()
      const items = new Map(
        file.document.items().flatMap((segment) => {
          const hash = segment.item.id === null ? null : baseOf(segment)
          return hash === null ? [] : [[segment.item.id as string, hash]]
        }),
      )
      const lines = file.document.outsideLines().map((line) => lineHash(this.#state.key, line))
      saveImprint(this.#places, file.name, { generation, items, lines } satisfies Imprint)
      const { signature } = swapIn(this.#places, {
        key: this.#state.key,
        file: file.name,
        expected: file.live?.bytes ?? null,
        content,
        mode: file.live?.mode ?? 0o600,
        now,
      })
      await this.#remember(file, Buffer.from(content), signature)
    }
    if (changed.length > 0) this.#state.generation = generation
    for (const file of this.#open.values())
      if (!changed.includes(file) && file.live !== null)
        await this.#remember(file, file.live.bytes, file.live.signature)
    return changed.map(({ name }) => name)
  }

  #nextGeneration(): number {
    const written = [...this.#open.values()].map(({ document }) => document.generation() ?? 0)
    return Math.max(this.#state.generation, ...written.filter((one) => one < Number.MAX_SAFE_INTEGER / 2)) + 1
  }

  async #remember({ name, scope, document }: OpenFile, bytes: Buffer, signature: string): Promise<void> {
    const lines = document.outsideLines()
    const outside = bytesHash(this.#state.key, Buffer.from(lines.join('\n')))
    if (this.#state.files[name]?.outside !== outside) await saveOutside(this.#places, name, lines)
    this.#state.files[name] = {
      scope,
      signature,
      hash: bytesHash(this.#state.key, bytes),
      items: document.items().filter(({ item }) => item.id !== null).length,
      bytes: bytes.length,
      outside,
    }
  }
}

/** What the store says an item says, as a hash; null for a line that is not to count as known. */
export type BaseOf = (segment: ItemSegment) => string | null

export const hashOfShown = (key: string, belief: Belief): string => itemHash(key, fieldsOfBelief(belief))

const scopeOfItem = ({ section }: ItemSegment): string | null =>
  section === null || section === 'new' ? null : section.scope

/** What holds everywhere is the last to go. */
const weight = (scope: string, size: number): number => (scope === universalScope ? size / 2 : size)

const fits = (text: string): boolean =>
  text.split(/\r\n|\n|\r/u).length <= mostLines && Buffer.byteLength(text) <= mostBytes

/** How many of these beliefs a topic file takes: at least one, so that a long one finds a place too. */
function roomIn(document: MirrorDocument, beliefs: readonly Belief[]): number {
  const items = document.items().length
  let bytes = document.render().length
  let room = 0
  for (const belief of beliefs) {
    bytes += renderItem(belief).join('\n').length
    if (items + room >= mostItemsPerFile || (bytes > mostBytesPerFile && items + room > 0)) break
    room += 1
  }
  return room
}

const commentOf = (line: string): string => /<!-- credence:[^>]*-->/u.exec(line)?.[0] ?? ''

const oldestFirst = (beliefs: readonly Belief[]): readonly Belief[] =>
  [...beliefs].sort((one, other) =>
    one.createdAt === other.createdAt ? (one.id < other.id ? -1 : 1) : one.createdAt < other.createdAt ? -1 : 1,
  )
