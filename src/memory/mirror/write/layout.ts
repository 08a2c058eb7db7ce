import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'
import { parseJson } from '../../../json.ts'
import { Slices } from '../../../search/slices.ts'
import type { Store } from '../../ports.ts'
import { type ItemBlock, splitLines } from '../parse/blocks.ts'
import { fieldsOfBelief, fieldsOfItem, homeScope, idCommentPattern, isSameItem, renderItem } from '../parse/item.ts'
import { type LiveFile, readLiveFile } from '../parse/read-file.ts'
import { type MirrorPaths, type MirrorState, mirrorFile, namesIn, readIfPresent, writeRecord } from '../state/state.ts'
import { compareScopes, MirrorDocument } from './document.ts'

/** MEMORY.md stays below 200 lines and 25 KB; these limits leave room for lines that others append. */
const mostLines = 180
const mostBytes = 22_000
/** A scope with more beliefs than this gets a topic file instead of a section of MEMORY.md. */
const mostInMirrorFile = 150
/** A topic file with more than this is continued in another, so that the cost of one more belief stays the same. */
const mostItemsPerFile = 200
const mostBytesPerFile = 200_000
/** MEMORY.md links to so many topic files, and only counts the others. */
const mostLinks = 40
const pageSize = 100

/** The introduction of a new MEMORY.md. Existing files keep theirs. Its first sentence identifies it, so it must not change. */
export const introduction =
  'The beliefs of a memory, synchronised with its store by Credence. A changed line corrects a belief, a new line adds\n' +
  'one, a deleted line retires one. A new fact of a project applies at once, and so does an edit of a line that came from\n' +
  'a file. Edits of user:universal, of standing instructions, and of lines that you or an agent stated wait until you\n' +
  'accept them: `credence mirror sync` in a terminal asks once for all. Text outside of these lists is ignored.'

/** Whether a belief has a place in the files: it is current and belongs to no single agent. */
export const isMirrored = (belief: Belief): boolean => isCurrent(belief) && belief.agent === null

/** The beginning of a new MEMORY.md, or of a topic file of a scope. */
export function beginningOf(scope: string | null, part = 1): string {
  if (scope === null) return `# Memory\n\n${introduction}\n`
  const title = part === 1 ? scope : `${scope}, part ${part}`
  return `# ${title}\n\nA part of [${mirrorFile}](${mirrorFile}); lines here count like lines there.\n`
}

/** A file of the mirror, open for changes. */
export type MirrorFile = {
  readonly name: string
  /** The scope of a topic file, null for MEMORY.md. */
  readonly scope: string | null
  /** The file on disk; null when it does not exist. */
  readonly live: LiveFile | null
  readonly document: MirrorDocument
  /** Whether another program changed it since the last sync. */
  readonly isChanged: boolean
  /** For a changed file the version it was made from; null when that is not known. */
  readonly base: MirrorDocument | null
}

/** Edits that are neither taken in nor undone. */
type Left = {
  /** Lines that stay as they are. */
  readonly blocks: ReadonlySet<ItemBlock>
  /** Beliefs that are not added where they have no line. */
  readonly absent: ReadonlySet<string>
}

export type Layout = ReturnType<typeof openLayout>

