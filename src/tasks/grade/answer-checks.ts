import type { Evidence, SessionRecord } from '../evidence.ts'
import type { AnswerCheck } from '../parse/fields.ts'
import { pathInWorkspace, readMessages } from '../run/evidence-folder.ts'
import type { Task } from '../task.ts'
import type { ToolCallBlock, TranscriptMessage } from '../transcript.ts'

export type CheckResult = Readonly<ReturnType<typeof runCheck>>

/** Each score is the share of passed checks; null if there were no checks. */
export type AnswerGrade = Readonly<Awaited<ReturnType<typeof gradeAnswers>>>

export const noAnswers: AnswerGrade = { checks: [], answerScore: null, recallScore: null, sameSessionScore: null }

/** Checks the answers of every session, without a model. */
export async function gradeAnswers(task: Task, evidence: Evidence, folder: string) {
  const checked: CheckResult[] = []
  for (const session of evidence.sessions) {
    const own = task.answerChecks.filter((check) => check.session === session.id)
    if (own.length === 0) continue
    const messages = await readMessages(folder, session)
    checked.push(...own.map((check) => runCheck(check, { task, session, evidence, messages })))
  }
  const checks = withoutUnearned(checked)
  return {
    checks,
    answerScore: shareOf(checks.filter(({ isNewSession }) => isNewSession)),
    /** Only checks whose value had to be remembered from an earlier session. */
    recallScore: shareOf(checks.filter(({ isRecall }) => isRecall)),
    /** Only checks in sessions that are not new: the conversation itself contains their answers. */
    sameSessionScore: shareOf(checks.filter(({ isNewSession }) => !isNewSession)),
  }
}

const shareOf = (checks: readonly CheckResult[]): number | null =>
  checks.length === 0 ? null : checks.filter(({ passed }) => passed).length / checks.length

/** An agent that recalled nothing gets no points in new sessions for admitting it or for omitting forbidden values. */
function withoutUnearned(checks: readonly CheckResult[]): readonly CheckResult[] {
  const recalls = checks.filter(({ isRecall }) => isRecall)
  if (recalls.length === 0 || recalls.some(({ passed }) => passed)) return checks
  return checks.map((check) =>
    check.isNewSession && check.passed
      ? { ...check, passed: false, found: `does not count, because no value was recalled: ${check.found}` }
      : check,
  )
}

type Context = {
  readonly task: Task
  readonly session: SessionRecord
  readonly evidence: Evidence
  readonly messages: readonly TranscriptMessage[]
}

function runCheck(check: AnswerCheck, context: Context) {
  const { session } = context
  const answer = session.answer ?? ''
  const isSilent = answer.trim() === ''
  const problems = isSilent ? ['no answer'] : problemsIn(answer, check, context)
  const isNewSession = session.isFresh && session.index > 0 && (session.priorMessages ?? 0) === 0
  return {
    id: check.id,
    session: session.id,
    /** Whether the session began a new, empty conversation after an earlier one. Only such sessions count for the score. */
    isNewSession,
    /** Whether the answer needs memory: it is in a new session, and an expected value is only in an earlier prompt. */
    isRecall: isNewSession && check.recall !== false && needsMemory(check, context),
    passed: problems.length === 0,
    expected: expectedTexts(check).join(', '),
    found: isSilent
      ? 'no answer'
      : problems.length > 0
        ? `${problems.join(', ')} in: ${excerpt(answer)}`
        : excerpt(answer),
  }
}

function problemsIn(answer: string, check: AnswerCheck, context: Context): readonly string[] {
  const form = formOf(answer)
  const isSaid = (text: string): boolean => (check.exact ? answer.includes(text) : hasPhrase(form, text))
  return [
    ...check.expect.filter((ways) => !ways.some(isSaid)).map(([way]) => `no "${way}"`),
    ...check.forbid.filter((text) => hasPhrase(form, text)).map((text) => `"${text}"`),
    ...(check.mustNotKnow && !isUnknownAnswer(answer) ? ['no statement that it is unknown'] : []),
    ...(check.memoryRead && !readsMemory(context) ? ['no memory lookup'] : []),
  ]
}

