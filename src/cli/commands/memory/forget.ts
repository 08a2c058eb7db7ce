import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import type { Belief } from '../../../beliefs/belief.ts'
import type { Turn } from '../../../beliefs/turn.ts'
import { type ErasedCopies, eraseCopies } from '../../../copied-texts.ts'
import { MemoryError, notFound, nullIfNotFound } from '../../../errors.ts'
import type { ForgottenTexts } from '../../../files/erase-texts.ts'
import { shellWord } from '../../../files/own-files.ts'
import { localDay } from '../../../local-time.ts'
import type { ForgottenTurns, TurnSelection } from '../../../memory/conversation/turns.ts'
import type { Memory } from '../../../memory/memory.ts'
import { syncIfThere } from '../../../memory/mirror/sync-on-commit.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import {
  type CommandAnswer,
  defineCommand,
  exitCodes,
  kebab,
  UsageError,
  type ValuesOf,
} from '../../command/command.ts'
import { changeOptions, flag, optionalBelief, text, timeOptions, wholeNumber } from '../../command/options.ts'
import { forgetQueued, type QueuedTurn, queueAwaited } from '../../hooks/hook-queue.ts'
import type { MemoryLocation, Session } from '../../session.ts'
import { beliefBlock, nameText, shortenText } from '../../text/beliefs.ts'
import { lines, listShort, plainStyle, pluralize, type Style } from '../../text/output.ts'
import { collectTexts, type Proof, searchFiles } from '../../verify-forgotten.ts'
import { findSession } from '../conversation/conversations.ts'
import { readKnownBackups } from './backup.ts'
import { resolveBeliefOrTurn } from './belief-or-turn.ts'

const options = {
  chain: flag('Also forget its earlier and later versions, and proposals for it.'),
  keepTurns: flag('Keep the messages that the belief was learned from, or that state it too.'),
  turn: text('<id>', 'Forget this turn.'),
  session: text('<id>', 'Forget the turns of this conversation.'),
  since: { ...timeOptions.since, help: 'Forget turns of this day or later.' },
  until: { ...timeOptions.until, help: 'Forget turns up to this day.' },
  containing: text(
    '<words>',
    'Forget turns that contain these words. Without other filters, also forget beliefs that contain them.',
  ),
  reinstate: wholeNumber(
    'Forget nothing; allow the texts that this change forgot to be heard, imported or synced again. The receipt of forgetting has its number.',
    { min: 1 },
  ),
  dryRun: flag('Show what would be forgotten, and forget nothing.'),
  verify: flag('Search every file of the memory for the forgotten texts afterwards, byte by byte.'),
  yes: flag('Do not ask.'),
  ...changeOptions,
}

