import { visibleScopes } from '../../../beliefs/scope.ts'
import { localDay } from '../../../local-time.ts'
import type { Remedy } from '../../../memory/explain/remedies.ts'
import type { Why } from '../../../memory/explain/why.ts'
import type { Memory } from '../../../memory/memory.ts'
import { termsOf } from '../../../search/turns/terms.ts'
import { type Answer, defineCommand, kebab, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, one, oneText, readerOptions, viewOptions, wholeNumber } from '../../command/options.ts'
import { called, editedText } from '../../text/beliefs.ts'
import { columns, harmless, indented, lines, type Style } from '../../text/output.ts'
import { explanationLines, explanationTree, quoted, reasonText, rounded, sharedText } from '../../text/recall.ts'

export const why = defineCommand({
  args: {
    message: oneText('What was said.'),
    belief: one('The belief: its id, the beginning of its id, its name or an alias. Or the id of a turn.'),
  },
  options: {
    fix: flag('List changes that would make the message recall it, or no longer recall it.'),
    apply: wholeNumber('Make the change with this number in the list of --fix.', { min: 1 }),
    ...viewOptions,
    ...readerOptions,
    ...memoryOptions,
  },
  examples: {
    'credence why "When is the invoice due?" "payment terms"': 'Says which words are missing for it to be recalled.',
    'credence why "When is the invoice due?" "payment terms" --fix --apply 1':
      'Makes the first change that `--fix` lists, usually an alias.',
    'credence why "Ask Ada" ada --scope project:ledger': 'Says whether it is recalled with that scope active.',
  },
  async run({ args: { message, belief }, options }, session) {
    const { scopes } = session.locate(options)
    const { fix, apply } = options
    const memory = await (apply === undefined ? session.reading(options) : session.memory(options))
    if (/^t-[0-9a-z]+$/u.test(belief)) {
      if (fix || apply !== undefined) throw new UsageError('--fix is for beliefs; a turn cannot be changed.')
      return whyTurn(memory, message, belief, scopes)
    }
    if (fix || apply !== undefined) return remedied(memory, message, belief, apply)
    const verdict = await memory.why(message, belief)
    return { document: verdict, text: (style) => verdictText(verdict, scopes, style) }
  },
})

/** Lists what would change the verdict on a belief, or makes one of these changes. Nothing is listed that does not help. */
async function remedied(memory: Memory, message: string, reference: string, apply?: number): Promise<Answer> {
  const wanted = await memory.remedies(message, reference, { wish: 'present' })
  const wish = wanted.isFulfilled ? 'absent' : 'present'
  const { belief, remedies } = wanted.isFulfilled ? await memory.remedies(message, reference, { wish }) : wanted
  if (apply === undefined) {
    const blocks: string[] = []
    for (const [index, remedy] of remedies.entries()) blocks.push(await remedyBlock(memory, remedy, index + 1))
    const state = wish === 'present' ? 'is not recalled' : 'is recalled'
    return {
      document: { belief, wish, remedies },
      text: () => lines(`${called(belief)} ${state} for this message. This would change that:`, blocks),
      notes: [
        remedies.length === 0
          ? 'No change of the belief would do that.'
          : 'To make a change, add --apply and its number.',
      ],
    }
  }
  const remedy = remedies[apply - 1]
  if (remedy === undefined)
    throw new UsageError(`--apply: there is no change ${apply}; --fix lists ${remedies.length}.`)
  if (remedy.change === null)
    throw new UsageError(`--apply: number ${apply} does not change the belief.`, `Instead: ${insteadOf(remedy)}`)
  const edited = await memory.edit(belief.id, remedy.change)
  return {
    document: { ...edited, wish, remedy },
    text: (style) => lines(editedText(edited, 'Done', 'It is unchanged', style), `  ${remedy.summary}`),
  }
}

async function remedyBlock(memory: Memory, remedy: Remedy, number: number): Promise<string> {
  const names = async (ids: readonly string[]): Promise<string> =>
    (await Promise.all(ids.map(async (id) => called(await memory.get(id))))).join(', ')
  const { appearing, disappearing, caution, change } = remedy
  return lines(
    `  ${number}  ${harmless(remedy.summary)}`,
    appearing.length > 0 && `     It would also bring in ${await names(appearing)}.`,
    disappearing.length > 0 && `     It would also keep out ${await names(disappearing)}.`,
    caution !== null && `     Caution: ${harmless(caution)}`,
    change === null && `     ${insteadOf(remedy)}`,
  )
}

