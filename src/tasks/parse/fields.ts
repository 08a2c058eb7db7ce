import { isAbsolute, posix, win32 } from 'node:path'
import { z } from 'zod'
import { findNearestName } from '../../did-you-mean.ts'
import { invalid, type MemoryError } from '../../errors.ts'
import { fieldAt, formatValue as formatAs, type Problem } from '../../eval/store/parse-artifact.ts'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { Draw } from './draw.ts'
import { strictMapping } from './strict-mapping.ts'

/** Collects the problems of a task file, so that its author sees all of them together. */
export class Findings {
  readonly #file: string
  readonly problems: Problem[] = []
  readonly warnings: string[] = []

  constructor(file: string) {
    this.#file = file
  }

  /** `message` continues a sentence that starts with the field: "is 0; it must be more". */
  wrong(field: string, message: string): void {
    this.problems.push({ file: this.#file, field, message })
  }

  /** A schema message is appended to "is 0; it", unless it starts with "are", "has" or "is": then it is a complete predicate. */
  invalid({ issues }: z.ZodError, path: readonly string[] = []): void {
    for (const { path: inner, message, input } of issues) {
      const found = input === undefined ? 'missing' : formatYamlValue(input)
      this.wrong(
        fieldAt([...path, ...inner]),
        /^(?:are|has|is) /u.test(message) ? message : `is ${found}; it ${message}`,
      )
    }
  }
}

/** Formats a value of a task file for a message. */
export const formatYamlValue = (value: unknown): string => formatAs(value, 'a mapping')

/** One error for all problems of a file. */
export function invalidTask(problems: readonly Problem[]): MemoryError {
  const [first, ...rest] = problems
  if (first === undefined) throw new Error('An invalid task must have a problem.')
  const more = rest.length === 0 ? '' : ` ${rest.length} more: ${rest.map(({ field }) => field).join(', ')}.`
  const hint = 'See every problem with `credence task validate`.'
  return invalid(`${first.file}: ${first.field} ${first.message}.${more}`, hint)
}

/** A path that stays inside its folder, with forward slashes; null for any other value. */
export function containedPath(value: unknown): string | null {
  if (typeof value !== 'string' || value.trim() === '') return null
  const path = posix.normalize(value.replaceAll('\\', '/'))
  const isOutside =
    isAbsolute(path) || win32.isAbsolute(path) || /^[a-z]:/iu.test(path) || path.split('/').includes('..')
  return isOutside || path === '.' || path.endsWith('/') || path.includes('\0') ? null : path
}

/** Null and absent both mean the default. */
const orDefault = <Value, Default>(schema: z.ZodType<Value>, otherwise: Default) =>
  schema.nullish().transform((value): Value | Default => value ?? otherwise)

const Text = z
  .union([z.string(), z.number(), z.boolean()], 'must be text')
  .nullish()
  .transform((value) => String(value ?? ''))

const idRule =
  'must be a name that can be part of a path: no / or \\, no "..", no dot at its beginning, no control characters'

const Path = z.unknown().transform((value, context) => {
  const path = containedPath(value)
  if (path !== null) return path
  context.addIssue({
    code: 'custom',
    input: value,
    message: 'must be a path that stays inside, such as notes/today.md',
  })
  return z.NEVER
})

/** A file that is in the workspace before the first session. `asset` is a path inside the task's assets folder. */
const Workspace = z.preprocess(
  (item) => (isObject(item) ? { ...item, kind: item.source === undefined ? 'inline' : 'asset' } : item),
  z.discriminatedUnion(
    'kind',
    [
      z.object({ kind: z.literal('inline'), path: Path, content: Text }),
      z
        .object({ kind: z.literal('asset'), source: Path, dest: Path.optional() })
        .transform(({ kind, source, dest }) => ({ kind, asset: source, path: dest ?? source })),
    ],
    'must be { path, content } or { source, dest }',
  ),
)

/** A message to the agent: text alone, or a mapping. The prompt of any other entry is empty. */
const Session = z.preprocess(
  (item) => (isObject(item) ? item : { prompt: item }),
  z
    .object({
      id: Text.transform((id) => id.trim()),
      prompt: z.unknown().optional(),
      message: z.unknown().optional(),
      new_session: orDefault(z.boolean('must be true or false'), false),
    })
    .transform(({ id, prompt, message, new_session: isFresh }) => {
      const text = prompt ?? message
      return { id, prompt: typeof text === 'string' ? text : '', isFresh }
    }),
)

const weightRule = 'must be a number of 0 or more'
const Weight = orDefault(z.number(weightRule).min(0, weightRule), 0.5)

const gradingTypes = ['automated', 'llm_judge', 'hybrid'] as const
const maxTimeoutSeconds = 24 * 60 * 60
const timeoutRule = `must be a number above 0 and at most ${maxTimeoutSeconds}`
const prerequisiteRule = 'must be text such as cli:git'

const Fields = z.object({
  id: z.union([z.string(), z.number()], idRule).transform(String).refine(isSafeId, idRule),
  name: Text,
  category: Text,
  grading_type: orDefault(z.enum(gradingTypes, `must be one of ${gradingTypes.join(', ')}`), 'automated' as const),
  timeout_seconds: orDefault(
    z.number(timeoutRule).refine((seconds) => seconds > 0 && seconds <= maxTimeoutSeconds, timeoutRule),
    120,
  ),
  workspace_files: orDefault(z.array(Workspace, 'must be a list'), []),
  sessions: orDefault(z.array(Session, 'must be a list'), []),
  grading_weights: orDefault(
    z
      .looseObject({ automated: Weight, llm_judge: Weight }, 'must be a mapping with automated and llm_judge')
      .refine(({ automated, llm_judge }) => automated + llm_judge > 0, 'are both 0; one must be more'),
    { automated: 0.5, llm_judge: 0.5 },
  ),
  prerequisites: z.preprocess(
    (value) => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]),
    z.array(z.string(prerequisiteRule).trim().min(1, prerequisiteRule)),
  ),
})

