import { parseScope } from '../../../beliefs/scope.ts'
import { turnRoles } from '../../../beliefs/turn.ts'
import { didYouMean } from '../../../did-you-mean.ts'
import { MemoryError } from '../../../errors.ts'
import type { Line } from '../../../files/lines.ts'
import type { HeardTurn, HearRequest } from '../../../memory/conversation/hear.ts'
import type { Taken } from '../../../memory/learn/learn.ts'
import type { Memory } from '../../../memory/memory.ts'
import { type Answer, exitCodes } from '../../command/command.ts'
import { called, short } from '../../text/beliefs.ts'
import { counted, harmless, lines, type Style } from '../../text/output.ts'

/** The result of hearing the turns of a file or stream. */
export type HeardLines = {
  readonly kept: number
  /** Kept before. */
  readonly known: number
  /** Off the record, or forgotten before. */
  readonly leftOut: number
  /** Statements that were learned or are listed for review, at most `mostListed` of them. */
  readonly learned: readonly Taken[]
  readonly learnedCount: number
  /** Lines that could not be kept and why, at most `mostListed` of them. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[]
  readonly problemCount: number
  readonly warnings: readonly string[]
  readonly wasInterrupted: boolean
}

const mostListed = 100
/** How many turns are committed together. */
const batchSize = 500

type HearLinesOptions = Pick<HearRequest, 'learn' | 'maxTurnCharacters' | 'scopes' | 'dryRun'> & {
  readonly signal: AbortSignal
  /** Fields of turns that do not give their own. */
  readonly defaults: Partial<HeardTurn>
  /** Called after each batch with the bytes read and the turns seen. */
  readonly onProgress?: (bytes: number, turns: number) => void
}

/** Hears the turns of JSON Lines in batches. A wrong line is reported with its number, and the rest is kept. */
export async function hearLines(
  memory: Memory,
  source: AsyncIterable<Line>,
  { signal, defaults, onProgress = () => {}, ...options }: HearLinesOptions,
): Promise<HeardLines> {
  const sums = { kept: 0, known: 0, leftOut: 0, learnedCount: 0, problemCount: 0 }
  const learned: Taken[] = []
  const problems: HeardLines['problems'][number][] = []
  const unknownFields = new Map<string, number>()
  let batch: { readonly line: number; readonly turn: HeardTurn }[] = []
  let bytes = 0

  const report = (line: number, reason: string): void => {
    sums.problemCount += 1
    if (problems.length < mostListed) problems.push({ line, reason })
  }
  const flush = async (): Promise<void> => {
    const turns = batch.map(({ turn }) => turn)
    const heard = await memory.hear(turns, options)
    for (const [place, { outcome, reason }] of heard.turns.entries()) {
      if (outcome === 'refused') report(batch[place]?.line ?? 0, reason ?? 'It was refused.')
      else sums[outcome === 'kept' || outcome === 'known' ? outcome : 'leftOut'] += 1
    }
    sums.learnedCount += heard.taken.length
    learned.push(...heard.taken.slice(0, mostListed - learned.length))
    batch = []
    onProgress(bytes, sums.kept + sums.known + sums.leftOut)
  }

  for await (const { number, bytes: line } of source) {
    if (signal.aborted) break
    bytes += (line?.length ?? 0) + 1
    try {
      const value = line === null ? wrongLine('is too long') : parseLine(line, number === 1)
      if (value === null) continue
      batch.push({ line: number, turn: { ...defaults, ...parseTurn(value) } })
      for (const field of Object.keys(value))
        if (!isKnown(field) && !unknownFields.has(field) && unknownFields.size < mostListed)
          unknownFields.set(field, number)
    } catch (error) {
      if (!(error instanceof MemoryError && error.code === 'invalid')) throw error
      report(number, error.message)
    }
    if (batch.length >= batchSize) await flush()
  }
  if (batch.length > 0) await flush()
  const warnings = [...unknownFields].map(([field, line]) => unknownField(field, line))
  return { ...sums, learned, problems, warnings, wasInterrupted: signal.aborted }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The object of a line; null for an empty line. */
function parseLine(bytes: Uint8Array, isFirst: boolean): Readonly<Record<string, unknown>> | null {
  const text = attempt(() => decoder.decode(bytes), 'is not UTF-8 text')
  // The decoder drops the byte order mark only in its first call.
  const bare = (isFirst ? text.replace(/^\ufeff/, '') : text).trim()
  if (bare === '') return null
  const value: unknown = attempt(() => JSON.parse(bare), 'is not JSON')
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return wrongLine('is not a JSON object')
  return { ...value }
}

function attempt<Value>(read: () => Value, problem: string): Value {
  try {
    return read()
  } catch {
    return wrongLine(problem)
  }
}

function wrongLine(problem: string): never {
  throw new MemoryError('invalid', `The line ${problem}.`)
}

const longestName = 200
const isName = (given: unknown): boolean => typeof given === 'string' && given.length <= longestName
const name = { isValid: isName, allowed: `a text of at most ${longestName} characters` }

/** The fields of a line besides `text`; null stands for an absent field. */
const fields: Readonly<Record<string, { isValid: (given: unknown) => boolean; allowed: string }>> = {
  session: name,
  speaker: name,
  messageId: name,
  host: name,
  role: { isValid: (given) => turnRoles.some((known) => known === given), allowed: turnRoles.join(', ') },
  at: {
    isValid: (given) => typeof given === 'string' && !Number.isNaN(Date.parse(given)),
    allowed: 'a time such as 2026-05-03T10:00:00Z',
  },
  index: { isValid: (given) => Number.isSafeInteger(given) && Number(given) >= 0, allowed: 'a whole number from 0' },
  scope: { isValid: (given) => typeof given === 'string', allowed: 'a scope such as project:ledger' },
}

const isKnown = (field: string): boolean => field === 'text' || field === 'origin' || Object.hasOwn(fields, field)

function parseTurn(value: Readonly<Record<string, unknown>>): HeardTurn {
  const { text, origin } = value
  if (typeof text !== 'string' || text.trim() === '') throw wrongField('text', text, 'a text that is not empty')
  const turn: Record<string, unknown> = { text }
  for (const [field, { isValid, allowed }] of Object.entries(fields)) {
    const given = value[field] ?? undefined
    if (given === undefined) continue
    if (!isValid(given)) throw wrongField(field, given, allowed)
    turn[field] = field === 'scope' ? parseScope(String(given)) : given
  }
  // A line cannot claim that a document or a tool speaks for the person.
  if ((origin ?? 'person') !== 'person') turn.origin = 'document'
  // Each field has been checked above.
  return turn as HeardTurn
}

const wrongField = (field: string, given: unknown, allowed: string): MemoryError =>
  new MemoryError(
    'invalid',
    given === undefined
      ? `The field ${field} is missing.`
      : `The field ${field} is ${JSON.stringify(given).slice(0, 80)}; it must be ${allowed}.`,
  )

function unknownField(field: string, line: number): string {
  const meant = didYouMean(field, ['text', 'origin', ...Object.keys(fields)])
  return `line ${line}: ignored unknown field "${field.slice(0, 80)}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`
}

/** A statement that was learned, and its scope. */
export const takenText = ({ outcome, belief, because }: Taken, style: Style): string =>
  lines(
    `  ${outcome} ${called(belief)} in ${style.cyan(harmless(belief.scopes.join(' and ')))}`,
    `    ${short(belief.content)}`,
    `    ${harmless(because)}`,
  )

/** The answer of a command that heard a file or stream; `notes` also lists the lines that could not be read. */
export function heardLinesAnswer(heard: HeardLines, { source, isDryRun }: { source: string; isDryRun: boolean }) {
  const { kept, known, leftOut, learned, learnedCount, problems, problemCount } = heard
  const would = isDryRun ? 'would be ' : ''
  const [moreLearned, moreProblems] = [learnedCount - learned.length, problemCount - problems.length]
  return {
    text: (style) =>
      lines(
        `${style.green(`${counted(kept, 'turn')} ${would}kept`)}, ${known} known already, ${leftOut} left out, ${counted(problemCount, 'line')} could not be read.`,
        learnedCount > 0 && `${counted(learnedCount, 'statement')} found:`,
        learned.map((one) => takenText(one, style)),
        moreLearned > 0 && `  and ${moreLearned} more`,
      ),
    notes: [
      ...heard.warnings.map((warning) => `warning: ${source}, ${harmless(warning)}`),
      ...problems.map(({ line, reason }) => `${source}, line ${line}: ${harmless(reason)}`),
      ...(moreProblems > 0 ? [`and ${counted(moreProblems, 'more line')} that could not be read`] : []),
    ],
    exitCode: heard.wasInterrupted ? exitCodes.interrupted : problemCount > 0 ? exitCodes.invalid : exitCodes.fine,
  } satisfies Partial<Answer>
}
