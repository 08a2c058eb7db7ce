import { sentencesOf, withLineFeeds } from '../../search/sentences.ts'
import { findPaste, maxTypedLength } from '../../search/turns/pasted.ts'

/** A sentence of a message. `paragraph` is the number of its paragraph. */
export type MessageSentence = {
  readonly start: number
  readonly end: number
  readonly text: string
  /** The text with every quoted word hidden; it has the same length. */
  readonly plain: string
  readonly paragraph: number
  /** Its line number. */
  readonly line: number
  /** Why these are not the person's own words: pasted, quoted or code. Null if they are. */
  readonly foreign: 'pasted' | 'quoted' | 'code' | null
}

/**
 * The sentences of a message. Marks those that are not the person's own: everything after the start of a pasted text,
 * indented code, and sentences that begin inside quotation marks. Takes linear time.
 */
export function sentencesIn(whole: string): readonly MessageSentence[] {
  const sentences: MessageSentence[] = []
  const pasted = findPaste(whole)
  const message = whole.slice(0, maxTypedLength)
  const plainMessage = message.replace(/(?:[^\n]|\n(?!\s*?\n))+/gu, withoutQuotations)
  let paragraph = 0
  let start = 0
  for (const [number, line] of withLineFeeds(message).split('\n').entries()) {
    if (line.trim() === '') paragraph += 1
    for (const { text, ...place } of sentencesOf(line)) {
      const span = { start: start + place.start, end: start + place.end }
      const own = plainMessage.slice(span.start, span.end)
      const isQuoted = own[0] !== text[0]
      const foreign = span.start >= pasted ? 'pasted' : isIndented(line) ? 'code' : isQuoted ? 'quoted' : null
      sentences.push({ ...span, text, plain: foreign === null ? own : text, paragraph, line: number, foreign })
    }
    start += line.length + 1
  }
  return sentences
}

/** Whether a line is indented by four columns or more and does not continue a list. */
const isIndented = (line: string): boolean => /^(?: {4}|\t)\s{0,40}[^\s\-*+•\d]/u.test(line)

/**
 * Words between quotation marks. A mark opens before a word and closes after one, so an apostrophe does not count. An unclosed
 * double mark quotes the rest of the paragraph; an unclosed single one quotes nothing.
 */
const quotation =
  /(?<![\p{L}\p{N}])(?:"[^"]*"?|“[^”]*”?|„[^“”]*[“”]?|«[^»]*»?|['‘](?=\S)[^\n]{1,500}?(?<=\S)['’](?![\p{L}\p{N}]))/gu

/** A paragraph with every quoted letter replaced by a letter that no command and no name contains. */
const withoutQuotations = (paragraph: string): string =>
  paragraph.replace(quotation, (quoted) => quoted.replace(/[\p{L}\p{N}]/gu, (letter) => 'ʔ'.repeat(letter.length)))

/** The mark of a list item. */
export const listMark = /^(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))\s{1,4}/u
