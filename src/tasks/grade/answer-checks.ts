import type { Evidence, SessionRecord } from '../evidence.ts'
import { readTranscript } from '../run/read-evidence.ts'
import type { AnswerCheck, Task } from '../task.ts'
import type { ToolCallBlock, TranscriptMessage } from '../transcript.ts'
import { inventedIn, knownText } from './invented.ts'
import { formOf, holds, numberedItems } from './text-match.ts'
import { type WorkspaceText, workspaceTexts } from './workspace-texts.ts'

/** What a check looks for: a value, an admission that something is unknown, a memory lookup, or inventions. */
type CheckKind = 'fact' | 'unknown' | 'memory_read' | 'nothing_invented'

export type CheckResult = {
  readonly id: string
  readonly session: string
  readonly kind: CheckKind
  readonly source: AnswerCheck['source']
  /** Whether the session began a new, empty conversation after an earlier one. Only such sessions count for the score. */
  readonly isNewSession: boolean
  /** Whether the answer needs memory: a new session must give a value that only an earlier prompt says. */
  readonly isRecall: boolean
  readonly passed: boolean
  readonly expected: string
  readonly found: string
}

/** Each score is the share of checks that passed; null when there was none. */
export type AnswerGrade = {
  readonly checks: readonly CheckResult[]
  /** Checks of new sessions. */
  readonly score: number | null
  /** Of these, values that had to be remembered. */
  readonly recallScore: number | null
  /** Checks of the other sessions, which can be answered from the conversation itself. */
  readonly sameSessionScore: number | null
}

/** Checks the answers of every session, without a model. */
export async function gradeAnswers(task: Task, evidence: Evidence, folder: string): Promise<AnswerGrade> {
  const files = await workspaceTexts(folder, evidence)
  const checked: CheckResult[] = []
  for (const session of evidence.sessions) {
    const own = checksOf(task).filter((check) => check.session === session.id)
    if (own.length === 0) continue
    const context = { task, session, evidence, files, messages: await messagesOf(folder, session) }
    checked.push(...own.map((check) => runCheck(check, context)))
  }
  const checks = withoutUnearned(checked)
  return {
    checks,
    score: shareOf(checks.filter(({ isNewSession }) => isNewSession)),
    recallScore: shareOf(checks.filter(({ isRecall }) => isRecall)),
    sameSessionScore: shareOf(checks.filter(({ isNewSession }) => !isNewSession)),
  }
}

const shareOf = (checks: readonly CheckResult[]): number | null =>
  checks.length === 0 ? null : checks.filter(({ passed }) => passed).length / checks.length

/** An agent that recalled nothing earns nothing in new sessions by admitting it, or by leaving out what is forbidden. */
function withoutUnearned(checks: readonly CheckResult[]): readonly CheckResult[] {
  const recalls = checks.filter(({ isRecall }) => isRecall)
  if (recalls.length === 0 || recalls.some(({ passed }) => passed)) return checks
  return checks.map((check) =>
    check.isNewSession && check.passed
      ? { ...check, passed: false, found: `does not count, because no value was recalled: ${check.found}` }
      : check,
  )
}

/** The checks that a task states, or else the values that its criteria name. */
export const checksOf = (task: Task): readonly AnswerCheck[] =>
  task.answerChecks.length > 0 ? task.answerChecks : criteriaChecks(task)

/**
 * Values in brackets at the end of a criterion, as in "Recalls the language (Rust)". They are expected of the one new
 * session, where an earlier prompt says them and the prompt of that session does not. A task with several new sessions
 * has to state its checks, because its criteria do not say which session is meant.
 */
function criteriaChecks({ criteria, sessions }: Task): readonly AnswerCheck[] {
  const [target, ...others] = sessions.filter(({ isFresh }, index) => isFresh && index > 0)
  if (target === undefined || others.length > 0) return []
  const told = formOf(
    sessions
      .slice(0, sessions.indexOf(target))
      .map(({ prompt }) => prompt)
      .join('\n\n'),
  )
  const asked = formOf(target.prompt)
  return criteria.flatMap((criterion, index) => {
    const [, value = ''] = /\(([^()]+)\)\s*$/u.exec(criterion) ?? []
    const parts = holds(told, value) ? [value] : value.split(',')
    const expect = parts.filter((part) => holds(told, part) && !holds(asked, part)).map((part) => [part.trim()])
    const id = `criterion-${index + 1}`
    return expect.length === 0
      ? []
      : [{ id, session: target.id, expect, forbid: [], mustNotKnow: false, source: 'criteria' as const }]
  })
}

type Context = {
  readonly task: Task
  readonly session: SessionRecord
  readonly evidence: Evidence
  readonly files: readonly WorkspaceText[]
  readonly messages: readonly TranscriptMessage[]
}

function runCheck(check: AnswerCheck, context: Context): CheckResult {
  const { session } = context
  const { answer, place } = answerTo(check, session)
  const isSilent = answer.trim() === ''
  const problems = isSilent ? ['no answer'] : problemsIn(answer, check, context)
  const isNewSession = session.isFresh && session.index > 0 && (session.priorMessages ?? 0) === 0
  return {
    id: check.id,
    session: session.id,
    kind: kindOf(check),
    source: check.source,
    isNewSession,
    isRecall: isNewSession && check.recall !== false && needsMemory(check, context),
    passed: problems.length === 0,
    expected: expectedBy(check).join(', '),
    found: isSilent
      ? `no answer${place}`
      : problems.length > 0
        ? `${problems.join(', ')}${place} in: ${excerpt(answer)}`
        : excerpt(answer),
  }
}

