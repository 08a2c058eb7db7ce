import { compareStrings } from '../../../beliefs/identity.ts'
import { MemoryError } from '../../../errors.ts'
import { readLines } from '../../../files/lines.ts'
import { parseTime } from '../../../local-time.ts'
import type { HeardOutcome, HeardTurn, HearRequest, HearResult } from '../../../memory/conversation/hear.ts'
import { pauseFor } from '../../../memory/conversation/pause.ts'
import type { LearnedStatement } from '../../../memory/learn/learn.ts'
import type { Memory } from '../../../memory/memory.ts'
import { unknownFieldWarning } from '../../../memory/transfer/chats/json-lines.ts'
import { type ChatItem, readChatLines } from '../../../memory/transfer/chats/read-chats.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { heardTurn } from '../../../operations/shared-fields.ts'
import { type CommandAnswer, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { date, fieldOptions, flag, stated, writeOptions } from '../../command/options.ts'
import { addVectors } from '../../new-vectors.ts'
import { nameText, shortenText } from '../../text/beliefs.ts'
import { lines, pluralize, type Style } from '../../text/output.ts'
import { pausedNotes, pauseText } from './pause.ts'

/** The result of storing the turns of files or of a stream. Each list has at most `maxListed` items. */
type HeardLines = ReturnType<typeof newHeardLines>

export const newHeardLines = () => ({
  kept: 0,
  /** The number of turns that were stored before. */
  known: 0,
  /**
   * `kept` and `known` by scope. `knownElsewhere` counts the known turns whose scope differs from the one that they would
   * get now.
   */
  scopes: {} as Record<string, { kept: number; known: number }>,
  knownElsewhere: {} as Record<string, number>,
  /** Skipped turns, in total and by reason: off the record, forgotten before, or from an excluded directory or time. */
  leftOut: 0,
  leftOutBecause: {} as Record<string, number>,
  /** Statements that were learned or are listed for review. */
  learned: [] as LearnedStatement[],
  learnedCount: 0,
  /** Lines that could not be stored, with the reasons. */
  problems: [] as { readonly file: string; readonly line: number; readonly reason: string }[],
  problemCount: 0,
  warnings: [] as string[],
  wasInterrupted: false,
})

const maxListed = 100
/** The number of turns per transaction. */
const batchSize = 500

type HearLinesOptions = Pick<HearRequest, 'learn' | 'maxTurnCharacters' | 'dryRun'> & {
  /** The name of the file or stream. */
  readonly source: string
  readonly signal: AbortSignal
  /** Values for the fields that a turn leaves out. */
  readonly defaults: Partial<HeardTurn>
  /** The scopes of turns from a directory; null if its turns are left out. */
  readonly scopesOf: (directory: string | null) => readonly string[] | null
  /** Turns before this time are left out. */
  readonly since?: string | undefined
  /** Called after each batch with the number of bytes read. */
  readonly onProgress?: (bytes: number) => void
}

/** Stores turns in batches, and adds the outcomes to `heard`. Unreadable lines are reported with their line numbers. */
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
    if (heard.problems.length < maxListed) heard.problems.push({ file: source, line, reason })
  }
  const leaveOut = (reason: string): void => {
    heard.leftOut += 1
    heard.leftOutBecause[reason] = (heard.leftOutBecause[reason] ?? 0) + 1
  }
  const count = (outcome: 'kept' | 'known', found: string | undefined, target = ''): void => {
    const scope = found ?? target
    heard[outcome] += 1
    heard.scopes[scope] ??= { kept: 0, known: 0 }
    heard.scopes[scope][outcome] += 1
    if (scope !== target) heard.knownElsewhere[scope] = (heard.knownElsewhere[scope] ?? 0) + 1
  }
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    const said = batch.map(({ turn }) => turn)
    const { turns, taken } = await memory.hear(said, { ...options, scopes })
    for (const [place, { outcome, turn, reason }] of turns.entries()) {
      if (outcome === 'refused') report(batch[place]?.line ?? 0, reason ?? 'It was refused.')
      else if (outcome === 'kept' || outcome === 'known') count(outcome, turn?.scope, said[place]?.scope ?? scopes[0])
      else leaveOut(outcome === 'forgotten' ? 'forgotten before' : outcome)
    }
    heard.learnedCount += taken.length
    heard.learned.push(...taken.slice(0, maxListed - heard.learned.length))
    batch = []
    onProgress(bytes)
  }
  /** Adds a turn to the batch of its directory. */
  const add = async ({ line, turn, directory }: Extract<ChatItem, { kind: 'turn' }>): Promise<void> => {
    const here = scopesOf(directory)
    const isBefore = since !== undefined && turn.at !== undefined && parseTime('since', turn.at) < Date.parse(since)
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
      else if (!unknown.has(item.field) && unknown.size < maxListed) unknown.set(item.field, item.line)
    }
  } catch (error) {
    // After a system error, the rest of the file cannot be read. Errors of the memory itself (MemoryErrors) are thrown.
    if (error instanceof MemoryError || !(error instanceof Error && 'code' in error)) throw error
    report(0, `The file cannot be read (${String(error.code)}).`)
  }
  await flush()
  const warnings = [...unknown].map(([field, line]) => `${source}, ${unknownFieldWarning(field, line)}`)
  heard.warnings.push(...warnings.slice(0, maxListed - heard.warnings.length))
  heard.wasInterrupted = signal.aborted
}

