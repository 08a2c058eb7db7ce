import type { AnswerCheck, Task } from '../task.ts'
import { claimedIn } from './claims.ts'
import { criteriaValues, type Labelled, labelledIn } from './criteria-values.ts'
import { bulletsBySession } from './expected-bullets.ts'
import { questionOf, speaksOf } from './labels.ts'
import { formOf, holds, type TextForm, wordsOf } from './text-form.ts'
import { waysToSay } from './value-pieces.ts'

/** What an answer is expected to hold. The session is counted from 0. */
type Expectation = Labelled & { readonly session: number; readonly isProse: boolean }

/**
 * Checks for a task that brings none: what its criteria name in brackets ("recalls the language (Rust)") and what its
 * expected behaviour lists by session ("Mentor: Dr. Vega", "says that it is Rust"). Only what an earlier prompt or file
 * says is asked for: the rest may be an example or a result, and a check on it would be a guess.
 */
export function deriveChecks(task: Task): readonly AnswerCheck[] {
  const told = task.sessions.map((_, session) => toldBefore(task, session))
  const isTold = (ways: readonly string[], session: number): boolean =>
    ways.some((way) => told[session] !== undefined && holds(told[session], way))
  const expected = fromExpectedBehavior(task, told)
  const named = criteriaValues(task.criteria)
  const checks: AnswerCheck[] = []
  const ask = ({ label, session, pieces }: Omit<Expectation, 'isProse'>): void => {
    const target = task.sessions[session]
    if (target === undefined || pieces.length === 0) return
    const question = questionOf(label, target.prompt)
    checks.push({
      ...{ id: freeId(label, checks), session: target.id, expect: pieces, forbid: [], mustNotKnow: false },
      ...(question === undefined ? {} : { question }),
      source: 'derived',
    })
  }
  const askedIn = (session: number): AnswerCheck['expect'] =>
    checks.filter((check) => check.session === task.sessions[session]?.id).flatMap(({ expect }) => expect)

  for (const { label, pieces, place } of named) {
    const session = placeOf(place, task) ?? homeOf({ label, pieces }, task, expected, isTold)
    const told = pieces.filter((ways) => isTold(ways, session))
    const isNew = told.some((ways) => !askedIn(session).some((other) => isWithin(ways, other)))
    if (isNew) ask({ label, session, pieces: told })
  }
  // The criteria say what counts. Points add what they do not speak of, and prose only where they are silent altogether.
  const silent = new Set([...task.sessions.keys()].filter((session) => askedIn(session).length === 0))
  const added = [
    ...expected.filter(({ session, isProse }) => !isProse || silent.has(session)),
    ...labelledIn(task.criteria, named).flatMap((one) => placed(one, task)),
  ]
  for (const { label, session, pieces } of added) {
    const asked = askedIn(session)
    const isAsked = (ways: readonly string[]): boolean =>
      asked.some((other) => isWithin(ways, other) || isWithin(other, ways))
    ask({ label, session, pieces: pieces.filter((ways) => isTold(ways, session) && !isAsked(ways)) })
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

/** The session a criterion names; null where it names none, or where more than one could be meant. */
function placeOf(place: number | 'same' | null, { sessions }: Task): number | null {
  if (place !== 'same') return place === null ? null : place - 1
  const going = sessions.flatMap(({ isFresh }, index) => (isFresh || index === 0 ? [] : [index]))
  return going.length === 1 ? (going[0] ?? null) : null
}

const placed = ({ place, ...labelled }: Labelled & { place: number | 'same' | null }, task: Task): Expectation[] => {
  const session = placeOf(place, task)
  return session === null ? [] : [{ ...labelled, session, isProse: false }]
}

/**
 * The session that must say something of which the criterion does not tell where. Where the expected behaviour lists
 * what the last fresh session says, and this only under another one, it is that one; unless the last one asks for it.
 */
function homeOf(
  { label, pieces }: Labelled,
  task: Task,
  expected: readonly Expectation[],
  isTold: (ways: readonly string[], session: number) => boolean,
): number {
  const recall = recallSession(task)
  const isAsked = speaksOf(task.sessions[recall]?.prompt ?? '', label)
  if (isAsked || !expected.some(({ session }) => session === recall)) return recall
  const bullets = bulletsBySession(task.expectedBehavior)
  const isListed = (session: number): boolean => {
    const section = formOf(bullets.flatMap((one) => (one.session - 1 === session ? [one.text] : [])).join('\n'))
    return pieces.every((ways) => isTold(ways, session) && ways.some((way) => holds(section, way)))
  }
  const homes = task.sessions.flatMap((_, session) => (session > 0 && isListed(session) ? [session] : []))
  return homes.length === 1 && homes[0] !== undefined ? homes[0] : recall
}

function fromExpectedBehavior(task: Task, told: readonly TextForm[]): readonly Expectation[] {
  return bulletsBySession(task.expectedBehavior).flatMap(({ session: number, text, isPoint }) => {
    const session = number - 1
    const [before, prompt] = [told[session], task.sessions[session]?.prompt]
    if (before === undefined || prompt === undefined) return []
    const [, key, value] = /^([^:]{2,60}):\s+(\S.*)$/su.exec(text) ?? []
    const isKeyed = isPoint && key !== undefined && value !== undefined && wordsOf(key).length <= 6
    const pieces = isKeyed ? waysToSay(value) : claimedIn(text, before, formOf(prompt))
    const asked = pieces.filter((ways) => ways.some((way) => holds(before, way)))
    if (asked.length === 0) return []
    const label = isKeyed ? key : asked.map(([name = '']) => name).join(' ')
    return [{ label, session, pieces: asked, isProse: !isPoint }]
  })
}

/** Whether whoever says the other says at least this. */
const isWithin = (ways: readonly string[], other: readonly string[]): boolean =>
  other.every((phrase) => ways.some((way) => holds(formOf(phrase), way)))

function freeId(label: string, checks: readonly AnswerCheck[]): string {
  const base = wordsOf(label).slice(0, 6).join('-') || 'fact'
  const isFree = (id: string): boolean => checks.every((check) => check.id !== id)
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`
    if (isFree(id)) return id
  }
}