const kindOf = ({ expect, forbid, mustNotKnow, memoryRead, nothingInvented }: AnswerCheck): CheckKind => {
  if (expect.length > 0) return 'fact'
  if (mustNotKnow) return 'unknown'
  if (forbid.length > 0) return 'fact'
  return memoryRead ? 'memory_read' : nothingInvented ? 'nothing_invented' : 'fact'
}

/** The item under the number of the question where the answer is a numbered list, else the whole answer. */
function answerTo(
  { question }: AnswerCheck,
  session: SessionRecord,
): { readonly answer: string; readonly place: string } {
  const whole = session.answer ?? ''
  const items = question === undefined ? new Map<number, string>() : numberedItems(whole)
  return question === undefined || items.size === 0
    ? { answer: whole, place: '' }
    : { answer: items.get(question) ?? '', place: ` under ${question}` }
}

function problemsIn(answer: string, check: AnswerCheck, context: Context): readonly string[] {
  const form = formOf(answer)
  const isSaid = (text: string): boolean => (check.exact ? answer.includes(text) : holds(form, text))
  return [
    ...check.expect.filter((ways) => !ways.some(isSaid)).map(([way]) => `no "${way}"`),
    ...check.forbid.filter((text) => holds(form, text)).map((text) => `"${text}"`),
    ...(check.mustNotKnow && !saysUnknown(answer) ? ['no statement that it is unknown'] : []),
    ...(check.memoryRead && !readsMemory(context) ? ['no memory lookup'] : []),
    ...(check.nothingInvented ? inventions(answer, context).map((text) => `invented "${text}"`) : []),
  ]
}

const expectedBy = (check: AnswerCheck): readonly string[] => [
  ...check.expect.map((ways) => ways.map((way) => `"${way}"`).join(' or ')),
  ...check.forbid.map((text) => `not "${text}"`),
  ...(check.mustNotKnow ? ['a statement that it is unknown'] : []),
  ...(check.memoryRead ? ['a memory lookup before the answer'] : []),
  ...(check.nothingInvented ? ['nothing invented'] : []),
]

/** Whether some expected value stands in an earlier prompt, but neither in this one nor in a file the task provides. */
function needsMemory({ expect }: AnswerCheck, { task, session, evidence }: Context): boolean {
  const given = task.workspaceFiles.flatMap((file) => (file.kind === 'inline' ? [file.content] : []))
  const present = formOf([session.prompt, ...given].join('\n\n'))
  const told = formOf(promptsBefore(session.index, evidence).join('\n\n'))
  return expect.some((ways) => ways.some((way) => holds(told, way)) && !ways.some((way) => holds(present, way)))
}

const promptsBefore = (index: number, { sessions }: Evidence): readonly string[] =>
  sessions.slice(0, index).map(({ prompt }) => prompt)

function inventions(answer: string, { session, evidence, files }: Context): readonly string[] {
  const texts = files.flatMap(({ path, text }) => [path, text ?? ''])
  return inventedIn(answer, knownText([...promptsBefore(session.index + 1, evidence), ...texts]))
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

/** Whether an answer says that something is not known, not said or not found. */
export const saysUnknown = (answer: string): boolean =>
  unknown.test(answer.normalize('NFKC').replaceAll('’', "'").replaceAll(/[*_`]/gu, ''))

const writingTool = /write|edit|append|create|remember|save|store|delete|forget|update|patch|correct|remove|put|add/iu
const recallTool = /recall|memory|memories|remembered|context|knowledge/iu
const readingTool =
  /read|cat|open|view|get|load|fetch|search|find|grep|show|file|bash|shell|exec|command|terminal|run/iu

/**
 * Whether memory was looked up before the last text of a session: by a tool that recalls, or by one that reads and whose
 * arguments name a memory or a file of the workspace. A call that failed does not count.
 */
function readsMemory({ messages, files }: Context): boolean {
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
  return calls.some((call) => !failed.has(call.id) && isMemoryLookup(call, files))
}

function isMemoryLookup({ name, arguments: given }: ToolCallBlock, files: readonly WorkspaceText[]): boolean {
  if (writingTool.test(name)) return false
  if (recallTool.test(name)) return true
  const text = JSON.stringify(given)
  const namesMemory = /memor(?:y|ies)|\brecall\b/iu.test(text) || files.some(({ path }) => text.includes(path))
  // A command line such as `echo x > memory/MEMORY.md` fills a file and prints nothing.
  const onlyWrites = />{1,2}\s*\S*memor/iu.test(text) && !/\bcat\s+[^>|]*memor/iu.test(text)
  return readingTool.test(name) && namesMemory && !onlyWrites
}

const longestExcerpt = 300

const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/gu, ' ').trim()
  return line.length <= longestExcerpt ? line : `${line.slice(0, longestExcerpt)}…`
}

async function messagesOf(folder: string, { transcript }: SessionRecord): Promise<readonly TranscriptMessage[]> {
  if (transcript === null) return []
  const entries = await readTranscript(folder, transcript)
  return entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
}