export const forget = defineCommand({
  args: { belief: optionalBelief(' Or the id of a turn.') },
  options,
  description:
    'Erases a belief with the messages that state it, or the turns that match all given options of --turn, --session, --since, --until and --containing. Cannot be undone: the text is removed from the journal, the index, MEMORY.md, captured cases, runs, queued messages of hooks and the backups in the memory directory. A run that lost text is marked as edited and is no longer compared; a captured case that expects a forgotten belief or quote is removed. The journal records only that something was forgotten, when and by whom.',
  exitCodes: [exitCodes.degraded],
  examples: {
    'credence forget "home address"': 'Shows the belief and the messages that state it, and asks before erasing them.',
    'credence forget "home address" --keep-turns': 'Erases the belief and keeps the messages.',
    'credence forget b-7k2m --chain --yes': 'Forgets it and every earlier version of it without asking.',
    'credence forget --containing "Elm Street"':
      'Shows which turns and beliefs contain the words, and asks before erasing them.',
    'credence forget --session 3f2a --since 2026-05-01': 'Forgets a part of one conversation.',
    'credence forget --containing "48213" --yes --verify':
      'Erases everything that contains the words, then checks that no file contains them.',
  },
  async run({ args: { belief: reference }, options: given }, session) {
    if (given.reinstate !== undefined) return reinstate(session, given.reinstate, given)
    const { turn, session: conversation, since, until, containing } = given
    const selection = omitUndefined({ turn, session: conversation, since, until, containing })
    const isOfTurns = Object.keys(selection).length > 0
    if (isOfTurns === (reference !== undefined))
      throw new UsageError(
        isOfTurns ? 'Forget a belief and turns in two commands.' : 'Nothing to forget was given.',
        'Give a belief, or select turns with --turn, --session, --since, --until or --containing.',
      )
    for (const option of ['chain', 'keepTurns'] as const)
      if (isOfTurns && given[option])
        throw new UsageError(`--${kebab(option)} is for beliefs.`, 'Leave it out to forget turns.')
    if (given.verify && given.dryRun)
      throw new UsageError('--verify cannot be combined with --dry-run.', 'Leave out --dry-run or --verify.')
    const copies: Copies = { forgotten: [], changed: new Set(), unchanged: [] }
    const note = (forgotten: ForgottenTexts, { changed, unchanged }: ErasedCopies): void => {
      copies.forgotten.push(forgotten)
      for (const file of changed) copies.changed.add(file)
      copies.unchanged.push(...unchanged)
    }
    // Only a reference needs an existing memory: selected text may be in the queue of a hook before a memory exists.
    const mayBeQueued = reference === undefined && existsSync(session.places.locate(given).dir)
    if (!mayBeQueued) await session.places.locateExisting(given)
    const memory = await session.memories.writing({ ...given, onErased: note })
    const { dir } = session.places.locate(given)
    // Stores awaited answers first; otherwise they would be stored after the belief or the turns were forgotten.
    if (queueAwaited(dir, () => true)) await (await import('../../hooks/hear-queue.ts')).hearQueue(session, dir)
    const named = reference?.startsWith('t-') ? await turnOrBelief(memory, reference) : null
    const plan =
      reference === undefined || named !== null
        ? await planTurns(memory, named === null ? selection : { turn: named.id }, given, session)
        : await planBelief(memory, reference, given)
    if (given.dryRun)
      return { document: plan.document, text: () => `Would be forgotten:\n${plan.preview}`, notes: plan.notes }
    const question = [plan.preview, ...plan.notes, 'Forget this for good?'].join('\n')
    const refusal = new UsageError(
      'Forgetting cannot be undone, and there is no terminal to ask for confirmation.',
      'Give --dry-run to see what would be forgotten, and --yes to forget it.',
    )
    if (!given.yes && !(await session.terminal.confirm(question, refusal))) return nothingForgotten
    // Shows progress, because rewriting the file of a large store takes seconds.
    const answer = await session.terminal.withProgress((bar) => {
      bar.show('erasing', 0, 1)
      return plan.erase()
    })
    if (containing !== undefined) {
      const forgotten = { beliefIds: [], said: [containing], names: [] }
      const { evalStoreDir } = session.places.settings(given)
      note(forgotten, await eraseCopies({ dir, evalStoreDir }, forgotten))
    }
    const proof = given.verify ? await proveForgotten(memory, copies, session, given) : null
    const location = session.places.locate(given)
    const isLater = proof === null && !(await isScrubbed(session, location, { ifSmall: true }))
    return withCopies({ ...answer, notes: plan.notes }, copies, { proof, isLater }, location)
  },
})

async function reinstate(session: Session, event: number, options: Options): Promise<CommandAnswer> {
  const { dir, user } = await session.places.locateExisting(options)
  const texts = await session.memories.withPorts(dir, async (ports) => (await ports.sync?.())?.reinstate(user, event))
  if (texts === undefined || texts === 0)
    throw new MemoryError('not_found', `Change ${event} has no forgotten text that is kept out.`, {
      hint: 'The receipt of `credence forget`, and `credence history`, show the number of the change.',
    })
  return {
    document: { event, texts },
    text: () => `${pluralize(texts, 'text')} of change ${event} may be stored again on this device.`,
  }
}

