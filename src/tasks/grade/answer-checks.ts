import type { Evidence, SessionRecord } from '../evidence.ts'
import { pathInWorkspace, readMessages } from '../run/evidence-folder.ts'
import type { AnswerCheck, Task } from '../task.ts'
import type { ToolCallBlock, TranscriptMessage } from '../transcript.ts'
import { formOf, holds } from './text-match.ts'

export type CheckResult = {
  readonly id: string
  readonly session: string
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
  readonly answerScore: number | null
  /** Of these, values that had to be remembered from an earlier session. */
  readonly recallScore: number | null
  /** Checks of the other sessions, which can be answered from the conversation itself. */
  readonly sameSessionScore: number | null
}

export const noAnswers: AnswerGrade = { checks: [], answerScore: null, recallScore: null, sameSessionScore: null }

/** Checks the answers of every session, without a model. */
export async function gradeAnswers(task: Task, evidence: Evidence, folder: string): Promise<AnswerGrade> {
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

type Context = {
  readonly task: Task
  readonly session: SessionRecord
  readonly evidence: Evidence
  readonly messages: readonly TranscriptMessage[]
}

function runCheck(check: AnswerCheck, context: Context): CheckResult {
  const { session } = context
  const answer = session.answer ?? ''
  const isSilent = answer.trim() === ''
  const problems = isSilent ? ['no answer'] : problemsIn(answer, check, context)
  const isNewSession = session.isFresh && session.index > 0 && (session.priorMessages ?? 0) === 0
  return {
    id: check.id,
    session: session.id,
    isNewSession,
    isRecall: isNewSession && check.recall !== false && needsMemory(check, context),
    passed: problems.length === 0,
    expected: expectedBy(check).join(', '),
    found: isSilent
      ? 'no answer'
      : problems.length > 0
        ? `${problems.join(', ')} in: ${excerpt(answer)}`
        : excerpt(answer),
  }
}

function problemsIn(answer: string, check: AnswerCheck, context: Context): readonly string[] {
  const form = formOf(answer)
  const isSaid = (text: string): boolean => (check.exact ? answer.includes(text) : holds(form, text))
  return [
    ...check.expect.filter((ways) => !ways.some(isSaid)).map(([way]) => `no "${way}"`),
    ...check.forbid.filter((text) => holds(form, text)).map((text) => `"${text}"`),
    ...(check.mustNotKnow && !saysUnknown(answer) ? ['no statement that it is unknown'] : []),
    ...(check.memoryRead && !readsMemory(context) ? ['no memory lookup'] : []),
  ]
}

const expectedBy = (check: AnswerCheck): readonly string[] => [
  ...check.expect.map((ways) => ways.map((way) => `"${way}"`).join(' or ')),
  ...check.forbid.map((text) => `not "${text}"`),
  ...(check.mustNotKnow ? ['a statement that it is unknown'] : []),
  ...(check.memoryRead ? ['a memory lookup before the answer'] : []),
]

/** Whether some expected value stands in an earlier prompt, but neither in this one nor in a file the task provides. */
function needsMemory({ expect }: AnswerCheck, { task, session, evidence }: Context): boolean {
  const given = task.workspaceFiles.flatMap((file) => (file.kind === 'inline' ? [file.content] : []))
  const present = formOf([session.prompt, ...given].join('\n\n'))
  const told = formOf(
    evidence.sessions
      .slice(0, session.index)
      .map(({ prompt }) => prompt)
      .join('\n\n'),
  )
  return expect.some((ways) => ways.some((way) => holds(told, way)) && !ways.some((way) => holds(present, way)))
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

/** Whether memory was looked up before the last text of a session. A call that failed does not count. */
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

/** A call that names a memory or a file of the workspace, and does not write. */
function isMemoryLookup({ name, arguments: given }: ToolCallBlock, paths: readonly string[]): boolean {
  const text = JSON.stringify(given)
  const namesMemory = /memor|recall|knowledge/iu.test(`${name} ${text}`) || paths.some((path) => text.includes(path))
  // A command line such as `echo x > memory/MEMORY.md` writes.
  return namesMemory && !writingTool.test(name) && !/>\s*\S*memor/iu.test(text)
}

const longestExcerpt = 300

const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/gu, ' ').trim()
  return line.length <= longestExcerpt ? line : `${line.slice(0, longestExcerpt)}…`
}