const expectedTexts = (check: AnswerCheck): readonly string[] => [
  ...check.expect.map((ways) => ways.map((way) => `"${way}"`).join(' or ')),
  ...check.forbid.map((text) => `not "${text}"`),
  ...(check.mustNotKnow ? ['a statement that it is unknown'] : []),
  ...(check.memoryRead ? ['a memory lookup before the answer'] : []),
]

/** Whether an earlier prompt contains an expected value that neither this prompt nor a file of the task contains. */
function needsMemory({ expect }: AnswerCheck, { task, session, evidence }: Context): boolean {
  const given = task.workspaceFiles.flatMap((file) => (file.kind === 'inline' ? [file.content] : []))
  const present = formOf([session.prompt, ...given].join('\n\n'))
  const told = formOf(
    evidence.sessions
      .slice(0, session.index)
      .map(({ prompt }) => prompt)
      .join('\n\n'),
  )
  return expect.some((ways) => ways.some((way) => hasPhrase(told, way)) && !ways.some((way) => hasPhrase(present, way)))
}

const not = "(?:not|n't|never|no)"
const unknown = new RegExp(
  [
    `(?:(?:do|does|did|have|has|had|is|are|was|were|could)\\s*${not}|can't|cannot)\\b[^.!?\\n]{0,60}?\\b(?:know|knowledge|have|record|information|find|found|remember|recall|told|mention|mentioned|store|stored|saved|noted|see|aware|known|recorded|available|listed|specified|given|sure|contain|include|say|tell|share|shared|provided|covered|anything)\\b`,
    `\\bcannot\\s+(?:find|recall|tell|say|answer|know)\\b`,
    `\\b(?:no|without any)\\s+(?:\\w+\\s+){0,3}?(?:record|information|memory|mention|entry|note|data|details?|knowledge|idea|belief)\\b`,
    `\\bnothing\\b[^.!?\\n]{0,40}\\b(?:about|on|regarding|stored|saved|recorded|known|in)\\b`,
    `\\b(?:unknown|not known|never told|never mentioned|not in (?:my|the) (?:memory|notes|file|records?))\\b`,
    `\\b(?:haven't|hasn't|didn't|never|not)\\s+(?:been\\s+)?(?:told|mentioned|shared|given|said|stated|provided)\\b`,
    `\\bunable to (?:find|recall|answer|say|tell)\\b`,
    '不知道|没有(?:相关|任何)?(?:信息|记录|记忆|提到)|未(?:提及|记录|提供)|无(?:相关)?记录',
  ].join('|'),
  'iu',
)

