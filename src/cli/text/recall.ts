import type { FeedbackCount } from '../../beliefs/recall-counts.ts'
import { reporterOf, type Turn } from '../../beliefs/turn.ts'
import { localDay } from '../../local-time.ts'
import { preludeTitle } from '../../memory/recall/budget.ts'
import type {
  BudgetLimit,
  Context,
  MatchedForm,
  MatchedWords,
  NearMissReason,
  PerhapsBelief,
  Quote,
  QuoteDecision,
  RelevantBelief,
} from '../../memory/recall/context.ts'
import { correctionMark, hasOlderThanQuote } from '../../memory/recall/context.ts'
import type { Explanation } from '../../search/explanation.ts'
import { kebab } from '../command/command.ts'
import { beliefBlock, nameText } from './beliefs.ts'
import { indentText, lines, pluralize, type Style } from './output.ts'

export const roundText = (value: number): string => String(Number(value.toFixed(3)))

export const quoteWords = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ')

/** Which words of the message matched which form. */
export function matchText({ field, form, words }: MatchedForm): string {
  const said = [...new Set(words.map(wordsText))].join(' and ')
  const isLiteral = words.every(({ text, typo }) => typo === null && text === form)
  return isLiteral ? `${said} is its ${field}` : `${said} means its ${field} "${form}"`
}

function wordsText({ text, typo }: MatchedWords): string {
  if (typo === null) return `"${text}"`
  const written = text.toLowerCase() === typo.written ? '' : `"${typo.written}" `
  return `"${text}" (${written}read as "${typo.meant}")`
}

/** "2 useful, 1 not useful". */
export const feedbackText = ({ useful, notUseful }: FeedbackCount): string =>
  `${useful} useful, ${notUseful} not useful`

/** The arithmetic of one step: `1.386 (idf of 1 in 4) × 2 (name boost) = 2.773`. */
export function arithmeticText({ op, parts, value, label }: Explanation): string {
  if (op === 'leaf') return `${roundText(value)} (${label})`
  const terms = parts.map((part) => (part.op === 'leaf' ? arithmeticText(part) : roundText(part.value)))
  return `${terms.join(op === 'sum' ? ' + ' : ' × ')} = ${roundText(value)}`
}

/** Every step of an explanation, one line each, parts below their sum or product. */
export const explanationTree = (explanation: Explanation, depth = 0): readonly string[] => [
  `${'  '.repeat(depth)}${arithmeticText(explanation)}${explanation.op === 'leaf' ? '' : ` (${explanation.label})`}`,
  ...explanation.parts.filter(({ op }) => op !== 'leaf').flatMap((part) => explanationTree(part, depth + 1)),
]

/** How a relevant belief was found and how it was scored, line by line. */
export function explanationLines({ matches, explanation }: RelevantBelief): readonly string[] {
  if (matches.length === 0) return [`${explanation.label}, so it comes after the beliefs that were named`]
  const clauses = matches.flatMap((match) => [`${matchText(match)}:`, `  ${arithmeticText(match.explanation)}`])
  return matches.length === 1 ? clauses : [...clauses, `together: ${arithmeticText(explanation)}`]
}

/** Why a mentioned belief is not among the relevant ones, as the end of a sentence. */
export function reasonText(reason: NearMissReason): string {
  switch (reason.kind) {
    case 'other-scope':
      return `it belongs to ${reason.scopes.join(' and ')}, which is not one of the active scopes`
    case 'superseded':
      return reason.by === null ? 'it was superseded' : `it was superseded by ${reason.by}`
    case 'resolved':
      return `it was settled on ${localDay(reason.at)}`
    case 'open-question':
      return 'it is an open question; those are shown only while they are pinned'
    case 'expertise':
      return 'it says what the person knows, which belongs to the prelude'
    case 'over-budget':
      return `the budget was full: ${budgetText[reason.limit]} (--${kebab(reason.limit)})`
    case 'other-agent':
      return `it is visible only to the agent ${reason.agent}`
    case 'proposed':
      return `it is only proposed, to replace ${reason.for}`
    case 'candidate':
      return 'it is a candidate, which a person has not confirmed yet'
  }
}

const budgetText: Readonly<Record<BudgetLimit, string>> = {
  maxBeliefs: 'the limit of beliefs was reached',
  maxPinned: 'the limit of pinned beliefs was reached',
  maxFromAgents: 'the limit of beliefs from agents was reached',
  maxQuestions: 'the limit of questions was reached',
  maxCharacters: 'the belief has too many characters for the remaining budget',
}

/** How to show a context; `ages` has the marks for beliefs whose age matters, by id. */
type ContextView = { readonly explain: boolean; readonly ages: ReadonlyMap<string, readonly string[]> }

/** A context as text for people, with the same tiers in the same order as for an agent. */
export function contextText(context: Context, { explain, ages }: ContextView, style: Style): string {
  const { prelude, pinned, relevant, questions, quotes, perhaps, quoteDecision, nearMisses = [] } = context
  const misses = nearMisses.map(({ belief, reason }) => `${nameText(belief)}: ${reasonText(reason)}`)
  const atLevel = (level: Quote['level']): readonly string[] =>
    quotes.filter((quote) => quote.level === level).map((quote) => quoteBlock(quote, quoteDecision, explain, style))
  const said = ['Said earlier', atLevel('sure')] as const
  const areQuotesFirst = hasOlderThanQuote(ages)
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [preludeTitle, prelude === null ? [] : [indentText(prelude.text, 2, style.width)]],
    ...(areQuotesFirst ? [said] : []),
    ['Pinned', pinned.map((belief) => beliefBlock(belief, style, { age: ages.get(belief.id) }))],
    ['Relevant to this message', relevant.map((belief) => relevantBlock(belief, { explain, ages }, style))],
    ['Still open', questions.map((question) => beliefBlock(question, style))],
    ...(areQuotesFirst ? [] : [said]),
    ['Perhaps relevant', [...atLevel('perhaps'), ...perhaps.map((belief) => perhapsBlock(belief, ages, style))]],
    ['Why no quote is shown', silenceLines(quotes, quoteDecision, style)],
    ['Mentioned, but left out', misses.map((miss) => indentText(miss, 2, style.width))],
  ]
  return sections
    .filter(([, items]) => items.length > 0)
    .map(([title, items]) => `${style.underline(title)}\n${items.join('\n')}\n`)
    .join('\n')
}

