import { isAbsolute, posix, win32 } from 'node:path'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import { nearest } from '../../nearest.ts'
import { type GradingType, gradingTypes, type Task, type TaskSession, type WorkspaceFile } from '../task.ts'
import { type Findings, shown } from './problem.ts'

type FrontMatter = Readonly<Record<string, unknown>>

const defaultTimeoutSeconds = 120
const longestTimeoutSeconds = 24 * 60 * 60

/** The fields of the front matter. Null and absent mean the same: the default. */
export function readFields(
  frontMatter: FrontMatter,
  findings: Findings,
): Omit<
  Task,
  | 'prompt'
  | 'expectedBehavior'
  | 'criteria'
  | 'automatedChecks'
  | 'rubric'
  | 'answerChecks'
  | 'frontMatter'
  | 'file'
  | 'sha256'
  | 'warnings'
> {
  warnOfMisspelt(frontMatter, findings)
  const id = readId(frontMatter.id, findings)
  return {
    id,
    name: readText(frontMatter, 'name', id, findings),
    category: readText(frontMatter, 'category', 'uncategorised', findings),
    gradingType: readGradingType(frontMatter.grading_type, findings),
    timeoutSeconds: readTimeout(frontMatter.timeout_seconds, findings),
    workspaceFiles: readWorkspaceFiles(frontMatter.workspace_files, findings),
    gradingWeights: readWeights(frontMatter.grading_weights, findings),
    prerequisites: readPrerequisites(frontMatter.prerequisites, findings),
    sessions: readSessions(frontMatter.sessions, findings),
  }
}

const knownKeys = [
  'id',
  'name',
  'category',
  'grading_type',
  'timeout_seconds',
  'workspace_files',
  'grading_weights',
  'prerequisites',
  'sessions',
  'credence',
]

/** Keys of others are kept and none of our business, unless one of ours is missing that is written nearly like it. */
function warnOfMisspelt(frontMatter: FrontMatter, findings: Findings): void {
  const missing = knownKeys.filter((key) => frontMatter[key] === undefined)
  for (const key of Object.keys(frontMatter).filter((one) => !knownKeys.includes(one))) {
    const meant = nearest(key, missing)
    if (meant !== undefined) findings.warn(`${key} is no key of a task; did you mean ${meant}? It is kept as it is.`)
  }
}

function readId(value: unknown, findings: Findings): string {
  const allowed =
    'it must be a name that can stand in a path: no / or \\, no "..", no dot at its beginning, no control characters'
  if (value === undefined || value === null) findings.wrong('id', `is missing; ${allowed}`)
  else if (typeof value !== 'string' && typeof value !== 'number')
    findings.wrong('id', `is ${shown(value)}; ${allowed}`)
  else if (isSafeId(String(value))) return String(value)
  else findings.wrong('id', `is ${shown(value)}; ${allowed}`)
  return ''
}

function readText(frontMatter: FrontMatter, field: string, otherwise: string, findings: Findings): string {
  const value = frontMatter[field]
  if (value === undefined || value === null || value === '') return otherwise
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  findings.wrong(field, `is ${shown(value)}; it must be text`)
  return otherwise
}

function readGradingType(value: unknown, findings: Findings): GradingType {
  if (value === undefined || value === null) return 'automated'
  const found = gradingTypes.find((type) => type === value)
  if (found === undefined)
    findings.wrong('grading_type', `is ${shown(value)}; it must be one of ${gradingTypes.join(', ')}`)
  return found ?? 'automated'
}

function readTimeout(value: unknown, findings: Findings): number {
  if (value === undefined || value === null) return defaultTimeoutSeconds
  if (typeof value === 'number' && value > 0 && value <= longestTimeoutSeconds) return value
  findings.wrong(
    'timeout_seconds',
    `is ${shown(value)}; it must be a number above 0 and at most ${longestTimeoutSeconds}`,
  )
  return defaultTimeoutSeconds
}

function readWeights(value: unknown, findings: Findings): Task['gradingWeights'] {
  const equal = { automated: 0.5, judge: 0.5 }
  if (value === undefined || value === null) return equal
  if (typeof value !== 'object' || Array.isArray(value)) {
    findings.wrong('grading_weights', `is ${shown(value)}; it must be a mapping with automated and llm_judge`)
    return equal
  }
  const weights = value as FrontMatter
  const weight = (name: 'automated' | 'llm_judge'): number => {
    const given = weights[name]
    if (given === undefined || given === null) return 0.5
    if (typeof given === 'number' && given >= 0 && Number.isFinite(given)) return given
    findings.wrong(`grading_weights.${name}`, `is ${shown(given)}; it must be a number of 0 or more`)
    return 0.5
  }
  for (const name of Object.keys(weights)) {
    if (name !== 'automated' && name !== 'llm_judge')
      findings.warn(`grading_weights.${name} is not known and counts for nothing.`)
  }
  const read = { automated: weight('automated'), judge: weight('llm_judge') }
  if (read.automated + read.judge > 0) return read
  findings.wrong('grading_weights', 'are both 0; one must be more')
  return equal
}

