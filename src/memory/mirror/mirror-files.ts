import { join } from 'node:path'
import type { Belief } from '../../beliefs/belief.ts'
import { type ItemSegment, MirrorDocument } from './document.ts'
import { fieldsOfBelief, homeScope, isSameItem, renderItem } from './item.ts'
import { type LiveFile, readLive } from './live-file.ts'
import { type MirrorPlaces, mirrorFile, ownIntroduction } from './places.ts'
import type { MirrorState } from './state.ts'
import { fieldsOfItem } from './weigh.ts'
import type { Whereabouts } from './whereabouts.ts'

/** A file of the mirror that is being worked on. */
export type OpenFile = {
  readonly name: string
  readonly scope: string | null
  /** As it is on the disk; null when it is not there. */
  readonly live: Extract<LiveFile, { kind: 'read' }> | null
  readonly document: MirrorDocument
  mustWrite: boolean
  /** Whether somebody else wrote it, and may have put lines of other files into it. */
  readonly isEdited: boolean
}

const header = `# Memory\n\n${ownIntroduction}\n`

/** The mirror file of a directory that has none, or the beginning of a topic file. */
export function beginningOf(scope: string | null, part = 1): string {
  if (scope === null) return header
  return `# ${scope}${part === 1 ? '' : `, part ${part}`}\n\nA part of [${mirrorFile}](${mirrorFile}); lines here count like lines there.\n`
}

/** The files of a mirror while it is brought up to date: which are open, and what stands where. */
export class MirrorFiles {
  readonly places: MirrorPlaces
  readonly state: MirrorState
  readonly where: Whereabouts
  readonly #open = new Map<string, OpenFile>()
  /** Which open file an item stands in. */
  readonly #standing = new Map<string, string>()

  constructor(places: MirrorPlaces, state: MirrorState, where: Whereabouts) {
    this.places = places
    this.state = state
    this.where = where
  }

  /** Opens a file with the text it has, or is to have. */
  add(name: string, live: Extract<LiveFile, { kind: 'read' }> | null, text: string, isEdited = false): OpenFile {
    const scope = this.state.files[name]?.scope ?? null
    const file: OpenFile = { name, scope, live, document: new MirrorDocument(text), mustWrite: false, isEdited }
    this.#open.set(name, file)
    for (const { item } of file.document.items()) if (item.id !== null) this.#standing.set(item.id, name)
    return file
  }

  get(name: string): OpenFile | undefined {
    return this.#open.get(name)
  }

  all(): readonly OpenFile[] {
    return [...this.#open.values()]
  }

  /** MEMORY.md, which is always open. */
  mirror(): OpenFile {
    return this.#open.get(mirrorFile) as OpenFile
  }

  insert(file: OpenFile, beliefs: readonly Belief[]): void {
    for (const { id } of beliefs) this.#standing.set(id, file.name)
    file.document.insert(beliefs)
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
      if (found.file.scope !== null) await this.where.set(id, null)
    }
  }

  async #find(id: string): Promise<{ readonly file: OpenFile; readonly segment: ItemSegment } | null> {
    const name = this.#standing.get(id) ?? (await this.where.fileOf(id))
    const file = name === null ? null : this.openTopic(name)
    const segment = file?.document.items().find(({ item }) => item.id === id)
    return file === null || segment === undefined ? null : { file, segment }
  }

  /** A topic file, opened now if it was not; null when it cannot be read. */
  openTopic(name: string): OpenFile | null {
    const known = this.#open.get(name)
    if (known !== undefined) return known
    const live = readLive(join(this.places.dir, name))
    return live.kind === 'read' ? this.add(name, live, live.text) : null
  }
}

const commentOf = (line: string): string => /<!-- credence:[^>]*-->/u.exec(line)?.[0] ?? ''
