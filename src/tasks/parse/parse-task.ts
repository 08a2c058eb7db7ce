import { createHash } from 'node:crypto'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { parseDocument, type YAMLError } from 'yaml'
import type { Problem } from '../../eval/store/parse-artifact.ts'
import { isObject } from '../../json.ts'
import { errorMessage } from '../agent.ts'
import type { Task } from '../task.ts'
import { fillDrawn, findUndeclared } from './draw.ts'
import { Findings, formatYamlValue, invalidTask, readFields, readOwnAdditions } from './fields.ts'

/** A checked task file: the task if it is valid, and all findings. */
export type CheckedTask = {
  readonly task: Task | null
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Reads a task file. Throws only `invalid` MemoryErrors, which name the file, the field and the value. */
export function parseTask(bytes: Uint8Array, file: string): Task {
  const { task, problems } = checkTask(bytes, file)
  if (task === null) throw invalidTask(problems)
  return task
}

/** Like `parseTask`, but returns every problem. Never throws. */
export function checkTask(bytes: Uint8Array, file: string): CheckedTask {
  const findings = new Findings(file)
  const text = readTaskText(bytes, findings)
  if (text === null) return { task: null, problems: findings.problems, warnings: findings.warnings }

  const fields = readFields(text.frontMatter, findings)
  const { byName, repeated } = readSections(text.body)
  for (const name of repeated)
    findings.warnings.push(`The section "${name}" occurs more than once; the last one counts.`)

  const textOf = (name: SectionName): string => byName.get(name)?.text ?? ''
  const prompt = textOf('Prompt')
  if (fields.sessions.length === 0 && prompt === '' && !findings.problems.some(({ field }) => field === 'sessions')) {
    findings.wrong('## Prompt', 'is missing or empty, and there are no sessions; one of them must say what to do')
  }
  const sessions = fields.sessions.length > 0 ? fields.sessions : [{ id: 'main', prompt, isFresh: true }]
  const automatedChecks = byName.get('Automated Checks')?.python ?? null
  const rubric = textOf('LLM Judge Rubric')
  const criteria = checklist(textOf('Grading Criteria'))
  if (fields.gradingType !== 'automated' && rubric === '' && criteria.length === 0) {
    findings.warnings.push(
      `grading_type is ${fields.gradingType}, but there is neither a rubric nor a list of criteria.`,
    )
  }
  const own = readOwnAdditions(text.frontMatter.credence, sessions, findings)
  if (
    fields.gradingType !== 'llm_judge' &&
    automatedChecks === null &&
    own.answerChecks.length + own.stateChecks.length === 0
  ) {
    findings.warnings.push(
      `grading_type is ${fields.gradingType}, but the task has neither Python in "Automated Checks" nor answer_checks nor state_checks.`,
    )
  }

  const task: Task = {
    ...fields,
    sessions,
    prompt,
    expectedBehavior: textOf('Expected Behavior'),
    criteria,
    automatedChecks,
    rubric: rubric === '' ? null : rubric,
    ...own,
    frontMatter: text.frontMatter,
    text: text.whole,
    file,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    warnings: findings.warnings,
  }
  for (const left of findUndeclared(text.whole, own.draw))
    findings.wrong('credence.draw', `knows only ${Object.keys(own.draw).join(', ')}, but the task has ${left}`)
  const { problems, warnings } = findings
  return { task: problems.length === 0 ? task : null, problems, warnings }
}

/** The task with the values that the seed draws. A task without draw rules is returned unchanged. */
export function instantiate(task: Task, seed: number): Task {
  if (Object.keys(task.draw).length === 0) return task
  const filled = parseTask(Buffer.from(fillDrawn(task.text, task.draw, `${task.id}\n${seed}`)), task.file)
  return { ...filled, draw: {}, sha256: task.sha256 }
}

/** Max bytes of a task file. A larger file is rejected without reading it. */
export const maxTaskFileBytes = 1024 * 1024

const maxYamlDepth = 32

type TaskText = {
  readonly whole: string
  readonly frontMatter: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Splits a file into front matter and body. Null if it cannot be split; the reason is then in `findings`. */
function readTaskText(bytes: Uint8Array, findings: Findings): TaskText | null {
  const refuse = (field: string, message: string): null => {
    findings.wrong(field, message)
    return null
  }
  if (bytes.length === 0) return refuse('(file)', 'is empty')
  if (bytes.length > maxTaskFileBytes) {
    return refuse('(file)', `has ${bytes.length} bytes; at most ${maxTaskFileBytes} are read`)
  }
  let text: string
  try {
    // The decoder drops a byte order mark.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n')
  } catch {
    return refuse('(file)', 'is not UTF-8 text')
  }
  if (text.includes('\0')) return refuse('(file)', 'contains a NUL character, so it is not text')
  const field = '(front matter)'
  if (!/^---[ \t]*\n/u.test(text)) return refuse(field, 'is missing; the file must begin with a line ---')
  const start = text.indexOf('\n') + 1
  const end = /^---[ \t]*$/mu.exec(text.slice(start))
  if (end === null) return refuse(field, 'has no end; a second line --- must close it')
  const frontMatter = readYaml(text.slice(start, start + end.index), field, findings)
  if (frontMatter === undefined) return null
  if (!isObject(frontMatter)) {
    return refuse(field, `is ${formatYamlValue(frontMatter)}; it must be a mapping of names to values`)
  }
  return { whole: text, frontMatter, body: text.slice(start + end.index + end[0].length + 1) }
}

/** Parses YAML of limited depth. Undefined if it is invalid; the reason is then in `findings`, for `field`. */
function readYaml(text: string, field: string, findings: Findings): unknown {
  try {
    const document = parseDocument(text, { schema: 'core', uniqueKeys: true, prettyErrors: true, logLevel: 'error' })
    const [error] = document.errors
    // A few hundred bytes of nested aliases can expand to gigabytes; ten copies are enough.
    const value: unknown = error === undefined ? document.toJS({ maxAliasCount: 10 }) : undefined
    const problem = error === undefined ? problemIn(value, maxYamlDepth) : `is not YAML: ${yamlErrorText(error)}`
    if (problem === null) return value
    findings.wrong(field, problem)
  } catch (cause) {
    findings.wrong(field, `is not YAML: ${errorMessage(cause)}`)
  }
  return undefined
}

/** The message of the YAML parser. Its line number is increased by one, for the line above the front matter. */
function yamlErrorText({ message, linePos }: YAMLError): string {
  const [what = ''] = message.split(/ at line \d+, column \d+:?|\n/u)
  const [start] = linePos ?? []
  return start === undefined ? what : `${what} (line ${start.line + 1})`
}

function problemIn(value: unknown, depth: number): string | null {
  if (value === null || typeof value !== 'object') return null
  if (depth === 0) return `is nested deeper than ${maxYamlDepth} levels`
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return 'has the name __proto__, which is not allowed'
    const problem = problemIn(inner, depth - 1)
    if (problem !== null) return problem
  }
  return null
}

type Root = ReturnType<typeof fromMarkdown>
type Block = Root['children'][number]
type NestedNode = Extract<Block, { children: unknown }>['children'][number]

/** The sections of a task's body that are read. Names are compared case-insensitively. */
const sectionNames = [
  'Prompt',
  'Expected Behavior',
  'Grading Criteria',
  'Automated Checks',
  'LLM Judge Rubric',
] as const
type SectionName = (typeof sectionNames)[number]

type Section = { readonly text: string; readonly python: string | null }

/** Sections by name. If a name is repeated, the last section counts, as in the original runner; `repeated` lists such names. */
type Sections = { readonly byName: ReadonlyMap<string, Section>; readonly repeated: readonly string[] }

/** Splits the body at its level-2 headings. Parsed as Markdown, so that a `##` line inside a code fence is not a heading. */
function readSections(body: string): Sections {
  const tree = fromMarkdown(body)
  const starts = tree.children.flatMap((node, index) => {
    if (node.type !== 'heading' || node.depth !== 2) return []
    const start = node.position?.start.offset ?? 0
    const end = node.position?.end.offset ?? start
    const written = body.slice(start, end)
    // In Markdown, a line of dashes makes the paragraph above it a heading, which authors of tasks do not intend.
    const isOwn = written.startsWith('##') && (start === 0 || body[start - 1] === '\n')
    return isOwn ? [{ name: headingText(written), start, end, index }] : []
  })
  const byName = new Map<string, Section>()
  const repeated: string[] = []
  for (const [place, { name, end, index }] of starts.entries()) {
    const known = sectionNames.find((one) => one.toLowerCase() === name.toLowerCase())
    if (known === undefined) continue
    if (byName.has(known)) repeated.push(known)
    const next = starts[place + 1]
    const nodes = tree.children.slice(index + 1, next?.index)
    byName.set(known, { text: body.slice(end, next?.start).trim(), python: firstPython(nodes) })
  }
  return { byName, repeated }
}

const headingText = (written: string): string =>
  written
    .replace(/^#+/u, '')
    .replace(/\s#+\s*$/u, '')
    .trim()

/** The code of the first fence marked as Python. Iterative, because Markdown may be nested to any depth. */
function firstPython(nodes: readonly Block[]): string | null {
  const waiting: (Block | NestedNode)[] = [...nodes].reverse()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.type === 'code' && /^(?:python3?|py)$/iu.test(node.lang ?? '')) return node.value
    if ('children' in node) waiting.push(...[...node.children].reverse())
  }
  return null
}

/** The items of a checklist, checked or not. An indented line continues the item above it. */
function checklist(text: string): readonly string[] {
  const items: string[] = []
  let isOpen = false
  for (const line of text.split('\n')) {
    const [, item] = /^\s*[-*+]\s*\[[ xX]\]\s*(\S.*)$/u.exec(line) ?? []
    if (item !== undefined) {
      items.push(item.trim())
      isOpen = true
    } else if (isOpen && /^\s+[^\s\-*+#]/u.test(line)) items.push(`${items.pop()} ${line.trim()}`)
    else isOpen = false
  }
  return items
}
