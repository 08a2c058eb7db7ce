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
  /** The mark of an item in a list of numbers or letters. */
  readonly label: string | null
  /** The announcement of a list together with the list. */
  readonly whole: string | null
}

const interrogative = '(?:who|whom|whose|what|when|where|which|why|how)(?:s|d|re)?'
export const question = `(?:(?:in|at|on|for|from|to|with|by|of|since|until|about|under)\\s+)?${interrogative}\\b`
const lineLabel = /^\s*\(?([a-z]|\d{1,2})[).]\s+/iu
const thirdPerson = /\b(?:it|its|he|him|his|she|hers?|they|them|theirs?)\b/iu
export const beginsWithPronoun = (text: string): boolean => /^\W*(?:it|its|he|his|she|her|they|their)\b/iu.test(text)

/** The pieces of a message, in order. Code, quotations, addresses and items of lists stay whole. */
export function piecesOf(message: string): readonly Piece[] {
  const pieces: Piece[] = []
  const rangeOf = ({ position }: Pick<Node, 'position'>): readonly [number, number] => [
    position?.start.offset ?? 0,
    position?.end.offset ?? 0,
  ]
  read(fromMarkdown(message).children, [])
  return pieces

  function read(nodes: readonly Node[], above: readonly string[]): void {
    let heading: readonly string[] = []
    for (const [place, node] of nodes.entries()) {
      const [start, end] = rangeOf(node)
      const before = place === 0 ? undefined : pieces.at(-1)
      const isAnnounced =
        before !== undefined && (before.text.endsWith(':') || isBesideBlock(node, message.slice(before.end, start)))
      if (node.type === 'heading') heading = [message.slice(start, end)]
      else if (node.type === 'list') {
        if (isAnnounced) pieces[pieces.length - 1] = { ...before, whole: message.slice(before.start, end) }
        readList(node, [...above, ...heading, ...(isAnnounced ? [before.text] : [])])
      } else if (isAnnounced && !namesFile(before.text) && !hasItems(message.slice(start, end))) {
        // What announces a block belongs to it.
        pieces.pop()
        add('block', before.start, end, before.context)
      } else if (node.type !== 'paragraph') add('block', start, end, [...above, ...heading])
      else readParagraph(start, end, [...above, ...heading, ...(isAnnounced ? [before.text] : [])])
    }
  }

  function readList(list: Extract<Node, { type: 'list' }>, context: readonly string[]): void {
    for (const [index, item] of list.children.entries()) {
      const [head, ...rest] = item.children
      const isNested = head?.type === 'paragraph' && rest.some(({ type }) => type === 'list')
      const [start] = rangeOf(head ?? (item as unknown as Node))
      const [, end] = rangeOf(isNested ? head : (item as unknown as Node))
      add('item', start, end, context, list.ordered ? String((list.start ?? 1) + index) : null)
      if (isNested) read(rest, [...context, message.slice(start, end)])
    }
  }

  function readParagraph(start: number, end: number, context: readonly string[]): void {
    const found = [...message.slice(start, end).matchAll(/[^\n]+/gu)]
    const lines = found.map(({ 0: text, index }) => ({ text, from: start + index, to: start + index + text.length }))
    const isEvery = (pattern: RegExp): boolean => lines.length > 1 && lines.every(({ text }) => pattern.test(text))
    if (isTable(message.slice(start, end))) {
      const rows = lines.filter(({ text }, index) => index > 0 && !/^[\s|:-]+$/u.test(text))
      for (const { from, to } of rows) add('item', from, to, [...context, lines[0]?.text ?? ''])
    } else if (isEvery(lineLabel) || isEvery(/^\s*[^\s:][^:]{0,40}:\s+\S/u)) {
      for (const { text, from, to } of lines) {
        const [mark = '', label = null] = lineLabel.exec(text) ?? []
        add('item', from + mark.length, to, context, label)
      }
    } else {
      // A line break inside a paragraph ends no sentence, unless a question begins after it.
      const flat = message.slice(start, end).replace(new RegExp(`\\n(?!\\s*${question})`, 'giu'), ' ')
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
    const goesOn = before !== undefined && kind !== 'block' && thirdPerson.test(withoutQuotations(text))
    const own = goesOn ? [...new Set([...context, ...before.context, before.text])] : context
    pieces.push({ text, start, end, kind, context: own, label, whole: null })
  }
}

const isTable = (text: string): boolean => /^\s*\|.*\n\s*\|[\s|:-]+\n\s*\|/u.test(text)
const hasItems = (text: string): boolean => isTable(text) || text.split('\n').every((line) => lineLabel.test(line))

/** Code and quotations belong to what stands before them; a list does where no empty line comes between. */
const isBesideBlock = ({ type }: Node, between: string): boolean =>
  type === 'code' || type === 'blockquote' || (type === 'list' && !/\n\s*\n/u.test(between))

const quotation = /`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|«[^»\n]+»/gu

/** A text with blanks in place of its quotations and code, so that every place stays the same. */
export const withoutQuotations = (text: string, isWanted: (quoted: string) => boolean = () => true): string =>
  text.replaceAll(quotation, (quoted) => (isWanted(quoted) ? ' '.repeat(quoted.length) : quoted))

const file = /(?<![\w/:.])(?:\.\/)?((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:md|markdown|txt|json|ya?ml|csv|log))(?![\w/])/giu

/** Files that a text names, by their paths in the workspace. */
export const filesIn = (text: string): readonly string[] => [...text.matchAll(file)].map(([, path = '']) => path)
export const withoutFiles = (text: string): string => text.replaceAll(file, 'the file')
const namesFile = (text: string): boolean => /\b(?:the|a|this|that|your) file\b/iu.test(withoutFiles(text))

const pointing = '(?:this|these|those|that|it|them|all|everything|the following|(?:some|a few|few) things)'
const storing = '(?:save|store|remember|keep|record|note|write|put|add|update|correct|memori[sz]e|hold on)'
const asked =
  '(?:^\\W*|\\bplease\\s+|\\b(?<!had |made |asked |told )you\\s+(?:(?:please|to|will|can|could|would)\\s+)?)'
const toStore = new RegExp(`${asked}${storing}\\b(?!\\s+(?:two|up)\\b)`, 'iu')
const intoFile = new RegExp(
  `\\b(?!(?:ha[sd]|have|got|find|read|see|is|are|its?|this|that|them|you|all)\\b)\\p{L}+\\s+(?:all\\s+)?${pointing}(?:\\s+\\S+){0,3}\\s+(?:in|into|to)\\s+\\W?the file\\b`,
  'iu',
)

/** Whether a sentence asks the agent to keep something. */
export const asksToStore = (text: string): boolean =>
  toStore.test(text) || intoFile.test(withoutQuotations(withoutFiles(text), (quoted) => !quoted.includes('the file')))

/** Whether a message does. Where it also asks questions, what is to be written may be the answers, unless it is a file. */
export const isStoring = (pieces: readonly Piece[], hasQuestions: boolean): boolean =>
  pieces.some(({ text }) => asksToStore(text) && (!hasQuestions || namesFile(text)))

/** Whether a sentence only asks to keep what stands elsewhere: "Please save all of this." */
export function isRequest(text: string): boolean {
  const rest = withoutFiles(text).replace(toStore, ' ')
  const isPointing = new RegExp(`\\b${pointing}\\b`, 'iu').test(rest)
  return asksToStore(text) && (isPointing || [...termsIn(rest)].every((term) => term === 'file' || isAskingTerm(term)))
}

/** Whether a sentence asks not to keep something, or to keep it out of the file. */
const isPrivate = (text: string): boolean =>
  offTheRecord(text) ||
  /\bplease forget\b/iu.test(text) ||
  /(?:\bnot|n['’]?t|\bnever)\s(?:\w+\s){0,3}?(?:in(?:to)?\s(?:the|your|my)\sfile|down\b|written\sanywhere)/iu.test(
    withoutFiles(text),
  )

/**
 * A message without what it asks not to keep: the sentence that says so and, where that sentence tells nothing itself,
 * the ones beside it in the same paragraph.
 */
export function withoutPrivate(message: string): string {
  const sentences = sentencesOf(message)
  const asks = sentences.map(({ text }) => isPrivate(text))
  // The request may be spread over two sentences; then all of it is private.
  if (!asks.includes(true)) return offTheRecord(message) ? '' : message
  const isLeftOut = sentences.map(({ start, end }, index) =>
    [index - 1, index, index + 1].some((place) => {
      const other = sentences[place]
      if (other === undefined || !asks[place] || place === index) return asks[place] === true && place === index
      if (/:\s*\S|\b(?:is|are|was|were|am)\b|['’](?:s|m)\b/iu.test(other.text)) return false
      return !/\n\s*\n/u.test(message.slice(Math.min(end, other.end), Math.max(start, other.start)))
    }),
  )
  return sentences.reduceRight(
    (left, { start, end }, index) => (isLeftOut[index] ? left.slice(0, start) + left.slice(end).trimStart() : left),
    message,
  )
}