export const learnedText = ({ outcome, belief, because }: LearnedStatement, style: Style, isDryRun = false): string =>
  lines(
    // A dry run stores nothing, so its ids are not shown.
    `  ${outcome} ${isDryRun ? `"${shortenText(belief.name)}"` : nameText(belief)} in ${style.cyan(belief.scopes.join(' and '))}`,
    `    ${shortenText(belief.content)}`,
    `    ${because}`,
  )

/** The answer of a command that stored a file or stream; `notes` also lists the unreadable lines. */
export function heardLinesAnswer(heard: HeardLines, isDryRun: boolean) {
  const { kept, known, leftOut, learned, learnedCount, problems, problemCount } = heard
  const would = isDryRun ? 'would be ' : ''
  const reasons = Object.entries(heard.leftOutBecause).map(([reason, count]) => `${count} ${reason}`)
  const because = reasons.length === 0 ? '' : ` (${reasons.sort().join(', ')})`
  const moreLearned = learnedCount - learned.length
  const moreProblems = problemCount - problems.length
  return {
    text: (style) =>
      lines(
        `${style.green(`${pluralize(kept, 'turn')} ${would}stored`)}, ${known} already known, ${leftOut} skipped${because}, ${pluralize(problemCount, 'line')} could not be read.`,
        Object.entries(heard.scopes)
          .sort(([a], [b]) => compareStrings(a, b))
          .map(([scope, { kept, known }]) => {
            return `  In ${style.cyan(scope)}: ${kept} ${would}stored, ${known} already known.`
          }),
        learnedCount > 0 && `${pluralize(learnedCount, 'statement')} found:`,
        learned.map((statement) => learnedText(statement, style, isDryRun)),
        moreLearned > 0 && `  and ${moreLearned} more`,
      ),
    notes: [
      ...heard.warnings.map((warning) => `warning: ${warning}`),
      ...problems.map(({ file, line, reason }) =>
        line === 0 ? `${file}: ${reason}` : `${file}, line ${line}: ${reason}`,
      ),
      ...(moreProblems > 0 ? [`and ${pluralize(moreProblems, 'more line')} that could not be read`] : []),
      ...Object.entries(heard.knownElsewhere).map(
        ([scope, count]) =>
          `${pluralize(count, 'known turn')} left in ${scope}. Turns cannot be moved; --scope ${scope} reads them there.`,
      ),
    ],
    exitCode: heard.wasInterrupted ? exitCodes.interrupted : problemCount > 0 ? exitCodes.invalid : exitCodes.fine,
  } satisfies Partial<CommandAnswer>
}

const message = stated({
  help: 'What was said. - reads JSON Lines of turns from standard input.',
  count: 'words',
  takesStdin: false,
  read: (words) => words.join(' '),
})

