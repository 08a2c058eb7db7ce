import { MemoryError } from '../../../errors.ts'
import type { HeardTurn, HearRequest } from '../../../memory/conversation/hear.ts'
import type { Taken } from '../../../memory/learn/learn.ts'
import type { Memory } from '../../../memory/memory.ts'
import { unknownFieldWarning } from '../../../memory/transfer/chats/json-lines.ts'
import type { ChatItem } from '../../../memory/transfer/chats/read-chats.ts'
import { type Answer, exitCodes } from '../../command/command.ts'
import { called, short } from '../../text/beliefs.ts'
import { counted, harmless, lines, type Style } from '../../text/output.ts'

/** The result of hearing the turns of files or of a stream; of each list at most `mostListed`. */
type HeardLines = {
  kept: number
  /** Kept before. */
  known: number
  /** Off the record, forgotten before, or of a directory or time that is left out. */
  leftOut: number
  /** How many of these for each reason. */
  readonly leftOutBecause: Record<string, number>
  /** Statements that were learned or are listed for review. */
  readonly learned: Taken[]
  learnedCount: number
  /** Lines that could not be kept and why. */
  readonly problems: { readonly file: string; readonly line: number; readonly reason: string }[]
  problemCount: number
  readonly warnings: string[]
  wasInterrupted: boolean
}

export const nothingHeard = (): HeardLines => ({
  kept: 0,
  known: 0,
  leftOut: 0,
  leftOutBecause: {},
  learned: [],
  learnedCount: 0,
  problems: [],
  problemCount: 0,
  warnings: [],
  wasInterrupted: false,
})

const mostListed = 100
/** How many turns are committed together. */
const batchSize = 500

type HearLinesOptions = Pick<HearRequest, 'learn' | 'maxTurnCharacters' | 'dryRun'> & {
  /** The name of the file or stream. */
  readonly source: string
  readonly signal: AbortSignal
  /** Fields of turns that do not give their own. */
  readonly defaults: Partial<HeardTurn>
  /** The scopes of what was said in a directory; null where that is left out. */
  readonly scopesOf: (directory: string | null) => readonly string[] | null
  /** Turns before this time are left out. */
  readonly since?: string | undefined
  /** Called after each batch with the bytes read. */
  readonly onProgress?: (bytes: number) => void
}

/** Stores turns in batches, and adds their outcomes to `heard`. Lines that cannot be read are reported with their number. */
export async function hearLines(
  memory: Memory,
  items: AsyncIterable<ChatItem>,
  heard: HeardLines,
  { source, signal, defaults, scopesOf, since, onProgress = () => {}, ...options }: HearLinesOptions,
): Promise<void> {
  const unknown = new Map<string, number>()
  let batch: { readonly line: number; readonly turn: HeardTurn }[] = []
  let scopes: readonly string[] = []
  let bytes = 0

  const report = (line: number, reason: string): void => {
    heard.problemCount += 1
    if (heard.problems.length < mostListed) heard.problems.push({ file: source, line, reason })
  }
  const leaveOut = (reason: string): void => {
    heard.leftOut += 1
    heard.leftOutBecause[reason] = (heard.leftOutBecause[reason] ?? 0) + 1
  }
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    const said = batch.map(({ turn }) => turn)
    const { turns, taken } = await memory.hear(said, { ...options, scopes })
    for (const [place, { outcome, reason }] of turns.entries()) {
      if (outcome === 'refused') report(batch[place]?.line ?? 0, reason ?? 'It was refused.')
      else if (outcome === 'kept' || outcome === 'known') heard[outcome] += 1
      else leaveOut(outcome === 'forgotten' ? 'forgotten before' : outcome)
    }
    heard.learnedCount += taken.length
    heard.learned.push(...taken.slice(0, mostListed - heard.learned.length))
    batch = []
    onProgress(bytes)
  }
  /** Turns of one directory are heard together. */
  const add = async ({ line, turn, directory }: Extract<ChatItem, { kind: 'turn' }>): Promise<void> => {
    const here = scopesOf(directory)
    const isBefore = since !== undefined && turn.at !== undefined && Date.parse(turn.at) < Date.parse(since)
    if (here === null) return leaveOut('from an excluded directory')
    if (isBefore) return leaveOut('before --since')
    if (here.join(' ') !== scopes.join(' ') || batch.length >= batchSize) await flush()
    scopes = here
    batch.push({ line, turn: { ...defaults, ...turn } })
  }

  try {
    for await (const item of items) {
      if (signal.aborted) break
      bytes = item.bytes
      if (item.kind === 'problem') report(item.line, item.reason)
      else if (item.kind === 'turn') await add(item)
      else if (!unknown.has(item.field) && unknown.size < mostListed) unknown.set(item.field, item.line)
    }
  } catch (error) {
    // A file that cannot be read any further. What the memory itself refuses is a MemoryError.
    if (error instanceof MemoryError || !(error instanceof Error && 'code' in error)) throw error
    report(0, `The file cannot be read (${String(error.code)}).`)
  }
  await flush()
  const warnings = [...unknown].map(([field, line]) => `${source}, ${unknownFieldWarning(field, line)}`)
  heard.warnings.push(...warnings.slice(0, mostListed - heard.warnings.length))
  heard.wasInterrupted = signal.aborted
}

/** A statement that was learned, and its scope. */
export const takenText = ({ outcome, belief, because }: Taken, style: Style, isDryRun = false): string =>
  lines(
    // The id of a dry run is gone with it.
    `  ${outcome} ${isDryRun ? `"${short(belief.name)}"` : called(belief)} in ${style.cyan(harmless(belief.scopes.join(' and ')))}`,
    `    ${short(belief.content)}`,
    `    ${harmless(because)}`,
  )

/** The answer of a command that heard a file or stream; `notes` also lists the lines that could not be read. */
export function heardLinesAnswer(heard: HeardLines, isDryRun: boolean) {
  const { kept, known, leftOut, learned, learnedCount, problems, problemCount } = heard
  const would = isDryRun ? 'would be ' : ''
  const reasons = Object.entries(heard.leftOutBecause).map(([reason, count]) => `${count} ${reason}`)
  const because = reasons.length === 0 ? '' : ` (${reasons.sort().join(', ')})`
  const [moreLearned, moreProblems] = [learnedCount - learned.length, problemCount - problems.length]
  return {
    text: (style) =>
      lines(
        `${style.green(`${counted(kept, 'turn')} ${would}stored`)}, ${known} known already, ${leftOut} left out${because}, ${counted(problemCount, 'line')} could not be read.`,
        learnedCount > 0 && `${counted(learnedCount, 'statement')} found:`,
        learned.map((one) => takenText(one, style, isDryRun)),
        moreLearned > 0 && `  and ${moreLearned} more`,
      ),
    notes: [
      ...heard.warnings.map((warning) => `warning: ${harmless(warning)}`),
      ...problems.map(({ file, line, reason }) =>
        harmless(line === 0 ? `${file}: ${reason}` : `${file}, line ${line}: ${reason}`),
      ),
      ...(moreProblems > 0 ? [`and ${counted(moreProblems, 'more line')} that could not be read`] : []),
    ],
    exitCode: heard.wasInterrupted ? exitCodes.interrupted : problemCount > 0 ? exitCodes.invalid : exitCodes.fine,
  } satisfies Partial<Answer>
}
