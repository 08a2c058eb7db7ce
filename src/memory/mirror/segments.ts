import { type BeliefType, beliefTypes } from '../../beliefs/belief.ts'
import { parseScope } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { type Item, idComment, parseItem } from './item.ts'

/** Which managed section something stands in. Without a type it stands before the first heading of one. */
export type Section = { readonly scope: string; readonly type: BeliefType | null }

/**
 * A file is its segments, one after the other: joined, their `raw` texts are the file, byte for byte. Only items,
 * headings of ours, links and the mark are ever written anew; `text` is somebody's own.
 */
export type Segment =
  | { readonly kind: 'text'; readonly raw: string }
  | { readonly kind: 'mark'; readonly raw: string; readonly generation: number }
  | { readonly kind: 'scope'; readonly raw: string; readonly scope: string }
  | { readonly kind: 'type'; readonly raw: string; readonly scope: string; readonly type: BeliefType }
  /** The heading under which new lines may be put without saying where they belong. */
  | { readonly kind: 'new'; readonly raw: string }
  | { readonly kind: 'topics'; readonly raw: string }
  | { readonly kind: 'topic'; readonly raw: string; readonly scope: string }
  | { readonly kind: 'item'; readonly raw: string; readonly item: Item; readonly section: Section | 'new' | null }

export const typeHeadings: Readonly<Record<BeliefType, string>> = {
  preference: 'Preferences',
  decision: 'Decisions',
  entity: 'Facts',
  relation: 'Relations',
  open_question: 'Open questions',
}

export const markText = (generation: number): string => `<!-- credence:mirror ${generation} -->`
export const newHeading = '## New <!-- credence:new -->'
export const topicsHeading = '## More <!-- credence:topics -->'
export const topicComment = (scope: string): string => `<!-- credence:topic ${scope} -->`

const mark = /^[ \t]*<!--[ \t]*credence:mirror[ \t]+(\d{1,15})[ \t]*-->[ \t]*$/u
const newComment = /<!--[ \t]*credence:new[ \t]*-->/u
const topicsComment = /<!--[ \t]*credence:topics[ \t]*-->/u
const topicLine = /<!--[ \t]*credence:topic[ \t]+(\S+)[ \t]*-->/u
const heading = /^ {0,3}(#{1,6})[ \t]+(.*)$/u
/** No heading of ours is longer. */
const longestTitle = 300
const bullet = /^ ?(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)/u
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/u
/** At any depth, by whoever wrote it. */
export const isListItem = (line: string): boolean =>
  /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S/u.test(line) && !rule.test(line)
const indented = /^(?: {2}|\t| \t)/u
/** A line with a comment of ours. */
const ours = /<!--[ \t]*credence:/u
const isBlank = (text: string): boolean => text.trim() === ''

type Line = { readonly text: string; readonly raw: string }

/** Reads a file. Whatever it holds, the segments joined are what was given. */
export function parseSegments(text: string): readonly Segment[] {
  return new SegmentReader(linesOf(text)).read()
}

export const renderSegments = (segments: readonly Segment[]): string => segments.map(({ raw }) => raw).join('')

function linesOf(text: string): readonly Line[] {
  return [...text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/gu)]
    .filter(([raw]) => raw !== '')
    .flatMap(([raw, line]) => unglued({ text: (line as string).replace(/^\ufeff/u, ''), raw }))
}

/** What was appended to a file whose last line had no end stands behind that line's comment: it is a line of its own. */
function unglued({ text, raw }: Line): readonly Line[] {
  const found = text.includes('-->') ? /-->(?=[-*+] \S)/u.exec(text) : null
  if (found === null || !text.slice(0, found.index).includes('<!--')) return [{ text, raw }]
  const end = found.index + found[0].length
  const from = raw.startsWith('\ufeff') ? end + 1 : end
  return [
    { text: text.slice(0, end), raw: raw.slice(0, from) },
    { text: text.slice(end), raw: raw.slice(from) },
  ]
}

class SegmentReader {
  readonly #lines: readonly Line[]
  readonly #segments: Segment[] = []
  #text = ''
  #section: Section | 'new' | null = null
  /** Under a heading of somebody's own inside a section. */
  #isOwn = false
  /** Before the mark a file is somebody else's: only items with an id are ours there. */
  #isManaged: boolean
  #at = 0
  /** What was looked for up to a line without finding it, so that it is not looked for again. */
  readonly #unclosed = new Map<string, { readonly length: number; readonly until: number }>()

  constructor(lines: readonly Line[]) {
    this.#lines = lines
    this.#isManaged = !lines.some(({ text }) => mark.test(text))
  }

  read(): readonly Segment[] {
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as Line
      const end = this.#endOfVerbatim(line)
      if (end > this.#at) this.#takeText(end)
      else this.#readLine(line)
    }
    this.#flush()
    return this.#segments
  }

