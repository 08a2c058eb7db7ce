import { z } from 'zod'
import { numberedItems } from '../grade/text-match.ts'
import type { AnswerCheck, TaskSession } from '../task.ts'
import { Draw, type DrawRules } from './draw.ts'
import { type Findings, shown } from './problem.ts'

/** A text to look for in an answer. Numbers and booleans are how YAML reads some of them. */
const Text = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be text' })
  .transform(String)
  .refine((value) => value.trim() !== '', { error: 'must not be blank' })

const conditions = 'expect, forbid, must_not_know, memory_read or nothing_invented'

const Check = z
  .strictObject({
    id: z.string().min(1),
    session: Text,
    question: z.int({ error: 'must be the number of a question' }).min(1).optional(),
    expect: z.array(z.union([z.array(Text).min(1), Text.transform((one) => [one])])).default([]),
    exact: z.boolean().default(false),
    recall: z.boolean().default(true),
    forbid: z.array(Text).default([]),
    must_not_know: z.boolean().default(false),
    memory_read: z.boolean().default(false),
    nothing_invented: z.boolean().default(false),
  })
  .refine(
    ({ expect, forbid, must_not_know, memory_read, nothing_invented }) =>
      expect.length > 0 || forbid.length > 0 || must_not_know || memory_read || nothing_invented,
    { error: `must have ${conditions}` },
  )
  .refine(({ expect, exact }) => !exact || expect.length > 0, { error: 'has exact, which is only for expect' })
  .transform(
    ({ question, must_not_know, memory_read, nothing_invented, ...check }): AnswerCheck => ({
      ...check,
      ...(question === undefined ? {} : { question }),
      mustNotKnow: must_not_know,
      memoryRead: memory_read,
      nothingInvented: nothing_invented,
      source: 'task',
    }),
  )

/** The key `credence` of the front matter: what Credence adds to the format. Other runners ignore it. See docs/tasks.md. */
const OwnAdditions = z.strictObject({ answer_checks: z.array(Check).default([]), draw: Draw.default({}) })

type OwnAdditions = { readonly answerChecks: readonly AnswerCheck[]; readonly draw: DrawRules }

/** Reads the value of the key `credence`. Problems go into `findings`. */
export function readOwnAdditions(value: unknown, sessions: readonly TaskSession[], findings: Findings): OwnAdditions {
  const result = OwnAdditions.safeParse(value ?? {}, { reportInput: true })
  if (!result.success) {
    findings.invalid(result.error, ['credence'], allowedIn)
    return { answerChecks: [], draw: {} }
  }
  const { answer_checks: answerChecks, draw } = result.data
  for (const [index, check] of answerChecks.entries()) {
    const field = `credence.answer_checks[${index}]`
    const isRepeated = answerChecks
      .slice(0, index)
      .some(({ id, session }) => id === check.id && session === check.session)
    if (isRepeated) findings.wrong(`${field}.id`, `is ${shown(check.id)}, which is there twice in that session`)
    checkPlace(check, field, sessions, findings)
  }
  for (const [index, [name, rule]] of Object.entries(draw).entries()) {
    // A value can only differ from one that is drawn before it.
    const earlier = Object.keys(draw).slice(0, index)
    for (const other of 'one_of' in rule ? (rule.unlike ?? []) : []) {
      if (earlier.includes(other)) continue
      const allowed = earlier.length === 0 ? '' : `: ${earlier.join(', ')}`
      findings.wrong(`credence.draw.${name}.unlike`, `is ${shown(other)}; it must be an earlier variable${allowed}`)
    }
  }
  return { answerChecks, draw }
}

function checkPlace(check: AnswerCheck, field: string, sessions: readonly TaskSession[], findings: Findings): void {
  const session = sessions.find(({ id }) => id === check.session)
  if (session === undefined) {
    const ids = sessions.map(({ id }) => id).join(', ')
    findings.wrong(`${field}.session`, `is ${shown(check.session)}; it must be one of ${ids}`)
  } else if (check.question !== undefined) {
    const numbers = [...numberedItems(session.prompt).keys()]
    if (numbers.includes(check.question)) return
    const allowed = numbers.length === 0 ? 'that prompt has no numbered questions' : `it must be ${numbers.join(', ')}`
    findings.wrong(`${field}.question`, `is ${check.question}; ${allowed}`)
  }
}

const allowedIn = (path: readonly PropertyKey[]): string => {
  if (path.length === 0) return 'it may have answer_checks and draw'
  if (path[0] === 'answer_checks') return `it may have id, session, question, exact, recall, ${conditions}`
  return 'see the kinds of values that can be drawn in docs/tasks.md'
}