const knownKeys = [...Object.keys(Fields.shape), 'credence']

export type TaskFields = Readonly<ReturnType<typeof readFields>>

/** The fields of the front matter. If `findings` gets problems, the returned values are placeholders. */
export function readFields(frontMatter: JsonObject, findings: Findings) {
  warnOfUnknown(frontMatter, findings)
  const result = Fields.safeParse(frontMatter, { reportInput: true })
  if (!result.success) findings.invalid(result.error)
  const fields = result.success ? result.data : Fields.parse({ id: 'invalid' })
  return {
    id: fields.id,
    name: fields.name || fields.id,
    category: fields.category || 'uncategorised',
    gradingType: fields.grading_type,
    /** The time limit of all sessions together. */
    timeoutSeconds: fields.timeout_seconds,
    workspaceFiles: fields.workspace_files,
    gradingWeights: { automated: fields.grading_weights.automated, judge: fields.grading_weights.llm_judge },
    prerequisites: fields.prerequisites,
    /** A task without sessions gets one session later, made from its prompt. */
    sessions: namedSessions(fields.sessions, findings),
  }
}

/** Warns about unknown keys that look like a misspelling of a missing known key. Unknown keys are kept. */
function warnOfUnknown(frontMatter: JsonObject, findings: Findings): void {
  const missing = knownKeys.filter((key) => frontMatter[key] === undefined)
  for (const key of Object.keys(frontMatter).filter((key) => !knownKeys.includes(key))) {
    const meant = findNearestName(key, missing)
    if (meant !== undefined)
      findings.warnings.push(`${key} is no key of a task; did you mean ${meant}? It is kept as it is.`)
  }
}

/** One message to the agent. The first always begins a new conversation. */
export type TaskSession = { readonly id: string; readonly prompt: string; readonly isFresh: boolean }

/** Gives every session a unique id. Entries without a prompt are left out with a warning, as in the original runner. */
function namedSessions(entries: readonly TaskSession[], findings: Findings): readonly TaskSession[] {
  const sessions: TaskSession[] = []
  for (const [index, { id: written, prompt, isFresh }] of entries.entries()) {
    if (prompt.trim() === '') {
      findings.warnings.push(`sessions[${index}] has no prompt; it is left out.`)
      continue
    }
    const wanted = written === '' ? `session_${index + 1}` : written
    let id = wanted
    for (let number = 2; sessions.some((session) => session.id === id); number += 1) id = `${wanted}_${number}`
    if (id !== wanted)
      findings.warnings.push(`sessions[${index}].id "${wanted}" occurs twice; the second is called "${id}".`)
    sessions.push({ id, prompt, isFresh: isFresh || sessions.length === 0 })
  }
  if (entries.length > 0 && sessions.length === 0)
    findings.wrong('sessions', 'has no entry with a prompt; each must be text or have a prompt')
  return sessions
}

