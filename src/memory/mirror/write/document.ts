import { type Belief, type BeliefType, beliefTypes } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'
import {
  type Block,
  horizontalRule,
  type ItemBlock,
  parseBlocks,
  splitLines,
  typeHeadings,
  versionMark,
} from '../parse/blocks.ts'
import { homeScope, parseItem, renderItem, type Section } from '../parse/item.ts'

const newSection = `## New <!-- credence:new -->

<!-- Lines added here, each beginning with a dash, are sorted into the sections above. -->
`

/** The text of MEMORY.md while it is edited in memory. Blocks that no method touches keep their bytes. */
export class MirrorDocument {
  #blocks: Block[]
  readonly #eol: string

  constructor(text: string) {
    this.#blocks = [...parseBlocks(text)]
    this.#eol = (text.match(/\r\n/gu)?.length ?? 0) * 2 > (text.match(/\n/gu)?.length ?? 0) ? '\r\n' : '\n'
  }

  get blocks(): readonly Block[] {
    return this.#blocks
  }

  /** The items in the order of the file. */
  items(): readonly ItemBlock[] {
    return this.#blocks.filter((block) => block.kind === 'item')
  }

  ids(): readonly string[] {
    return this.items().flatMap(({ item }) => item.id ?? [])
  }

  /** The version that this text was made from; null if it has no version mark. */
  version(): number | null {
    return this.#blocks.find((block) => block.kind === 'mark')?.version ?? null
  }

  /** The non-empty lines of the person's own text. `withNewItems`: also those of items that are not beliefs yet. */
  ownLines({ withNewItems = false } = {}): readonly string[] {
    return this.#blocks
      .filter((block) => block.kind === 'text' || (withNewItems && block.kind === 'item' && block.item.id === null))
      .flatMap(({ raw }) => splitLines(raw))
      .filter((line) => line.trim() !== '')
  }