/** The turn that a reference names; null if it names a belief. */
const turnOrBelief = (memory: Memory, reference: string): Promise<Turn | null> =>
  resolveBeliefOrTurn<Turn | null>(memory, reference, {
    belief: async () => {
      await memory.get(reference)
      return null
    },
    turn: async (found) => found,
  })

/** The forgotten texts, the files outside the store from which they were erased, and those that could not be changed. */
type Copies = {
  readonly forgotten: ForgottenTexts[]
  readonly changed: Set<string>
  readonly unchanged: ErasedCopies['unchanged'][number][]
}

async function proveForgotten(memory: Memory, { forgotten }: Copies, session: Session, given: Options): Promise<Proof> {
  const location = session.places.locate(given)
  const { dir, user } = location
  const evals = session.places.evalRoot(given)
  const said = forgotten.flatMap((text) => text.said)
  const names = forgotten.flatMap((text) => text.names)
  const texts = await collectTexts(memory, { beliefIds: [], said, names })
  // First syncs MEMORY.md, which may be outdated, and scrubs the store, because forgetting does not scrub a large or busy
  // one. Then closes the memory, because files of an open store must not be read.
  await session.memories.withPorts(dir, (ports) => syncIfThere(ports, { dir, user }))
  await isScrubbed(session, location, { ifSmall: false })
  await memory.close()
  return session.terminal.withProgress(async (bar) =>
    searchFiles({ dir, evals }, texts, (files) => bar.show('files searched', files, files)),
  )
}

/** Scrubs the store if the forget could not. False if forgotten text may still be left in unused parts of its file. */
async function isScrubbed(
  session: Session,
  { dir, store }: MemoryLocation,
  { ifSmall }: { readonly ifSmall: boolean },
): Promise<boolean> {
  // A PostgreSQL server vacuums by itself, and has no file here.
  if (store !== undefined && ifSmall) return true
  try {
    return await session.terminal.withProgress((bar) => {
      bar.show('rewriting the store', 0, 1)
      return session.memories.withPorts(dir, (ports) => ports.store.scrub({ ifSmall }))
    })
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return false
  }
}

type Outcome = {
  readonly proof: Proof | null
  /** Whether unused parts of the store's file may contain forgotten text until a later scrub. */
  readonly isLater: boolean
}

async function withCopies(
  answer: CommandAnswer,
  copies: Copies,
  { proof, isLater }: Outcome,
  { dir, store }: MemoryLocation,
) {
  const changed = [...copies.changed]
  const unchanged = copies.unchanged
  const backups = (await readKnownBackups(dir)).filter(({ file }) => relative(dir, file).startsWith('..'))
  const at = (file: string): string => relative(dir, file)
  const isLeft = proof !== null && proof.found.length > 0
  return {
    document: {
      ...(answer.document as object),
      erased: { changed, unchanged },
      backups,
      unusedSpace: isLater ? 'doctor' : 'cleared',
      ...(proof === null ? {} : { proof }),
    },
    text: (style: Style) =>
      lines(
        String(answer.text(style)),
        changed.length > 0 &&
          `  Also erased in ${pluralize(changed.length, 'file')}: ${listShort(changed.map(at), maxFiles)}`,
        proof !== null && proofText(proof, at, style),
      ),
    notes: [
      ...(answer.notes ?? []),
      unchanged.map(({ file, reason }) => `warning: ${at(file)} could not be changed: ${reason}`),
      backups.map(({ file, at: made }) => {
        return `${file}, a backup of ${localDay(made)}, is not changed; delete it if it may contain the text.`
      }),
      isLater &&
        'No command returns the text any more, but bytes of it may be left in unused parts of the store, because the file has more than 100 MB, its disk is full, or another process is reading it. `credence doctor` removes them.',
      proof !== null &&
        store !== undefined &&
        'Only files were searched. No table of PostgreSQL holds the text; its write-ahead log, standbys and backups may: see docs/postgres.md.',
      isLeft &&
        'Close programs that use the memory, remove the text from your own notes, and run it again with --containing.',
    ],
    exitCode: isLeft ? exitCodes.degraded : exitCodes.fine,
  }
}

