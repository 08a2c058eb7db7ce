import type { Refusal } from '../candidate.ts'
import { asksForTheRest } from './announcements.ts'
import { clausesIn } from './clauses.ts'
import type { Gap } from './gapping.ts'
import { type LeadSays, whatLeadSays } from './leads.ts'
import { opened } from './openers.ts'
import { cellsOf, type Part, partsOf, type Span } from './parts.ts'
import { sentencesIn } from './sentences.ts'

/** The smallest stretch of a message that is judged by itself: one clause, or one line of a list. */
export type Unit = Span & {
  readonly text: string
  /** The whole sentence it stands in. */
  readonly whole: string
  /** What stood before it and is not part of it: "please remember that". */
  readonly opener: string
  readonly block: number
  readonly sentence: number
  readonly isItem: boolean
  /** It is all of its line. */
  readonly isLine: boolean
  readonly isAsked: boolean
  /** It is about something that was told apart before. */
  readonly isParticular?: boolean
  readonly isCorrection: boolean
  readonly isHedged: boolean
  /** The subject of the clause before, where it has none of its own. */
  readonly borrowed: string | null
  /** Words of the clause before that are to be understood in it. */
  readonly gap?: Gap
  readonly lead: LeadSays
  readonly leadText: string | null
  /** For a row of a table: what stands in it, by the names of its columns. */
  readonly row?: readonly (readonly [column: string, cell: string])[]
}

export type Units = {
  readonly units: readonly Unit[]
  readonly refused: readonly Refusal[]
  readonly leads: readonly (Span & { readonly text: string })[]
}

/** "birthday: 4 May" is one line, whatever commas and conjunctions it holds. */
const entryLine = /^(?!https?:)(?:\*\*)?[\p{L}\p{N}][\p{L}\p{N}'’ ()/&.-]{0,50}?(?:\*\*)?\s?[:=](?:\*\*)?\s+\S/u

/** Takes a message apart into units, in order. */
export function unitsOf(message: string): Units {
  const { parts, refused } = partsOf(message)
  const units: Unit[] = []
  let sentence = 0
  // "Please write this down.": what comes next in the message is what is to be kept.
  let requestedIn: number | null = null
  for (const part of parts) {
    const lead = whatLeadSays(part.leadIn)
    if (part.header !== undefined) {
      units.push(rowUnit(message, part, { lead, sentence, header: part.header }))
      sentence += 1
      continue
    }
    for (const span of sentencesIn(message, part)) {
      const isRequested = requestedIn !== null && part.block <= requestedIn + 1
      units.push(...unitsIn(message, span, { part, lead, sentence, isRequested }))
      if (asksForTheRest(flat(message.slice(span.start, span.end)))) requestedIn = part.block
      sentence += 1
    }
  }
  const leads = [
    ...new Map(parts.flatMap(({ leadIn }) => (leadIn === null ? [] : [[leadIn.start, leadIn] as const]))).values(),
  ]
  return { units, refused, leads }
}

/** A row with the names of its columns, so that it stands alone: "Name: Ida, Room: 12". */
function rowUnit(
  message: string,
  part: Part,
  { lead, sentence, header }: { lead: LeadSays; sentence: number; header: readonly string[] },
): Unit {
  const row = cellsOf(message.slice(part.start, part.end))
    .map((cell, index) => [header[index] ?? '', cell] as const)
    .filter(([column, cell]) => column !== '' && cell !== '')
  const text = row.map(([column, cell]) => `${column}: ${cell}`).join(', ')
  return {
    start: part.start,
    end: part.end,
    text,
    whole: text,
    opener: '',
    block: part.block,
    sentence,
    isItem: true,
    isLine: true,
    isAsked: false,
    isCorrection: false,
    isHedged: false,
    borrowed: null,
    lead,
    leadText: part.leadIn?.text ?? null,
    row,
  }
}

type Place = {
  readonly part: Part
  readonly lead: LeadSays
  readonly sentence: number
  readonly isRequested: boolean
}

function unitsIn(message: string, span: Span, { part, lead, sentence, isRequested }: Place): readonly Unit[] {
  const whole = flat(message.slice(span.start, span.end))
  const before = opened(message.slice(span.start, span.end))
  const body = { start: span.start + before.at, end: span.end }
  const isLine = span.start <= part.start + 2 && span.end >= part.end - 1
  const rest = message.slice(body.start, body.end)
  const isEntry = entryLine.test(rest) && (part.kind === 'item' || isLine || before.isAsked)
  const clauses =
    isEntry && !/;|,\s+[\p{L}'’ ]{2,30}\s?[:=]\s/u.test(rest) ? [{ ...body, borrowed: null }] : clausesIn(message, body)
  // "Can you remember that …?" asks for it to be remembered, and the rest is a statement.
  const isAskedOfAgent = before.isAsked && /^\W*(?:can|could|would|will) you\b/iu.test(whole)
  return clauses.map((clause, index) => {
    const own =
      index === 0
        ? { at: 0, isAsked: false, isCorrection: false, isHedged: false }
        : opened(message.slice(clause.start, clause.end))
    const start = clause.start + own.at
    return {
      start,
      end: clause.end,
      text: textOf(message.slice(start, clause.end), isAskedOfAgent),
      whole,
      opener: flat(message.slice(index === 0 ? span.start : clause.start, start)),
      block: part.block,
      sentence,
      isItem: part.kind === 'item',
      isLine: isLine && clauses.length === 1,
      isAsked: before.isAsked || own.isAsked || isRequested,
      isCorrection: (index === 0 && before.isCorrection) || own.isCorrection,
      isHedged: before.isHedged || own.isHedged,
      borrowed: clause.borrowed,
      ...('gap' in clause ? { gap: clause.gap } : {}),
      lead,
      leadText: part.leadIn?.text ?? null,
    }
  })
}

const textOf = (raw: string, isAskedOfAgent: boolean): string => {
  const text = flat(raw).replace(/[,;]+$/u, '')
  return isAskedOfAgent ? text.replace(/\s*\?+$/u, '') : text
}

/** Runs of white space as one space, but not within quotation marks: what stands there is meant letter by letter. */
export const flat = (text: string): string =>
  text.replace(/(?<quote>"[^"\n]*"|“[^”\n]*”|`[^`\n]*`)|\s+/gu, (_found, quote?: string) => quote ?? ' ').trim()
