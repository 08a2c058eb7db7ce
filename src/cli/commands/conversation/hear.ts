import { turnRoles } from '../../../beliefs/turn.ts'
import { linesOf } from '../../../files/lines.ts'
import type { Heard, HeardOutcome } from '../../../memory/conversation/hear.ts'
import { pauseFor } from '../../../memory/conversation/pause.ts'
import { readChatLines } from '../../../memory/transfer/chats/read-chats.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type Argument, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { choice, date, text, writeOptions } from '../../command/options.ts'
import { short } from '../../text/beliefs.ts'
import { harmless, lines, type Style } from '../../text/output.ts'
import { heardLinesAnswer, hearLines, nothingHeard, takenText } from './hear-lines.ts'
import { pausedNotes, pauseText } from './pause.ts'

const message: Argument<string> = {
  help: 'What was said. - reads JSON Lines of turns from standard input.',
  count: 'words',
  takesStdin: false,
  read: (words) => words.join(' '),
}

/** A line of JSON Lines, for the help. */
export const lineFormat =
  'an object such as {"session": "s1", "role": "user", "speaker": "Ana", "at": "2026-05-03T10:00:00Z", "text": "…"}'

export const hear = defineCommand({
  args: { message },
  options: {
    role: { ...choice('<role>', turnRoles, 'Who said it.'), default: 'user' },
    speaker: text('<name>', "The speaker's name, in a conversation of several people."),
    session: { ...text('<id>', 'The conversation it belongs to.'), default: 'one for each day' },
    at: { ...date('<time>', 'When it was said, such as 2026-05-03T10:00:00Z.'), default: 'now' },
    messageId: text('<id>', 'The id of the message. A message with a known id is stored once.'),
    ...writeOptions,
  },
  description: `Secrets are masked. Learns requests to remember, standing instructions, and the person's name and similar facts. With -, each line of standard input is ${lineFormat}, of which only text is required.`,
  examples: {
    'credence hear "The boathouse key hangs behind the cupboard."':
      'Stores the sentence. `credence search "boathouse key"` finds it.',
    'credence hear - < turns.jsonl': 'Stores every turn of a file, and reports invalid lines.',
  },
  async run({ args, options }, session) {
    const { dir, homeScopes: scopes } = session.locate(options)
    const { maxTurnCharacters } = session.settings(options)
    const paused = pauseFor(dir, session.workingDirectory(), new Date())
    if (paused !== null && (options.as?.actor ?? 'person') !== 'person')
      return {
        document: { paused, turns: [], taken: [], refused: [] },
        text: () => `Nothing was stored: the memory is paused ${pauseText(paused)}.`,
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
    const items = readChatLines(linesOf(session.streams().stdin), 'jsonl')
    const request = { source: 'standard input', defaults: said, scopesOf: () => scopes, maxTurnCharacters, signal }
    const heard = nothingHeard()
    await hearLines(memory, items, heard, request)
    const answer = heardLinesAnswer(heard, false)
    return { document: heard, ...answer, notes: [...notes, ...answer.notes] }
  },
})

const outcomes: Readonly<Record<HeardOutcome, string>> = {
  kept: 'Stored',
  known: 'Already stored',
  'off the record': 'Not stored, because it asks not to be',
  forgotten: 'Not stored, because it was forgotten before',
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