/** Decides which file each belief is written to. Topic files are opened when they are needed. */
export function openLayout(paths: MirrorPaths, state: MirrorState, opened: readonly MirrorFile[]) {
  const where = openWhereIndex(paths)
  const openFiles = new Map<string, MirrorFile>()
  /** The open file of each belief. */
  const placed = new Map<string, string>()
  let leftEdits: Left = { blocks: new Set(), absent: new Set() }

  for (const file of opened) addFile(file)
  const mirror = openFiles.get(mirrorFile) as MirrorFile

  function addFile(file: MirrorFile): MirrorFile {
    const { name, scope, document, isChanged } = file
    openFiles.set(name, file)
    for (const id of document.ids()) {
      placed.set(id, name)
      // Another program may have moved items of other files into it.
      if (isChanged && scope !== null) where.set(id, name)
    }
    return file
  }

  function files(): readonly MirrorFile[] {
    return [...openFiles.values()]
  }

  /** Shows a belief in the place of an item, which becomes the belief's item; removes the item when it has one already. */
  function replace(file: MirrorFile, block: ItemBlock, belief: Belief): void {
    const { id } = block.item
    const hasPlace = id !== belief.id && findItem(belief.id) !== undefined
    if (hasPlace) file.document.remove(block)
    else {
      file.document.replace(block, belief)
      noteFile(belief.id, file)
    }
    if (id !== null && id !== belief.id && !file.document.ids().includes(id)) placed.delete(id)
  }

  /** Makes the files say what the store says about these beliefs, or about all, except where edits are left. */
  async function update(store: Store, changed: Iterable<string> | 'all', left: Left): Promise<void> {
    const { user } = state
    leftEdits = left
    // Lines of beliefs that the store does not know go too: it may have been replaced by a backup.
    const all = async () => [...(await store.idsStartingWith(user, '', Number.MAX_SAFE_INTEGER)), ...placed.keys()]
    const ids = [...new Set(changed === 'all' ? await all() : changed)]
    const unplaced: Belief[] = []
    const slices = new Slices()
    for (let from = 0; from < ids.length; from += pageSize) {
      const page = ids.slice(from, from + pageSize)
      const beliefs = new Map((await store.getMany(user, page)).map((belief) => [belief.id, belief]))
      for (const id of page) {
        const belief = beliefs.get(id)
        const block = findItem(id)?.block
        if (block !== undefined && left.blocks.has(block)) continue
        if (belief === undefined || !isMirrored(belief)) hideBelief(id)
        else if (!showBelief(belief) && !left.absent.has(id)) unplaced.push(belief)
      }
      if (slices.areOver) await slices.pause()
    }
    mirror.document.ensureInbox()
    await placeAll(unplaced, store)
  }

  /** The files that beliefs stand or stood in, which are then no longer recorded. Null: in any file. */
  function forget(ids: readonly string[]): ReadonlySet<string> | null {
    return where.isComplete ? new Set([mirrorFile, ...ids.flatMap((id) => where.forget(id))]) : null
  }

  /** False when the belief has no place yet. */
  function showBelief(belief: Belief): boolean {
    const found = findItem(belief.id)
    if (found === undefined) return false
    const { file, block } = found
    if (file.scope !== null && file.scope !== homeScope(belief)) {
      hideBelief(belief.id)
      return false
    }
    const said = fieldsOfItem(block.item, block.section, belief)
    const isShown =
      isSameItem(said, fieldsOfBelief(belief)) && commentOf(block.raw) === commentOf(renderItem(belief)[0] ?? '')
    if (!isShown) file.document.replace(block, belief)
    return true
  }

  function hideBelief(id: string): void {
    for (let found = findItem(id); found !== undefined; found = findItem(id)) {
      if (leftEdits.blocks.has(found.block)) return
      found.file.document.remove(found.block)
      if (!found.file.document.ids().includes(id)) {
        placed.delete(id)
        if (found.file.scope !== null) where.set(id, null)
      }
    }
  }

  function findItem(id: string): { readonly file: MirrorFile; readonly block: ItemBlock } | undefined {
    const name = placed.get(id) ?? where.fileOf(id)
    const file = name === null ? null : openTopic(name)
    const blocks = file?.document.items().filter(({ item }) => item.id === id) ?? []
    const block = blocks.find((one) => !leftEdits.blocks.has(one)) ?? blocks[0]
    return file === null || block === undefined ? undefined : { file, block }
  }

  function noteFile(id: string, { name, scope }: MirrorFile): void {
    placed.set(id, name)
    if (scope !== null) where.set(id, name)
  }

  /** Null when the file cannot be read. */
  function openTopic(name: string): MirrorFile | null {
    const known = openFiles.get(name)
    if (known !== undefined) return known
    const live = readLiveFile(join(paths.dir, name))
    const scope = state.files[name]?.scope ?? null
    if (live.kind !== 'read') return null
    return addFile({ name, scope, live, document: new MirrorDocument(live.text), isChanged: false, base: null })
  }

  /** Puts new beliefs into MEMORY.md while there is room, and into the topic file of their scope otherwise. */
  async function placeAll(beliefs: readonly Belief[], store: Store): Promise<void> {
    for (const [scope, group] of Map.groupBy(oldestFirst(beliefs), homeScope)) {
      const shown = mirror.document.items().filter(({ section }) => section?.scope === scope).length
      const isTopic = state.topics[scope] !== undefined
      if (isTopic || shown + group.length > mostInMirrorFile) await insertInTopic(scope, group)
      else insertIn(mirror, group)
    }
    await makeRoom(store)
  }

  /** Moves whole scopes out of MEMORY.md, the largest first, until the rest fits. */
  async function makeRoom(store: Store): Promise<void> {
    const { document } = mirror
    for (;;) {
      setLinks()
      const text = document.render()
      if (splitLines(text).length <= mostLines && Buffer.byteLength(text) <= mostBytes) return
      const items = document.items().filter((block) => !leftEdits.blocks.has(block))
      const scope = largestScope(items)
      const blocks = items.filter(({ section }) => section !== null && section.scope === scope)
      const ids = blocks.flatMap(({ item }) => item.id ?? [])
      const beliefs = (await store.getMany(state.user, ids)).filter((belief) => homeScope(belief) === scope)
      if (scope === null || beliefs.length === 0) return
      const moved = new Set(beliefs.map(({ id }) => id))
      for (const block of blocks) if (moved.has(block.item.id ?? '')) document.remove(block)
      await insertInTopic(scope, oldestFirst(beliefs))
    }
  }

  function insertIn(file: MirrorFile, beliefs: readonly Belief[]): void {
    for (const { id } of beliefs) noteFile(id, file)
    file.document.insert(beliefs)
  }

  async function insertInTopic(scope: string, beliefs: readonly Belief[]): Promise<void> {
    const slices = new Slices()
    state.topics[scope] ??= { slug: topicSlug(scope), parts: 1 }
    const topic = state.topics[scope]
    for (let rest = beliefs; rest.length > 0; topic.parts += rest.length > 0 ? 1 : 0) {
      while (isForeign(topicFile(topic.slug, topic.parts), scope)) topic.parts += 1
      const name = topicFile(topic.slug, topic.parts)
      const file = openTopic(name) ?? newTopic(name, scope, topic.parts)
      const room = roomIn(file.document, rest)
      insertIn(file, rest.slice(0, room))
      rest = rest.slice(room)
      if (slices.areOver) await slices.pause()
    }
  }

  /** Whether a file belongs to another scope, or is no file of the mirror. */
  function isForeign(name: string, scope: string): boolean {
    const known = state.files[name]
    return known === undefined ? existsSync(join(paths.dir, name)) : known.scope !== scope
  }

  function newTopic(name: string, scope: string, part: number): MirrorFile {
    state.files[name] = { scope, signature: '', hash: '', items: 0 }
    const document = new MirrorDocument(beginningOf(scope, part))
    return addFile({ name, scope, live: null, document, isChanged: false, base: null })
  }

  /** A file name without ending that no other file has. Letter case does not count: not every file system keeps it. */
  function topicSlug(scope: string): string {
    const used = new Set(Object.values(state.topics).map(({ slug }) => slug))
    const isFree = (slug: string): boolean => !used.has(slug) && !existsSync(join(paths.dir, `${slug}.md`))
    const plain = scope
      .toLowerCase()
      .replace(/[^a-z0-9]+/gu, '-')
      .replace(/^-|-$/gu, '')
      .slice(0, 60)
    const isFaithful = /^[a-z0-9:_/-]+$/u.test(scope) && plain !== '' && plain !== 'memory'
    if (isFaithful && isFree(plain)) return plain
    const digest = hash('sha256', scope)
    const slugs = [6, 12, 24].map((length) => `${plain || 'scope'}-${digest.slice(0, length)}`)
    return slugs.find(isFree) ?? `${plain || 'scope'}-${digest}`
  }

  function setLinks(): void {
    const { files, topics } = state
    const counts = new Map<string, number>()
    for (const [name, { scope, items }] of Object.entries(files))
      if (scope !== null)
        counts.set(scope, (counts.get(scope) ?? 0) + (openFiles.get(name)?.document.items().length ?? items))
    const scopes = Object.keys(topics).sort(compareScopes)
    const links = scopes.map((scope) => ({ scope, text: linkTo(scope, counts.get(scope) ?? 0) }))
    const others = links.length - (mostLinks - 1)
    const more = { scope: 'topics', text: `${others} more scopes have files of their own beside this one` }
    mirror.document.setTopics(links.length > mostLinks ? [...links.slice(0, mostLinks - 1), more] : links)
  }

  function linkTo(scope: string, count: number): string {
    const { slug, parts } = state.topics[scope] as { readonly slug: string; readonly parts: number }
    // The beliefs of a deleted part are in another part.
    const names = Array.from({ length: parts }, (_, index) => topicFile(slug, index + 1))
    const present = names.filter((name) => state.files[name]?.scope === scope)
    const [first = names[0], last = first] = [present[0], present.at(-1)]
    const beliefs = count === 1 ? '1 belief' : `${count} beliefs`
    const part = names.indexOf(last as string) + 1
    const others = first === last ? '' : ` in ${present.length} files, up to [part ${part}](${last})`
    return `[${scope}](${first}): ${beliefs}${others}`
  }

  return { files, replace, update, save: where.save, forget }
}