  /** The number of list items, at any depth, in the person's own text, without those in fenced code. */
  countOwnItems(): number {
    let fence: string | null = null
    let count = 0
    for (const line of this.ownLines()) {
      const [, marks] = /^ {0,3}(`{3,}|~{3,})/u.exec(line) ?? []
      if (marks !== undefined && (fence === null || marks.startsWith(fence))) fence = fence === null ? marks : null
      else if (fence === null && /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S/u.test(line) && !horizontalRule.test(line))
        count += 1
    }
    return count
  }

  /** The text of the file. `instead`: beliefs to show in place of some items. */
  render(instead: ReadonlyMap<ItemBlock, Belief> = new Map()): string {
    const rawOf = (block: Block): string => {
      const belief = block.kind === 'item' ? instead.get(block) : undefined
      return belief === undefined ? block.raw : this.#itemBlock(belief).raw
    }
    return this.#blocks.map(rawOf).join('')
  }

  lineOf(block: Block): number {
    const before = this.#blocks.slice(0, this.#blocks.indexOf(block))
    return splitLines(before.map(({ raw }) => raw).join('')).length
  }

  /** Replaces an item with a belief, in the belief's section. If the document already shows the belief, removes the item. */
  replace(block: ItemBlock, belief: Belief): void {
    const { section, inInbox, item } = block
    if (item.id !== belief.id && this.ids().includes(belief.id)) {
      this.remove(block)
      return
    }
    const isMoved =
      inInbox ||
      (section !== null && (section.scope !== homeScope(belief) || (section.type ?? belief.type) !== belief.type))
    if (isMoved) {
      this.remove(block)
      this.insert([belief])
      return
    }
    const end = /(?:\r\n|\n|\r)?$/u.exec(block.raw)?.[0] ?? ''
    this.#blocks[this.#placeOf(block)] = { ...this.#itemBlock(belief, end), section }
  }

  /** Removes an item, and the headings above it if nothing is left below them. */
  remove(block: ItemBlock): void {
    const at = this.#placeOf(block)
    this.#blocks.splice(at, 1)
    if (this.#blocks[at - 1]?.kind !== 'item') this.#dropEmptyHeading('scope', this.#dropEmptyHeading('type', at))
  }

  #placeOf(block: Block): number {
    const at = this.#blocks.indexOf(block)
    if (at < 0) throw new Error(`The document has no such block any more: ${block.raw.slice(0, 80)}`)
    return at
  }

  /** Adds items at the end of their sections, and creates missing sections. */
  insert(beliefs: readonly Belief[]): void {
    const groups = Map.groupBy(beliefs, (belief) => `${belief.type} ${homeScope(belief)}`)
    for (const [first, ...others] of groups.values())
      if (first !== undefined) this.#insertGroup(homeScope(first), first.type, [first, ...others])
  }

  #insertGroup(scope: string, type: BeliefType, beliefs: readonly Belief[]): void {
    const items = beliefs.map((belief) => this.#itemBlock(belief))
    const isHere = (section: Section | null): boolean => section?.scope === scope && section.type === type
    const last = this.#blocks.findLastIndex(
      (block) => (block.kind === 'item' && isHere(block.section)) || (block.kind === 'type' && isHere(block)),
    )
    if (last >= 0) {
      if (this.#blocks[last]?.kind === 'item') this.#insertAt(last + 1, items)
      else this.#insertApart(last + 1, items)
      return
    }
    const eol = this.#eol
    const typed: Block[] = [
      { kind: 'type', raw: `### ${typeHeadings[type]}${eol}`, scope, type },
      { kind: 'text', raw: eol },
      ...items,
    ]
    const section = this.#blocks.findIndex((block) => block.kind === 'scope' && block.scope === scope)
    if (section >= 0) this.#insertApart(this.#placeOfType(section, type), typed)
    else
      this.#insertApart(this.#placeOfScope(scope), [
        { kind: 'scope', raw: `## ${scope}${eol}`, scope },
        { kind: 'text', raw: eol },
        ...typed,
      ])
  }

  setVersion(version: number): void {
    const at = this.#blocks.findIndex(({ kind }) => kind === 'mark')
    if (at >= 0) {
      // Changes only the number, so that spaces and line end stay.
      this.#blocks[at] = { kind: 'mark', raw: this.#raw(at).replace(/\d+/u, String(version)), version }
      return
    }
    const first = this.#blocks.findIndex(({ kind }) => kind !== 'text')
    const raw = `${versionMark(version)}${this.#eol}`
    this.#insertApart(first < 0 ? this.#blocks.length : first, [{ kind: 'mark', raw, version }])
  }

  /** Writes the section with the note about beliefs that the file does not show; null removes it. */
  setNote(text: string | null): void {
    const note: Block[] =
      text === null ? [] : [{ kind: 'note', raw: `- ${text} <!-- credence:topic more -->${this.#eol}` }]
    const at = this.#blocks.findIndex(({ kind }) => kind === 'note')
    this.#blocks = this.#blocks.filter(({ kind }) => kind !== 'note')
    const heading = this.#blocks.findIndex(({ kind }) => kind === 'more')
    if (at >= 0) this.#insertAt(at, note)
    else if (note.length > 0 && heading >= 0) this.#insertApart(heading + 1, note)
    else if (note.length > 0) {
      const inbox = this.#blocks.findIndex(({ kind }) => kind === 'new')
      const raw = `## More <!-- credence:topics -->${this.#eol}`
      const section: Block[] = [{ kind: 'more', raw }, { kind: 'text', raw: this.#eol }, ...note]
      this.#insertApart(inbox < 0 ? this.#blocks.length : inbox, section)
    }
    if (text === null) this.#dropEmptyHeading('more', heading + 1)
  }

  /** Adds an inbox at the end of the file if there is none. */
  ensureInbox(): void {
    if (this.#blocks.some(({ kind }) => kind === 'new')) return
    this.#insertApart(this.#blocks.length, parseBlocks(newSection.replaceAll('\n', this.#eol)))
  }

  #itemBlock(belief: Belief, end = this.#eol): ItemBlock {
    const lines = renderItem(belief)
    const item = parseItem((lines[0] as string).slice('- '.length), lines.slice(1))
    const section = { scope: homeScope(belief), type: belief.type }
    return { kind: 'item', raw: lines.join(this.#eol) + end, item, section, inInbox: false }
  }

  #raw(at: number): string {
    return this.#blocks[at]?.raw ?? ''
  }

  /** The position for the heading of a type; types have an order within the section of a scope. */
  #placeOfType(section: number, type: BeliefType): number {
    const end = this.#endOfSection(section)
    const rank = (type: BeliefType): number => beliefTypes.indexOf(type)
    const later = this.#blocks.findIndex(
      (block, at) => at > section && at < end && block.kind === 'type' && rank(block.type) > rank(type),
    )
    return later >= 0 ? later : end
  }

  #placeOfScope(scope: string): number {
    const find = (test: (block: Block) => boolean): number => this.#blocks.findIndex(test)
    const later = find((block) => block.kind === 'scope' && compareScopes(block.scope, scope) > 0)
    if (later >= 0) return later
    const last = this.#blocks.findLastIndex(({ kind }) => kind === 'scope')
    if (last >= 0) return this.#endOfSection(last)
    const mark = find(({ kind }) => kind === 'mark')
    if (mark >= 0) return mark + 1
    const closing = find(({ kind }) => kind === 'more' || kind === 'new')
    return closing >= 0 ? closing : this.#blocks.length
  }

  /** A section ends at our next heading, or at a person's own heading of the same or a higher level. */
  #endOfSection(section: number): number {
    const end = this.#blocks.findIndex(
      ({ kind, raw }, at) =>
        at > section &&
        (['scope', 'more', 'new', 'mark'].includes(kind) || (kind === 'text' && /^ {0,3}#{1,2}[ \t]/u.test(raw))),
    )
    return end >= 0 ? end : this.#blocks.length
  }

  /** Removes the last heading of a kind before a position if only blank lines follow it. Returns the new position. */
  #dropEmptyHeading(kind: 'type' | 'scope' | 'more', before: number): number {
    const at = this.#blocks.findLastIndex((block, index) => index < before && block.kind === kind)
    if (at < 0) return before
    const next = this.#blocks.findIndex((block, index) => index > at && block.kind !== 'text')
    const end = next < 0 ? this.#blocks.length : next
    const below = { type: ['item'], scope: ['item', 'type'], more: ['note'] }[kind]
    const isEmpty =
      !below.includes(this.#blocks[end]?.kind ?? '') &&
      this.#blocks.slice(at + 1, end).every(({ raw }) => raw.trim() === '')
    if (!isEmpty) return before
    this.#blocks.splice(at, end - at)
    return at
  }

  /** Inserts blocks with an empty line before and after them. */
  #insertApart(at: number, blocks: readonly Block[]): void {
    const before = this.#before(at)
    const isApart = /^\ufeff?$/u.test(before) || /(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)$/u.test(before)
    const after = this.#raw(at)
    const isLast = after === '' || /^[ \t]*(?:\r\n|\n|\r)/u.test(after)
    const gap: Block = { kind: 'text', raw: this.#eol }
    this.#insertAt(at, [...(isApart ? [] : [gap]), ...blocks, ...(isLast ? [] : [gap])])
  }

  /** Inserts blocks on separate lines. */
  #insertAt(at: number, blocks: readonly Block[]): void {
    const isAtLineStart = /^\ufeff?$|[\r\n]$/u.test(this.#before(at))
    const end: Block[] = isAtLineStart ? [] : [{ kind: 'text', raw: this.#eol }]
    this.#blocks.splice(at, 0, ...end, ...blocks)
  }

  /** The end of the text before a block, long enough to show whether there is an empty line. */
  #before(at: number): string {
    return this.#blocks
      .slice(Math.max(0, at - 3), at)
      .map(({ raw }) => raw)
      .join('')
  }
}

/** The universal scope comes first. */
function compareScopes(a: string, b: string): number {
  if (a === b) return 0
  if (a === universalScope) return -1
  if (b === universalScope) return 1
  return a < b ? -1 : 1
}