function readPrerequisites(value: unknown, findings: Findings): readonly string[] {
  if (value === undefined || value === null) return []
  const list = Array.isArray(value) ? value : [value]
  return list.flatMap((item, index) => {
    if (typeof item === 'string' && item.trim() !== '') return [item.trim()]
    findings.wrong(`prerequisites[${index}]`, `is ${shown(item)}; it must be text such as cli:git`)
    return []
  })
}

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
  const place = `sessions[${index}]`
  const otherwise = `session_${index + 1}`
  const skip = (message: string): null => {
    findings.warn(`${place} ${message}; it is left out.`)
    return null
  }
  if (typeof item === 'string') {
    return item.trim() === '' ? skip('is blank') : { id: otherwise, prompt: item, isFresh: false }
  }
  if (item === null || typeof item !== 'object' || Array.isArray(item)) {
    return skip(`is ${shown(item)} and neither text nor a mapping`)
  }
  const { id, prompt, message, new_session: fresh } = item as FrontMatter
  const text = prompt ?? message
  if (typeof text !== 'string' || text.trim() === '') return skip('has no prompt')
  if (fresh !== undefined && fresh !== null && typeof fresh !== 'boolean') {
    findings.wrong(`${place}.new_session`, `is ${shown(fresh)}; it must be true or false`)
  }
  const isNamed = (typeof id === 'string' && id.trim() !== '') || typeof id === 'number'
  if (id !== undefined && id !== null && !isNamed) findings.wrong(`${place}.id`, `is ${shown(id)}; it must be text`)
  return { id: isNamed ? String(id).trim() : otherwise, prompt: text, isFresh: fresh === true }
}

function unused(id: string, sessions: readonly TaskSession[]): string {
  const isTaken = (name: string): boolean => sessions.some((session) => session.id === name)
  if (!isTaken(id)) return id
  let number = 2
  while (isTaken(`${id}_${number}`)) number += 1
  return `${id}_${number}`
}

function readWorkspaceFiles(value: unknown, findings: Findings): readonly WorkspaceFile[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    findings.wrong('workspace_files', `is ${shown(value)}; it must be a list`)
    return []
  }
  const files = value.flatMap((item, index): readonly WorkspaceFile[] => {
    const place = `workspace_files[${index}]`
    if (item === null || typeof item !== 'object' || Array.isArray(item)) {
      findings.wrong(place, `is ${shown(item)}; it must be { path, content } or { source, dest }`)
      return []
    }
    const { path, content, source, dest } = item as FrontMatter
    if (source !== undefined) {
      const asset = readPath(source, `${place}.source`, findings)
      const target = readPath(dest ?? source, `${place}.dest`, findings)
      return asset === null || target === null ? [] : [{ kind: 'asset', asset, path: target }]
    }
    const target = readPath(path, `${place}.path`, findings)
    if (content !== undefined && content !== null && typeof content === 'object') {
      findings.wrong(`${place}.content`, `is ${shown(content)}; it must be text`)
      return []
    }
    return target === null ? [] : [{ kind: 'inline', path: target, content: content == null ? '' : String(content) }]
  })
  return files
}

/** A path that stays below the folder it is meant for, with forward slashes and no detours. */
export function readPath(value: unknown, field: string, findings: Findings): string | null {
  const allowed = 'it must be a path that stays inside, such as notes/today.md'
  if (typeof value !== 'string' || value.trim() === '') {
    findings.wrong(field, `is ${value === undefined ? 'missing' : shown(value)}; ${allowed}`)
    return null
  }
  const path = posix.normalize(value.replaceAll('\\', '/'))
  const isOutside =
    isAbsolute(path) || win32.isAbsolute(path) || /^[a-z]:/iu.test(path) || path.split('/').includes('..')
  if (isOutside || path === '.' || path.endsWith('/') || path.includes('\0')) {
    findings.wrong(field, `is ${shown(value)}; ${allowed}`)
    return null
  }
  return path
}
