import { sentencesOf } from '../../search/sentences.ts'

/** A sentence of a message. `paragraph` numbers what blank lines separate. */
export type MessageSentence = {
  readonly start: number
  readonly end: number
  readonly text: string
  /** The text with every word between quotation marks hidden; of the same length. */
  readonly plain: string
  readonly paragraph: number
  /** Why these are not the person's own words: pasted, quoted or code. Null where they are. */
  readonly foreign: 'pasted' | 'quoted' | 'code' | null
}

type Line = { readonly start: number; readonly text: string }

/**
 * The sentences of a message, each marked where it is not the person's own: fenced or indented code, quote blocks, log
 * lines, everything after mail headers, after a colon and a blank line, or after a request to work on "this" text, and
 * sentences that begin inside quotation marks. Takes time in proportion to the message.
 */
export function sentencesIn(message: string): readonly MessageSentence[] {
  const sentences: MessageSentence[] = []
  const lines = linesOf(message)
  const plainMessage = message.replace(/(?:[^\n]|\n(?!\s*?\n))+/gu, unquoted)
  let paragraph = 0
  let fence: string | null = null
  let isPasted = false
  let endsInColon = false
  for (const [index, { start, text }] of lines.entries()) {
    const bare = text.trim()
    const mark = fenceMark(bare)
    if (mark !== null && (fence === null || mark === fence)) {
      fence = fence === null ? mark : null
      continue
    }
    if (bare === '') {
      paragraph += 1
      if (endsInColon) isPasted = true
      continue
    }
    if (fence === null && beginsMail(lines, index)) isPasted = true
    const lineIs =
      fence !== null || isIndented(text)
        ? 'code'
        : isPasted || isLogLine(bare)
          ? 'pasted'
          : bare[0] === '>'
            ? 'quoted'
            : null
    for (const { text: said, ...place } of sentencesOf(text)) {
      const span = { start: start + place.start, end: start + place.end }
      const own = plainMessage.slice(span.start, span.end)
      const foreign = lineIs ?? (isPasted ? 'pasted' : own[0] === said[0] ? null : 'quoted')
      sentences.push({ ...span, text: said, plain: foreign === null ? own : said, paragraph, foreign })
      if (lineIs === null && asksToWorkOnText(said)) isPasted = true
    }
    endsInColon = lineIs === null && /[:：]["'”’*_]{0,3}$/u.test(bare)
  }
  return sentences
}

function linesOf(message: string): readonly Line[] {
  const lines: Line[] = []
  let start = 0
  for (const text of message.split('\n')) {
    lines.push({ start, text })
    start += text.length + 1
  }
  return lines
}

const fenceMark = (line: string): string | null => /^(?:```|~~~|""")/u.exec(line)?.[0] ?? null

/** Four columns or more, and not the continuation of a list. */
const isIndented = (line: string): boolean => /^(?: {4}|\t)\s{0,40}[^\s\-*+•\d]/u.test(line)

const isLogLine = (line: string): boolean =>
  /^[[(]?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\d{1,2}\/\d{1,2}\/\d{2,4},? \d)/u.test(line) ||
  /^(?:\$|#|>>>|%|PS [A-Z]:\\|C:\\)\s?\S/u.test(line)

/** Two lines in a row such as "From: …" and "Subject: …", or "On Monday Ana wrote:". */
function beginsMail(lines: readonly Line[], index: number): boolean {
  const isHeader = (line: Line | undefined): boolean =>
    /^\*{0,2}[A-Z][A-Za-z-]{1,20}:\*{0,2}\s\S/u.test(line?.text ?? '')
  const line = lines[index]?.text ?? ''
  if (/^(?:On|Am|Le)\s.{4,120}\s(?:wrote|schrieb|écrit)\s?:\s{0,4}$/u.test(line)) return true
  if (/^-{2,}\s?(?:Original|Forwarded|Begin forwarded)/iu.test(line)) return true
  const isMailHeader = /^\*{0,2}(?:From|To|Subject|Cc|Date|Sent|Reply-To):/u.test(line)
  return isMailHeader && (isHeader(lines[index + 1]) || isHeader(lines[index - 1]))
}

/** Verbs of requests to work on a text that follows. */
const textWork =
  /\b(?:summari[sz]e|translate|proofread|review|fix|correct|rewrite|rephrase|reword|paraphrase|edit|explain|analy[sz]e|improve|convert|reformat|debug|classify|extract|simplify|shorten|critique|comment on|look at|reply to|respond to|continue|answer)\b/iu
const pointsAhead =
  /\b(?:this|these|the following|below|following|my (?:e-?mail|essay|text|code|letter|draft|message|function|script|paragraph|article|story|notes|resume|cv))\b/iu

/** How a sentence begins or ends that has a colon and a text after it. */
const opensText =
  /^(?:here(?:['’]s| is| are)|see|given|consider|based on|using)\b|\b(?:prompt|input|text|passage|article|e-?mail|essay|transcript|paragraph|story|question)s?\W{0,3}$/iu

/** Whether the text after a sentence is a text to work on, and not said to the agent. */
function asksToWorkOnText(sentence: string): boolean {
  if (sentence.length > 2_000) return false
  if (/[:：]["'”’*_]{0,3}$/u.test(sentence) && opensText.test(sentence)) return true
  const work = textWork.exec(sentence)
  return work !== null && pointsAhead.test(sentence.slice(work.index, work.index + 120))
}

/**
 * Words between quotation marks. A mark opens before a word and closes after one, so that an apostrophe is no mark. A
 * double mark that is never closed quotes the rest of the paragraph, a single one nothing.
 */
const quotation =
  /(?<![\p{L}\p{N}])(?:"[^"]*"?|“[^”]*”?|„[^“”]*[“”]?|«[^»]*»?|['‘](?=\S)[^\n]{1,500}?(?<=\S)['’](?![\p{L}\p{N}]))/gu

/** A paragraph with every quoted letter replaced by one that no command and no name is written with. */
const unquoted = (paragraph: string): string =>
  paragraph.replace(quotation, (quoted) => quoted.replace(/[\p{L}\p{N}]/gu, (letter) => 'ʔ'.repeat(letter.length)))