/** The command for a remedy that is no edit of the belief. */
function insteadOf({ kind, ask, see }: Remedy): string {
  const id = harmless(see ?? '')
  if (kind === 'accept') return `credence proposals accept ${id}`
  if (kind === 'correct') return `credence correct ${id} "what is true now"`
  if (ask === null) return `credence show ${id}`
  const scopes = (ask.scopes ?? []).map((scope) => ` --scope ${harmless(scope)}`)
  const budget = Object.entries(ask.budget ?? {}).map(([name, value]) => ` --${kebab(name)} ${value}`)
  return `credence recall "the message"${[...scopes, ...budget].join('')}`
}

/** Whether a turn is quoted for a message: if not, whether only its scope is the reason, or how near it comes to the threshold. */
async function whyTurn(memory: Memory, message: string, id: string, active: readonly string[]): Promise<Answer> {
  const turn = await memory.turn(id)
  const quoteFor = async (options: { readonly scopes?: readonly string[] }) => {
    const { quotes, quoteDecision } = await memory.recall(message, { ...options, nearMisses: true })
    return { quote: quotes.find((shown) => shown.turn === id) ?? null, decision: quoteDecision }
  }
  const isElsewhere = !visibleScopes(active).includes(turn.scope)
  const { quote, decision } = await quoteFor({})
  const there = isElsewhere ? await quoteFor({ scopes: [turn.scope] }) : null
  const { quotes: found } = await memory.search(message, { in: 'turns', session: turn.session, limit: 100 })
  const hit = found.find((shown) => shown.turn === id) ?? null
  const threshold = rounded((there?.decision ?? decision)?.threshold ?? 0)
  const scope = harmless(turn.scope)
  const reasons = [
    ...(isElsewhere ? [`It was said in ${scope}, which is not one of the active scopes.`] : []),
    ...(there?.quote != null
      ? [`With --scope ${scope} it is shown.`]
      : [
          hit === null
            ? 'It shares no word with the message.'
            : `It shares: ${wordsAsWritten(message, hit.found).map(harmless).join(', ')}.`,
          `A quote needs a score of ${threshold} and words that are uncommon enough; recall --explain says what the best one lacks.`,
        ]),
  ]
  return {
    document: { turn, quote, hit, threshold: decision?.threshold ?? null },
    text: (style) =>
      quote === null
        ? lines(
            `What was said on ${localDay(turn.at, turn.utcOffset)} is not shown for this message.`,
            indented(reasons.join(' '), 2, style.width),
          )
        : lines(
            `It is shown, with a score of ${rounded(quote.score)}; the threshold is ${threshold}:`,
            indented(sharedText(quote, decision?.asked ?? []), 2, style.width),
            explanationTree(quote.explanation).map((line) => indented(line, 4)),
          ),
  }
}

/** The words of a message that stand for these terms. */
function wordsAsWritten(message: string, terms: readonly string[]): readonly string[] {
  const words = new Map(termsOf(message).map(({ term, start, end }) => [term, message.slice(start, end)]))
  return terms.map((term) => words.get(term) ?? term)
}

/** Whether and why one belief is recalled for one message, in words. */
export function verdictText({ belief, verdict }: Why, activeScopes: readonly string[], style: Style): string {
  const what = called(belief)
  switch (verdict.kind) {
    case 'relevant': {
      const { relevant, rank } = verdict
      return lines(
        `${what} is recalled, as number ${rank} of the relevant beliefs, with a score of ${rounded(relevant.score)}:`,
        explanationLines(relevant).map((line) => indented(line, 2, style.width)),
      )
    }
    case 'pinned':
      return `${what} is recalled whatever the message says, because it is pinned.`
    case 'question':
      return `${what} is shown whatever the message says, because it is an open question that is pinned.`
    case 'left-out':
      return `${what} is mentioned, but left out: ${reasonText(verdict.reason)}.`
    case 'not-mentioned': {
      const inView = visibleScopes(activeScopes)
      const isElsewhere = !belief.scopes.some((scope) => inView.includes(scope))
      const forms = verdict.forms.map(({ form, present, missing }) => [harmless(form), presence(present, missing)])
      return lines(
        `${what} is not recalled: the message contains neither its name nor an alias.`,
        columns(forms, { width: style.width }),
        verdict.inPrelude && 'It is among the preferences that every context begins with.',
        isElsewhere && `It belongs to ${harmless(belief.scopes.join(' and '))}, which is not one of the active scopes.`,
        `To add an alias: ${style.command} alias ${harmless(belief.id)} add "the words"`,
        'The same command with --fix lists aliases that would work.',
      )
    }
  }
}

function presence(present: readonly string[], missing: readonly string[]): string {
  if (missing.length === 0) return `has ${quoted(present)}, but not as one phrase`
  return present.length === 0 ? `lacks ${quoted(missing)}` : `has ${quoted(present)}, lacks ${quoted(missing)}`
}
