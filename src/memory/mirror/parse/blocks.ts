import { type BeliefType, beliefTypes } from '../../../beliefs/belief.ts'
import { parseScope } from '../../../beliefs/scope.ts'
import { MemoryError } from '../../../errors.ts'
import { withoutComments } from '../../markdown/without-comments.ts'
import { type Item, idCommentPattern, parseItem, type Section } from './item.ts'

/**
 * A file is a list of blocks; joining their `raw` texts gives the file, byte for byte. Credence writes items, headings of scopes
 * and types, the note about hidden beliefs and the version mark. Everything else is `text`, which belongs to the person.
 */
export type Block =
  | { readonly kind: 'text'; readonly raw: string }
  /** The comment with the version of the file. Text above it is never read as items. */
  | { readonly kind: 'mark'; readonly raw: string; readonly version: number }
  | { readonly kind: 'scope'; readonly raw: string; readonly scope: string }
  | { readonly kind: 'type'; readonly raw: string; readonly scope: string; readonly type: BeliefType }
  /** The heading of the inbox. New lines below it belong to no section yet. */
  | { readonly kind: 'new'; readonly raw: string }
  /** The heading of the note about hidden beliefs, and the note. Until version 0.2: links to files of single scopes. */
  | { readonly kind: 'more'; readonly raw: string }
  | { readonly kind: 'note'; readonly raw: string }
  | ItemBlock

/** `section` is null in the inbox and outside the managed sections. */
export type ItemBlock = {
  readonly kind: 'item'
  readonly raw: string
  readonly item: Item
  readonly section: Section | null
  readonly inInbox: boolean
}

export const typeHeadings: Readonly<Record<BeliefType, string>> = {
  preference: 'Preferences',
  decision: 'Decisions',
  entity: 'Facts',
  relation: 'Relations',
  open_question: 'Open questions',
}

export const versionMark = (version: number): string => `<!-- credence:mirror ${version} -->`

const mark = /^[ \t]*<!--[ \t]*credence:mirror[ \t]+(\d{1,15})[ \t]*-->[ \t]*$/u
const newComment = /<!--[ \t]*credence:new[ \t]*-->/u
const moreComment = /<!--[ \t]*credence:topics[ \t]*-->/u
const noteComment = /<!--[ \t]*credence:topic[ \t]+\S+[ \t]*-->/u
const anyComment = /<!--[ \t]*credence:/u
const heading = /^ {0,3}(#{1,6})[ \t]+(?![ \t])(.*)$/u
const bullet = /^ ?(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)/u
export const horizontalRule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/u
const indented = /^(?: {2}|\t| \t)/u
const maxTitleLength = 300

export const splitLines = (text: string): readonly string[] => text.split(/\r\n|\n|\r/u)

type Line = { readonly text: string; readonly raw: string }

function linesOf(text: string): readonly Line[] {
  return [...text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/gu)]
    .filter(([raw]) => raw !== '')
    .flatMap(([raw]) => {
      // If a program appended an item to a file without a final newline, the item directly follows a comment, so the
      // line is split there.
      const comment = raw.indexOf('<!--')
      const glue = comment < 0 ? -1 : raw.slice(comment).search(/-->(?=[-*+] \S)/u)
      const end = comment + glue + '-->'.length
      return glue < 0 ? [raw] : [raw.slice(0, end), raw.slice(end)]
    })
    .map((raw) => ({ raw, text: raw.replace(/^\ufeff|(?<![\r\n])[\r\n]+$/gu, '') }))
}

