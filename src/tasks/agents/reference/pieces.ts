import { fromMarkdown } from 'mdast-util-from-markdown'
import { offTheRecord } from '../../../memory/learn/off-the-record.ts'
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
  /** The number or letter of an item in an ordered list. */
  readonly label: string | null
  /** Text that names its topic: headings, the line that introduces it, and the sentence before a pronoun. */
  readonly context: readonly string[]
  /** For the line that introduces a list: that line together with the list. */
  readonly whole: string | null
}

/** How a question begins. Apostrophes are often left out: "whats". */
const question =
  '(?:(?:in|at|on|for|from|to|with|by|of|since|until)\\s+)?(?:who|whom|whose|what|when|where|which|why|how)(?:s|d|re)?\\b'
const lineLabel = /^\s*\(?([a-z]|\d{1,2})[).]\s+/iu
const pronoun = '\\b(?:it|its|he|him|his|she|hers?|they|them|theirs?)\\b'
export const beginsWithPronoun = (text: string): boolean => new RegExp(`^\\W*${pronoun}`, 'iu').test(text)

/** The pieces of a message, in order. Code, quotations, addresses and items of lists stay whole. */
export function piecesOf(message: string): readonly Piece[] {
  const pieces: Piece[] = []
  let heading: readonly string[] = []
  for (const node of fromMarkdown(message).children) {
    const [start, end] = rangeOf(node)
    const before = pieces.at(-1)
    const isAnnounced =
      before !== undefined && (before.text.endsWith(':') || isBesideBlock(node, message.slice(before.end, start)))
    const context = isAnnounced ? [...heading, before.text] : heading
    if (node.type === 'heading') heading = [message.slice(start, end)]
    else if (node.type === 'list') {
      if (isAnnounced) pieces[pieces.length - 1] = { ...before, whole: message.slice(before.start, end) }
      for (const [index, { position, children }] of node.children.entries()) {
        const label = node.ordered ? String((node.start ?? 1) + index) : null
        add(
          'item',
          [rangeOf({ position: children[0]?.position ?? position })[0], rangeOf({ position })[1]],
          context,
          label,
        )
      }
    } else if (isAnnounced && !namesFile(before.text) && !hasItems(message.slice(start, end))) {
      // The line that introduces a block belongs to it.
      pieces.pop()
      add('block', [before.start, end], before.context)
    } else if (node.type === 'paragraph') readParagraph(start, end, context)
    else add('block', [start, end], heading)
  }
  return pieces

  function readParagraph(start: number, end: number, context: readonly string[]): void {
    const found = [...message.slice(start, end).matchAll(/[^\n]+/gu)]
    const lines = found.map(({ 0: text, index }) => ({ text, from: start + index, to: start + index + text.length }))
    const isEvery = (pattern: RegExp): boolean => lines.length > 1 && lines.every(({ text }) => pattern.test(text))
    if (isTable(message.slice(start, end))) {
      const rows = lines.filter(({ text }, index) => index > 0 && !/^[\s|:-]+$/u.test(text))
      for (const { from, to } of rows) add('item', [from, to], [...context, lines[0]?.text ?? ''])
    } else if (isEvery(lineLabel) || isEvery(/^\s*[^\s:][^:]{0,40}:\s+\S/u)) {
      for (const { text, from, to } of lines) {
        const [mark = '', label = null] = lineLabel.exec(text) ?? []
        add('item', [from + mark.length, to], context, label)
      }
    } else {
      // A line break inside a paragraph ends no sentence, unless a question begins after it.
      const flat = message.slice(start, end).replace(new RegExp(`\\n(?!\\s*${question})`, 'giu'), ' ')
      for (const one of sentencesOf(flat)) add('sentence', [start + one.start, start + one.end], context)
    }
  }

  function add(
    kind: Piece['kind'],
    [start, end]: Range,
    context: readonly string[],
    label: string | null = null,
  ): void {
    const text = message.slice(start, end)
    const before = pieces.at(-1)
    const goesOn = before !== undefined && kind !== 'block' && new RegExp(pronoun, 'iu').test(withoutQuotations(text))
    const all = goesOn ? new Set([...context, ...before.context, before.text]) : context
    pieces.push({ text, start, end, kind, context: [...all], label, whole: null })
  }
}

