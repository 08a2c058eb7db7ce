import { analyse } from '../../search/analyse.ts'
import { sentencesOf, withLineFeeds } from '../../search/sentences.ts'
import {
  endsInColon,
  isShortParagraph,
  longestTyped,
  pastedFrom,
  typedCharacters,
  typedLines,
} from '../../search/turns/pasted.ts'
import type { Finding } from './extraction.ts'
import { isFunctionWord } from './name-of.ts'

/** A sentence of a message. `paragraph` numbers what blank lines separate. */
export type MessageSentence = {
  readonly start: number
  readonly end: number
  readonly text: string
  /** The text with every word between quotation marks hidden; of the same length. */
  readonly plain: string
  readonly paragraph: number
  /** The number of its line. */
  readonly line: number
  /** Why these are not the person's own words: pasted, quoted or code. Null where they are. */
  readonly foreign: 'pasted' | 'quoted' | 'code' | null
}

/**
 * The sentences of a message, each marked where it is not the person's own: everything from where a pasted text begins,
 * indented code, and sentences that begin inside quotation marks. Takes time in proportion to the message.
 */
export function sentencesIn(whole: string): readonly MessageSentence[] {
  const sentences: MessageSentence[] = []
  const pasted = pastedFrom(whole)
  const message = whole.slice(0, longestTyped)
  const plainMessage = message.replace(/(?:[^\n]|\n(?!\s*?\n))+/gu, unquoted)
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

/** Four columns or more, and not the continuation of a list. */
const isIndented = (line: string): boolean => /^(?: {4}|\t)\s{0,40}[^\s\-*+•\d]/u.test(line)

/**
 * Words between quotation marks. A mark opens before a word and closes after one, so that an apostrophe is no mark. A
 * double mark that is never closed quotes the rest of the paragraph, a single one nothing.
 */
const quotation =
  /(?<![\p{L}\p{N}])(?:"[^"]*"?|“[^”]*”?|„[^“”]*[“”]?|«[^»]*»?|['‘](?=\S)[^\n]{1,500}?(?<=\S)['’](?![\p{L}\p{N}]))/gu

/** A paragraph with every quoted letter replaced by one that no command and no name is written with. */
const unquoted = (paragraph: string): string =>
  paragraph.replace(quotation, (quoted) => quoted.replace(/[\p{L}\p{N}]/gu, (letter) => 'ʔ'.repeat(letter.length)))

/**
 * What a message says before a statement. Only a statement that begins the message, or one of a short paragraph that is
 * the whole message, is surely typed; every other may be part of a text that was pasted, and waits for the person.
 */
export class TextAbove {
  readonly #isShort: boolean
  readonly #lines = new Set<number>()
  /** The line of a colon that announces something. */
  #announced = Number.NaN
  /** A statement that may be pasted is part of a text, and so are those below it. */
  #isDoubtful = false

  constructor(message: string) {
    this.#isShort = isShortParagraph(message)
  }

  add({ text, line }: MessageSentence): void {
    // The number of an item is a sentence of its own.
    if (`${text} `.replace(listMark, '') === '') return
    this.#lines.add(line)
    if (endsInColon(text)) this.#announced = line
  }

  mayBePasted(sentence: MessageSentence, finding: Finding): boolean {
    const isDoubtful = finding.kind === 'instruction' && finding.isDoubtful === true
    this.#isDoubtful ||= isDoubtful || !this.isTyped(sentence, finding)
    return this.#isDoubtful
  }

  /** Whether the place of a statement shows that the person typed it. */
  isTyped({ line, paragraph, start }: MessageSentence, { kind }: Finding): boolean {
    const lines = this.#lines.size - Number(this.#lines.has(line))
    const isBeginning = this.#lines.size === 0 && paragraph === 0 && start < typedCharacters
    // A correction replaces what the person said, so one line above it is enough.
    const mostLines = kind === 'correction' || kind === 'statement' ? 1 : typedLines
    return isBeginning || (this.#isShort && lines < mostLines && this.#announced !== line - 1)
  }
}

/** The mark of an item of a list. */
export const listMark = /^(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))\s{1,4}/u

const auxiliaries = new Set(
  'is are was were do does did can could will would shall should may might must has have had'.split(' '),
)

/**
 * Whether a sentence speaks of a text before it as people do who have pasted one: "is this genuine?", "that can't be
 * right". "This recipe" and "the one that I sent" name what they are about, and "summarise this:" points ahead.
 */
export function pointsAtText(text: string): boolean {
  if (endsInColon(text)) return false
  const tokens = analyse(text.slice(0, 400))
  return tokens.some(({ word, end }, at) => {
    const next = tokens[at + 1]?.word
    if (word !== 'this' && word !== 'that') return false
    if (next === undefined || /[,;.!?)]/u.test(text[end] ?? '') || auxiliaries.has(tokens[at - 1]?.word ?? ''))
      return true
    return word === 'that' ? at === 0 : isFunctionWord(next)
  })
}

/** Whether a sentence speaks of another person whom it does not name: "should we invite him?". */
export const pointsAtPerson = /\b(?:he|she|him|her|his|hers)\b/iu
