import type { Refusal } from '../candidate.ts'
import { asksForTheRest, workGivenIn } from './announcements.ts'
import { hasVerb } from './finite-verbs.ts'

export type Span = { readonly start: number; readonly end: number }

/** A stretch of the message that belongs together: prose, or one item of a list. */
export type Part = Span & {
  readonly kind: 'prose' | 'item'
  /** The line that introduces the list or section it stands in, without its colon. */
  readonly leadIn: Lead | null
  /** Parts with the same number stand in one paragraph or one list. */
  readonly block: number
  /** For a row of a table: what its columns are called. */
  readonly header?: readonly string[]
}

export type Lead = Span & { readonly text: string; readonly kind: 'heading' | 'line' }

export type Parts = { readonly parts: readonly Part[]; readonly refused: readonly Refusal[] }

type Line = Span & { readonly text: string }

const fence = /^\s{0,3}(?:```|~~~)/u
const quoted = /^\s{0,3}>/u
const heading = /^\s{0,3}#{1,6}\s+(?<title>.+?)\s*#*$/u
const bullet = /^(?<indent>\s*)(?:[-*+•‣▪◦·–]|\(?\d{1,3}[.)]|\(?[a-hA-H]\))\s+(?:\[[ xX]\]\s+)?(?=\S)/u
/** A line of a log, of a stack trace, of a diff or of a shell session. */
const machineLine =
  /^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S*\s|\d\d:\d\d:\d\d[.,]?\d*\s|at\s+\S+\s?\(.*:\d+\)|File ".*", line \d+|Traceback \(most recent|\$\s+\S|(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b[\s:[]|(?:import|from)\s+\S+\s*(?:;|import)|(?:const|let|var|def|class|function|public|private|return|#include|SELECT|INSERT)\s.*[;{(:]\s*$|[}\])]+;?\s*$|<\/?[a-z][^>]*>\s*$)/u
const tableRow = /^\s*\|.*\|\s*$/u
const tableRule = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/u
const mailHeader = /^\s*(?:from|to|cc|bcc|subject|sent|date|reply-to):\s+\S/iu
const mailBelow = /^\s*(?:-{2,}\s*(?:original|forwarded) message|begin forwarded message|on .{4,80}\bwrote:\s*$)/iu
/** Longer lines are wrapped by a program and go on in the next. */
const wrapsAt = 60

/** Takes a message apart by its layout. What was pasted in is left out, and said so. */
export function partsOf(message: string): Parts {
  const lines = linesOf(message)
  const parts: Part[] = []
  const refused: Refusal[] = []
  let block = 0
  let lead: Lead | null = null
  let title: Lead | null = null
  let at = 0
  const line = (index: number): Line | undefined => lines[index]

  const pasted = (from: number, to: number, explanation: string): void => {
    const [first, last] = [lines[from] as Line, lines[Math.min(to, lines.length) - 1] as Line]
    const text = message.slice(first.start, last.end).trim()
    refused.push({ text, span: { start: first.start, end: last.end }, reason: 'quotation', explanation })
    lead = null
    block += 1
    at = to
  }

  while (at < lines.length) {
    const here = line(at) as Line
    if (here.text.trim() === '') {
      at += 1
      // A lead-in may stand one blank line above its list.
      if (lead !== null && !bullet.test(line(at)?.text ?? '') && workGivenIn(`${lead.text}:`) === null) lead = null
      block += 1
      continue
    }
    if (fence.test(here.text)) {
      let end = at + 1
      while (end < lines.length && !fence.test((line(end) as Line).text)) end += 1
      pasted(at, Math.min(end + 1, lines.length), 'Text in a code block is pasted in, not said.')
      continue
    }
    if (quoted.test(here.text)) {
      let end = at + 1
      while (end < lines.length && quoted.test((line(end) as Line).text)) end += 1
      pasted(at, end, 'A quoted block is what somebody else wrote.')
      continue
    }
    if (mailBelow.test(here.text)) {
      pasted(at, lines.length, 'A forwarded mail is what somebody else wrote.')
      continue
    }
    if (mailHeader.test(here.text) && mailHeader.test(line(at + 1)?.text ?? '')) {
      pasted(at, lines.length, 'A pasted mail is not what the speaker says.')
      continue
    }
    if (machineLine.test(here.text)) {
      let end = at + 1
      while (end < lines.length && machineLine.test((line(end) as Line).text)) end += 1
      pasted(at, end, 'This is output or code, not a statement.')
      continue
    }
    const named = heading.exec(here.text)?.groups?.title
    if (named !== undefined) {
      title = { start: here.start, end: here.end, text: withoutColon(named), kind: 'heading' }
      lead = null
      block += 1
      at += 1
      continue
    }
    if (tableRow.test(here.text) && tableRule.test(line(at + 1)?.text ?? '')) {
      const header = cellsOf(here.text)
      for (at += 2; tableRow.test(line(at)?.text ?? ''); at += 1) {
        const { start, end } = line(at) as Line
        parts.push({ kind: 'item', start, end, leadIn: lead ?? title, block, header })
      }
      lead = null
      continue
    }
    const mark = bullet.exec(here.text)
    if (mark !== null) {
      const start = here.start + mark[0].length
      let end = here.end
      at += 1
      const isContinued = (text: string): boolean => /^\s{2,}\S/u.test(text) && !bullet.test(text) && !fence.test(text)
      while (at < lines.length && isContinued((line(at) as Line).text)) {
        end = (line(at) as Line).end
        at += 1
      }
      parts.push({ kind: 'item', start, end, leadIn: lead ?? title, block })
      continue
    }
    let end = at + 1
    while (end < lines.length && goesOn(lines[end - 1] as Line, lines[end] as Line)) end += 1
    const last = lines[end - 1] as Line
    const part: Part = { kind: 'prose', start: here.start, end: last.end, leadIn: lead ?? title, block }
    const introduces = introductionIn(message, part, lines.slice(end))
    if (introduces !== null) lead = introduces
    else if (lead === null && asksToKeepList(message, part, lines.slice(end)))
      lead = { start: last.end, end: last.end, text: 'remember this', kind: 'line' }
    else if (lead !== null && lead.start < part.start) lead = null
    if (introduces === null || introduces.start > part.start) {
      parts.push(introduces === null ? part : { ...part, end: introduces.start })
    }
    at = end
  }
  return { parts, refused }
}

/** The last sentence of a paragraph that ends in a colon and has a list or further lines below it. */
function introductionIn(message: string, part: Part, below: readonly Line[]): Lead | null {
  const text = message.slice(part.start, part.end)
  if (!/[::]\**\s*$/u.test(text)) return null
  const next = below.find((line) => line.text.trim() !== '')
  if (next === undefined) return null
  // A full stop within "MEMORY.md" ends nothing.
  const from = [...text.matchAll(/[.!?]["'”’)]*\s+|\n/gu)].reduce((_at, match) => match.index + match[0].length, 0)
  const lead = text.slice(from)
  const start = part.start + from + (lead.length - lead.trimStart().length)
  return { start, end: part.end, text: withoutColon(lead), kind: 'line' }
}

/** "Please write it down." with a list below it. */
function asksToKeepList(message: string, part: Part, below: readonly Line[]): boolean {
  const next = below.find((line) => line.text.trim() !== '')
  const sentences = message.slice(part.start, part.end).split(/(?<=[.!?])\s+/u)
  return next !== undefined && bullet.test(next.text) && sentences.some(asksForTheRest)
}

/** What stands between the strokes of a row. */
export const cellsOf = (row: string): readonly string[] =>
  row
    .trim()
    .replace(/^\||\|$/gu, '')
    .split('|')
    .map((cell) => cell.trim())

const withoutColon = (text: string): string =>
  text
    .trim()
    .replace(/^\*\*(.+?)\*\*(:?)$/u, '$1$2')
    .replace(/\s*[::]\**\s*$/u, '')
    .trim()

const continuing =
  /^\s*(?:and|or|but|because|which|who|that|where|when|while|so|than|as|of|to|in|on|at|for|with|from|by|since|until|after|before|into|if|is|are|was)\s/iu

/** Whether a line is the continuation of the one before: that one is full and does not end a sentence. */
function goesOn(before: Line, line: Line): boolean {
  const text = line.text
  if (text.trim() === '' || bullet.test(text) || fence.test(text) || quoted.test(text) || heading.test(text))
    return false
  if (machineLine.test(text) || mailHeader.test(text)) return false
  if (/[.!?:;…]["'”’)*_]*\s*$/u.test(before.text)) return false
  // A new line that begins with a subject, in a message that does without full stops.
  const isOpen =
    /(?:^|\s)(?:and|or|but|the|a|an|my|our|of|to|in|on|at|for|with|from|by|is|are|was|that|which|who|as|,)$|,$/iu.test(
      before.text.trim(),
    )
  if (!isOpen && /^\s*(?:i|i['’]?m|i['’]ve|my|we|our|we['’]re|also|and my|and i)\s/iu.test(text)) return false
  // Where lines begin in lower case anyway, a line with a verb of its own is a statement of its own.
  const isOwn =
    !isOpen && /^\s*\p{Ll}/u.test(before.text) && /^\s*\p{Ll}/u.test(text) && !continuing.test(text) && hasVerb(text)
  return !isOwn && before.text.trimEnd().length >= wrapsAt && /^\s*[\p{Ll}\d("'“‘]/u.test(text)
}

function linesOf(message: string): readonly Line[] {
  const lines: Line[] = []
  let start = 0
  for (const text of message.split('\n')) {
    const shown = text.endsWith('\r') ? text.slice(0, -1) : text
    lines.push({ text: shown, start, end: start + shown.length })
    start += text.length + 1
  }
  return lines
}
