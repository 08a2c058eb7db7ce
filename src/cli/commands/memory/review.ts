import type { Belief } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import { localDay, withOffset } from '../../../local-time.ts'
import type { ReviewItem } from '../../../memory/change/review.ts'
import type { Extractor } from '../../../memory/learn/extraction.ts'
import { isDerivedName } from '../../../memory/learn/name-of.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type CommandAnswer, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import {
  authorOptions,
  extractorForms,
  keyOptions,
  memoryOptions,
  optionalChoice,
  rest,
  scopes,
  text,
  wholeNumber,
} from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { nameText, shortenText } from '../../text/beliefs.ts'
import { lines, pluralize, type Style, styleFor, terminalText, write } from '../../text/output.ts'

const defaultTurns = 50
const defaultLimit = 1_000
const modelTimeoutMs = 120_000
/** After this many failures, the model is not asked again. */
const maxFailures = 3
/** Characters of the message around a statement. */
const maxQuoted = 300

const reviewedScopes = scopes(
  'Only items of this scope. With accept or reject: where to look first if several beliefs have the name.',
  'every scope',
)

export const review = defineCommand({
  args: {
    decision: optionalChoice(['accept', 'reject'], 'The decision. Default: show what waits.'),
    proposals: rest('Ids of proposals or candidates, or beliefs with a single proposal.'),
  },
  options: {
    extractor: text(
      '<what>',
      `First find statements in your latest turns with: ${extractorForms}. They are only listed for review.`,
    ),
    turns: wholeNumber('With --extractor: how many of your latest turns to read.', { min: 1, default: defaultTurns }),
    limit: wholeNumber('Show at most this many.', { min: 1, default: defaultLimit }),
    ...reviewedScopes,
    ...memoryOptions,
    ...authorOptions,
    ...keyOptions,
  },
  description:
    'Shows candidates and proposals one by one, the most recent first: standing instructions, preferences and corrections found in conversations, and proposals of agents and models. Type a letter and press Enter: a accepts, e edits and accepts, r rejects, s skips, q quits. Without a terminal it only prints the list; `review accept` and `review reject` decide. A proposal is a change by an agent or an edit of MEMORY.md that contradicts another author. A candidate is not recalled until you accept it.',
  examples: {
    'credence review': 'Shows the candidates one by one.',
    'credence review accept b-7k2m b-9x4q':
      'Accepts two items. A proposal replaces the belief that it contradicts; a candidate becomes a belief.',
    'credence review --json --limit 20': 'Prints the 20 latest as JSON and changes nothing.',
    'credence review --extractor openai:qwen3:8b@http://127.0.0.1:11434/v1':
      'First asks a local model for candidates in your latest turns.',
  },
  exitCodes: [exitCodes.interrupted],
  async run({ args: { decision, proposals }, options }, session) {
    const listing = (['extractor', 'turns', 'limit'] as const).find((name) => options[name] !== undefined)
    if (decision !== undefined && listing !== undefined)
      throw new UsageError(`--${listing} cannot be combined with ${decision}.`, 'It is for the list.')
    if (decision !== undefined)
      return decideOn(decision, proposals, { open: () => session.memories.writing(options), key: options.key })
    const { extractor: spec, turns = defaultTurns, limit = defaultLimit, scope } = options
    const isWalk = session.terminal.isInteractive() && !session.terminal.printsJson()
    const memory = await (isWalk || spec !== undefined
      ? session.memories.writing(options)
      : session.memories.reading(options))
    const extracted = spec === undefined ? null : await extractFrom(memory, session, { spec, turns })
    const filter = { limit, ...(scope.length === 0 ? {} : { scopes: scope }) }
    const { items, total } = await memory.review(filter)
    const notes = extracted === null ? [] : extracted.notes
    if (!isWalk || items.length === 0) {
      return {
        document: { total, items, extracted: extracted?.document ?? null },
        text: (style) => lines(items.map((item) => itemText(item, style))),
        notes: [
          ...notes,
          ...(total === 0
            ? ['Nothing waits for a decision.']
            : ['Decide with `credence review` at a terminal, or with `credence review accept|reject <id>`.']),
        ],
      }
    }
    const { isInterrupted, ...decided } = await walk(memory, session, items)
    return {
      ...(isInterrupted ? { exitCode: exitCodes.interrupted } : {}),
      document: { total, decided },
      text: (style) =>
        `${style.green(`${decided.accepted} accepted`)}, ${decided.edited} edited, ${decided.rejected} rejected, ${total - decided.accepted - decided.edited - decided.rejected} left.`,
      notes,
    }
  },
})

type Decided = { accepted: number; edited: number; rejected: number }

