import type { Belief } from '../../../beliefs/belief.ts'
import type { BeliefRevision, EventKind, JournalEntry } from '../../../beliefs/journal.ts'
import { isProject, parseScopes, visibleScopes } from '../../../beliefs/scope.ts'
import type { Turn } from '../../../beliefs/turn.ts'
import { MemoryError } from '../../../errors.ts'
import { localMinute } from '../../../local-time.ts'
import type { UndoTarget } from '../../../memory/change/undo.ts'
import { hasMask } from '../../../memory/learn/secrets.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { findPaste } from '../../../search/turns/pasted.ts'
import { type Argument, type DefaultAnswer, defineCommand, UsageError } from '../../command/command.ts'
import {
  authorOptions,
  beliefHelp,
  flag,
  keyOptions,
  memoryOptions,
  one,
  optionalBelief,
  readWholeNumber,
  referenceOptions,
  texts,
  wholeNumber,
} from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { nameText, shortenText, versionRows } from '../../text/beliefs.ts'
import { lines, listShort, pluralize } from '../../text/output.ts'
import { speakerOf } from '../../text/recall.ts'
import { resolveBeliefOrTurn } from './belief-or-turn.ts'

export const show = defineCommand({
  args: { belief: one(`${beliefHelp} Or the turn: its id, or the beginning of its id.`) },
  options: { ...referenceOptions, ...memoryOptions },
  examples: {
    'credence show "payment terms"': 'Shows its statement, its origin and the beliefs it replaced.',
    'credence show t-7k2m9xq0v3bd': 'Shows a turn that `credence search` found, and the beliefs learned from it.',
  },
  async run({ args, options }, session) {
    const memory = await session.memories.reporting(options)
    return resolveBeliefOrTurn(memory, args.belief, {
      belief: () => shownBelief(memory, args.belief),
      turn: (turn) => shownTurn(memory, turn),
    })
  },
})

async function shownBelief(memory: Memory, reference: string): Promise<DefaultAnswer> {
  const { belief: found, chain, revisions } = await memory.history(reference)
  const changed = `${pluralize(revisions.length, 'time')}; see \`credence history ${found.id}\``
  const versions = chain.length < 2 ? [] : versionRows(chain, found.id)
  return { document: { belief: found, chain }, shown: { ...detailsOf(found, revisions), changed, versions } }
}

async function shownTurn(memory: Memory, turn: Turn): Promise<DefaultAnswer> {
  const learned = await memory.learnedFrom(turn.id)
  const isMasked = hasMask(turn.text)
  const isPasted = turn.origin === 'document' || (turn.role === 'user' && findPaste(turn.text) < turn.text.length)
  const { id, session, scope, host } = turn
  return {
    document: { turn, learned, isMasked, isPasted },
    shown: {
      text: turn.text,
      id,
      'said by': speakerOf(turn),
      'said at': localMinute(turn.at, turn.utcOffset),
      conversation: `${session}; see \`credence conversations ${id}\``,
      scope,
      host,
      masked: isMasked && 'a secret in it was masked',
      pasted: isPasted && (turn.origin === 'document' ? 'all of it' : 'part of it; that part is not quoted'),
      'learned from it':
        learned.length === 0
          ? 'nothing'
          : learned.map((belief) => ({ id: belief.id, name: belief.name, statement: belief.content })),
    },
  }
}

const edits: readonly EventKind[] = ['edit', 'pin', 'unpin', 'alias']

