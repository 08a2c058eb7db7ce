import { turnRoles } from '../../../beliefs/turn.ts'
import type { Heard, HeardOutcome } from '../../../memory/conversation/hear.ts'
import { pauseFor } from '../../../memory/conversation/pause.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type Argument, choice, defineCommand, text } from '../../command.ts'
import { authorOptions, placeOptions, targetOptions } from '../../common-options.ts'
import { short } from '../../describe-belief.ts'
import { heardLinesText, problemLines, takenText } from '../../describe-heard.ts'
import { exitCodes } from '../../exit-codes.ts'
import { harmless, type Style } from '../../output.ts'
import { hearLines } from '../../turn-lines.ts'
import { UsageError } from '../../usage-error.ts'
import { pausedNotes, pauseText } from './pause.ts'

const message: Argument<string> = {
  help: 'What was said. - reads JSON Lines of turns from standard input.',
  count: 'words',
  takesStdin: false,
  read: (words) => words.join(' '),
}

export const hear = defineCommand({
  args: { message },
  options: {
    role: { ...choice('<role>', turnRoles, 'Who said it.'), default: 'user' },
    speaker: text('<name>', "The speaker's name, in a conversation of several people."),
    session: { ...text('<id>', 'The conversation it belongs to.'), default: 'one for each day' },
    at: { ...text('<time>', 'When it was said, such as 2026-05-03T10:00:00Z.'), default: 'now' },
    messageId: text('<id>', 'The id of the message. A message that is known by its id is not kept twice.'),
    ...targetOptions,
    ...placeOptions,
    ...authorOptions,
  },
  description:
    'Keeps what was said word for word, with secrets masked, and learns what it asks to be remembered, standing instructions and who the person is. A line of JSON Lines is an object such as {"session": "s1", "role": "user", "speaker": "Ana", "at": "2026-05-03T10:00:00Z", "text": "…"}, of which only text is needed.',
  examples: [
    {
      command: 'credence hear "The boathouse key hangs behind the cupboard."',
      effect: 'Keeps the sentence. `credence search "boathouse key"` finds it again.',
    },
    {
      command: 'credence hear - < turns.jsonl',
      effect: 'Keeps every turn of a file, and reports lines that are wrong.',
    },
  ],
  async run({ args, options }, session) {
    const { dir, homeScopes } = session.place(options)
    const { maxTurnCharacters } = session.settings(options)
    const paused = pauseFor(dir, session.workingDirectory(), new Date())
    const isPerson = (options.as ?? { actor: 'person' }).actor === 'person'
    if (paused !== null && !isPerson) {
      return {
        document: { paused, turns: [], taken: [], refused: [] },
        text: () => `Nothing was kept: the memory is paused ${pauseText(paused)}.`,
      }
    }
    const notes = pausedNotes(dir, session)
    const { role, speaker, at, messageId } = options
    const said = omitUndefined({ role, speaker, at, messageId, session: options.session })
    const memory = await session.memory(options)
    if (args.message !== '-') {
      const heard = await memory.hear({ text: args.message, ...said }, { scopes: homeScopes, maxTurnCharacters })
      const [turn] = heard.turns
      return {
        document: heard,
        text: (style) => heardText(heard, style),
        notes,
        exitCode: turn?.outcome === 'refused' ? exitCodes.invalid : exitCodes.fine,
      }
    }
    if (messageId !== undefined || at !== undefined)
      throw new UsageError('--message-id and --at are for one turn.', 'Give them in the lines: "messageId" and "at".')
    const { linesOf } = await import('../../../files/lines.ts')
    const { signal, release } = session.interruption()
    try {
      const heard = await hearLines(memory, linesOf(session.streams().stdin), {
        defaults: said,
        scopes: homeScopes,
        maxTurnCharacters,
        signal,
      })
      return {
        document: heard,
        text: (style) => heardLinesText(heard, false, style),
        notes: [...notes, ...problemLines(heard, 'standard input')],
        exitCode: heard.wasInterrupted
          ? exitCodes.interrupted
          : heard.problemCount > 0
            ? exitCodes.invalid
            : exitCodes.fine,
      }
    } finally {
      release()
    }
  },
})

const outcomes: Readonly<Record<HeardOutcome, string>> = {
  kept: 'Kept',
  known: 'Known already, and not kept again',
  'off the record': 'Not kept, because it asks not to be',
  forgotten: 'Not kept, because it was forgotten once',
  refused: 'Refused',
}

function heardText({ turns, taken, refused }: Heard, style: Style): string {
  return [
    ...turns.map(({ outcome, turn, reason }) => {
      const where =
        turn === null ? '' : ` in ${style.cyan(harmless(turn.scope))}, conversation ${harmless(turn.session)}`
      return `${style.green(outcomes[outcome])}${where}${outcome === 'refused' ? `: ${harmless(reason ?? '')}` : '.'}`
    }),
    ...(taken.length === 0 ? [] : ['Learned:', ...taken.map((one) => takenText(one, style))]),
    ...(refused.length === 0 ? [] : ['Not learned:']),
    ...refused.map(({ text: words, explanation }) => `  ${short(words)}\n    ${harmless(explanation)}`),
  ].join('\n')
}
