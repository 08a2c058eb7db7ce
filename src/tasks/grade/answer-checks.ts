import type { Evidence, SessionRecord } from '../evidence.ts'
import { readTranscript } from '../run/read-evidence.ts'
import type { AnswerCheck, Task } from '../task.ts'
import type { TranscriptMessage } from '../transcript.ts'
import { deriveChecks } from './derive-checks.ts'
import { inventedIn, knownText } from './invented.ts'
import { memoryReadIn } from './memory-read.ts'
import { numberedItems } from './numbered-items.ts'
import { asksToStore, confirmsStoring, saysUnknown } from './phrases.ts'
import { formOf, holds } from './text-form.ts'
import { type WorkspaceText, workspaceTexts } from './workspace-texts.ts'

/**
 * `fact`: the answer holds what it should, and nothing it should not. `unknown`: it says that it does not know. The
 * others are asked of every task: nothing is invented, memory is read before it is spoken of, storing is confirmed.
 */
export type CheckKind = 'fact' | 'unknown' | 'nothing_invented' | 'memory_read' | 'confirmation'

export type CheckResult = {
  readonly id: string
  readonly session: string
  readonly kind: CheckKind
  readonly source: AnswerCheck['source'] | 'general'
  /**
   * Whether it shows what was remembered: it is about a session that began afresh after an earlier one, and, if it is a
   * `fact`, expects something that the prompt does not say itself. Leaving out what is forbidden takes no memory.
   */
  readonly isRecall: boolean
  readonly passed: boolean
  readonly expected: string
  readonly found: string
}

export type AnswerGrade = {
  readonly checks: readonly CheckResult[]
  /** The share that passed; null when there was nothing to check. */
  readonly score: number | null
  /** The same over facts that had to be remembered from an earlier session. */
  readonly recallScore: number | null
}

/** Checks every session's answer without any model. */
export async function gradeAnswers(task: Task, evidence: Evidence, folder: string): Promise<AnswerGrade> {
  const files = await workspaceTexts(folder, evidence)
  const answerChecks = task.answerChecks.length > 0 ? task.answerChecks : deriveChecks(task)
  const checks: CheckResult[] = []
  for (const session of evidence.sessions) {
    const own = answerChecks.filter((check) => check.session === session.id)
    const messages = await messagesOf(folder, session)
    checks.push(...own.map((check) => factCheck(check, session)))
    checks.push(...generalChecks({ session, evidence, files, messages, hasChecks: own.length > 0 }))
  }
  return {
    checks,
    score: shareOf(checks),
    recallScore: shareOf(checks.filter(({ kind, isRecall }) => isRecall && kind === 'fact')),
  }
}

const shareOf = (checks: readonly CheckResult[]): number | null =>
  checks.length === 0 ? null : checks.filter(({ passed }) => passed).length / checks.length

/** Whether a session can know something only by having kept it. */
const isRecall = ({ isFresh, index }: SessionRecord): boolean => isFresh && index > 0

const noAnswer = 'no answer'
const longestFound = 300

function factCheck(check: AnswerCheck, session: SessionRecord): CheckResult {
  const { answer, under } = answerTo(check, session)
  const form = formOf(answer)
  const isSilent = answer.trim() === ''
  const missing = check.expect.filter((ways) => !ways.some((way) => holds(form, way)))
  const said = check.forbid.filter((text) => holds(form, text))
  const lacksUnknown = check.mustNotKnow && !saysUnknown(answer)
  const problems = [
    ...missing.map((ways) => `no "${ways[0]}"`),
    ...said.map((text) => `"${text}"`),
    ...(lacksUnknown ? ['no word that it is unknown'] : []),
  ]
  return {
    id: check.id,
    session: session.id,
    kind: check.expect.length === 0 && check.mustNotKnow ? 'unknown' : 'fact',
    source: check.source,
    isRecall: isRecall(session) && expectsMemory(check, session),
    // Silence holds nothing that is forbidden, and earns nothing by it.
    passed: problems.length === 0 && !isSilent,
    expected: [
      ...check.expect.map((ways) => ways.map((way) => `"${way}"`).join(' or ')),
      ...check.forbid.map((text) => `not "${text}"`),
      ...(check.mustNotKnow ? ['that it is not known'] : []),
    ].join(', '),
    found: isSilent
      ? `${noAnswer}${under}`
      : problems.length > 0
        ? `${problems.join(', ')}${under} in: ${excerpt(answer)}`
        : excerpt(answer),
  }
}

