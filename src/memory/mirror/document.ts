import type { Belief } from '../../beliefs/belief.ts'
import { homeScope, renderItem } from './item.ts'
import { outsideItems, outsideLines } from './outside-text.ts'
import { dropEmptyHeading, placeOfScope, placeOfType } from './section-places.ts'
import {
  markText,
  newHeading,
  parseSegments,
  renderSegments,
  type Segment,
  topicComment,
  topicsHeading,
  typeHeadings,
} from './segments.ts'

export type ItemSegment = Extract<Segment, { readonly kind: 'item' }>

/** A link to the file that holds what does not fit: the scope, and what stands in the line. */
export type TopicLink = { readonly scope: string; readonly text: string }

/** One file of the mirror while it is being worked on. Everything it does not touch stays as it was. */
export class MirrorDocument {
  #segments: Segment[]
  readonly #eol: string

  constructor(text: string) {
    this.#segments = [...parseSegments(text)]
    this.#eol = (text.match(/\r\n/gu)?.length ?? 0) * 2 > (text.match(/\n/gu)?.length ?? 0) ? '\r\n' : '\n'
  }

  /** The items, in the order of the file. A segment stands for its item until that is replaced. */
  items(): readonly ItemSegment[] {
    return this.#segments.filter((segment) => segment.kind === 'item')
  }

  /** The number of our writing that somebody had before them, when the file still says so. */
  generation(): number | null {
    return this.#segments.find((segment) => segment.kind === 'mark')?.generation ?? null
  }

