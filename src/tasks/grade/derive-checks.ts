import type { AnswerCheck, Task } from '../task.ts'
import { type Bullet, bulletsBySession } from './expected-bullets.ts'
import { formOf, holds, type TextForm, wordsOf } from './text-form.ts'
import { namesIn, waysToSay } from './value-pieces.ts'

/** What an answer is expected to hold, before it is known whether the agent was ever told. */
type Expectation = { readonly label: string; readonly session: number; readonly pieces: readonly (readonly string[])[] }

const recalling = /\b(?:recall|remember|state|answer|report|name|identif|give|mention|repeat|retriev|provid|say)/iu
const inBrackets = /\(([^()]+)\)/gu
const sessionNumber = /\bsession\s+(\d+)/iu

/**
 * Checks for a task that brings none: what its criteria name in brackets ("recalls the language (Rust)") and what its
 * expected behaviour lists by session ("Mentor: Dr. Vega"). Only what an earlier prompt or file says is asked for:
 * the rest may be an example or a result, and a check on it would be a guess.
 */
export function deriveChecks(task: Task): readonly AnswerCheck[] {
  const expectations = [...fromCriteria(task), ...fromExpectedBehavior(task)]
  const checks: AnswerCheck[] = []
  for (const { label, session, pieces } of expectations) {
    const target = task.sessions[session]
    if (target === undefined) continue
    const told = toldBefore(task, session)
    const expect = pieces.filter((ways) => ways.some((way) => holds(told, way)))
    const asked = checks.filter((check) => check.session === target.id).flatMap((check) => check.expect)
    if (expect.length === 0 || expect.every((ways) => asked.some((other) => isCovered(ways, other)))) continue
    const id = freeId(label, checks)
    checks.push({ id, session: target.id, expect, forbid: [], mustNotKnow: false, source: 'derived' })
  }
  return checks
}

/** Everything the agent could know by then. */
function toldBefore({ sessions, workspaceFiles }: Task, session: number): TextForm {
  const files = workspaceFiles.flatMap((file) => (file.kind === 'inline' ? [file.content] : []))
  return formOf([...files, ...sessions.slice(0, session).map(({ prompt }) => prompt)].join('\n\n'))
}

/** Where recall is asked for when nobody says so: the last session that begins afresh. */
function recallSession({ sessions }: Task): number {
  const fresh = sessions.findLastIndex(({ isFresh }, index) => isFresh && index > 0)
  return fresh === -1 ? sessions.length - 1 : fresh
}

const fromCriteria = (task: Task): readonly Expectation[] =>
  task.criteria.flatMap((criterion) => {
    if (!recalling.test(criterion)) return []
    const [, number] = sessionNumber.exec(criterion) ?? []
    const session = number === undefined ? recallSession(task) : Number(number) - 1
    const value = [...criterion.matchAll(inBrackets)]
      .map(([, inner = '']) => inner)
      .findLast((inner) => !sessionNumber.test(inner))
    if (value === undefined) return []
    const label = criterion
      .replaceAll(inBrackets, ' ')
      .replace(/^.*?\b(?:recalls?|remembers?|states?|names?|reports?)\b/iu, '')
    return [{ label, session, pieces: waysToSay(value) }]
  })

const fromExpectedBehavior = (task: Task): readonly Expectation[] =>
  bulletsBySession(task.expectedBehavior).flatMap((bullet) => {
    const { session, text } = bullet
    const [, key, value] = /^([^:]{2,60}):\s+(\S.*)$/su.exec(text) ?? []
    if (key !== undefined && value !== undefined && wordsOf(key).length <= 6) {
      return [{ label: key, session: session - 1, pieces: waysToSay(value) }]
    }
    return claimed(bullet)
  })

/** "Correctly states that the project is called NeonDB": the names in it are what counts. */
function claimed({ session, text }: Bullet): readonly Expectation[] {
  if (!/^(?:correctly|accurately)\b/iu.test(text) || !recalling.test(text)) return []
  const pieces = namesIn(text)
  return pieces.length === 0
    ? []
    : [{ label: pieces.map(([name = '']) => name).join(' '), session: session - 1, pieces }]
}

/** Whether another expectation already asks for at least this. */
const isCovered = (ways: readonly string[], other: readonly string[]): boolean =>
  other.every((phrase) => ways.some((way) => holds(formOf(phrase), way)))

function freeId(label: string, checks: readonly AnswerCheck[]): string {
  const base = wordsOf(label).slice(0, 6).join('-') || 'fact'
  const isFree = (id: string): boolean => checks.every((check) => check.id !== id)
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`
    if (isFree(id)) return id
  }
}
