import { visibleScopes } from '../../../beliefs/scope.ts'
import { localDay } from '../../../local-time.ts'
import type { Remedy } from '../../../memory/explain/remedies.ts'
import type { Why } from '../../../memory/explain/why.ts'
import type { WhyTurn } from '../../../memory/explain/why-turn.ts'
import type { Memory } from '../../../memory/memory.ts'
import { type CommandAnswer, defineCommand, kebab, UsageError } from '../../command/command.ts'
import {
  beliefHelp,
  flag,
  memoryOptions,
  one,
  oneText,
  readerOptions,
  viewOptions,
  wholeNumber,
} from '../../command/options.ts'
import { editedText, nameText } from '../../text/beliefs.ts'
import { columns, indentText, lines, type Style } from '../../text/output.ts'
import {
  explanationLines,
  explanationTree,
  feedbackText,
  levelsText,
  meaningText,
  quoteWords,
  reasonText,
  roundText,
  sharedText,
  unclearText,
} from '../../text/recall.ts'
import { resolveBeliefOrTurn } from './belief-or-turn.ts'

export const why = defineCommand({
  args: {
    message: oneText('What was said.'),
    belief: one(`${beliefHelp} Or the turn: its id, or the beginning of its id.`),
  },
  options: {
    fix: flag('List changes that would make the message recall it, or no longer recall it.'),
    apply: wholeNumber('Make the change with this number in the list of --fix.', { min: 1 }),
    ...viewOptions,
    ...readerOptions,
    ...memoryOptions,
  },
  examples: {
    'credence why "When is the invoice due?" "payment terms"': 'Shows which words are missing for it to be recalled.',
    'credence why "When is the invoice due?" "payment terms" --fix --apply 1':
      'Makes the first change that `--fix` lists, usually an alias.',
    'credence why "Where do we moor?" t-7k2m9xq0v3bd':
      'Shows whether that turn is quoted: its probability, the threshold, and its words.',
    'credence why "Ask Ada" ada --scope project:ledger': 'Shows whether it is recalled with that scope active.',
  },
  async run({ args: { message, belief }, options }, session) {
    const { scopes } = session.places.locate(options)
    const { fix, apply } = options
    const asking = { ...options, waitsForModel: true }
    const memory = await (apply === undefined ? session.memories.reading(asking) : session.memories.writing(asking))
    return resolveBeliefOrTurn<CommandAnswer>(memory, belief, {
      belief: async () => {
        if (fix || apply !== undefined) return applyOrListRemedies(memory, message, belief, apply)
        const verdict = await memory.why(message, belief)
        return { document: verdict, text: (style) => lines(verdictText(verdict, scopes, style), feedbackLine(verdict)) }
      },
      turn: async ({ id }) => {
        if (fix || apply !== undefined)
          throw new UsageError('--fix and --apply are for beliefs; a turn cannot be changed.')
        const verdict = await memory.whyTurn(message, id)
        return { document: verdict, text: (style) => lines(turnVerdictText(verdict, style), feedbackLine(verdict)) }
      },
    })
  },
})

const feedbackLine = ({ feedback }: Pick<Why, 'feedback'>): string | false =>
  feedback !== null && `Feedback on it: ${feedbackText(feedback)}.`