function detailsOf(shown: Belief, revisions: readonly BeliefRevision[]) {
  const byPerson = new Set(revisions.filter(({ event }) => event.actor === 'person').map(({ event }) => event.kind))
  const isOnlyAccepted = byPerson.has('accept') && !edits.some((kind) => byPerson.has(kind))
  const { provenance, expertise, reinforcement, resolvedAt, resolvedBy } = shown
  const settled = resolvedBy === null ? '' : ` by ${resolvedBy}`
  return {
    name: shown.name,
    statement: shown.content,
    why: shown.why,
    id: shown.id,
    type: shown.subtype === null ? shown.type : `${shown.type}, ${shown.subtype}`,
    'also called': shown.aliases,
    scope: shown.scopes,
    status: shown.status,
    confidence: shown.confidence,
    pinned: shown.pinned ? 'yes' : 'no',
    agent: shown.agent,
    relation: shown.relation,
    connects: shown.participants,
    expertise: expertise && `${expertise.domain}, ${expertise.depth}`,
    'superseded by': shown.supersededBy,
    'proposed for': shown.proposedFor,
    settled: resolvedAt && `${localMinute(resolvedAt)}${settled}`,
    'written by': `${provenance.actor} through ${provenance.origin}, ${localMinute(provenance.at)}`,
    'taken from': provenance.sourceId,
    model: provenance.model,
    [isOnlyAccepted ? 'accepted' : 'edited']: shown.editedByPerson ? 'by a person' : '',
    confirmed:
      reinforcement.count > 0 && `${pluralize(reinforcement.count, 'time')}, last ${localMinute(reinforcement.at)}`,
  }
}

export const history = defineCommand({
  args: { belief: optionalBelief(' Without one, the latest changes of all.') },
  options: {
    limit: wholeNumber('How many of the latest changes to show.', { min: 1, max: 1_000, default: 50 }),
    before: wholeNumber('Only changes before this number.', { min: 1 }),
    ...referenceOptions,
    ...memoryOptions,
  },
  examples: {
    'credence history "payment terms"': 'Shows all its changes, and its earlier versions.',
    'credence history --limit 10': 'Shows the last ten changes, with the numbers that undo takes.',
  },
  async run({ args: { belief: reference }, options }, session) {
    const { limit, before } = options
    if (reference !== undefined && (limit !== undefined || before !== undefined))
      throw new UsageError(
        '--limit and --before cannot be combined with a belief.',
        'Leave them out to see all changes of the belief.',
      )
    const memory = await session.memories.reporting(options)
    if (reference === undefined) {
      const events = await memory.events(omitUndefined({ limit, before }))
      const names = await readNames(memory, events)
      return {
        document: { events },
        shown: events.map((event) => shownEvent(event, names)),
        notes: events.length === 0 ? ['There are no changes yet.'] : [],
      }
    }
    const found = await memory.history(reference)
    const all = await Promise.all(found.chain.map(async ({ id }) => (await memory.history(id)).revisions))
    // A correction is in the history of both versions. The later entry, that of the newer version, shows what was stated.
    const revisions = [...new Map(all.flat().map((revision) => [revision.event.number, revision])).values()]
    revisions.sort((a, b) => a.event.number - b.event.number)
    const versions = found.chain.length < 2 ? [] : versionRows(found.chain, found.belief.id)
    return {
      document: { ...found, revisions },
      shown: { belief: nameText(found.belief), changes: revisions.map(shownRevision), versions },
    }
  },
})

const undoText = ({ undoes, undoneBy }: JournalEntry): string =>
  undoneBy === null ? (undoes === null ? '' : `undoes ${undoes}`) : `undone by ${undoneBy}`

const eventRow = (event: JournalEntry) => {
  const { number: change, at, kind, actor, origin } = event
  return { change, at, kind, author: `${actor} ${origin}`, note: undoText(event) }
}

function shownEvent(event: JournalEntry, names: ReadonlyMap<string, string>) {
  const { note, ...row } = eventRow(event)
  const [first = ''] = event.beliefIds
  const more = event.beliefCount > 1 ? ` and ${event.beliefCount - 1} more` : ''
  return { ...row, belief: `${names.get(first) ?? first}${more}`, note }
}

const shownRevision = ({ event, outcome, belief: after }: BeliefRevision) => ({
  ...eventRow(event),
  statement: after === null ? (outcome === 'absent' ? 'withdrawn' : 'its text is gone') : shortenText(after.content),
})

/** The name of each event's first belief, by belief id. Forgotten and withdrawn beliefs are left out. */
async function readNames(memory: Memory, events: readonly JournalEntry[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const id of new Set(events.flatMap(({ beliefIds }) => beliefIds.slice(0, 1)))) {
    try {
      names.set(id, nameText(await memory.get(id)))
    } catch (error) {
      if (!(error instanceof MemoryError && error.code === 'not_found')) throw error
      names.set(id, `${id}, ${removalText(events, id)}`)
    }
  }
  return names
}