/** What a check looks at: the item under the number of its question, where the answer has numbers, else all of it. */
function answerTo(
  { question }: AnswerCheck,
  session: SessionRecord,
): { readonly answer: string; readonly under: string } {
  const whole = session.answer ?? ''
  if (question === undefined) return { answer: whole, under: '' }
  const items = numberedItems(whole)
  return items.size === 0
    ? { answer: whole, under: '' }
    : { answer: items.get(question) ?? '', under: ` under ${question}` }
}

function expectsMemory({ expect }: AnswerCheck, { prompt }: SessionRecord): boolean {
  const asked = formOf(prompt)
  return expect.some((ways) => !ways.some((way) => holds(asked, way)))
}

type Scene = {
  readonly session: SessionRecord
  readonly evidence: Evidence
  readonly files: readonly WorkspaceText[]
  readonly messages: readonly TranscriptMessage[]
  readonly hasChecks: boolean
}

function generalChecks({ session, evidence, files, messages, hasChecks }: Scene): readonly CheckResult[] {
  const general = (kind: CheckKind, passed: boolean, expected: string, found: string): CheckResult => ({
    id: kind.replaceAll('_', '-'),
    session: session.id,
    kind,
    source: 'general',
    isRecall: isRecall(session),
    passed,
    expected,
    found,
  })
  const answer = session.answer ?? ''
  const isSilent = answer.trim() === ''
  const results: CheckResult[] = []
  if (!hasChecks && asksToStore(session.prompt)) {
    const passed = confirmsStoring(answer)
    results.push(general('confirmation', passed, 'that it was kept', isSilent ? noAnswer : excerpt(answer)))
  }
  if (!isRecall(session)) return results
  const isAskedBack = hasChecks || asksBack(session.prompt)
  if (isAskedBack) {
    const read = memoryReadIn(
      messages,
      files.map(({ path }) => path),
    )
    const found = read === null ? 'no look into memory' : `${read.name} ${read.detail}`
    results.push(general('memory_read', read !== null && !isSilent, 'memory read before the answer', found))
  }
  if (hasChecks) {
    const prompts = evidence.sessions.slice(0, session.index + 1).map(({ prompt }) => prompt)
    const known = knownText([...prompts, ...files.flatMap(({ path, text }) => [path, text ?? ''])])
    const invented = inventedIn(answer, known)
    const found = isSilent ? noAnswer : invented.length === 0 ? 'nothing' : invented.map((one) => `"${one}"`).join(', ')
    results.push(general('nothing_invented', invented.length === 0 && !isSilent, 'nothing that nobody said', found))
  }
  return results
}

/** Whether a prompt wants to hear what is in memory. News for the memory names it too, and asks nothing. */
const asksBack = (prompt: string): boolean => speaksOfMemory.test(prompt) && asks.test(prompt) && !asksToStore(prompt)

const asks = /[?？]|\b(?:tell|remind|answer|show|give|list|read|check|recap|summari[sz]e|what|which|who)\b/iu
const speaksOfMemory = /\b(?:earlier|before|last time|previous(?:ly)?|remember|recall|told you|saved|stored|memory)\b/iu

const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/gu, ' ').trim()
  return line.length <= longestFound ? line : `${line.slice(0, longestFound)}…`
}

async function messagesOf(folder: string, { transcript }: SessionRecord): Promise<readonly TranscriptMessage[]> {
  if (transcript === null) return []
  const entries = await readTranscript(folder, transcript)
  return entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
}