const maxFiles = 10

function proofText(
  { files, bytes, texts, alsoSaidByOthers, others, found }: Proof,
  at: (file: string) => string,
  style: Style,
): string {
  const searched = `${pluralize(files, 'file')}, ${bytes} bytes searched for ${pluralize(texts, 'text')}`
  const stays = `${pluralize(alsoSaidByOthers, 'text')}, because these contain it and were kept on purpose: ${listShort(others, maxFiles)}.`
  const nothing = alsoSaidByOthers > 0 ? `Only this is left: ${stays}` : 'Nothing is left.'
  return lines(
    found.length === 0
      ? texts > 0 && `${style.green('Verified')}: ${searched}. ${nothing}`
      : `${style.red('Left')}: ${searched}. Found in ${pluralize(found.length, 'file')}:`,
    found.map(({ file, times }) => `  ${at(file)}: ${times === 1 ? 'once' : `${times} times`}`),
    alsoSaidByOthers > 0 && (found.length > 0 || texts === 0) && `${style.yellow('Still stored')}: ${stays}`,
  )
}

type Options = ValuesOf<typeof options>

const nothingForgotten: CommandAnswer = { document: { forgotten: false }, text: () => 'Nothing was forgotten.' }

/**
 * The plan of a forget: a preview of the erased and the kept items, for the confirmation and for --dry-run, and the
 * function that erases.
 */
type Plan = {
  readonly preview: string
  readonly notes: readonly string[]
  readonly document: object
  readonly erase: () => Promise<CommandAnswer>
}

const receiptText = (event: number | null, hash: string): string => `  Receipt: change ${event}, ${hash.slice(0, 16)}`

async function planBelief(memory: Memory, reference: string, { chain, keepTurns, key }: Options): Promise<Plan> {
  const found = await nullIfNotFound(() => memory.history(reference))
  const hint = `List beliefs with \`credence beliefs\`, or forget all that contains these words: \`credence forget --containing ${shellWord(reference)}\`.`
  if (found === null) throw notFound(`There is no belief "${reference}".`, hint)
  const { belief, chain: versions } = found
  // Uses the id, so that exactly the shown items are forgotten.
  const target = { wholeChain: chain, keepTurns }
  const { beliefs: selected, turns } = await memory.previewForget(belief.id, target)
  const { turns: stating } = keepTurns ? await memory.previewForget(belief.id, { wholeChain: chain }) : { turns: [] }
  const kept = versions.filter(({ id }) => !selected.some((belief) => belief.id === id))
  const ids = versions.map(({ id }) => id)
  const ageOf = ({ id }: Belief): string => (ids.indexOf(id) < ids.indexOf(belief.id) ? 'earlier' : 'later')
  const left = { kept: kept.map(({ id }) => id), keptTurnIds: stating.map(({ id }) => id) }
  return {
    preview: lines(
      selected.map((belief) => beliefBlock(belief, plainStyle(80))),
      turnLines('These messages state it too and go with it (--keep-turns keeps them):', turns),
    ),
    notes: [
      ...kept.map((belief) => `The ${ageOf(belief)} version ${belief.id} is kept: ${shortenText(belief.content)}`),
      ...kept.slice(0, 1).map(({ id }) => `\`credence forget ${id} --chain\` forgets all versions.`),
      ...turnLines('Kept on purpose, these messages state it:', stating),
    ],
    document: {
      forgotten: false,
      beliefIds: selected.map(({ id }) => id),
      turnIds: turns.map(({ id }) => id),
      ...left,
    },
    erase: async () => {
      const receipt = await memory.forget(belief.id, { ...target, ...omitUndefined({ key }) })
      const { beliefIds, event, hash } = receipt
      const said = receipt.turns === 0 ? '' : `, and ${pluralize(receipt.turns, 'message')} that stated it`
      const erased = `${pluralize(beliefIds.length, 'belief')} (${beliefIds.join(', ')})${said}`
      return {
        document: { ...receipt, ...left },
        text: (style) => lines(`${style.green('Forgotten')}: ${erased}.`, receiptText(event, hash)),
      }
    },
  }
}