const dimLine = (line: string, style: Style): string => style.dim(indentText(line, 4, style.width))

function relevantBlock(relevant: RelevantBelief, { explain, ages }: ContextView, style: Style): string {
  const { belief, score, matches, explanation } = relevant
  const found = matches.length === 0 ? `it is ${explanation.label}` : matches.map(matchText).join('; ')
  const reasons = explain ? explanationLines(relevant) : [`Because ${found}.`]
  return lines(
    beliefBlock(belief, style, { before: `${style.cyan(roundText(score))}  `, age: ages.get(belief.id) }),
    reasons.map((line) => dimLine(line, style)),
  )
}

const perhapsBlock = (perhaps: PerhapsBelief, ages: ContextView['ages'], style: Style): string =>
  lines(beliefBlock(perhaps.belief, style, { age: ages.get(perhaps.belief.id) }), dimLine(meaningText(perhaps), style))

/** How near a belief is to the message in meaning, and the required minimum. */
export const meaningText = ({ cosine, minCosine }: Omit<PerhapsBelief, 'belief'>): string =>
  `Its meaning is ${cosine < minCosine ? 'not close enough' : 'close'} to the message: similarity ${cosine.toFixed(2)}, at least ${minCosine.toFixed(2)} is needed.`

function quoteBlock(quote: Quote, decision: QuoteDecision | undefined, explain: boolean, style: Style): string {
  const { text, at, utcOffset, earlier, correctedAt, perhapsPasted } = quote
  const doubt = perhapsPasted ? ' (perhaps pasted)' : ''
  const before = earlier && correctedAt === null ? 'earlier, ' : ''
  const reasons = [
    sharedText(quote, decision?.asked ?? []),
    ...(explain ? explanationTree(quote.explanation) : []),
    ...(explain && decision !== undefined ? [levelsText(decision)] : []),
  ]
  return lines(
    `  ${before}${localDay(at, utcOffset)}, ${speakerOf(quote)}${doubt}${correctionMark(correctedAt)}: "${text}"`,
    reasons.filter((line) => line !== '').map((line) => dimLine(line, style)),
  )
}

/** The name of the speaker; "you" for the owner of the memory, whose turns have no name. */
export function speakerOf({ speaker, role, origin = 'person', ...turn }: SpokenTurn): string {
  const reporter = reporterOf({ role, origin, ...turn })
  // A program may name any speaker for an assistant's turn, so its role is always shown.
  const note = reporter ?? (role === 'user' ? null : role)
  if (speaker === null) return note ?? 'you'
  return note === null ? speaker : `${speaker} (${note})`
}

/** A turn, or a quote of a recall: quotes have no origin, because they are always the person's. */
type SpokenTurn = Pick<Turn, 'speaker' | 'role'> & Partial<Pick<Turn, 'origin' | 'host'>>

/** "3 words of the message count ("rent", "kayak", "Norway"); this contains "rent", "kayak"." */
export function sharedText({ shared, nearby }: Quote, asked: readonly string[]): string {
  const around = nearby.length === 0 ? '' : `; in the turns next to it: ${quoteWords(nearby)}`
  const held = shared.length === 0 ? 'this contains none of them itself' : `this contains ${quoteWords(shared)}`
  if (asked.length === 0)
    return [
      shared.length === 0 ? '' : `It shares ${quoteWords(shared)} with the message. `,
      nearby.length === 0 ? '' : `The turns next to it have ${quoteWords(nearby)}.`,
    ]
      .join('')
      .trim()
  return `${pluralize(asked.length, 'word')} of the message ${asked.length === 1 ? 'counts' : 'count'} (${quoteWords(asked)}); ${held}${around}.`
}

/** For `--explain`: the best quote that was not shown, and the reason. */
function silenceLines(quotes: readonly Quote[], decision: QuoteDecision | undefined, style: Style): readonly string[] {
  if (quotes.length > 0 || decision === undefined || decision.best === null) return []
  const { best, asked, unclear } = decision
  const reason = unclear.includes(best.turn) ? unclearText : levelsText(decision)
  return [
    indentText(`The best was "${best.text}" (${localDay(best.at, best.utcOffset)}). ${reason}`, 2, style.width),
    dimLine(sharedText(best, asked), style),
    style.dim(indentText(`\`${style.command} search\` shows it anyway.`, 4)),
  ]
}

/** The reason for omitting a turn that would be quoted if there were no newer turns about the same thing. */
export const unclearText = 'Several newer turns speak of the same thing, and may have changed it.'

/** The probability that a line helps, and the thresholds. */
export const levelsText = ({
  probability,
  levels,
  meaning,
}: Pick<QuoteDecision, 'probability' | 'levels' | 'meaning'>): string =>
  `${meaning === 'words' ? 'By words alone, the' : 'The'} probability that one of the five best-ranked turns helps is ${roundText(probability)}; quotes are shown as perhaps relevant from ${roundText(levels.perhaps)} on, and as sure from ${roundText(levels.sure)} on.`