/** Asks about each item in turn. Every decision is stored immediately, so that quitting loses none. */
async function walk(
  memory: Memory,
  session: Session,
  items: readonly ReviewItem[],
): Promise<Decided & { readonly isInterrupted: boolean }> {
  const { stderr } = session.terminal.streams()
  const style = styleFor(stderr, session.program.machine.env)
  const say = (words: string): Promise<void> => write(stderr, terminalText(`${words}\n`))
  const decided: Decided = { accepted: 0, edited: 0, rejected: 0 }
  try {
    for (const [index, item] of items.entries()) {
      await say(`\n${style.bold(`${index + 1} of ${items.length}`)}  ${itemText(item, style)}`)
      if ((await decide(item)) === 'quit') break
    }
    return { ...decided, isInterrupted: false }
  } catch (error) {
    const isUndecided = decided.accepted + decided.edited + decided.rejected === 0
    if (isUndecided || !(error instanceof Error && error.name === 'AbortError')) throw error
    await say('')
    return { ...decided, isInterrupted: true }
  }

  async function decide(item: ReviewItem): Promise<'quit' | 'next'> {
    const mayEdit = item.kind !== 'removal'
    for (;;) {
      const typed = await session.terminal.ask(
        `  [a]ccept  ${mayEdit ? '[e]dit  ' : ''}[r]eject  [s]kip  [q]uit, then Enter: `,
      )
      const answer = typed?.trim().toLowerCase().slice(0, 1) ?? 'q'
      if (answer === 'q') return 'quit'
      if (answer === 's') return 'next'
      try {
        if (await isDecided(answer, item)) return 'next'
      } catch (error) {
        // Another window may have decided already, or the edited text is not a valid belief. The person may choose again.
        if (!(error instanceof MemoryError)) throw error
        await say(`  ${error.message}`)
        if (error.code === 'not_found') return 'next'
      }
    }
  }

  async function isDecided(answer: string, item: ReviewItem): Promise<boolean> {
    const { kind, belief } = item
    if (answer === 'a') {
      await memory.accept(belief.id)
      decided.accepted += 1
      await say(`  ${kind === 'removal' ? 'Retired' : 'Accepted'}: ${nameText(belief)}.`)
    } else if (answer === 'r') {
      await memory.reject(belief.id)
      decided.rejected += 1
      await say(`  Rejected: ${nameText(belief)}.`)
    } else if (answer === 'e' && kind !== 'removal') {
      const shown = collapseSpaces(belief.content)
      const line = (await session.terminal.ask('  ', shown))?.trim() ?? ''
      if (line === '') return false
      await acceptEdited(memory, item, line === shown ? belief.content : line)
      decided.edited += 1
      await say(`  Edited and accepted: ${shortenText(line)}`)
    } else return false
    return true
  }
}

/** Stores the edited text as the person's belief before removing the item, so that a crash in between loses nothing. */
async function acceptEdited(memory: Memory, { belief, target }: ReviewItem, content: string): Promise<void> {
  const { id, name, aliases, type, subtype, scopes, why, provenance } = belief
  if (content === belief.content) {
    await memory.accept(id)
    return
  }
  if (target !== null) await memory.correct(target.id, { content })
  else {
    const source = provenance.sourceId === null ? {} : { sourceId: provenance.sourceId }
    // A derived name is derived again from the edited text.
    const named = isDerivedName(belief) ? {} : { name, aliases }
    await memory.remember({ ...named, content, type, subtype, scopes, why, ...source })
  }
  await memory.reject(id)
}

/** One item of the list: its change, the current belief, and why a person has to decide. */
function itemText({ kind, belief, target, reason, turn, at }: ReviewItem, style: Style): string {
  const what = { statement: 'Remember', correction: 'Replace', removal: 'Retire' }[kind]
  return lines(
    `${style.bold(what)} ${nameText(belief)} in ${style.cyan(belief.scopes.join(' and '))}`,
    kind !== 'removal' && `    ${collapseSpaces(belief.content)}`,
    target !== null && `    Now: ${collapseSpaces(target.content)}`,
    kind === 'correction' && target !== null && smallerChanges(belief, target),
    // Aliases from the person's own words are not listed.
    kind === 'statement' &&
      belief.provenance.actor !== 'person' &&
      belief.aliases.length > 0 &&
      `    Aliases: ${belief.aliases.join(', ')}`,
    turn === null
      ? `    Proposed ${localDay(at)}.`
      : `    Said ${localDay(at, turn.utcOffset)} in ${turn.host}, conversation ${turn.session}.`,
    turn !== null && turn.text.trim() !== belief.content && `    "${shortenText(turn.text, maxQuoted)}"`,
    `    ${reason}`,
  )
}

