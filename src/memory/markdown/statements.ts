import { fromMarkdown } from 'mdast-util-from-markdown'
import type { BeliefType } from '../../beliefs/belief.ts'
import { invalid } from '../../errors.ts'
import { withoutMarkup } from '../learn/name-of.ts'
import { scopeOf, typeOf } from '../mirror/parse/blocks.ts'
import { parseItem } from '../mirror/parse/item.ts'
import { introduction } from '../mirror/write/shown.ts'
import { withoutComments } from './without-comments.ts'

type Root = ReturnType<typeof fromMarkdown>
type Node = Root['children'][number]
type ListItem = Extract<Node, { type: 'list' }>['children'][number]

/** One statement of a document, with its context in the document. */
export type DocumentStatement = {
  /** Line number, from 1. */
  readonly line: number
  /** The bold name before it. */
  readonly name: string | null
  readonly content: string
  readonly why: string
  readonly aliases: readonly string[]
  readonly scopes: readonly string[] | null
  readonly type: BeliefType | null
  /** The headings above it and the text that introduces its list; the nearest last. */
  readonly context: readonly string[]
  /** The number of its section in the document. Statements of one section have the same number. */
  readonly section: number
}

/** Matches a line with more than 100 markers of quotes and lists. Such a document is refused, because the time to parse it is quadratic in their number. */
const tooDeep = /^(?:[ \t]{0,8}(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])){101}/mu

/** Every statement of a document: list items, paragraphs and table rows, in the words of the document. */
export function statementsIn(document: string): readonly DocumentStatement[] {
  if (tooDeep.test(document))
    throw invalid('The document nests quotes or lists more than 100 levels deep.', 'Reduce the nesting and try again.')
  return readDocument(withoutFrontMatter(document))
}

/** The first sentence of the introduction. Only this sentence is compared, because earlier versions wrote a different ending. */
const introductionStart = introduction.slice(0, introduction.indexOf('.') + 1)

/** Replaces front matter with spaces, so that lines keep their numbers. */
function withoutFrontMatter(document: string): string {
  const text = document.replace(/^\ufeff/u, '')
  const [matter] = /^(---|\+\+\+)[ \t]*\r?\n(?:.*\r?\n)*?\1[ \t]*(?:\r?\n|$)/u.exec(text) ?? []
  return matter === undefined ? text : matter.replace(/[^\r\n]/gu, ' ') + text.slice(matter.length)
}

type Heading = {
  readonly depth: number
  readonly title: string
  readonly scope: string | null
  readonly type: BeliefType | null
}

