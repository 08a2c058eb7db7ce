import { isAbsolute, posix, win32 } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../../did-you-mean.ts'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import { gradingTypes, type Task, type TaskSession, type WorkspaceFile } from '../task.ts'
import { type Findings, shown } from './problem.ts'

type FrontMatter = Readonly<Record<string, unknown>>

const isMapping = (value: unknown): value is FrontMatter =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** A path that stays below the folder it is meant for, with forward slashes; null for any other value. */
export function containedPath(value: unknown): string | null {
  if (typeof value !== 'string' || value.trim() === '') return null
  const path = posix.normalize(value.replaceAll('\\', '/'))
  const isOutside =
    isAbsolute(path) || win32.isAbsolute(path) || /^[a-z]:/iu.test(path) || path.split('/').includes('..')
  return isOutside || path === '.' || path.endsWith('/') || path.includes('\0') ? null : path
}

/** Null and absent mean the same: the default. */
const or = <Value, Default>(schema: z.ZodType<Value>, otherwise: Default) =>
  schema.nullish().transform((value): Value | Default => value ?? otherwise)

const Text = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be text' })
  .nullish()
  .transform((value) => String(value ?? ''))

const idRule =
  'must be a name that can stand in a path: no / or \\, no "..", no dot at its beginning, no control characters'

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

const Workspace = z.preprocess(
  (item) => (isMapping(item) ? { ...item, kind: item.source === undefined ? 'inline' : 'asset' } : item),
  z.discriminatedUnion(
    'kind',
    [
      z.object({ kind: z.literal('inline'), path: Path, content: Text }),
      z
        .object({ kind: z.literal('asset'), source: Path, dest: Path.optional() })
        .transform(({ kind, source, dest }) => ({ kind, asset: source, path: dest ?? source })),
    ],
    { error: 'must be { path, content } or { source, dest }' },
  ),
) satisfies z.ZodType<WorkspaceFile>

const weightRule = 'must be a number of 0 or more'
const Weight = or(z.number({ error: weightRule }).min(0, { error: weightRule }), 0.5)

const longestTimeoutSeconds = 24 * 60 * 60
const timeoutRule = `must be a number above 0 and at most ${longestTimeoutSeconds}`
const prerequisiteRule = 'must be text such as cli:git'

const Fields = z.object({
  id: z.union([z.string(), z.number()], { error: idRule }).transform(String).refine(isSafeId, { error: idRule }),
  name: Text,
  category: Text,
  grading_type: or(z.enum(gradingTypes, { error: `must be one of ${gradingTypes.join(', ')}` }), 'automated' as const),
  timeout_seconds: or(
    z
      .number({ error: timeoutRule })
      .refine((seconds) => seconds > 0 && seconds <= longestTimeoutSeconds, { error: timeoutRule }),
    120,
  ),
  workspace_files: or(z.array(Workspace, { error: 'must be a list' }), []),
  grading_weights: or(
    z
      .looseObject(
        { automated: Weight, llm_judge: Weight },
        { error: 'must be a mapping with automated and llm_judge' },
      )
      .refine(({ automated, llm_judge }) => automated + llm_judge > 0, { error: 'are both 0; one must be more' }),
    { automated: 0.5, llm_judge: 0.5 },
  ),
  prerequisites: z.preprocess(
    (value) => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]),
    z.array(z.string({ error: prerequisiteRule }).trim().min(1, { error: prerequisiteRule })),
  ),
})

const knownKeys = [...Object.keys(Fields.shape), 'sessions', 'credence']

type TaskFields = Pick<
  Task,
  | 'id'
  | 'name'
  | 'category'
  | 'gradingType'
  | 'timeoutSeconds'
  | 'workspaceFiles'
  | 'gradingWeights'
  | 'prerequisites'
  | 'sessions'
>

