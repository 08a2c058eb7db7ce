import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { turnRoles } from '../../../beliefs/turn.ts'
import { MemoryError } from '../../../errors.ts'
import { linesOf } from '../../../files/lines.ts'
import type { Heard, HeardOutcome } from '../../../memory/conversation/hear.ts'
import { pauseFor } from '../../../memory/conversation/pause.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type Argument, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { choice, flag, one, text, writeOptions } from '../../command/options.ts'
import { short } from '../../text/beliefs.ts'
import { harmless, lines, type Style } from '../../text/output.ts'
import { ProgressBar } from '../../text/progress-bar.ts'
import { heardLinesAnswer, hearLines, takenText } from './hear-lines.ts'
import { pausedNotes, pauseText } from './pause.ts'

const message: Argument<string> = {
  help: 'What was said. - reads JSON Lines of turns from standard input.',
  count: 'words',
  takesStdin: false,
  read: (words) => words.join(' '),
}

const lineFormat =
  'an object such as {"session": "s1", "role": "user", "speaker": "Ana", "at": "2026-05-03T10:00:00Z", "text": "…"}'

export const hear = defineCommand({
  args: { message },
  options: {
    role: { ...choice('<role>', turnRoles, 'Who said it.'), default: 'user' },
    speaker: text('<name>', "The speaker's name, in a conversation of several people."),
    session: { ...text('<id>', 'The conversation it belongs to.'), default: 'one for each day' },
    at: { ...text('<time>', 'When it was said, such as 2026-05-03T10:00:00Z.'), default: 'now' },
    messageId: text('<id>', 'The id of the message. A message that is known by its id is not kept twice.'),
    ...writeOptions,
  },
  description: `Secrets are masked. Learns requests to remember, standing instructions and who the person is. A line of JSON Lines is ${lineFormat}, of which only text is needed.`,
  examples: {
    'credence hear "The boathouse key hangs behind the cupboard."':
      'Keeps the sentence. `credence search "boathouse key"` finds it again.',
    'credence hear - < turns.jsonl': 'Keeps every turn of a file, and reports lines that are wrong.',
  },
  async run({ args, options }, session) {
    const { dir, homeScopes: scopes } = session.locate(options)
    const { maxTurnCharacters } = session.settings(options)
    const paused = pauseFor(dir, session.workingDirectory(), new Date())
    if (paused !== null && (options.as?.actor ?? 'person') !== 'person')
      return {
        document: { paused, turns: [], taken: [], refused: [] },
        text: () => `Nothing was kept: the memory is paused ${pauseText(paused)}.`,
      }
    const notes = pausedNotes(dir, session)
    const { role, speaker, at, messageId } = options
    const said = omitUndefined({ role, speaker, at, messageId, session: options.session })
    const memory = await session.memory(options)
    if (args.message !== '-') {
      const heard = await memory.hear({ text: args.message, ...said }, { scopes, maxTurnCharacters })
      const isRefused = heard.turns[0]?.outcome === 'refused'
      return {
        document: heard,
        text: (style) => heardText(heard, style),
        notes,
        exitCode: isRefused ? exitCodes.invalid : exitCodes.fine,
      }
    }
    if (messageId !== undefined || at !== undefined)
      throw new UsageError('--message-id and --at are for one turn.', 'Give them in the lines: "messageId" and "at".')
    const { signal } = session.interruption()
    const request = { defaults: said, scopes, maxTurnCharacters, signal }
    const heard = await hearLines(memory, linesOf(session.streams().stdin), request)
    const answer = heardLinesAnswer(heard, { source: 'standard input', isDryRun: false })
    return { document: heard, ...answer, notes: [...notes, ...answer.notes] }
  },
})

const outcomes: Readonly<Record<HeardOutcome, string>> = {
  kept: 'Kept',
  known: 'Known already, and not kept again',
  'off the record': 'Not kept, because it asks not to be',
  forgotten: 'Not kept, because it was forgotten once',
  refused: 'Refused',
}

const heardText = ({ turns, taken, refused }: Heard, style: Style): string =>
  lines(
    turns.map(({ outcome, turn, reason }) => {
      const where =
        turn === null ? '' : ` in ${style.cyan(harmless(turn.scope))}, conversation ${harmless(turn.session)}`
      return `${style.green(outcomes[outcome])}${where}${outcome === 'refused' ? `: ${harmless(reason ?? '')}` : '.'}`
    }),
    taken.length > 0 && ['Learned:', ...taken.map((one) => takenText(one, style))],
    refused.length > 0 && 'Not learned:',
    refused.map(({ text: words, explanation }) => `  ${short(words)}\n    ${harmless(explanation)}`),
  )

export const importChats = defineCommand({
  args: { file: one('A file of conversations: JSON Lines, one turn a line.') },
  options: {
    from: { ...choice('<format>', ['jsonl'], 'What wrote the file.'), default: 'jsonl' },
    dryRun: flag('Count the turns that would be kept, and keep nothing.'),
    ...writeOptions,
  },
  description: `Keeps every turn word for word, with secrets masked. Statements in them become candidates for review, never beliefs. A turn that is known is not kept twice, so an import that was interrupted is simply run again. A line is ${lineFormat}; only text is needed. Lines that cannot be read are reported, and the rest is kept.`,
  examples: {
    'credence import chats conversations.jsonl': 'Keeps the turns of a file.',
    'credence import chats conversations.jsonl --dry-run':
      'Counts the turns that would be kept, and lists the lines that cannot be read.',
  },
  async run({ args: { file }, options }, session) {
    const size = sizeOf(file)
    const { dryRun } = options
    const { homeScopes: scopes } = session.locate(options)
    const { maxTurnCharacters } = session.settings(options)
    const bar = new ProgressBar(session.streams().stderr, session.machine.env)
    const startedAt = performance.now()
    const { signal } = session.interruption()
    const onProgress = (bytes: number, turns: number): void => {
      const left = timeLeft(bytes, size, performance.now() - startedAt)
      bar.show(`MB, ${turns} turns, ${left}`, mega(bytes), mega(size))
    }
    try {
      const memory = await (dryRun ? session.reading(options) : session.memory(options))
      const request = { defaults: { host: 'import' }, learn: 'review', dryRun, scopes, maxTurnCharacters } as const
      const heard = await hearLines(memory, linesOf(file), { ...request, signal, onProgress })
      const answer = heardLinesAnswer(heard, { source: basename(file), isDryRun: dryRun })
      return {
        document: { file, dryRun, ...heard },
        ...answer,
        notes: [
          ...answer.notes,
          ...(heard.wasInterrupted ? ['Interrupted. What was kept stays; run the import again to go on.'] : []),
          ...(heard.learnedCount > 0 && !dryRun ? ['Review what was found with `credence proposals`.'] : []),
          ...(heard.kept + heard.known + heard.problemCount === 0 ? [`${file} holds no turns.`] : []),
        ],
      }
    } finally {
      bar.clear()
    }
  },
})

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw new MemoryError('not_found', `There is no file ${file}.`, { hint: 'Check the path.' })
  if (!stats.isDirectory()) return stats.size
  const hint = 'Give a file of JSON Lines.'
  throw new MemoryError('unavailable', `${file} cannot be read: it is a directory.`, { hint })
}

const mega = (bytes: number): number => Math.ceil(bytes / 1_000_000)

function timeLeft(done: number, total: number, elapsedMs: number): string {
  const seconds = Math.ceil((elapsedMs * (total - done)) / Math.max(1, done) / 1_000)
  return seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`
}
