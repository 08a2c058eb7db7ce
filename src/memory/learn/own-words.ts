import { sentencesOf } from '../../search/sentences.ts'

/** A sentence of a message. `paragraph` numbers what blank lines separate. */
export type MessageSentence = {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly paragraph: number
  /** Why these are not the person's own words: pasted, quoted or code. Null where they are. */
  readonly foreign: 'pasted' | 'quoted' | 'code' | null
}

type Line = { readonly start: number; readonly text: string }

/**
 * The sentences of a message, each marked where it is not the person's own: fenced or indented code, quote blocks, lines
 * of a log, everything from mail headers on, everything after a colon and a blank line, everything after a request to
 * work on "this" text, and sentences that begin inside quotation marks. Takes time in proportion to the message.
 */
export function sentencesIn(message: string): readonly MessageSentence[] {
  const sentences: MessageSentence[] = []
  const lines = linesOf(message)
  let paragraph = 0
  let fence: string | null = null
  let isPasted = false
  let endsInColon = false
  let isQuoting = false
  for (const [index, { start, text }] of lines.entries()) {
    const bare = text.trim()
    const mark = fenceMark(bare)
    if (mark !== null && (fence === null || mark === fence)) {
      fence = fence === null ? mark : null
      continue
    }
    if (bare === '') {
      paragraph += 1
      isQuoting = false
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
    for (const sentence of sentencesOf(text)) {
      const foreign = lineIs ?? (isPasted ? 'pasted' : isQuoting ? 'quoted' : null)
      sentences.push({ ...sentence, start: start + sentence.start, end: start + sentence.end, paragraph, foreign })
      if (lineIs === null) isQuoting = quotesAfter(sentence.text, isQuoting)
      if (lineIs === null && asksToWorkOnText(sentence.text)) isPasted = true
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

const fenceMark = (line: string): string | null =>
  line.startsWith('```') ? '```' : line.startsWith('~~~') ? '~~~' : line.startsWith('"""') ? '"""' : null

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

/** What people ask to have done to a text that follows. */
const textWork =
  /\b(?:summari[sz]e|translate|proofread|review|fix|correct|rewrite|rephrase|reword|paraphrase|edit|explain|analy[sz]e|improve|convert|reformat|debug|classify|extract|simplify|shorten|critique|comment on|look at|reply to|respond to|continue|answer)\b/iu
const pointsAhead =
  /\b(?:this|these|the following|below|following|my (?:e-?mail|essay|text|code|letter|draft|message|function|script|paragraph|article|story|notes|resume|cv))\b/iu

/** Whether what follows a sentence is somebody's text to work on, and not said to the agent. */
function asksToWorkOnText(sentence: string): boolean {
  if (sentence.length > 2_000) return false
  const isOpening = /[:：]["'”’*_]{0,3}$/u.test(sentence)
  if (/^(?:here(?:['’]s| is| are)|see|given|consider|based on|using)\b/iu.test(sentence) && isOpening) return true
  if (
    isOpening &&
    /\b(?:prompt|input|text|passage|article|e-?mail|essay|transcript|paragraph|story|question)s?\W{0,3}$/iu.test(
      sentence,
    )
  )
    return true
  const work = textWork.exec(sentence)
  return work !== null && pointsAhead.test(sentence.slice(work.index, work.index + 120))
}

/** Whether a quotation is open after a sentence. An apostrophe is no quotation mark. */
function quotesAfter(text: string, isOpen: boolean): boolean {
  let open = isOpen
  for (const character of text) {
    if (character === '"') open = !open
    else if (character === '“' || character === '«' || character === '„') open = true
    else if (character === '”' || character === '»') open = false
  }
  return open
}