/** How a missing belief was removed, if its last change is in the list. */
function removalText(events: readonly JournalEntry[], id: string): string {
  const last = events.find(({ beliefIds }) => beliefIds.includes(id))
  if (last?.kind === 'forget') return 'forgotten'
  if (last?.kind === 'reject') return 'rejected'
  return last?.kind === 'undo' ? 'withdrawn' : 'rejected, withdrawn or forgotten'
}

const changeNumber: Argument<number | undefined> = {
  help: 'The number of the change, from `credence history`. Without one, the latest change that is not undone yet.',
  count: 'optional',
  takesStdin: false,
  read: ([text]) => (text === undefined ? undefined : readWholeNumber(text, { min: 1 })),
}

export const undo = defineCommand({
  args: { change: changeNumber },
  options: {
    yes: flag('Do not ask before undoing a change in another project.'),
    scope: {
      ...texts('<scope>', 'team:NAME undoes a change of a team; only its owners may.'),
      default: 'your own memory',
      read: (given: readonly string[]) => (given.length === 0 ? [] : parseScopes(given)),
    },
    ...memoryOptions,
    ...authorOptions,
    ...keyOptions,
  },
  description:
    'Asks first if the change was made in another project. Undoing an undo by its number redoes the change. A forget cannot be undone.',
  examples: {
    'credence undo': 'Undoes the latest change.',
    'credence undo 12': 'Undoes change 12, unless a later change depends on it.',
    'credence undo --scope team:platform': 'Undoes the latest change of the team platform.',
  },
  async run({ args: { change }, options }, session) {
    const memory = await session.memories.writing(options)
    const { scopes } = session.places.locate(options)
    /** The beliefs of the undone change. Empty if this repeats a request with the same key. */
    let concerned: readonly Belief[] = []
    const done = await memory.undo(change, {
      ...omitUndefined({ key: options.key }),
      review: async (undoing) => {
        concerned = undoing.beliefs
        return options.yes || mayUndo(undoing, scopes, session)
      },
    })
    const { undone, restored, withdrawn, event } = done
    const where = scopesOf(concerned)
    return {
      document: done,
      text: (style) =>
        lines(
          `${style.green('Undone')}: ${changeText(undone)}${where.length === 0 ? '' : `, in ${style.cyan(where.join(' and '))}`}.`,
          restored.map((belief) => `  As before: ${nameText(belief)}: ${shortenText(belief.content)}`),
          withdrawn.map((id) => {
            const gone = concerned.find((belief) => belief.id === id)
            return `  Withdrawn: ${gone === undefined ? id : `${nameText(gone)}: ${shortenText(gone.content)}`}`
          }),
          `  To reverse this: \`${style.command} undo ${event}\`.`,
        ),
    }
  },
})

const changeText = ({ number, kind, actor, origin }: UndoTarget['change']): string =>
  `change ${number}, ${kind} by ${actor} ${origin}`

const scopesOf = (beliefs: readonly Belief[]): readonly string[] =>
  [...new Set(beliefs.flatMap((belief) => belief.scopes))].sort()

/** Limits the names in the question, because a single change may be the import of a large file. */
const maxNamed = 3

/** Asks for confirmation before undoing a change that was made in another project. */
async function mayUndo({ change, beliefs }: UndoTarget, active: readonly string[], session: Session): Promise<boolean> {
  const inView = visibleScopes(active)
  const elsewhere = beliefs.filter(
    ({ scopes }) => scopes.some(isProject) && !scopes.some((scope) => inView.includes(scope)),
  )
  if (elsewhere.length === 0) return true
  const where = scopesOf(elsewhere).join(' and ')
  const names = listShort(elsewhere.map(nameText), maxNamed)
  const what = `${changeText(change)}, was made in ${where}: ${names}.`
  const refusal = new UsageError(
    `This belongs to another project: ${what}`,
    `\`credence undo ${change.number} --yes\` undoes it; \`credence history\` lists other changes.`,
  )
  return session.terminal.confirm(`This belongs to another project: ${what} Undo it?`, refusal)
}