const topicFile = (slug: string, part: number): string => (part === 1 ? `${slug}.md` : `${slug}-${part}.md`)

const commentOf = (raw: string): string => idCommentPattern.exec(raw)?.[0].trim() ?? ''

/** How many of these beliefs a topic file takes: at least one in an empty file, however long. */
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

/** The universal scope counts half, so that it leaves MEMORY.md last. */
function largestScope(items: readonly ItemBlock[]): string | null {
  const sizes = new Map<string, number>()
  for (const { section, raw } of items) {
    if (section === null) continue
    const size = (raw.length + 40) / (section.scope === universalScope ? 2 : 1)
    sizes.set(section.scope, (sizes.get(section.scope) ?? 0) + size)
  }
  return [...sizes].sort(([, one], [, other]) => other - one)[0]?.[0] ?? null
}

const oldestFirst = (beliefs: readonly Belief[]): readonly Belief[] => {
  const keyOf = ({ createdAt, id }: Belief): string => `${createdAt} ${id}`
  return beliefs.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

/** The topic file that a belief is in, null for none, and those that it was in before. */
type Places = readonly [current: string | null, ...before: string[]]

/** Which topic file each belief is in. In 256 files, so that one more belief costs the same however many there are. */
function openWhereIndex(paths: MirrorPaths) {
  const { where, bases } = paths
  const shards = new Map<string, Map<string, Places>>()
  const changed = new Set<string>()
  /** Whether it has every file that a belief was ever in: not if it was lost, or begun by an earlier version. */
  const isComplete = existsSync(join(where, completeMark)) || namesIn(bases).every((name) => name === mirrorFile)

  function shardWith(id: string): Map<string, Places> {
    const name = shardOf(id)
    const loaded = shards.get(name)
    if (loaded !== undefined) return loaded
    const known = parseJson(readIfPresent(join(where, name)) ?? '{}')
    // Earlier versions recorded one file.
    const entries = Object.entries(known ?? {}).map(([id, value]) => [id, typeof value === 'string' ? [value] : value])
    const shard = new Map(entries.flatMap(([belief, value]) => (isPlaces(value) ? [[belief, value] as const] : [])))
    shards.set(name, shard)
    return shard
  }

  return {
    isComplete,
    fileOf: (id: string): string | null => shardWith(id).get(id)?.[0] ?? null,
    set(id: string, file: string | null): void {
      const [current = null, ...before] = shardWith(id).get(id) ?? []
      if (current === file) return
      const others = [...new Set([...(current === null ? [] : [current]), ...before])].filter((one) => one !== file)
      shardWith(id).set(id, [file, ...others])
      changed.add(shardOf(id))
    },
    /** The files that a belief is or was in. */
    forget(id: string): readonly string[] {
      const places = shardWith(id).get(id) ?? []
      if (shardWith(id).delete(id)) changed.add(shardOf(id))
      return places.flatMap((file) => file ?? [])
    },
    async save(): Promise<void> {
      const slices = new Slices()
      if (changed.size > 0 && isComplete) writeRecord(paths, join(where, completeMark), '')
      for (const name of changed) {
        writeRecord(paths, join(where, name), JSON.stringify(Object.fromEntries(shards.get(name) ?? [])))
        if (slices.areOver) await slices.pause()
      }
    },
  }
}

const completeMark = 'complete'

const isPlaces = (value: unknown): value is Places =>
  Array.isArray(value) && value.every((file, index) => typeof file === 'string' || (index === 0 && file === null))

const shardOf = (id: string): string => `${(hash('sha256', id, 'buffer')[0] as number) % 256}.json`