/** A line of JSON Lines, for the help. */
export const lineFormat =
  'an object such as {"session": "s1", "role": "user", "speaker": "Ana", "at": "2026-05-03T10:00:00Z", "text": "…"}'

export const hear = defineCommand({
  args: { message },
  options: {
    ...fieldOptions(heardTurn, 'role', 'speaker', 'session', 'messageId'),
    at: date('<time>', 'When it was said, such as 2026-05-03T10:00:00Z.', 'now'),
    dryRun: flag('Show what would be stored and learned, and change nothing.'),
    ...writeOptions,
  },
  description: `Secrets are masked. Learns requests to remember, standing instructions, and the person's name and similar facts. With -, each line of standard input is ${lineFormat}, of which only text is required.`,
  examples: {
    'credence hear "The boathouse key hangs behind the cupboard."':
      'Stores the sentence. `credence search "boathouse key"` finds it.',
    'credence hear "Remember that our staging port is 5433. Is it up?" --dry-run':
      'Shows that the port would be learned and the question ignored.',
    'credence hear - < turns.jsonl': 'Stores every turn of a file, and reports invalid lines.',
  },
  async run({ args, options }, session) {
    const { dir, homeScopes: scopes } = session.places.locate(options)
    const { maxTurnCharacters } = session.places.settings(options)
    const paused = pauseFor(dir, session.places.workingDirectory(), new Date())
    if (paused !== null && (options.as?.actor ?? 'person') !== 'person')
      return {
        document: { paused, turns: [], taken: [], refused: [] },
        text: () => `Nothing was stored: the memory is paused ${pauseText(paused)}.`,
      }
    const notes = pausedNotes(dir, session)
    const { role, speaker, at, messageId, dryRun } = options
    const said = omitUndefined({ role, speaker, at, messageId, session: options.session })
    const memory = await (dryRun ? session.memories.reading(options) : session.memories.writing(options))
    if (args.message !== '-') {
      const heard = await memory.hear({ text: args.message, ...said }, { scopes, maxTurnCharacters, dryRun })
      if (!dryRun) await addVectors(memory)
      const isRefused = heard.turns[0]?.outcome === 'refused'
      return {
        document: { dryRun, ...heard },
        text: (style) => heardText(heard, dryRun, style),
        notes,
        exitCode: isRefused ? exitCodes.invalid : exitCodes.fine,
      }
    }
    if (messageId !== undefined || at !== undefined)
      throw new UsageError('--message-id and --at are for one turn.', 'Give them in the lines: "messageId" and "at".')
    const { signal } = session.program.interruption()
    const items = readChatLines(readLines(session.terminal.streams().stdin))
    const source = 'standard input'
    const request = { source, defaults: said, scopesOf: () => scopes, maxTurnCharacters, dryRun, signal }
    const heard = newHeardLines()
    await hearLines(memory, items, heard, request)
    if (!dryRun) await addVectors(memory)
    const answer = heardLinesAnswer(heard, dryRun)
    return { document: { dryRun, ...heard }, ...answer, notes: [...notes, ...answer.notes] }
  },
})

const outcomes: Readonly<Record<HeardOutcome, string>> = {
  kept: 'Stored',
  known: 'Already stored',
  'off the record': 'Not stored, because it asks not to be',
  forgotten: 'Not stored, because it was forgotten before',
  refused: 'Refused',
}

const heardText = ({ turns, taken, refused }: HearResult, isDryRun: boolean, style: Style): string =>
  lines(
    isDryRun && style.yellow('Nothing was changed. Without --dry-run:'),
    turns.map(({ outcome, turn, reason }) => {
      const where = turn === null ? '' : ` in ${style.cyan(turn.scope)}, conversation ${turn.session}`
      return `${style.green(outcomes[outcome])}${where}${outcome === 'refused' ? `: ${reason ?? ''}` : '.'}`
    }),
    taken.length > 0 && ['Learned:', ...taken.map((statement) => learnedText(statement, style, isDryRun))],
    refused.length > 0 && 'Not learned:',
    refused.map(({ text: words, explanation }) => `  ${shortenText(words)}\n    ${explanation}`),
  )