type Range = readonly [start: number, end: number]
const rangeOf = ({ position }: Pick<Node, 'position'>): Range => [
  position?.start.offset ?? 0,
  position?.end.offset ?? 0,
]

const isTable = (text: string): boolean => /^\s*\|.*\n\s*\|[\s|:-]+\n\s*\|/u.test(text)
const hasItems = (text: string): boolean => isTable(text) || text.split('\n').every((line) => lineLabel.test(line))

// Code and quotations belong to the paragraph before them; a list does where no empty line comes between.
const isBesideBlock = ({ type }: Node, between: string): boolean =>
  type === 'code' || type === 'blockquote' || (type === 'list' && !/\n\s*\n/u.test(between))

const quotation = /`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|«[^»\n]+»/gu

/** A text with blanks in place of its quotations and code, so that offsets stay the same. */
export const withoutQuotations = (text: string, isWanted = (_quoted: string): boolean => true): string =>
  text.replaceAll(quotation, (quoted) => (isWanted(quoted) ? ' '.repeat(quoted.length) : quoted))

const file = /(?<![\w/:.])(?:\.\/)?((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:md|markdown|txt|json|ya?ml|csv|log))(?![\w/])/giu

/** Files that a text names, by their paths in the workspace. */
export const filesIn = (text: string): readonly string[] => [...text.matchAll(file)].map(([, path = '']) => path)
const withoutFiles = (text: string): string => text.replaceAll(file, 'the file')
const namesFile = (text: string): boolean => /\b(?:the|a|this|that|your) file\b/iu.test(withoutFiles(text))

const pointing = '(?:this|these|those|that|it|them|all|everything|the following|(?:some|a few|few) things)'
const storing = '(?:save|store|remember|keep|record|note|write|put|add|update|correct|memori[sz]e|hold on)'
const asked = '(?:^\\W*|\\bplease\\s+|\\b(?<!had |made |asked |told )you\\s+(?:(?:please|to|will|can)\\s+)?)'
const toStore = new RegExp(`${asked}${storing}\\b`, 'iu')
const intoFile = new RegExp(
  `\\b(?!(?:ha[sd]|have|got|find|read|see|is|are|its?|this|that|them|you|all)\\b)\\p{L}+\\s+(?:all\\s+)?${pointing}(?:\\s+\\S+){0,3}\\s+(?:in|into|to)\\s+\\W?the file\\b`,
  'iu',
)

/** Whether a sentence asks the agent to keep something. */
export const asksToStore = (text: string): boolean =>
  toStore.test(text) || intoFile.test(withoutQuotations(withoutFiles(text), (quoted) => !quoted.includes('the file')))

/** Whether a message asks to keep something. Beside questions, "write it down" may mean the answers, unless a file is named. */
export const isStoring = (pieces: readonly Piece[], hasQuestions: boolean): boolean =>
  pieces.some(({ text }) => asksToStore(text) && (!hasQuestions || namesFile(text)))

/** The statement inside a request to keep it: "Remember that my vet is Lund" has one, "Save all of this" has none. */
export function statementIn(text: string): string {
  if (!asksToStore(text)) return text
  const [, rest = ''] = new RegExp(`(?::\\s+|\\b${storing}\\s+that\\s+)(.+)$`, 'isu').exec(text) ?? []
  if (rest !== '' && !namesFile(rest)) return rest
  const other = withoutFiles(text).replace(toStore, ' ')
  if (new RegExp(`\\b${pointing}\\b`, 'iu').test(other)) return ''
  return [...termsIn(other)].every((term) => term === 'file' || isAskingTerm(term)) ? '' : text
}

const keptOut =
  /\b(?:not|never|(?:do|does|must|should)n['’]?t)\s(?:(?:put|write|note)\b[^.!?]{0,30}\bdown|(?:go|get|put|be)\b[^.!?]{0,30}(?:in(?:to)?\s(?:the|your|my)\sfile|written\sanywhere))\b|\bplease forget\b/iu

/** A message without the sentences that ask not to be kept, or that such a request is about. */
export function withoutPrivate(message: string): string {
  const sentences = sentencesOf(message)
  const asks = sentences.map(({ text }) => offTheRecord(text) || keptOut.test(withoutFiles(text)))
  // The request may be spread over two sentences; then all of it is private.
  if (!asks.includes(true)) return offTheRecord(message) ? '' : message
  const isMeant = (index: number, place: number): boolean => {
    const [one, request] = [sentences[index], sentences[place]]
    if (one === undefined || request === undefined || !asks[place]) return false
    if (/:\s*\S|\b(?:is|are|was|were|am)\b|['’](?:s|m)\b/iu.test(request.text)) return false
    return !/\n\s*\n/u.test(message.slice(Math.min(one.end, request.end), Math.max(one.start, request.start)))
  }
  return sentences.reduceRight((left, { start, end }, index) => {
    const isLeftOut = asks[index] || isMeant(index, index - 1) || isMeant(index, index + 1)
    return isLeftOut ? left.slice(0, start) + left.slice(end).trimStart() : left
  }, message)
}

/** One question of a message. */
export type ReferenceAsk = {
  readonly text: string
  /** The question before it in the same message, where this one has a pronoun. */
  readonly about: string
  /** The part of the sentence before its first question: "The cooler is dead, whom do I call?" */
  readonly lead: string
  /** The start of its sentence or item in the message, and the number or letter of that item. */
  readonly place: number
  readonly label: string | null
}

const wantsTelling =
  /\b(?:tell|remind|show|give|paste|send)\s+(?:me|us)\b|\b(?:like|want|love)\s+to\s+(?:know|hear)\b|^\W*(?:please\s+)?(?:list|recall|repeat|recite|summari[sz]e|paste)\b/iu
const begins = new RegExp(`^\\W*(?:(?:and|also|then|lastly|so)\\W+)*${question}`, 'iu')
const partMark = '[,;:.&]\\s*|\\b(?:and|or|me|us|know|then|remember|recall|hear|also)\\s+'
const part = new RegExp(`(?:^|${partMark})(?=${question})`, 'giu')

/** The questions of a message and, where it has some and asks to keep nothing, the items of its lists. */
export function askingPieces(pieces: readonly Piece[]): ReadonlySet<Piece> {
  const isQuestion = ({ text, kind, whole }: Piece): boolean =>
    kind !== 'block' &&
    whole === null &&
    !asksToStore(text) &&
    (/\?\W*$/u.test(withoutQuotations(text)) || begins.test(text) || (wantsTelling.test(text) && !text.endsWith(':')))
  const questions = pieces.filter(isQuestion)
  const wantsAnswers = questions.length > 0 || pieces.some(({ text }) => wantsTelling.test(text))
  if (!wantsAnswers || isStoring(pieces, wantsAnswers)) return new Set(questions)
  return new Set(pieces.filter((piece) => piece.kind === 'item' || questions.includes(piece)))
}

/** The questions of a message, one by one: "who is my dentist, and where is she?" asks two. */
export function asksOf(pieces: readonly Piece[]): readonly ReferenceAsk[] {
  const asks: ReferenceAsk[] = []
  for (const piece of askingPieces(pieces)) {
    const whole = withoutFiles(piece.text).replaceAll('the file', ' ')
    const starts = [...whole.matchAll(part)].map(({ index, 0: before }) => index + before.length)
    for (const [index, start] of (starts.length === 0 ? [0] : starts).entries()) {
      const text = whole.slice(start, starts[index + 1]).replace(/[\s,;&]+(?:and|or)?[\s,;]*$/u, '')
      const goesOn = /\b(?:it|its|he|him|his|she|hers?|they|them|their|that|this|there)\b/iu.test(text)
      const about = goesOn ? (asks.at(-1)?.text ?? '') : ''
      asks.push({ text, about, lead: whole.slice(0, starts[0] ?? 0), place: piece.start, label: piece.label })
    }
  }
  return asks
}