/** A text to search for in an answer. Numbers and booleans are accepted too, because YAML parses some texts as such. */
const Sought = z
  .union([z.string(), z.number(), z.boolean()], 'must be text')
  .transform(String)
  .refine((value) => value.trim() !== '', 'must not be blank')

/** A check of a session's answer. All conditions must be met. */
const Check = strictMapping({
  id: z.string().min(1),
  session: Sought,
  /** Each inner list contains alternative wordings, at least one of which must be in the answer. Ignores case and layout. */
  expect: z
    .array(z.union([z.array(Sought).min(1), Sought.transform((one) => [one])]).readonly())
    .readonly()
    .default([]),
  /** Compares `expect` character for character. */
  exact: z.boolean().default(false),
  /** Must be false if `expect` needs no memory, for example if it only confirms that something was stored. */
  recall: z.boolean().default(true),
  forbid: z.array(Sought).readonly().default([]),
  must_not_know: z.boolean().default(false),
  memory_read: z.boolean().default(false),
})
  .refine(
    ({ expect, forbid, must_not_know, memory_read }) =>
      expect.length > 0 || forbid.length > 0 || must_not_know || memory_read,
    'must have expect, forbid, must_not_know or memory_read',
  )
  .refine(({ expect, exact }) => !exact || expect.length > 0, 'has exact, which is only for expect')
  .transform(({ must_not_know: mustNotKnow, memory_read: memoryRead, ...check }) => ({
    ...check,
    mustNotKnow,
    memoryRead,
  }))
export type AnswerCheck = Readonly<z.output<typeof Check>>

/** A fact of the world to check after a session: the content of a file, or the exit code of a command. */
const State = strictMapping({
  id: z.string().min(1),
  session: Sought,
  file: Path.nullable().default(null),
  exists: z.boolean().default(true),
  contains: z.array(Sought).readonly().default([]),
  equals: z.string().nullable().default(null),
  /** A program and its arguments; not run by a shell. */
  command: z.array(z.string().min(1)).min(1).readonly().nullable().default(null),
  exit_code: z.int().min(0).max(255).default(0),
})
  .refine(({ file, command }) => (file === null) !== (command === null), 'must have either file or command')
  .transform(({ exit_code: exitCode, ...check }) => ({ ...check, exitCode }))
export type StateCheck = Readonly<z.output<typeof State>>

/** The key `credence` of the front matter: additions to the format that other runners ignore. See docs/tasks.md. */
const Additions = strictMapping({
  answer_checks: z.array(Check).readonly().default([]),
  state_checks: z.array(State).readonly().default([]),
  draw: Draw.default({}),
})
export type OwnAdditions = Readonly<ReturnType<typeof readOwnAdditions>>

/** Reads the value of the key `credence`. Problems go into `findings`. */
export function readOwnAdditions(value: unknown, sessions: readonly TaskSession[], findings: Findings) {
  const result = Additions.safeParse(value ?? {}, { reportInput: true })
  if (!result.success) {
    findings.invalid(result.error, ['credence'])
    return { answerChecks: [], stateChecks: [], draw: {} }
  }
  const { answer_checks: answerChecks, state_checks: stateChecks, draw } = result.data
  const ids = sessions.map(({ id }) => id)
  for (const [key, checks] of Object.entries({ answer_checks: answerChecks, state_checks: stateChecks })) {
    for (const [index, { id, session }] of checks.entries()) {
      const field = `credence.${key}[${index}]`
      if (checks.slice(0, index).some((earlier) => earlier.id === id && earlier.session === session)) {
        findings.wrong(`${field}.id`, `is ${formatYamlValue(id)}, which occurs twice in that session`)
      }
      if (!ids.includes(session)) {
        findings.wrong(`${field}.session`, `is ${formatYamlValue(session)}; it must be one of ${ids.join(', ')}`)
      }
    }
  }
  return { answerChecks, stateChecks, draw }
}