function smallerChanges(belief: Belief, target: Belief): readonly string[] {
  const added = belief.aliases.filter((alias) => !target.aliases.includes(alias))
  const removed = target.aliases.filter((alias) => !belief.aliases.includes(alias))
  return [
    belief.name !== target.name && `Name: ${belief.name}`,
    belief.why !== target.why && `Why: ${belief.why === '' ? 'none' : shortenText(belief.why)}`,
    belief.pinned !== target.pinned && (belief.pinned ? 'Pinned' : 'No longer pinned'),
    added.length > 0 && `Aliases added: ${added.join(', ')}`,
    removed.length > 0 && `Aliases removed: ${removed.join(', ')}`,
  ].flatMap((change) => (change === false ? [] : [`    ${change}`]))
}

/** Not shortened, because the person decides about the whole text. */
const collapseSpaces = (text: string): string => text.replace(/\s+/gu, ' ')

/** Extracts statements from the person's latest turns. They are only listed for review. */
async function extractFrom(memory: Memory, session: Session, { spec, turns }: { spec: string; turns: number }) {
  const found = await session.extractor(spec)
  const { signal } = session.program.interruption()
  const extractor: Extractor = {
    ...found,
    extract: async (heard, given) => {
      const { findings, refused } = await found.extract(heard, given)
      return { findings: findings.map((finding) => ({ ...finding, isDoubtful: true })), refused }
    },
  }
  const own = (await memory.turns({ roles: ['user'], limit: turns })).items.filter(({ origin }) => origin === 'person')
  const sum = { read: 0, found: 0, failed: 0 }
  const problems = new Set<string>()
  await session.terminal.withProgress(async (bar) => {
    for (const turn of own) {
      if (signal.aborted || sum.failed >= maxFailures) break
      bar.show(`turns read by ${found.model ?? found.name}`, sum.read, own.length)
      const limit = AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs)])
      const about = { sourceId: turn.id, saidAt: withOffset(turn.at, turn.utcOffset), scopes: [turn.scope] }
      try {
        const { taken } = await memory.learn(turn.text, { extractor, signal: limit, ...about })
        sum.found += taken.filter(({ outcome }) => outcome === 'candidate').length
      } catch (error) {
        if (signal.aborted || !(error instanceof MemoryError)) throw error
        sum.failed += 1
        problems.add(error.message)
      }
      sum.read += 1
    }
  })
  const failed = `warning: ${pluralize(sum.failed, 'turn')} could not be read by it: ${[...problems].join(' ')}`
  const read = `${pluralize(sum.read, 'turn')} read, ${pluralize(sum.found, 'statement')} found.`
  return { document: sum, notes: [read, sum.failed > 0 && failed] }
}

/** Accepts or rejects each item in turn; each decision is stored before the next. */
async function decideOn(
  decision: 'accept' | 'reject',
  references: readonly string[],
  { open, key }: { readonly open: () => Promise<Memory>; readonly key: string | undefined },
): Promise<CommandAnswer> {
  if (references.length === 0)
    throw new UsageError(`No proposal to ${decision} was given.`, 'List them with `credence review`.')
  if (key !== undefined && references.length > 1)
    throw new UsageError('--key is for one decision.', 'Give one id, or leave out --key.')
  const memory = await open()
  const decide = decision === 'accept' ? accept : reject
  const decided: Awaited<ReturnType<typeof decide>>[] = []
  for (const reference of references) {
    try {
      decided.push(await decide(memory, reference, omitUndefined({ key })))
    } catch (error) {
      if (!(error instanceof MemoryError) || decided.length === 0) throw error
      const before = `${pluralize(decided.length, 'decision')} before it ${decided.length === 1 ? 'was' : 'were'} made.`
      const { code, message, hint } = error
      throw new MemoryError(code, `${message} ${before}`, omitUndefined({ hint, cause: error }))
    }
  }
  return {
    document: { [`${decision}ed`]: decided.map(({ document }) => document) },
    text: (style) => lines(decided.map(({ text }) => text(style))),
  }
}

async function reject(memory: Memory, reference: string, key: { readonly key?: string }) {
  const rejected = await memory.reject(reference, key)
  const text = (style: Style): string =>
    `Rejected ${rejected.beliefId}. \`${style.command} undo ${rejected.event}\` brings it back.`
  return { document: rejected, text }
}

async function accept(memory: Memory, reference: string, key: { readonly key?: string }) {
  const accepted = await memory.accept(reference, key)
  const { belief, replaced } = accepted
  const text = (style: Style): string =>
    lines(
      belief.resolvedAt === null
        ? `${style.green('Accepted')} ${nameText(belief)}: ${shortenText(belief.content)}`
        : `${style.green('Retired')} "${belief.name}": it is no longer recalled.`,
      replaced.map((old) => `  Before: ${shortenText(old.content)} (${old.id})`),
    )
  return { document: accepted, text }
}