  #readLine({ text, raw }: Line): void {
    const [, generation] = mark.exec(text) ?? []
    if (generation !== undefined) {
      this.#isManaged = true
      this.#section = null
      this.#push({ kind: 'mark', raw, generation: Number(generation) })
      this.#at += 1
      return
    }
    const [, marks, title] = heading.exec(text) ?? []
    if (marks !== undefined) {
      this.#readHeading(marks.length, titleOf(title ?? ''), raw)
      this.#at += 1
      return
    }
    const [, topic] = topicLine.exec(text) ?? []
    if (topic !== undefined && bullet.test(text)) {
      this.#push({ kind: 'topic', raw, scope: topic })
      this.#at += 1
      return
    }
    if (bullet.test(text) && !rule.test(text) && (idComment.test(text) || this.#takesNew())) this.#readItem(text)
    else this.#takeText(this.#at + 1)
  }

  #takesNew(): boolean {
    return this.#isManaged && this.#section !== null && !this.#isOwn
  }

  #readHeading(level: number, title: string, raw: string): void {
    this.#isOwn = false
    if (level > 2) {
      const type = typeOf(title)
      const scope = this.#section !== null && this.#section !== 'new' ? this.#section.scope : null
      if (level === 3 && type !== null && scope !== null && this.#isManaged) {
        this.#section = { scope, type }
        this.#push({ kind: 'type', raw, scope, type })
      } else {
        this.#isOwn = true
        this.#text += raw
      }
      return
    }
    const scope = level === 2 && this.#isManaged ? scopeOf(title) : null
    if (scope !== null) {
      this.#section = { scope, type: null }
      this.#push({ kind: 'scope', raw, scope })
    } else if (level === 2 && newComment.test(title)) {
      this.#section = 'new'
      this.#push({ kind: 'new', raw })
    } else if (level === 2 && topicsComment.test(title)) {
      this.#section = null
      this.#push({ kind: 'topics', raw })
    } else {
      this.#section = null
      this.#text += raw
    }
  }

  #readItem(text: string): void {
    const start = this.#at
    let end = start + 1
    for (let next = end; next < this.#lines.length; next += 1) {
      const below = (this.#lines[next] as Line).text
      if (isBlank(below)) continue
      if (!indented.test(below)) break
      end = next + 1
    }
    const lines = this.#lines.slice(start, end)
    const item = parseItem(
      text.replace(bullet, ''),
      lines.slice(1).map((line) => line.text),
    )
    const section = this.#takesNew() ? this.#section : null
    this.#push({ kind: 'item', raw: lines.map(({ raw }) => raw).join(''), item, section })
    this.#at = end
  }

  /**
   * The end of a fenced block or of a comment over several lines that begins here, if it has an end. One that would
   * take in a line of ours was left open by mistake: what is remembered must not vanish behind it.
   */
  #endOfVerbatim({ text }: Line): number {
    const [, fence] = /^ ?(`{3,}(?=[^`]*$)|~{3,})/u.exec(text) ?? []
    if (fence !== undefined) {
      const closing = new RegExp(`^ ?${fence[0]}{${fence.length},}[ \\t]*$`, 'u')
      return this.#endOf(fence[0] as string, fence.length, (line) => closing.test(line))
    }
    if (/^ ?<!--/u.test(text) && !text.includes('-->')) return this.#endOf('<', 0, (line) => line.includes('-->'))
    return 0
  }

  #endOf(what: string, length: number, closes: (line: string) => boolean): number {
    const known = this.#unclosed.get(what)
    if (known !== undefined && length >= known.length && this.#at < known.until) return 0
    let next = this.#at + 1
    for (; next < this.#lines.length; next += 1) {
      const { text } = this.#lines[next] as Line
      if (ours.test(text)) break
      if (closes(text)) return next + 1
    }
    this.#unclosed.set(what, { length, until: next })
    return 0
  }

  #takeText(end: number): void {
    for (; this.#at < end; this.#at += 1) this.#text += (this.#lines[this.#at] as Line).raw
  }

  #push(segment: Segment): void {
    this.#flush()
    this.#segments.push(segment)
  }

  #flush(): void {
    if (this.#text !== '') this.#segments.push({ kind: 'text', raw: this.#text })
    this.#text = ''
  }
}

/** What a heading says, without the marks that may close it. */
function titleOf(text: string): string {
  if (text.length > longestTitle) return ''
  return text.trim().replace(/[ \t]+#+$/u, '')
}

const withoutComments = (title: string): string => title.replace(/<!--.*?-->/gu, '').trim()

/** The scope a heading names. */
export function scopeOf(title: string): string | null {
  const text = withoutComments(title).replace(/^`(.*)`$/u, '$1')
  if (!text.includes(':')) return null
  try {
    return parseScope(text)
  } catch (error) {
    if (error instanceof MemoryError) return null
    throw error
  }
}

const otherHeadings: Readonly<Record<string, BeliefType>> = { entities: 'entity', questions: 'open_question' }

/** The type of belief a heading announces. */
export function typeOf(title: string): BeliefType | null {
  const text = withoutComments(title).toLowerCase()
  return beliefTypes.find((type) => typeHeadings[type].toLowerCase() === text) ?? otherHeadings[text] ?? null
}
