import { fromMarkdown } from 'mdast-util-from-markdown'
import { offTheRecord } from '../../../memory/learn/rules.ts'
import { sentencesOf } from '../../../search/sentences.ts'
import { termsIn } from '../../../search/turns/strength.ts'
import { isAskingTerm } from '../../../search/turns/terms.ts'

type Node = ReturnType<typeof fromMarkdown>['children'][number]

/** A part of a message as it was written: a sentence, an item of a list, a row of a table, or a whole block. */
export type Piece = {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly kind: 'sentence' | 'item' | 'block'
  /** What says what it is about: headings, the line that announces it, the sentence before it where it says "it". */
  readonly context: readonly string[]
  /** The number of the item in a numbered list. */
  readonly label: string | null
  /** What it announces, where it ends in a colon: itself and the list or block after it. */
  readonly whole: string | null
}

/** The pieces of a message, in order. Code, quotations, addresses and items of lists stay whole. */
export function piecesOf(message: string): readonly Piece[] {
  const pieces: Piece[] = []
  read(fromMarkdown(message).children, [])
  return pieces

  function read(nodes: readonly Node[], above: readonly string[]): void {
    let heading: readonly string[] = []
    for (const node of nodes) {
      const [start, end] = rangeOf(node)
      const last = pieces.at(-1)
      const announcement = last !== undefined && isAnnouncement(last) ? last : null
      const context = [...above, ...heading, ...(announcement === null ? [] : [announcement.text])]
      if (announcement !== null && node.type !== 'heading') {
        pieces[pieces.length - 1] = { ...announcement, whole: message.slice(announcement.start, end) }
      }
      if (node.type === 'heading') heading = [message.slice(start, end)]
      else if (node.type === 'list') readList(node, context)
      else if (node.type === 'paragraph' && (announcement === null || isRequest(announcement.text)))
        readParagraph(start, end, context)
      else add('block', start, end, announcement === null && last !== undefined ? [...context, last.text] : context)
    }
  }

  function readList(list: Extract<Node, { type: 'list' }>, context: readonly string[]): void {
    for (const [index, item] of list.children.entries()) {
      const label = list.ordered ? String((list.start ?? 1) + index) : null
      const [head, ...rest] = item.children
      const isNested = head?.type === 'paragraph' && rest.some(({ type }) => type === 'list')
      const [start, end] = rangeOf((isNested ? head : item) as Node)
      const from = head === undefined ? start : rangeOf(head)[0]
      add('item', from, end, context, label)
      if (isNested) read(rest, [...context, message.slice(from, end)])
    }
  }

  function readParagraph(start: number, end: number, context: readonly string[]): void {
    const lines = [...message.slice(start, end).matchAll(/[^\n]+/gu)].map(
      (line) => [start + line.index, start + line.index + line[0].length] as const,
    )
    const texts = lines.map(([from, to]) => message.slice(from, to))
    if (lines.length > 2 && texts.every((line) => /^\s*\|/u.test(line))) {
      const rows = lines.filter((_, index) => index > 0 && !/^[\s|:-]+$/u.test(texts[index] ?? ''))
      for (const [from, to] of rows) add('item', from, to, [...context, texts[0] ?? ''])
    } else if (lines.length > 1 && texts.every((line) => /^\s*[^\s:][^:]{0,40}:\s+\S/u.test(line))) {
      for (const [from, to] of lines) add('item', from, to, context)
    } else {
      // A line break inside a paragraph ends no sentence.
      const flat = message.slice(start, end).replaceAll('\n', ' ')
      for (const sentence of sentencesOf(flat)) {
        add('sentence', start + sentence.start, start + sentence.end, context)
      }
    }
  }

  function add(
    kind: Piece['kind'],
    start: number,
    end: number,
    context: readonly string[],
    label: string | null = null,
  ): void {
    const text = message.slice(start, end)
    const before = pieces.at(-1)
    const goesOn = kind !== 'block' && thirdPerson.test(withoutQuotations(text)) && before !== undefined
    const own = goesOn ? [...new Set([...context, ...before.context, before.text])] : context
    pieces.push({ text, start, end, kind, context: own, label, whole: null })
  }
}

const isAnnouncement = ({ text }: Piece): boolean => /:\W*$/u.test(text)

const rangeOf = ({ position }: Pick<Node, 'position'>): readonly [start: number, end: number] => [
  position?.start.offset ?? 0,
  position?.end.offset ?? 0,
]

const thirdPerson = /\b(?:it|its|he|him|his|she|hers?|they|them|theirs?)\b/iu
const quotation = /`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|«[^»\n]+»/gu

/** A text with blanks in place of its quotations and code, so that every place stays the same. */
export const withoutQuotations = (text: string, isWanted: (quoted: string) => boolean = () => true): string =>
  text.replaceAll(quotation, (quoted) => (isWanted(quoted) ? ' '.repeat(quoted.length) : quoted))

const file = /(?<![\w/:.])(?:\.\/)?((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:md|markdown|txt|json|ya?ml|csv|log))(?![\w/])/giu

/** Files that a text names, by their paths in the workspace. */
export const filesIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(file)].map(([, path = '']) => path)),
]
export const withoutFiles = (text: string): string => text.replaceAll(file, ' ')

const pointing = /\b(?:this|these|those|that|it|them|all|everything|following|things?|facts?|notes?|details)\b/iu

/** Whether a sentence only asks the agent for something, and what is meant stands elsewhere: "Please save all of this." */
export function isRequest(text: string): boolean {
  const rest = withoutFiles(text)
  if (!/\b(?:please|you)\b/iu.test(text) && rest === text) return false
  return pointing.test(rest) || [...termsIn(rest.replace(storing, ' '))].every(isAskingTerm)
}

const storing =
  /(?<!\b(?:had|made|let) you |\byou to )\b(?:save|store|remember|keep|record|note|write|put|add|update|memori[sz]e|hold on|log|jot)\b/iu

/** Whether a sentence asks the agent to keep something. */
export const asksToStore = (text: string): boolean =>
  storing.test(text) &&
  (/\b(?:please|you)\b/iu.test(text) || filesIn(text).length > 0 || /^\W*\w+/u.exec(text)?.[0].match(storing) != null)

/**
 * A message without what it asks not to keep: the sentence that says so and, where that sentence tells nothing itself,
 * the ones beside it in the same paragraph.
 */
export function withoutPrivate(message: string): string {
  if (!offTheRecord(message)) return message
  const sentences = sentencesOf(message)
  const isPrivate = sentences.map(({ text }) => offTheRecord(text))
  // The request may be spread over two sentences; then all of it is private.
  if (!isPrivate.includes(true)) return ''
  const tells = /:\s*\S|\b(?:is|are|was|were|am)\b|['’](?:s|m)\b/iu
  const isLeftOut = sentences.map((sentence, index) => {
    if (isPrivate[index]) return true
    return [index - 1, index + 1].some((near) => {
      const request = sentences[near]
      if (request === undefined || !isPrivate[near] || tells.test(request.text)) return false
      const [first, second] = near < index ? [request, sentence] : [sentence, request]
      return !/\n\s*\n/u.test(message.slice(first.end, second.start))
    })
  })
  return sentences.reduceRight(
    (left, { start, end }, index) => (isLeftOut[index] ? left.slice(0, start) + left.slice(end).trimStart() : left),
    message,
  )
}