/** Whether an answer states that something is unknown, was not mentioned or was not found. */
export const isUnknownAnswer = (answer: string): boolean =>
  unknown.test(answer.normalize('NFKC').replaceAll('’', "'").replaceAll(/[*_`]/gu, ''))

/** Whether the agent looked into its memory before its last text in a session. Failed calls do not count. */
function readsMemory({ messages, evidence }: Context): boolean {
  const failed = new Set(
    messages.flatMap((message) => (message.role === 'toolResult' && message.isError ? [message.toolCallId] : [])),
  )
  const last = messages.findLastIndex(
    ({ role, content }) =>
      role === 'assistant' && content.some((block) => block.type === 'text' && block.text.trim() !== ''),
  )
  const calls = messages
    .slice(0, last + 1)
    .flatMap((message) => (message.role === 'assistant' ? message.content : []))
    .filter((block) => block.type === 'toolCall')
  const paths = evidence.workspace.map(pathInWorkspace)
  return calls.some((call) => !failed.has(call.id) && isMemoryLookup(call, paths))
}

const writingTool = /write|edit|append|create|remember|save|store|delete|forget|update|patch|correct|remove|put|add/iu

/** A tool call that names a memory or a file of the workspace, and does not write. */
function isMemoryLookup({ name, arguments: given }: ToolCallBlock, paths: readonly string[]): boolean {
  const text = JSON.stringify(given)
  const namesMemory = /memor|recall|knowledge/iu.test(`${name} ${text}`) || paths.some((path) => text.includes(path))
  // A command line such as `echo x > memory/MEMORY.md` writes.
  return namesMemory && !writingTool.test(name) && !/>\s*\S*memor/iu.test(text)
}

const maxExcerptLength = 300

const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/gu, ' ').trim()
  return line.length <= maxExcerptLength ? line : `${line.slice(0, maxExcerptLength)}…`
}

/** A text prepared for comparison. `words` ignores case, punctuation and layout; in `dated`, all dates have the same format too. */
type TextForm = { readonly words: string; readonly dated: string; readonly raw: string }

/** In scripts written without spaces every character counts as a word. */
const character = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]'
/** Marks inside numbers and after language names belong to the word: 3.5, 10:30, v1.2, C++, C#. */
const word = new RegExp(`${character}|(?:(?!${character})[\\p{L}\\p{M}\\p{N}])+(?:[.:]\\p{N}+)*(?:\\+{1,2}|#)?`, 'gu')
const thousands = /(?<=\p{N}),(?=\p{N}{3}(?!\p{N}))/gu

export function formOf(text: string): TextForm {
  const raw = text.normalize('NFKC')
  return { words: wordsIn(raw), dated: wordsIn(withUniformDates(raw)), raw }
}

/** Words with a space before and after each, so that only whole words are found. */
const wordsIn = (text: string): string =>
  ` ${(text.replaceAll(thousands, '').toLowerCase().match(word) ?? []).join(' ')} `

/** Whether a text contains a phrase, word by word. */
export function hasPhrase(text: TextForm, phrase: string): boolean {
  const wanted = formOf(phrase)
  // A phrase without words, such as "!!", is compared verbatim.
  if (wanted.words.trim() === '') return phrase.trim() !== '' && text.raw.includes(wanted.raw.trim())
  return text.words.includes(wanted.words) || text.dated.includes(wanted.dated)
}

const months = 'january february march april may june july august september october november december'.split(' ')
const edge = '(?<![\\p{L}\\p{N}])'
const end = '(?![\\p{L}\\p{N}])'
const day = '(?<day>\\d{1,2})(?:st|nd|rd|th)?'
const name = '(?<name>\\p{L}{3,9})\\.?'
const year = '(?<year>[12]\\d{3})'
/** Matches no line break, because the next line may be another list item. */
const gap = '[^\\S\\n]+'

const datePatterns = [
  `${edge}${year}(?<mark>[-/.])(?<month>\\d{1,2})\\k<mark>(?<day>\\d{1,2})(?=T|${end})`,
  `${year}年(?<month>\\d{1,2})月(?<day>\\d{1,2})日`,
  `${edge}(?<first>\\d{1,2})(?<mark>[-/.])(?<second>\\d{1,2})\\k<mark>${year}${end}`,
  `${edge}(?:the${gap})?${day}(?:${gap}of)?${gap}${name}(?:,?${gap}${year})?${end}`,
  `${edge}${name}${gap}(?:the${gap})?${day}(?:,?${gap}${year})?${end}`,
].map((source) => new RegExp(source, 'giu'))

/** Writes every date as one word for month and day, followed by the year if there is one. */
const withUniformDates = (text: string): string =>
  datePatterns.reduce(
    (left, pattern) =>
      left.replaceAll(pattern, (...match) => {
        const found = match[0] as string
        const groups = match.at(-1) as Groups
        const { month, day: date } = monthAndDay(groups)
        const isDate = month >= 1 && month <= 12 && date >= 1 && date <= 31
        return isDate ? ` day${100 * month + date} ${groups.year ?? ''} ` : found
      }),
    text,
  )

type Groups = Readonly<Record<string, string | undefined>>

/** The month is 0 if it does not exist, or if the numbers are ambiguous. */
function monthAndDay({ month, day: date, name: word = '', first, second, mark }: Groups): {
  readonly month: number
  readonly day: number
} {
  if (first === undefined) {
    const named = months.findIndex((month) => month.startsWith(word.toLowerCase())) + 1
    return { month: month === undefined ? named : Number(month), day: Number(date) }
  }
  const one = Number(first)
  const other = Number(second)
  if (mark === '.' || one > 12 || one === other) return { month: other, day: one }
  return other > 12 ? { month: one, day: other } : { month: 0, day: 0 }
}