async function planTurns(
  memory: Memory,
  { session: conversation, ...others }: TurnSelection,
  { key, ...given }: Options,
  session: Session,
): Promise<Plan> {
  const { dir, user } = session.places.locate(given)
  const inSession = conversation === undefined ? {} : { session: await findSession(memory, conversation) }
  const selection: TurnSelection = { ...others, ...inSession }
  const found = await memory.forgetTurns(selection, { dryRun: true })
  const erase = async (): Promise<CommandAnswer> => {
    const queued = forgetQueued(dir, (turn) => turn.user === user && isSelected(turn, selection))
    const receipt = await memory.forgetTurns(selection, omitUndefined({ key }))
    const waiting = queued === 0 ? '' : `, and ${pluralize(queued, 'message')} of hooks that had not been stored yet`
    const erased = `${pluralize(receipt.turns, 'turn')} and ${pluralize(receipt.beliefs, 'belief')}${waiting}`
    return {
      document: { ...receipt, queued },
      text: (style) =>
        lines(
          `${style.green('Forgotten')}: ${erased}.`,
          receipt.hash !== null && receiptText(receipt.event, receipt.hash),
        ),
    }
  }
  const notes = await stayingNotes(memory, found)
  return { preview: previewOf(found), notes, document: { dryRun: true, ...found }, erase }
}

const maxExamples = 5
const maxStaying = 20

const previewOf = ({ turns, beliefs, examples = [], beliefExamples = [] }: ForgottenTurns): string =>
  lines(
    `${pluralize(turns, 'turn')} and ${pluralize(beliefs, 'belief')}`,
    listFirst(examples, turns, 'turn', exampleLine),
    listFirst(beliefExamples, beliefs, 'belief', (belief) => `  ${nameText(belief)}: ${shortenText(belief.content)}`),
  )

/** A title with the first messages below it; empty if there are no messages. */
const turnLines = (title: string, turns: readonly Turn[]): readonly string[] =>
  turns.length === 0 ? [] : [title, ...listFirst(turns, turns.length, 'message', exampleLine)]

function listFirst<Item>(items: readonly Item[], total: number, noun: string, lineOf: (item: Item) => string) {
  const shown = items.slice(0, maxExamples).map(lineOf)
  const more = total - shown.length
  return more > 0 && shown.length > 0 ? [...shown, `  and ${pluralize(more, `more ${noun}`)}`] : shown
}

const exampleLine = ({ id, at, utcOffset, speaker, role, text: words }: Turn): string =>
  `  ${localDay(at, utcOffset)} ${speaker ?? role} (${id}): ${shortenText(words)}`

/** Notes that beliefs learned from the turns are kept, with the command that forgets each of them. */
async function stayingNotes(memory: Memory, { beliefsFromThem }: ForgottenTurns): Promise<readonly string[]> {
  const notes: string[] = []
  for (const id of beliefsFromThem.slice(0, maxStaying)) {
    const belief = await memory.get(id)
    notes.push(
      `${nameText(belief)}, learned from them, stays: ${shortenText(belief.content)} \`credence forget ${id}\` forgets it too.`,
    )
  }
  const more = beliefsFromThem.length - notes.length
  return more > 0 ? [...notes, `${pluralize(more, 'more belief')} learned from them stay.`] : notes
}

/** Whether a queued message is to be forgotten. It has no turn id yet. */
const isSelected = (
  { session, at, text: words }: QueuedTurn,
  { turn, session: wanted, since, until, containing }: TurnSelection,
): boolean =>
  turn === undefined &&
  (wanted === undefined || session === wanted) &&
  (since === undefined || at >= since) &&
  (until === undefined || at <= until) &&
  (containing === undefined || (words ?? '').toLowerCase().includes(containing.toLowerCase()))