/** Lists the changes that would reverse the verdict on a belief, or applies one of them. */
async function applyOrListRemedies(
  memory: Memory,
  message: string,
  reference: string,
  apply?: number,
): Promise<CommandAnswer> {
  const wanted = await memory.remedies(message, reference, { wish: 'present' })
  const wish = wanted.isFulfilled ? 'absent' : 'present'
  const { belief, remedies } = wanted.isFulfilled ? await memory.remedies(message, reference, { wish }) : wanted
  if (apply === undefined) {
    const blocks: string[] = []
    for (const [index, remedy] of remedies.entries()) blocks.push(await remedyBlock(memory, remedy, index + 1))
    const state = wish === 'present' ? 'is not recalled' : 'is recalled'
    return {
      document: { belief, wish, remedies },
      text: () => lines(`${nameText(belief)} ${state} for this message. This would change that:`, blocks),
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
    throw new UsageError(`--apply: number ${apply} does not change the belief.`, `Instead: ${remedyCommand(remedy)}`)
  const edited = await memory.edit(belief.id, remedy.change)
  return {
    document: { ...edited, wish, remedy },
    text: (style) => lines(editedText(edited, 'Done', 'It is unchanged', style), `  ${remedy.summary}`),
  }
}

async function remedyBlock(memory: Memory, remedy: Remedy, number: number): Promise<string> {
  const names = async (ids: readonly string[]): Promise<string> =>
    (await Promise.all(ids.map(async (id) => nameText(await memory.get(id))))).join(', ')
  const { appearing, disappearing, caution, change } = remedy
  return lines(
    `  ${number}  ${remedy.summary}`,
    appearing.length > 0 && `     It would also bring in ${await names(appearing)}.`,
    disappearing.length > 0 && `     It would also keep out ${await names(disappearing)}.`,
    caution !== null && `     Caution: ${caution}`,
    change === null && `     ${remedyCommand(remedy)}`,
  )
}

/** The command for a remedy that is not an edit of the belief. */
function remedyCommand({ kind, ask, see: id }: Remedy): string {
  if (kind === 'accept') return `credence review accept ${id}`
  if (kind === 'correct') return `credence correct ${id} "what is true now"`
  if (ask === null) return `credence show ${id}`
  const scopes = (ask.scopes ?? []).map((scope) => ` --scope ${scope}`)
  const budget = Object.entries(ask.budget ?? {}).map(([name, value]) => ` --${kebab(name)} ${value}`)
  return `credence recall "the message"${[...scopes, ...budget].join('')}`
}

/** Whether and why one turn is quoted for one message, as text. */
function turnVerdictText(verdict: WhyTurn, style: Style): string {
  const { turn, isInView, quote, best, asked } = verdict
  const { scope } = turn
  const elsewhere = `It was said in ${scope}, which is not one of the active scopes.`
  const scored = best !== null && [
    indentText(sharedText(best, asked), 2, style.width),
    ...explanationTree(best.explanation).map((line) => indentText(line, 4)),
  ]
  if (quote !== null && isInView)
    return lines(
      indentText(
        `It is quoted as ${quote.level === 'sure' ? 'sure' : 'perhaps relevant'}. ${levelsText(verdict)}`,
        0,
        style.width,
      ),
      scored,
    )
  const reason = quote === null ? unmetConditionText(verdict) : `With --scope ${scope} it is quoted.`
  return lines(
    `What was said on ${localDay(turn.at, turn.utcOffset)} is not quoted for this message.`,
    indentText(isInView ? reason : `${elsewhere} ${reason}`, 2, style.width),
    scored,
  )
}

function unmetConditionText(verdict: WhyTurn): string {
  const { turn, asked, unmet } = verdict
  switch (unmet) {
    case 'a shared word':
      return asked.length === 0
        ? 'The message has no word about its topic.'
        : `It contains none of the words that count: ${quoteWords(asked)}.`
    case "the person's own words":
      return turn.role === 'assistant'
        ? 'The assistant is quoted only for a message that asks what the assistant said.'
        : "Only the person's own words are quoted; this was pasted, or written by a tool or an agent."
    case 'a statement':
      return 'It only asks something, which is not an answer.'
    case 'better turns':
      return 'Other turns fit the message better.'
    case 'other quotes':
      return 'The quotes that are shown are more likely to help, or have the same words.'
    case 'a belief':
      return 'A belief above says the same.'
    case 'the newest word':
      return unclearText
    case 'probability':
    case null:
      return levelsText(verdict)
  }
}

/** Whether and why one belief is recalled for one message, as text. */
export function verdictText({ belief, verdict }: Why, activeScopes: readonly string[], style: Style): string {
  const what = nameText(belief)
  switch (verdict.kind) {
    case 'relevant': {
      const { relevant, rank } = verdict
      return lines(
        `${what} is recalled, as number ${rank} of the relevant beliefs, with a score of ${roundText(relevant.score)}:`,
        explanationLines(relevant).map((line) => indentText(line, 2, style.width)),
      )
    }
    case 'pinned':
      return `${what} is recalled whatever the message says, because it is pinned.`
    case 'question':
      return `${what} is shown whatever the message says, because it is an open question that is pinned.`
    case 'perhaps':
      return lines(
        `${what} is shown as perhaps relevant, because its content is near to the message in meaning:`,
        indentText(meaningText(verdict), 2, style.width),
        'The message does not name it. With an alias that the message contains, it is relevant (--fix lists aliases).',
        'With the setting recallBoldness quiet, it is not shown.',
      )
    case 'left-out':
      return `${what} is mentioned, but left out: ${reasonText(verdict.reason)}.`
    case 'not-mentioned': {
      const inView = visibleScopes(activeScopes)
      const isElsewhere = !belief.scopes.some((scope) => inView.includes(scope))
      const forms = verdict.forms.map(({ form, present, missing }) => [form, presenceText(present, missing)])
      return lines(
        `${what} is not recalled: the message contains neither its name nor an alias.`,
        columns(forms, { width: style.width }),
        verdict.meaning !== null && indentText(notNearText(verdict.meaning), 0, style.width),
        verdict.inPrelude && 'It is among the preferences that every context begins with.',
        isElsewhere && `It belongs to ${belief.scopes.join(' and ')}, which is not one of the active scopes.`,
        `To add an alias: ${style.command} alias ${belief.id} add "the words"`,
        'The same command with --fix lists aliases that would work.',
      )
    }
  }
}

const notNearText = (meaning: Parameters<typeof meaningText>[0]): string =>
  meaning.cosine < meaning.minCosine
    ? meaningText(meaning)
    : `${meaningText(meaning)} It is left out, because it is in the context already, belongs to another scope, or other lines take its place.`

function presenceText(present: readonly string[], missing: readonly string[]): string {
  if (missing.length === 0) return `has ${quoteWords(present)}, but not as one phrase`
  return present.length === 0
    ? `lacks ${quoteWords(missing)}`
    : `has ${quoteWords(present)}, lacks ${quoteWords(missing)}`
}
