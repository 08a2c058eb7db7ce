import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { linesOf } from '../../../files/lines.ts'
import { choice, defineCommand, flag, one } from '../../command.ts'
import { authorOptions, placeOptions, targetOptions } from '../../common-options.ts'
import { heardLinesText, problemLines } from '../../describe-heard.ts'
import { exitCodes } from '../../exit-codes.ts'
import { ProgressBar } from '../../progress-bar.ts'
import { hearLines } from '../../turn-lines.ts'

/** The forms of conversations that can be read. */
const chatFormats = ['jsonl'] as const

export const importChats = defineCommand({
  args: { file: one('A file of conversations: JSON Lines, one turn a line.') },
  options: {
    from: { ...choice('<format>', chatFormats, 'What wrote the file.'), default: 'jsonl' },
    dryRun: flag('Say what would be kept, and keep nothing.'),
    ...targetOptions,
    ...placeOptions,
    ...authorOptions,
  },
  description:
    'Keeps every turn word for word, with secrets masked. Statements in them become candidates for review, never beliefs. A turn that is known is not kept twice, so an import that was interrupted is simply run again. A line is an object such as {"session": "s1", "role": "user", "speaker": "Ana", "at": "2026-05-03T10:00:00Z", "text": "…"}; only text is needed. Lines that cannot be read are reported, and the rest is kept.',
  examples: [
    { command: 'credence import chats conversations.jsonl', effect: 'Keeps the turns of a file.' },
    {
      command: 'credence import chats conversations.jsonl --dry-run',
      effect: 'Counts what would be kept, and shows what could not be read.',
    },
  ],
  async run({ args: { file }, options }, session) {
    const size = sizeOf(file)
    const { homeScopes } = session.place(options)
    const { maxTurnCharacters } = session.settings(options)
    const bar = new ProgressBar(session.streams().stderr, session.machine.env)
    const startedAt = performance.now()
    const { signal, release } = session.interruption()
    try {
      const memory = await (options.dryRun ? session.reading(options) : session.memory(options))
      const heard = await hearLines(memory, linesOf(file), {
        defaults: { host: 'import' },
        learn: 'review',
        dryRun: options.dryRun,
        scopes: homeScopes,
        maxTurnCharacters,
        signal,
        onProgress: (bytes, turns) =>
          bar.show(
            `MB, ${turns} turns, ${timeLeft(bytes, size, performance.now() - startedAt)}`,
            mega(bytes),
            mega(size),
          ),
      })
      bar.clear()
      return {
        document: { file, dryRun: options.dryRun, ...heard },
        text: (style) => heardLinesText(heard, options.dryRun, style),
        notes: [
          ...problemLines(heard, basename(file)),
          ...(heard.wasInterrupted ? ['Interrupted. What was kept stays; run the import again to go on.'] : []),
          ...(heard.learnedCount > 0 && !options.dryRun ? ['Review what was found with `credence proposals`.'] : []),
          ...(heard.kept + heard.known + heard.problemCount === 0 ? [`${file} holds no turns.`] : []),
        ],
        exitCode: heard.wasInterrupted
          ? exitCodes.interrupted
          : heard.problemCount > 0
            ? exitCodes.invalid
            : exitCodes.fine,
      }
    } finally {
      bar.clear()
      release()
    }
  },
})

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw new MemoryError('not_found', `There is no file ${file}.`, { hint: 'Check the path.' })
  if (stats.isDirectory())
    throw new MemoryError('unavailable', `${file} cannot be read: it is a directory.`, {
      hint: 'Give a file of JSON Lines.',
    })
  return stats.size
}

const mega = (bytes: number): number => Math.ceil(bytes / 1_000_000)

function timeLeft(done: number, total: number, elapsedMs: number): string {
  const seconds = Math.ceil((elapsedMs * (total - done)) / Math.max(1, done) / 1_000)
  return seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`
}