/** The fields of the front matter. Where `findings` gets problems, they are not those of a task. */
export function readFields(frontMatter: FrontMatter, findings: Findings): TaskFields {
  warnOfUnknown(frontMatter, findings)
  const result = Fields.safeParse(frontMatter, { reportInput: true })
  if (!result.success) findings.invalid(result.error, [], () => '')
  const fields = result.success ? result.data : Fields.parse({ id: 'invalid' })
  return {
    id: fields.id,
    name: fields.name || fields.id,
    category: fields.category || 'uncategorised',
    gradingType: fields.grading_type,
    timeoutSeconds: fields.timeout_seconds,
    workspaceFiles: fields.workspace_files,
    gradingWeights: { automated: fields.grading_weights.automated, judge: fields.grading_weights.llm_judge },
    prerequisites: fields.prerequisites,
    sessions: readSessions(frontMatter.sessions, findings),
  }
}

/** Unknown keys are kept. One that is nearly a known key, which is missing, may be a mistake. */
function warnOfUnknown(frontMatter: FrontMatter, findings: Findings): void {
  const missing = knownKeys.filter((key) => frontMatter[key] === undefined)
  for (const key of Object.keys(frontMatter).filter((one) => !knownKeys.includes(one))) {
    const meant = didYouMean(key, missing)
    if (meant !== undefined) findings.warn(`${key} is no key of a task; did you mean ${meant}? It is kept as it is.`)
  }
  const { grading_weights: weights } = frontMatter
  for (const name of isMapping(weights) ? Object.keys(weights) : []) {
    if (name !== 'automated' && name !== 'llm_judge') {
      findings.warn(`grading_weights.${name} is not known and counts for nothing.`)
    }
  }
}

/** Invalid entries are left out with a warning, as the original runner does. */
function readSessions(value: unknown, findings: Findings): readonly TaskSession[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    findings.wrong('sessions', `is ${shown(value)}; it must be a list`)
    return []
  }
  const sessions: TaskSession[] = []
  for (const [index, item] of value.entries()) {
    const session = readSession(item, index, findings)
    if (session === null) continue
    const id = unused(session.id, sessions)
    if (id !== session.id) findings.warn(`sessions[${index}].id "${session.id}" is there twice; it is called "${id}".`)
    sessions.push({ ...session, id, isFresh: session.isFresh || sessions.length === 0 })
  }
  if (value.length > 0 && sessions.length === 0) {
    findings.wrong('sessions', 'has no entry with a prompt; each must be text or have a prompt')
  }
  return sessions
}

function readSession(item: unknown, index: number, findings: Findings): TaskSession | null {
  const field = `sessions[${index}]`
  const skip = (message: string): null => {
    findings.warn(`${field} ${message}; it is left out.`)
    return null
  }
  if (typeof item !== 'string' && !isMapping(item)) return skip(`is ${shown(item)} and neither text nor a mapping`)
  const { id, prompt, message, new_session: fresh } = typeof item === 'string' ? { prompt: item } : item
  const text = prompt ?? message
  if (typeof text !== 'string' || text.trim() === '') return skip('has no prompt')
  if (fresh !== undefined && fresh !== null && typeof fresh !== 'boolean') {
    findings.wrong(`${field}.new_session`, `is ${shown(fresh)}; it must be true or false`)
  }
  const isNamed = (typeof id === 'string' && id.trim() !== '') || typeof id === 'number'
  if (id !== undefined && id !== null && !isNamed) findings.wrong(`${field}.id`, `is ${shown(id)}; it must be text`)
  return { id: isNamed ? String(id).trim() : `session_${index + 1}`, prompt: text, isFresh: fresh === true }
}

function unused(id: string, sessions: readonly TaskSession[]): string {
  const isTaken = (name: string): boolean => sessions.some((session) => session.id === name)
  if (!isTaken(id)) return id
  let number = 2
  while (isTaken(`${id}_${number}`)) number += 1
  return `${id}_${number}`
}