  /** The lines that are somebody's own, without empty ones. */
  outsideLines(): readonly string[] {
    return outsideLines(this.#segments)
  }

  /** How many list items stand outside of our sections, where they are left alone. */
  outsideItems(): number {
    return outsideItems(this.#segments)
  }

  render(): string {
    return renderSegments(this.#segments)
  }

  lineOf(segment: Segment): number {
    const before = renderSegments(this.#segments.slice(0, this.#segments.indexOf(segment)))
    return before.split(/\r\n|\n|\r/u).length
  }

  /** Writes the item of a belief where another item stands. */
  replace(segment: ItemSegment, belief: Belief): void {
    const isMoved =
      segment.section === 'new' ||
      (segment.section !== null &&
        (segment.section.scope !== homeScope(belief) || (segment.section.type ?? belief.type) !== belief.type))
    if (isMoved) {
      this.remove(segment)
      this.insert([belief])
      return
    }
    const end = /(?:\r\n|\n|\r)?$/u.exec(segment.raw)?.[0] ?? ''
    const raw = renderItem(belief).join(this.#eol) + end
    this.#segments[this.#segments.indexOf(segment)] = reread(raw, segment)
  }

  /** Takes an item out, and the headings above it when nothing else stands below them. */
  remove(segment: ItemSegment): void {
    const at = this.#segments.indexOf(segment)
    this.#segments.splice(at, 1)
    dropEmptyHeading(this.#segments, 'scope', dropEmptyHeading(this.#segments, 'type', at))
  }

  /** Adds the items of beliefs at the end of their sections, which are made where there are none. */
  insert(beliefs: readonly Belief[]): void {
    const groups = Map.groupBy(beliefs, (belief) => `${belief.type} ${homeScope(belief)}`)
    for (const group of groups.values()) this.#insertGroup(group)
  }

  #insertGroup(group: readonly Belief[]): void {
    const { type } = group[0] as Belief
    const scope = homeScope(group[0] as Belief)
    const raw = group.map((belief) => renderItem(belief).join(this.#eol) + this.#eol).join('')
    const isMember = ({ kind, section }: Extract<Segment, { kind: 'item' }>): boolean =>
      kind === 'item' && section !== null && section !== 'new' && section.scope === scope && section.type === type
    const lastItem = this.#segments.findLastIndex((segment) => segment.kind === 'item' && isMember(segment))
    if (lastItem >= 0) {
      this.#splice(lastItem + 1, raw)
      return
    }
    const ownHeading = this.#segments.findIndex(
      (segment) => segment.kind === 'type' && segment.scope === scope && segment.type === type,
    )
    if (ownHeading >= 0) {
      this.#belowHeading(ownHeading, raw)
      return
    }
    const typed = `### ${typeHeadings[type]}${this.#eol}${this.#eol}${raw}`
    const section = this.#segments.findIndex((segment) => segment.kind === 'scope' && segment.scope === scope)
    if (section >= 0) this.#block(placeOfType(this.#segments, section, type), typed)
    else this.#block(placeOfScope(this.#segments, scope), `## ${scope}${this.#eol}${this.#eol}${typed}`)
  }

  /** Says which writing this is. */
  setGeneration(generation: number): void {
    const raw = `${markText(generation)}${this.#eol}`
    const at = this.#segments.findIndex((segment) => segment.kind === 'mark')
    if (at >= 0) {
      // Only the number changes: people keep their spaces and line ends.
      const old = (this.#segments[at] as Segment).raw
      this.#segments[at] = { kind: 'mark', raw: old.replace(/\d+/u, String(generation)), generation }
      return
    }
    const first = this.#segments.findIndex(({ kind }) => kind !== 'text')
    this.#block(first < 0 ? this.#segments.length : first, raw)
  }

  /** Sets the links to what stands in other files. They have a section of their own, which goes when they do. */
  setTopics(links: readonly TopicLink[]): void {
    const wanted = new Map(links.map((link) => [link.scope, `${link.text} ${topicComment(link.scope)}`]))
    this.#segments = this.#segments.flatMap((segment): readonly Segment[] => {
      if (segment.kind !== 'topic') return [segment]
      const text = wanted.get(segment.scope)
      wanted.delete(segment.scope)
      if (text === undefined) return []
      return [segment.raw.trimEnd() === `- ${text}` ? segment : { ...segment, raw: `- ${text}${this.#eol}` }]
    })
    const heading = this.#segments.findIndex(({ kind }) => kind === 'topics')
    if (wanted.size === 0) {
      if (heading >= 0 && links.length === 0) dropEmptyHeading(this.#segments, 'topics', heading + 1)
      return
    }
    const lines = [...wanted.values()].map((text) => `- ${text}${this.#eol}`).join('')
    const last = this.#segments.findLastIndex(({ kind }) => kind === 'topic')
    if (last >= 0) this.#splice(last + 1, lines)
    else if (heading >= 0) this.#belowHeading(heading, lines)
    else {
      const inbox = this.#segments.findIndex(({ kind }) => kind === 'new')
      this.#block(inbox < 0 ? this.#segments.length : inbox, `${topicsHeading}${this.#eol}${this.#eol}${lines}`)
    }
  }

  /** Ends the file with a place for lines whose section nobody has to think about. */
  ensureNewSection(): void {
    if (this.#segments.some(({ kind }) => kind === 'new')) return
    const invitation = '<!-- Lines added here, each beginning with a dash, are sorted into the sections above. -->'
    this.#block(this.#segments.length, `${newHeading}${this.#eol}${this.#eol}${invitation}${this.#eol}`)
  }

  /** With one empty line between, which may be there already. */
  #belowHeading(heading: number, raw: string): void {
    const next = this.#segments[heading + 1]
    const [gap] = (next?.kind === 'text' ? /^[ \t]*(?:\r\n|\n|\r)/u.exec(next.raw) : null) ?? []
    if (gap === undefined || next === undefined) {
      this.#splice(heading + 1, `${this.#eol}${raw}`)
      return
    }
    const rest = next.raw.slice(gap.length)
    this.#segments.splice(
      heading + 1,
      1,
      { kind: 'text', raw: gap },
      ...(rest === '' ? [] : [{ kind: 'text' as const, raw: rest }]),
    )
    this.#splice(heading + 2, raw)
  }

  /** A block with an empty line before and behind it. */
  #block(at: number, raw: string): void {
    const before = renderSegments(this.#segments.slice(0, at))
    const isStart = before === '' || before === '\ufeff'
    const gap = isStart || /(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)$/u.test(before) ? '' : this.#eol
    const after = renderSegments(this.#segments.slice(at, at + 1))
    const isEnd = after === '' || /^[ \t]*(?:\r\n|\n|\r)/u.test(after)
    this.#splice(at, `${gap}${raw}${isEnd ? '' : this.#eol}`)
  }

  /** Puts text of ours in, on lines of its own, and reads everything again so that each line knows its section. */
  #splice(at: number, raw: string): void {
    const before = renderSegments(this.#segments.slice(0, at))
    const needsEnd = before !== '' && before !== '\ufeff' && !/[\r\n]$/u.test(before)
    const text = `${before}${needsEnd ? this.#eol : ''}${raw}${renderSegments(this.#segments.slice(at))}`
    this.#segments = keepIdentity(this.#segments, parseSegments(text))
  }
}

/** Segments that read the same are the same, so that whoever holds one can still point at it. */
function keepIdentity(old: readonly Segment[], read: readonly Segment[]): Segment[] {
  const known = Map.groupBy(old, ({ raw, kind }) => `${kind}\n${raw}`)
  return read.map((segment) => known.get(`${segment.kind}\n${segment.raw}`)?.shift() ?? segment)
}

function reread(raw: string, { section }: ItemSegment): Segment {
  const segment = parseSegments(raw).find(({ kind }) => kind === 'item') as ItemSegment
  return { ...segment, raw, section }
}