export function parseBlocks(file: string): readonly Block[] {
  const lines = linesOf(file)
  const blocks: Block[] = []
  let ownText = ''
  let currentSection: Section | null = null
  /** Whether list items at this point are new beliefs: yes in our sections and the inbox, no below a person's own heading. */
  let takesItems = false
  let isManaged = !lines.some(({ text }) => mark.test(text))
  let place = 0
  /** For each kind of fence or comment, the line up to which no end was found, so that not every line searches for it again. */
  const unclosed = new Map<string, { readonly length: number; readonly until: number }>()

  function parseLine({ text, raw }: Line): void {
    const version = mark.exec(text)?.[1]
    const [, marks, title] = heading.exec(text) ?? []
    const isBullet = bullet.test(text) && !horizontalRule.test(text)
    if (version !== undefined) {
      isManaged = true
      enter(null, false)
      push({ kind: 'mark', raw, version: Number(version) })
    } else if (marks !== undefined) parseHeading(marks.length, titleOf(title ?? ''), raw)
    else if (isBullet && noteComment.test(text)) push({ kind: 'note', raw })
    else if (isBullet && (idCommentPattern.test(text) || takesItems)) takeItem(text)
    else takeText(place + 1)
  }

  function parseHeading(level: number, title: string, raw: string): void {
    const type = level === 3 ? typeOf(title) : null
    const scope = level === 2 && isManaged ? scopeOf(title) : null
    if (level > 2) {
      if (type !== null && currentSection !== null) {
        enter({ scope: currentSection.scope, type }, true)
        push({ kind: 'type', raw, scope: currentSection.scope, type })
      } else {
        takesItems = false
        takeText(place + 1)
      }
    } else if (scope !== null) {
      enter({ scope, type: null }, true)
      push({ kind: 'scope', raw, scope })
    } else if (level === 2 && newComment.test(title)) {
      enter(null, isManaged)
      push({ kind: 'new', raw })
    } else if (level === 2 && moreComment.test(title)) {
      enter(null, false)
      push({ kind: 'more', raw })
    } else {
      enter(null, false)
      // The heading begins a separate block of text, so that the end of the section above can be found.
      flush()
      takeText(place + 1)
    }
  }

  function enter(section: Section | null, isTaking: boolean): void {
    currentSection = section
    takesItems = isTaking
  }

  function takeItem(text: string): void {
    let end = place + 1
    for (let next = end; next < lines.length; next += 1) {
      const below = (lines[next] as Line).text
      if (below.trim() === '') continue
      if (!indented.test(below)) break
      end = next + 1
    }
    const own = lines.slice(place, end)
    const below = own.slice(1).map((line) => line.text)
    const item = parseItem(text.replace(bullet, ''), below)
    const raw = own.map((line) => line.raw).join('')
    const section = takesItems ? currentSection : null
    push({ kind: 'item', raw, item, section, inInbox: takesItems && section === null }, end)
  }

  /**
   * The end of the fenced block or multi-line comment that begins here; 0 if it has none. A block that would include a line
   * written by Credence was left open by mistake. It counts as having no end, so that no belief disappears in it.
   */
  function endOfVerbatim({ text }: Line): number {
    const [, fence] = /^ ?(`{3,}(?=[^`]*$)|~{3,})/u.exec(text) ?? []
    if (fence !== undefined) {
      const closing = new RegExp(`^ ?${fence[0]}{${fence.length},}[ \\t]*$`, 'u')
      return findEnd(fence[0] as string, fence.length, (line) => closing.test(line))
    }
    if (/^ ?<!--/u.test(text) && !text.includes('-->')) return findEnd('<', 0, (line) => line.includes('-->'))
    return 0
  }

  function findEnd(what: string, length: number, closes: (line: string) => boolean): number {
    const known = unclosed.get(what)
    if (known !== undefined && length >= known.length && place < known.until) return 0
    let next = place + 1
    for (; next < lines.length; next += 1) {
      const { text } = lines[next] as Line
      if (anyComment.test(text)) break
      if (closes(text)) return next + 1
    }
    unclosed.set(what, { length, until: next })
    return 0
  }

  function takeText(end: number): void {
    for (; place < end; place += 1) ownText += (lines[place] as Line).raw
  }

  function push(block: Block, end = place + 1): void {
    flush()
    blocks.push(block)
    place = end
  }

  function flush(): void {
    if (ownText !== '') blocks.push({ kind: 'text', raw: ownText })
    ownText = ''
  }

  while (place < lines.length) {
    const line = lines[place] as Line
    const end = endOfVerbatim(line)
    if (end > place) takeText(end)
    else parseLine(line)
  }
  flush()
  return blocks
}

/** The title of a heading without closing marks; empty if it is too long to be ours. */
const titleOf = (text: string): string =>
  text.length > maxTitleLength ? '' : text.trim().replace(/(?<![ \t])[ \t]+#+$/u, '')

/** The scope that a heading names. */
export function scopeOf(title: string): string | null {
  const text = withoutComments(title)
    .trim()
    .replace(/^`(.*)`$/u, '$1')
  if (!text.includes(':')) return null
  try {
    return parseScope(text)
  } catch (error) {
    if (error instanceof MemoryError) return null
    throw error
  }
}

const otherHeadings: Readonly<Record<string, BeliefType>> = { entities: 'entity', questions: 'open_question' }

/** The type of belief that a heading names. */
export function typeOf(title: string): BeliefType | null {
  const text = withoutComments(title).trim().toLowerCase()
  return beliefTypes.find((type) => typeHeadings[type].toLowerCase() === text) ?? otherHeadings[text] ?? null
}
