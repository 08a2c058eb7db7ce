import type { TextRange } from '../../beliefs/turn.ts'
import { sentencesOf, withLineFeeds } from '../../search/sentences.ts'
import { isShortParagraph, maxTypedLength, mentionsText, pastedFrom } from '../../search/turns/pasted.ts'
import type { Finding } from './extraction.ts'

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
 * The sentences of a message. Marks those that are not the person's own: everything after the start of a pasted text, indented
 * code, and sentences that begin inside quotation marks. Takes time in proportion to the message.
 */
export function sentencesIn(whole: string): readonly MessageSentence[] {
  const sentences: MessageSentence[] = []
  const pasted = pastedFrom(whole)
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

/** The mark of an item of a list. */
export const listMark = /^(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))\s{1,4}/u

/** A message with more sentences is more than one request. */
const maxRequestSentences = 2

/**
 * Whether a message is nothing but requests: one short paragraph of one sentence, or of two that each ask to remember
 * something. Pasted text cannot be told from typed text, so nothing in any other message becomes a belief unconfirmed.
 */
export function isDeliberate(message: string, findings: readonly Finding[]): boolean {
  const sentences = sentencesIn(message)
  if (!isShortParagraph(message) || sentences.length > maxRequestSentences) return false
  if (findings.some(({ isDoubtful }) => isDoubtful === true)) return false
  const [first] = sentences
  // The first sentence may be about the second: "The flyer ends with the next line."
  if (sentences.length > 1 && mentionsText(first?.text ?? '')) return false
  return sentences.every(
    ({ start, end, text }) =>
      !listMark.test(text) &&
      findings.some(
        ({ isAsked, span }) => span.start >= start && span.end <= end && (isAsked === true || sentences.length === 1),
      ),
  )
}

/** The parts of a message with statements that wait for the person, who may have pasted them. */
export const doubtfulIn = (message: string, findings: readonly Finding[]): readonly TextRange[] =>
  findings.length === 0 || isDeliberate(message, findings) ? [] : rangesOf(message, findings)

export const rangesOf = (message: string, findings: readonly Finding[]): readonly TextRange[] =>
  findings.map(({ content, span }) => {
    const start = message.indexOf(content, span.start)
    return [start, start + content.length]
  })
