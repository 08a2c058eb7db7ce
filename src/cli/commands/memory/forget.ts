import type { ForgottenTurns, TurnSelection } from '../../../memory/conversation/forget-turns.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type Answer, defineCommand, flag, optional, text } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions, timeOptions } from '../../common-options.ts'
import { beliefBlock, called, dayOf, short } from '../../describe-belief.ts'
import { findSession } from '../../find-session.ts'
import { forgetQueued, type QueuedTurn } from '../../hooks/hook-queue.ts'
import { harmless, plain } from '../../output.ts'
import type { Session, StandpointOptions } from '../../session.ts'
import { counted } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'

export const forget = defineCommand({
  args: { belief: optional('The belief: its id, the beginning of it, its name or an alias.') },
  options: {
    chain: flag('Also forget everything it superseded, was superseded by, and what is proposed for it.'),
    turn: text('<id>', 'Forget this turn.'),
    session: text('<id>', 'Forget the turns of this conversation.'),
    since: { ...timeOptions.since, help: 'Forget turns of this day or later.' },
    until: { ...timeOptions.until, help: 'Forget turns up to this day.' },
    containing: text('<words>', 'Forget turns that contain these words. Given alone, also beliefs that do.'),
    dryRun: flag('Show what would be forgotten, and forget nothing.'),
    yes: flag('Do not ask.'),
    ...referenceOptions,
    ...placeOptions,
    ...authorOptions,
    ...keyOptions,
  },
  description:
    'Forgets a belief, or turns: those for which everything holds that is given of --turn, --session, --since, --until and --containing. Cannot be undone: the text leaves the journal too. What remains is that something was forgotten, when and by whom.',
  examples: [
    { command: 'credence forget "home address"', effect: 'Shows the belief and asks before it is gone.' },
    {
      command: 'credence forget b-7k2m --chain --yes',
      effect: 'Forgets it and every earlier version of it without asking.',
    },
    {
      command: 'credence forget --containing "Elm Street"',
      effect: 'Shows which turns and beliefs contain the words, and asks before they are gone.',
    },
    { command: 'credence forget --session 3f2a --since 2026-05-01', effect: 'Forgets a part of one conversation.' },
  ],
  async run({ args: { belief: reference }, options }, session) {
    const { turn, session: conversation, since, until, containing, yes, dryRun } = options
    const selection = omitUndefined({ turn, session: conversation, since, until, containing })
    const isOfTurns = Object.keys(selection).length > 0
    if (isOfTurns === (reference !== undefined))
      throw new UsageError(
        isOfTurns ? 'A belief and turns are forgotten one after the other.' : 'Nothing says what to forget.',
        'Give a belief, or choose turns with --turn, --session, --since, --until or --containing.',
      )
    if (isOfTurns && options.chain) throw new UsageError('--chain is for beliefs.', 'Leave it out to forget turns.')
    if (!yes && !dryRun && !session.isInteractive()) {
      throw new UsageError(
        'Forgetting cannot be undone, and there is no terminal to ask at.',
        'Give --dry-run to see what would be forgotten, and --yes to forget it.',
      )
    }
    const memory = await session.memory(options)
    return reference === undefined
      ? forgetTurns(memory, session, selection, options)
      : forgetBelief(memory, session, reference, options)
  },
})

type Options = StandpointOptions & {
  readonly chain: boolean
  readonly yes: boolean
  readonly dryRun: boolean
  readonly key: string | undefined
}

const nothingForgotten: Answer = { document: { forgotten: false }, text: () => 'Nothing was forgotten.' }

