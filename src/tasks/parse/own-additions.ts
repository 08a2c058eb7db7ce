import { z } from 'zod'
import { fieldAt } from '../../eval/store/parse-artifact.ts'
import { numberedItems } from '../grade/numbered-items.ts'
import type { AnswerCheck, TaskSession } from '../task.ts'
import { type Findings, shown } from './problem.ts'

/**
 * What Credence adds to the format, all of it below the one key `credence:` of the front matter, so that other runners
 * pass over it:
 *
 * ```yaml
 * credence:
 *   draw:                                  # values that the seed decides, new for every seed
 *     language: { one_of: [Rust, Zig, Elixir] }
 *     former: { one_of: [Rust, Zig, Elixir], unlike: language }
 *     project: { one_of: [{ name: NeonDB, about: key-value store }, { name: Tidepool, about: job queue }] }
 *     phrase: { words: 3 }                 # three ordinary words: "purple elephant sunrise"
 *     token: { code: 12 }                  # letters and digits, nothing that can be mistaken: "k7fq2m9xwd4h"
 *     port: { number: { from: 1024, to: 9999 } }
 *     start: { date: true }                # "January 15, 2024"; or { date: { from: 2020-01-01, to: 2024-12-31 } }
 *     mentor: { person: true }             # "Elena Vasquez"
 *   answer_checks:                         # what the answer of a session must and must not hold
 *     - { id: language, session: recall, expect: [["{{language}}"]] }
 *     - { id: start, session: recall, expect: [["{{start}}", "{{start.iso}}"]] }  # an inner list: ways to say the same
 *     - { id: editor, session: recall, question: 3, expect: [[Helix]], forbid: [Vim] }  # under 3, if there are numbers
 *     - { id: pet, session: recall, must_not_know: true }                     # must say that it is not known
 * ```
 *
 * `{{name}}` stands for a drawn value in prompts, inline
 * workspace files, expected behaviour, criteria, checks, rubric and Python. Parts: `.iso`, `.day`, `.month`, `.year` of
 * a date, `.first` and `.last` of a person, and the names of a mapping in `one_of`. In Python a value is written so
 * that it is right inside an ordinary string: `if "{{phrase}}" in content`. A mapping is only used by its parts.
 */
const PlainValue = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, or true or false' })
  .transform(String)
  .refine((value) => value.trim() !== '' && !value.includes('{{'), { error: 'must not be blank nor hold {{' })

const Mapping = z.record(z.string().regex(/^[a-z][a-z0-9_]*$/u), PlainValue)

const IsoDay = z.iso.date({ error: 'must be a day such as 2024-01-15' })

const rule = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape)

const DrawRule = z.union(
  [
    rule({
      one_of: z.array(z.union([PlainValue, Mapping])).min(1),
      unlike: z.union([z.string().transform((name) => [name]), z.array(z.string())]).optional(),
    }),
    rule({ words: z.int().min(1).max(12) }),
    rule({ code: z.int().min(4).max(64) }),
    rule({ number: z.strictObject({ from: z.int(), to: z.int() }).refine(({ from, to }) => from <= to) }),
    rule({
      date: z.union([
        z.literal(true),
        z.strictObject({ from: IsoDay, to: IsoDay }).refine(({ from, to }) => from <= to),
      ]),
    }),
    rule({ person: z.literal(true) }),
  ],
  {
    error:
      'must be one of { one_of: […], unlike? }, { words: 1 to 12 }, { code: 4 to 64 }, { number: { from, to } }, { date: true or { from, to } }, { person: true }',
  },
)
export type DrawRule = z.infer<typeof DrawRule>

const variableName = /^[a-z][a-z0-9_]*$/u

const Draw = z.record(
  z.string().regex(variableName, { error: 'must be lower case letters, digits and _, beginning with a letter' }),
  DrawRule,
)

const Check = z
  .strictObject({
    id: z.string().min(1),
    session: PlainValue,
    question: z.int({ error: 'must be the number of a question' }).min(1).optional(),
    expect: z.array(z.union([z.array(PlainTemplate()).min(1), PlainTemplate().transform((one) => [one])])).default([]),
    forbid: z.array(PlainTemplate()).default([]),
    must_not_know: z.boolean().default(false),
  })
  .refine(({ expect, forbid, must_not_know }) => expect.length > 0 || forbid.length > 0 || must_not_know, {
    error: 'must have expect, forbid or must_not_know: true',
  })