function readDocument(text: string): readonly DocumentStatement[] {
  const statements: DocumentStatement[] = []
  let headings: readonly Heading[] = []
  let section = 0
  /** A paragraph such as "We use:" that introduces the list below it. */
  let intro: string | null = null

  function readNode(node: Node, context: readonly string[]): void {
    switch (node.type) {
      case 'heading':
        enter(
          node.depth,
          withoutComments(sourceOf(node).replace(/^ *#+\s*|(?<![\s#])[\s#]+$|\n[=-]+\s*$/gu, '')).trim(),
        )
        return
      case 'paragraph':
        readParagraph(node, context)
        return
      case 'list': {
        const within = intro === null ? context : [...context, intro]
        intro = null
        for (const item of node.children) readItem(item, within)
        return
      }
      case 'code':
        readCode(node, context)
        return
      case 'blockquote':
        for (const child of node.children) readNode(child, context)
        return
      default:
        // Horizontal rules, comments, markup and link definitions state nothing, but separate an introduction from a list.
        intro = null
    }
  }

  function enter(depth: number, title: string): void {
    headings = [
      ...headings.filter((heading) => heading.depth < depth),
      { depth, title: withoutMarkup(title), scope: scopeOf(title), type: typeOf(title) },
    ]
    section += 1
    intro = null
  }

  function readParagraph(node: Node, context: readonly string[]): void {
    const text = dedent(withoutComments(sourceOf(node)))
    const rows = tableRows(text)
    if (rows !== null) {
      for (const { name, content, row } of rows) add(lineOf(node) + row, { name, content }, context)
    } else if (/[:：]$/u.test(text) && !text.includes('\n')) intro = withoutMarkup(text.slice(0, -1))
    else add(lineOf(node), readItemText(text, []), context)
  }

  /** A code block belongs to the text right before it. If there is none, the block is named after its heading. */
  function readCode(node: Node, context: readonly string[]): void {
    const code = dedent(sourceOf(node))
    const before = statements.at(-1)
    if (intro !== null) {
      add(lineOf(node), { name: intro, content: code }, context)
      intro = null
    } else if (before !== undefined && before.section === section) {
      statements[statements.length - 1] = { ...before, content: `${before.content}\n\n${code}` }
    } else if (headings.length > 0) add(lineOf(node), { name: headings.at(-1)?.title ?? null, content: code }, context)
  }

  function readItem(item: ListItem, context: readonly string[]): void {
    const [first, ...others] = item.children
    if (first === undefined) return
    if (first.type !== 'paragraph') {
      for (const child of item.children) readNode(child, context)
      return
    }
    const head = dedent(withoutComments(sourceOf(first)))
    const lists = others.filter((child) => child.type === 'list')
    if (/[:：](?:\*\*)?$/u.test(head) && lists.length > 0) {
      const above = withoutMarkup(head.replace(/[:：]((?:\*\*)?)$/u, '$1'))
      for (const child of others) readNode(child, [...context, above])
      return
    }
    const end = item.position?.end.offset ?? 0
    const start = first.position?.end.offset ?? 0
    const indent = (first.position?.start.column ?? 1) - 1
    const rest = withoutComments(text.slice(start, end))
      .split(/\r\n|\n|\r/u)
      .map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))
    add(lineOf(item), readItemText(head, rest), context)
  }

  function add(
    line: number,
    said: Partial<DocumentStatement> & { readonly content: string },
    context: readonly string[],
  ): void {
    intro = null
    if (said.content.trim() === '' || isPointer(said.content) || said.content.startsWith(introductionStart)) return
    const nearest = <Value>(of: (heading: Heading) => Value | null): Value | null =>
      headings.map(of).findLast((value) => value !== null) ?? null
    const scope = nearest((heading) => heading.scope)
    statements.push({
      line,
      name: null,
      why: '',
      aliases: [],
      ...said,
      scopes: said.scopes ?? (scope === null ? null : [scope]),
      type: nearest((heading) => heading.type),
      context: [...headings.filter((heading) => heading.scope === null).map(({ title }) => title), ...context],
      section,
    })
  }

  function sourceOf(node: { readonly position?: Node['position'] }): string {
    return text.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0)
  }

  for (const node of fromMarkdown(text).children) readNode(node, [])
  return statements
}

/** Reads the parts of a statement in the format of MEMORY.md: a bold name, why, aliases and scopes. */
function readItemText(head: string, rest: readonly string[]) {
  const [first = '', ...more] = head.split('\n')
  const { name, content, why, aliases, scopes } = parseItem(
    first,
    [...more, ...rest.slice(1)].map((line) => `  ${line}`),
  )
  return { name, content, why, aliases, scopes }
}

const lineOf = (node: { readonly position?: Node['position'] }): number => node.position?.start.line ?? 1

/** Removes indentation and quotation markers from the lines of a paragraph in a list or quotation. */
const dedent = (text: string): string =>
  text
    .split(/\r\n|\n|\r/u)
    .map((line, index) => (index === 0 ? line : line.replace(/^[ \t]*(?:>[ \t]?)?/u, '')))
    .join('\n')
    .trim()

/** Whether a text is an entry of a table of contents, or a picture: a reference without a statement. */
const isPointer = (text: string): boolean =>
  /^(?:\[\[?_?toc_?\]\]?|!?\[[^\]\n]*\](?:\(#[^)\n]*\)|\([^)\n]*\.(?:png|jpe?g|gif|svg|webp)\)))$/iu.test(text.trim())

/** A row of a table: the subject in its first cell, and the statement in the others. */
type TableRow = { readonly name: string; readonly content: string; readonly row: number }

const divider = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/u

/** The rows of a text that is a table; null if it is not one. */
function tableRows(text: string): readonly TableRow[] | null {
  const lines = text.split('\n').map((line) => line.trim())
  const [header, rule, ...rows] = lines
  if (header === undefined || rule === undefined || !header.includes('|') || !rule.includes('-') || !divider.test(rule))
    return null
  const titles = cellsOf(header)
  if (titles.length < 2) return null
  return rows.flatMap((line, index) => {
    const [name = '', ...cells] = cellsOf(line)
    const said = cells.flatMap((cell, at) =>
      cell === '' ? [] : [cells.length === 1 ? cell : `${titles[at + 1] ?? ''}: ${cell}`],
    )
    return name === '' || said.length === 0 ? [] : [{ name, content: said.join('; '), row: index + 2 }]
  })
}

const cellsOf = (line: string): readonly string[] =>
  line
    .replace(/^\|/u, '')
    .replace(/(?<!\\)\|$/u, '')
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