async function forgetBelief(
  memory: Memory,
  session: Session,
  reference: string,
  { chain, yes, dryRun, key }: Options,
): Promise<Answer> {
  const found = await memory.history(reference)
  const doomed = chain ? found.chain : [found.belief]
  const shown = doomed.map((one) => beliefBlock(one, plain(80))).join('\n')
  if (dryRun)
    return {
      document: { forgotten: false, beliefIds: doomed.map(({ id }) => id) },
      text: () => `Would be forgotten:\n${shown}`,
    }
  const question = `${shown}\nForget ${doomed.length === 1 ? 'this' : 'these'} for good?`
  if (!yes && !(await session.confirm(question))) return nothingForgotten
  // By id from here on: what was shown is what is forgotten.
  const receipt = await memory.forget(found.belief.id, { wholeChain: chain, ...omitUndefined({ key }) })
  return {
    document: receipt,
    text: (style) =>
      [
        `${style.green('Forgotten')}: ${counted(receipt.beliefIds.length, 'belief')} (${receipt.beliefIds.map(harmless).join(', ')}).`,
        `  Receipt: change ${receipt.event}, ${receipt.hash.slice(0, 16)}`,
      ].join('\n'),
    notes: found.chain
      .filter(({ id }) => !receipt.beliefIds.includes(id))
      .map(
        ({ id }) => `${harmless(id)} of the same chain is kept; \`credence forget ${harmless(id)}\` forgets it too.`,
      ),
  }
}

async function forgetTurns(
  memory: Memory,
  session: Session,
  given_: TurnSelection,
  { yes, dryRun, key, ...options }: Options,
): Promise<Answer> {
  const selection =
    given_.session === undefined ? given_ : { ...given_, session: await findSession(memory, given_.session) }
  const found = await memory.forgetTurns(selection, { dryRun: true })
  const stay = await stayingNotes(memory, found)
  if (dryRun)
    return { document: { dryRun: true, ...found }, text: () => `Would be forgotten:\n${previewOf(found)}`, notes: stay }
  const question = [previewOf(found), ...stay, 'Forget this for good?'].join('\n')
  if (!yes && !(await session.confirm(question))) return nothingForgotten
  const { dir, user } = session.place(options)
  const queued = forgetQueued(dir, (turn) => turn.user === user && isMeant(turn, selection))
  const receipt = await memory.forgetTurns(selection, omitUndefined({ key }))
  return {
    document: { ...receipt, queued },
    text: (style) =>
      [
        `${style.green('Forgotten')}: ${counted(receipt.turns, 'turn')} and ${counted(receipt.beliefs, 'belief')}${queued === 0 ? '' : `, and ${counted(queued, 'message')} of hooks that had not been heard yet`}.`,
        ...(receipt.hash === null ? [] : [`  Receipt: change ${receipt.event}, ${receipt.hash.slice(0, 16)}`]),
      ].join('\n'),
    notes: stay,
  }
}

function previewOf({ turns, beliefs, examples = [] }: ForgottenTurns): string {
  const shown = examples.slice(0, mostExamples)
  return [
    `${counted(turns, 'turn')} and ${counted(beliefs, 'belief')}`,
    ...shown.map(
      ({ at, speaker, role, text: words }) => `  ${dayOf(at)} ${harmless(speaker ?? role)}: ${short(words)}`,
    ),
    ...(turns > shown.length && shown.length > 0 ? [`  and ${counted(turns - shown.length, 'more turn')}`] : []),
  ].join('\n')
}

const mostExamples = 5

/** Beliefs that came of the turns are somebody's decision by now, and stay. */
async function stayingNotes(memory: Memory, { beliefsFromThem }: ForgottenTurns): Promise<readonly string[]> {
  const notes: string[] = []
  for (const id of beliefsFromThem.slice(0, mostStaying)) {
    const belief = await memory.get(id)
    notes.push(
      `${called(belief)}, learned from them, stays: ${short(belief.content)} \`credence forget ${harmless(id)}\` forgets it too.`,
    )
  }
  const more = beliefsFromThem.length - notes.length
  return more > 0 ? [...notes, `${counted(more, 'more belief')} learned from them stay.`] : notes
}

const mostStaying = 20

/** Whether a message that waits to be heard is one of those to forget. It has no id yet. */
function isMeant(
  { session, at, text: words }: QueuedTurn,
  { turn, session: wanted, since, until, containing }: TurnSelection,
): boolean {
  return (
    turn === undefined &&
    (wanted === undefined || session === wanted) &&
    (since === undefined || at >= since) &&
    (until === undefined || at <= until) &&
    (containing === undefined || (words ?? '').toLowerCase().includes(containing.toLowerCase()))
  )
}