/** Like a plain value, but placeholders are welcome. */
function PlainTemplate() {
  return z
    .union([z.string(), z.number(), z.boolean()], { error: 'must be text' })
    .transform(String)
    .refine((value) => value.trim() !== '', { error: 'must not be blank' })
}

const OwnAdditions = z.strictObject({ answer_checks: z.array(Check).default([]), draw: Draw.default({}) })

export type OwnAdditions = {
  readonly answerChecks: readonly AnswerCheck[]
  readonly draw: Readonly<Record<string, DrawRule>>
}

const none: OwnAdditions = { answerChecks: [], draw: {} }

/** Reads the value of the key `credence`. What is wrong goes into `findings`. */
export function readOwnAdditions(
  value: unknown,
  sessions: readonly Pick<TaskSession, 'id' | 'prompt'>[] | null,
  findings?: Findings,
): OwnAdditions {
  if (value === undefined || value === null) return none
  const result = OwnAdditions.safeParse(value, { reportInput: true })
  if (!result.success) {
    for (const issue of result.error.issues) {
      const field = fieldAt(['credence', ...issue.path])
      if (issue.code === 'unrecognized_keys') {
        findings?.wrong(field, `has ${issue.keys.map((key) => `"${key}"`).join(', ')}; ${allowedIn(issue.path)}`)
      } else findings?.wrong(field, `is ${shown(issue.input)}; it ${issue.message}`)
    }
    return none
  }
  const { answer_checks, draw } = result.data
  refuseRepeatedIds(answer_checks, findings)
  for (const [index, check] of answer_checks.entries()) {
    const place = `credence.answer_checks[${index}]`
    if (sessions !== null) refuseUnknownPlaces(check, place, sessions, findings)
  }
  for (const [name, given] of Object.entries(draw)) {
    for (const other of 'one_of' in given ? (given.unlike ?? []) : []) {
      // Only earlier ones, so that every value is drawn before it is asked for.
      const earlier = Object.keys(draw).slice(0, Object.keys(draw).indexOf(name))
      if (earlier.includes(other)) continue
      findings?.wrong(
        `credence.draw.${name}.unlike`,
        `is ${shown(other)}; it must be a variable that stands before it${earlier.length === 0 ? '' : `: ${earlier.join(', ')}`}`,
      )
    }
  }
  const answerChecks = answer_checks.map(({ id, session, question, expect, forbid, must_not_know }) => ({
    id,
    session,
    ...(question === undefined ? {} : { question }),
    expect,
    forbid,
    mustNotKnow: must_not_know,
    source: 'task' as const,
  }))
  return { answerChecks, draw }
}

function refuseUnknownPlaces(
  { session, question }: z.infer<typeof Check>,
  place: string,
  sessions: readonly Pick<TaskSession, 'id' | 'prompt'>[],
  findings: Findings | undefined,
): void {
  const asked = sessions.find(({ id }) => id === session)
  if (asked === undefined) {
    const ids = sessions.map(({ id }) => id).join(', ')
    findings?.wrong(`${place}.session`, `is ${shown(session)}; it must be one of ${ids}`)
    return
  }
  if (question === undefined) return
  const numbers = [...numberedItems(asked.prompt).keys()]
  if (numbers.includes(question)) return
  const allowed = numbers.length === 0 ? 'that prompt has no numbered questions' : `it must be ${numbers.join(', ')}`
  findings?.wrong(`${place}.question`, `is ${question}; ${allowed}`)
}

function refuseRepeatedIds(checks: readonly { readonly id: string }[], findings: Findings | undefined): void {
  const seen = new Set<string>()
  for (const [index, { id }] of checks.entries()) {
    if (seen.has(id)) findings?.wrong(`credence.answer_checks[${index}].id`, `is ${shown(id)}, which is there twice`)
    seen.add(id)
  }
}

const allowedIn = (path: readonly PropertyKey[]): string => {
  if (path.length === 0) return 'it may have answer_checks and draw'
  if (path[0] === 'answer_checks') return 'it may have id, session, question, expect, forbid and must_not_know'
  return 'see the kinds of values that can be drawn in docs/tasks.md'
}
