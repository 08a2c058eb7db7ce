import { parseScope } from '../beliefs/scope.ts'
import { type TurnRole, turnRoles } from '../beliefs/turn.ts'
import { didYouMean } from '../did-you-mean.ts'
import { MemoryError } from '../errors.ts'
import type { Line } from '../files/lines.ts'
import type { HeardTurn, HearRequest } from '../memory/conversation/hear.ts'
import type { Taken } from '../memory/learn/learn.ts'
import type { Memory } from '../memory/memory.ts'

/** What became of the turns of a file or stream, line by line. */
export type HeardLines = {
  readonly kept: number
  /** Kept before, by this way or another. */
  readonly known: number
  /** Off the record, or forgotten once. */
  readonly leftOut: number
  /** Statements that were learned or are listed for review, at most `mostListed` of them. */
  readonly learned: readonly Taken[]
  readonly learnedCount: number
  /** Lines that could not be kept and why, at most `mostListed` of them. */
  readonly problems: readonly LineProblem[]
  readonly problemCount: number
  readonly warnings: readonly string[]
  readonly wasInterrupted: boolean
}

export type LineProblem = { readonly line: number; readonly reason: string }

export const mostListed = 100
/** So many turns are handed over together. */
const batchSize = 500

type HearLinesOptions = Pick<HearRequest, 'learn' | 'maxTurnCharacters' | 'scopes' | 'dryRun'> & {
  readonly signal: AbortSignal
  /** Added to turns that do not say otherwise. */
  readonly defaults: Partial<HeardTurn>
  /** Told after each batch: bytes read, and turns seen. */
  readonly onProgress?: (bytes: number, turns: number) => void
}

/**
 * Hears the turns of JSON Lines, holding only a few of them at a time. A line that is wrong is reported with its number, and
 * the rest is kept.
 */
export async function hearLines(
  memory: Memory,
  lines: AsyncIterable<Line>,
  { signal, defaults, onProgress = () => {}, ...options }: HearLinesOptions,
): Promise<HeardLines> {
  const sums = { kept: 0, known: 0, leftOut: 0, learnedCount: 0, problemCount: 0 }
  const learned: Taken[] = []
  const problems: LineProblem[] = []
  const unknownFields = new Map<string, number>()
  let batch: { readonly line: number; readonly turn: HeardTurn }[] = []
  let bytes = 0

  const report = (line: number, reason: string): void => {
    sums.problemCount += 1
    if (problems.length < mostListed) problems.push({ line, reason })
  }
  const flush = async (): Promise<void> => {
    const heard = await memory.hear(
      batch.map(({ turn }) => turn),
      options,
    )
    for (const [place, { outcome, reason }] of heard.turns.entries()) {
      if (outcome === 'kept') sums.kept += 1
      else if (outcome === 'known') sums.known += 1
      else if (outcome === 'refused') report(batch[place]?.line ?? 0, reason ?? 'It was refused.')
      else sums.leftOut += 1
    }
    sums.learnedCount += heard.taken.length
    learned.push(...heard.taken.slice(0, mostListed - learned.length))
    batch = []
    onProgress(bytes, sums.kept + sums.known + sums.leftOut)
  }

  for await (const { number, bytes: line } of lines) {
    if (signal.aborted) break
    bytes += (line?.length ?? 0) + 1
    const read = line === null ? 'The line is too long.' : readLine(line, number === 1)
    if (read === null) continue
    if (typeof read === 'string') {
      report(number, read)
      continue
    }
    for (const field of read.unknown)
      if (!unknownFields.has(field) && unknownFields.size < mostListed) unknownFields.set(field, number)
    batch.push({ line: number, turn: { ...defaults, ...read.turn } })
    if (batch.length >= batchSize) await flush()
  }
  if (batch.length > 0) await flush()
  return {
    ...sums,
    learned,
    problems,
    warnings: [...unknownFields].map(([field, line]) => unknownField(field, line)),
    wasInterrupted: signal.aborted,
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A turn, null for an empty line, or what is wrong with it. */
function readLine(bytes: Uint8Array, isFirst: boolean) {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return 'The line is not UTF-8 text.'
  }
  // The byte order mark is taken off by the decoder of the first line alone.
  const bare = (isFirst ? text.replace(/^\ufeff/, '') : text).trim()
  if (bare === '') return null
  let value: unknown
  try {
    value = JSON.parse(bare)
  } catch {
    return 'The line is not JSON.'
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'The line is not a JSON object.'
  try {
    return parseTurn(value as Readonly<Record<string, unknown>>)
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'invalid') return error.message
    throw error
  }
}

const fields = ['text', 'session', 'role', 'speaker', 'at', 'messageId', 'index', 'scope', 'host', 'origin'] as const
const longestName = 200

/** A turn as a line has it. Only the text is needed; null stands for a field that is not given. */
function parseTurn(value: Readonly<Record<string, unknown>>): {
  readonly turn: HeardTurn
  readonly unknown: readonly string[]
} {
  const known = new Set<string>(fields)
  const { text } = value
  if (typeof text !== 'string' || text.trim() === '') throw wrong('text', text, 'a text that is not empty')
  const name = (field: (typeof fields)[number]): object => {
    const given = value[field] ?? undefined
    if (given === undefined) return {}
    if (typeof given === 'string' && given.length <= longestName) return { [field]: given }
    throw wrong(field, given, `a text of at most ${longestName} characters`)
  }
  return {
    turn: {
      text,
      ...name('session'),
      ...name('speaker'),
      ...name('messageId'),
      ...name('host'),
      ...optional(value.role, (role) => ({ role: roleOf(role) })),
      ...optional(value.at, (at) => ({ at: timeOf(at) })),
      ...optional(value.index, (index) => ({ index: placeOf(index) })),
      ...optional(value.scope, (scope) => ({ scope: scopeOf(scope) })),
      // Only the person who speaks has a voice of their own; whatever else a line claims, its words are not that.
      ...optional(value.origin, (origin) => (origin === 'person' ? {} : { origin: 'document' as const })),
    },
    unknown: Object.keys(value).filter((field) => !known.has(field)),
  }
}

const optional = <Value>(given: unknown, read: (given: unknown) => Value): Value | object =>
  given === undefined || given === null ? {} : read(given)

function roleOf(given: unknown): TurnRole {
  const role = turnRoles.find((known) => known === given)
  if (role === undefined) throw wrong('role', given, turnRoles.join(', '))
  return role
}

function timeOf(given: unknown): string {
  if (typeof given === 'string' && !Number.isNaN(Date.parse(given))) return given
  throw wrong('at', given, 'a time such as 2026-05-03T10:00:00Z')
}

function placeOf(given: unknown): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  throw wrong('index', given, 'a whole number from 0')
}

function scopeOf(given: unknown): string {
  if (typeof given === 'string') return parseScope(given)
  throw wrong('scope', given, 'a scope such as project:ledger')
}

const wrong = (field: string, given: unknown, allowed: string): MemoryError =>
  new MemoryError(
    'invalid',
    given === undefined
      ? `The field ${field} is missing.`
      : `The field ${field} is ${JSON.stringify(given).slice(0, 80)}; it must be ${allowed}.`,
  )

function unknownField(field: string, line: number): string {
  const meant = didYouMean(field, fields)
  return `line ${line}: ignored unknown field "${field.slice(0, 80)}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`
}
