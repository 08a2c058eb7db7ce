import type { ForgottenTurns, TurnSelection } from '../../../memory/conversation/turns.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type Answer, defineCommand, UsageError, type ValuesOf } from '../../command/command.ts'
import { changeOptions, flag, optionalBelief, text, timeOptions } from '../../command/options.ts'
import { forgetQueued, type QueuedTurn } from '../../hooks/hook-queue.ts'
import type { Session } from '../../session.ts'
import { beliefBlock, called, dayOf, short } from '../../text/beliefs.ts'
import { counted, harmless, lines, plain } from '../../text/output.ts'
import { findSession } from '../conversation/conversations.ts'

const options = {
  chain: flag('Also forget its earlier and later versions, and proposals for it.'),
  turn: text('<id>', 'Forget this turn.'),
  session: text('<id>', 'Forget the turns of this conversation.'),
  since: { ...timeOptions.since, help: 'Forget turns of this day or later.' },
  until: { ...timeOptions.until, help: 'Forget turns up to this day.' },
  containing: text('<words>', 'Forget turns that contain these words. Given alone, also beliefs that do.'),
  dryRun: flag('Show what would be forgotten, and forget nothing.'),
  yes: flag('Do not ask.'),
  ...changeOptions,
}

export const forget = defineCommand({
  args: { belief: optionalBelief() },
  options,
  description:
    'Forgets a belief, or the turns that match all given options of --turn, --session, --since, --until and --containing. Cannot be undone: the text leaves the journal too. What remains is that something was forgotten, when and by whom.',
  examples: {
    'credence forget "home address"': 'Shows the belief and asks before it is gone.',
    'credence forget b-7k2m --chain --yes': 'Forgets it and every earlier version of it without asking.',
    'credence forget --containing "Elm Street"':
      'Shows which turns and beliefs contain the words, and asks before they are gone.',
    'credence forget --session 3f2a --since 2026-05-01': 'Forgets a part of one conversation.',
  },
  async run({ args: { belief: reference }, options: given }, session) {
    const { turn, session: conversation, since, until, containing } = given
    const selection = omitUndefined({ turn, session: conversation, since, until, containing })
    const isOfTurns = Object.keys(selection).length > 0
    if (isOfTurns === (reference !== undefined))
      throw new UsageError(
        isOfTurns ? 'Forget a belief and turns in two commands.' : 'Nothing says what to forget.',
        'Give a belief, or choose turns with --turn, --session, --since, --until or --containing.',
      )
    if (isOfTurns && given.chain) throw new UsageError('--chain is for beliefs.', 'Leave it out to forget turns.')
    if (!given.yes && !given.dryRun && !session.isInteractive())
      throw new UsageError(
        'Forgetting cannot be undone, and there is no terminal to ask at.',
        'Give --dry-run to see what would be forgotten, and --yes to forget it.',
      )
    const memory = await session.memory(given)
    return reference === undefined
      ? forgetTurns(memory, session, selection, given)
      : forgetBelief(memory, session, reference, given)
  },
})

type Options = ValuesOf<typeof options>

const nothingForgotten: Answer = { document: { forgotten: false }, text: () => 'Nothing was forgotten.' }

const receiptText = (event: number | null, hash: string): string => `  Receipt: change ${event}, ${hash.slice(0, 16)}`

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
  // By id, so that exactly what was shown is forgotten.
  const receipt = await memory.forget(found.belief.id, { wholeChain: chain, ...omitUndefined({ key }) })
  const { beliefIds, event, hash } = receipt
  const kept = found.chain.filter(({ id }) => !beliefIds.includes(id)).map(({ id }) => harmless(id))
  return {
    document: receipt,
    text: (style) =>
      lines(
        `${style.green('Forgotten')}: ${counted(beliefIds.length, 'belief')} (${beliefIds.map(harmless).join(', ')}).`,
        receiptText(event, hash),
      ),
    notes: kept.map((id) => `${id} of the same chain is kept; \`credence forget ${id}\` forgets it too.`),
  }
}

async function forgetTurns(
  memory: Memory,
  session: Session,
  { session: conversation, ...others }: TurnSelection,
  { yes, dryRun, key, ...given }: Options,
): Promise<Answer> {
  const inSession = conversation === undefined ? {} : { session: await findSession(memory, conversation) }
  const selection: TurnSelection = { ...others, ...inSession }
  const found = await memory.forgetTurns(selection, { dryRun: true })
  const notes = await stayingNotes(memory, found)
  const preview = previewOf(found)
  if (dryRun) return { document: { dryRun: true, ...found }, text: () => `Would be forgotten:\n${preview}`, notes }
  const question = [preview, ...notes, 'Forget this for good?'].join('\n')
  if (!yes && !(await session.confirm(question))) return nothingForgotten
  const { dir, user } = session.locate(given)
  const queued = forgetQueued(dir, (turn) => turn.user === user && isSelected(turn, selection))
  const receipt = await memory.forgetTurns(selection, omitUndefined({ key }))
  const waiting = queued === 0 ? '' : `, and ${counted(queued, 'message')} of hooks that had not been heard yet`
  return {
    document: { ...receipt, queued },
    text: (style) =>
      lines(
        `${style.green('Forgotten')}: ${counted(receipt.turns, 'turn')} and ${counted(receipt.beliefs, 'belief')}${waiting}.`,
        receipt.hash !== null && receiptText(receipt.event, receipt.hash),
      ),
    notes,
  }
}

const mostExamples = 5
const mostStaying = 20

function previewOf({ turns, beliefs, examples = [] }: ForgottenTurns): string {
  const shown = examples.slice(0, mostExamples)
  return lines(
    `${counted(turns, 'turn')} and ${counted(beliefs, 'belief')}`,
    shown.map(({ at, speaker, role, text: words }) => `  ${dayOf(at)} ${harmless(speaker ?? role)}: ${short(words)}`),
    turns > shown.length && shown.length > 0 && `  and ${counted(turns - shown.length, 'more turn')}`,
  )
}

/** Beliefs that were learned from the turns stay; they have their own command. */
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

/** Whether a message in the queue is one of those to forget. It has no id yet. */
const isSelected = (
  { session, at, text: words }: QueuedTurn,
  { turn, session: wanted, since, until, containing }: TurnSelection,
): boolean =>
  turn === undefined &&
  (wanted === undefined || session === wanted) &&
  (since === undefined || at >= since) &&
  (until === undefined || at <= until) &&
  (containing === undefined || (words ?? '').toLowerCase().includes(containing.toLowerCase()))
