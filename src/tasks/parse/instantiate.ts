import { createHash } from 'node:crypto'
import { randomFrom } from '../../eval/compare/random.ts'
import type { Task } from '../task.ts'
import { drawnWords, firstNames, lastNames } from './drawn-words.ts'
import { type DrawRule, readOwnAdditions } from './own-additions.ts'

/** What a variable stands for: by its own name `''`, and by the names of its parts. */
type Drawn = ReadonlyMap<string, string>

const placeholder = /\{\{\s*([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?\s*\}\}/gu

/**
 * The task with every `{{name}}` replaced by what the seed draws for it. The same seed gives the same task everywhere; a
 * task that draws nothing is returned as it is, and so is one that was filled before.
 */
export function instantiate(task: Task, seed: number): Task {
  const { draw } = readOwnAdditions(task.frontMatter.credence, null)
  if (Object.keys(draw).length === 0) return task
  const values = drawAll(draw, `${task.id}\n${seed}`)
  const fill = (text: string): string => replaceIn(text, values, (value) => value)
  return {
    ...task,
    workspaceFiles: task.workspaceFiles.map((file) =>
      file.kind === 'inline' ? { ...file, content: fill(file.content) } : file,
    ),
    sessions: task.sessions.map((session) => ({ ...session, prompt: fill(session.prompt) })),
    prompt: fill(task.prompt),
    expectedBehavior: fill(task.expectedBehavior),
    criteria: task.criteria.map(fill),
    automatedChecks: task.automatedChecks === null ? null : replaceIn(task.automatedChecks, values, insidePython),
    rubric: task.rubric === null ? null : fill(task.rubric),
    answerChecks: task.answerChecks.map((check) => ({
      ...check,
      expect: check.expect.map((ways) => ways.map(fill)),
      forbid: check.forbid.map(fill),
    })),
  }
}

/** Placeholders that nothing stands for, where a forgotten one would reach the agent or a check. */
export function undeclared(
  task: Task,
  draw: Readonly<Record<string, DrawRule>>,
): readonly { readonly field: string; readonly name: string; readonly known: readonly string[] }[] {
  if (Object.keys(draw).length === 0) return []
  const values = drawAll(draw, task.id)
  const known = [...values].flatMap(([name, parts]) =>
    [...parts.keys()].map((part) => (part === '' ? name : `${name}.${part}`)),
  )
  const texts: readonly (readonly [string, string])[] = [
    ['## Prompt', task.prompt],
    ...task.sessions.map(({ id, prompt }) => [`sessions.${id}.prompt`, prompt] as const),
    ...task.answerChecks.flatMap(({ id, expect, forbid }) =>
      [...expect.flat(), ...forbid].map((text) => [`credence.answer_checks.${id}`, text] as const),
    ),
    ['## Expected Behavior', task.expectedBehavior],
    ...task.criteria.map((text) => ['## Grading Criteria', text] as const),
    ['## LLM Judge Rubric', task.rubric ?? ''],
  ]
  const found = texts.flatMap(([field, text]) =>
    [...text.matchAll(placeholder)].flatMap(([, name = '', part = '']) =>
      values.get(name)?.has(part) ? [] : [{ field, name: part === '' ? name : `${name}.${part}`, known }],
    ),
  )
  return found.filter(
    ({ field, name }, index) => found.findIndex((o) => o.field === field && o.name === name) === index,
  )
}

const replaceIn = (text: string, values: ReadonlyMap<string, Drawn>, write: (value: string) => string): string =>
  text.replace(placeholder, (whole, name: string, part: string = '') => {
    const value = values.get(name)?.get(part)
    // Doubled braces are also how Python writes a brace; what nobody drew is left alone.
    return value === undefined ? whole : write(value)
  })

/** Right inside an ordinary string of Python, whichever quotes it has. */
const insidePython = (value: string): string =>
  value
    .replace(/[\\'"]/gu, (mark) => `\\${mark}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')

/** Every variable has a stream of its own, so that a new one changes no other. */
function drawAll(draw: Readonly<Record<string, DrawRule>>, seed: string): ReadonlyMap<string, Drawn> {
  const drawn = new Map<string, Drawn>()
  for (const [name, rule] of Object.entries(draw)) {
    const digest = createHash('sha256').update(`${seed}\n${name}`).digest()
    drawn.set(name, drawOne(rule, randomFrom(digest.readUInt32LE(0)), drawn))
  }
  return drawn
}

const alone = (value: string): Drawn => new Map([['', value]])

function drawOne(rule: DrawRule, random: () => number, earlier: ReadonlyMap<string, Drawn>): Drawn {
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('Nothing can be drawn from an empty list.')
    return item
  }
  if ('one_of' in rule) {
    const taken = (rule.unlike ?? []).map((name) => asKey(earlier.get(name)))
    const all = rule.one_of.map((value) => (typeof value === 'string' ? alone(value) : new Map(Object.entries(value))))
    const free = all.filter((value) => !taken.includes(asKey(value)))
    return pick(free.length > 0 ? free : all)
  }
  if ('words' in rule) return alone(drawWords(rule.words, random))
  if ('code' in rule) {
    return alone(Array.from({ length: rule.code }, () => pick([...'23456789abcdefghjkmnpqrstuvwxyz'])).join(''))
  }
  if ('number' in rule) {
    const { from, to } = rule.number
    return alone(String(from + Math.floor(random() * (to - from + 1))))
  }
  if ('person' in rule) {
    const first = pick(firstNames)
    const last = pick(lastNames)
    return new Map([
      ['', `${first} ${last}`],
      ['first', first],
      ['last', last],
    ])
  }
  return drawDate(rule.date === true ? { from: '2015-01-01', to: '2024-12-31' } : rule.date, random)
}

const asKey = (value: Drawn | undefined): string => JSON.stringify([...(value ?? [])])

/** Different words, so that no phrase says the same word twice. */
function drawWords(count: number, random: () => number): string {
  const left = [...drawnWords]
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0]).join(' ')
}

const months = 'January February March April May June July August September October November December'.split(' ')
const dayMs = 24 * 60 * 60 * 1000

function drawDate({ from, to }: { readonly from: string; readonly to: string }, random: () => number): Drawn {
  const first = Date.parse(`${from}T00:00:00Z`)
  const days = Math.round((Date.parse(`${to}T00:00:00Z`) - first) / dayMs) + 1
  const date = new Date(first + Math.floor(random() * days) * dayMs)
  const month = months[date.getUTCMonth()] ?? ''
  const day = String(date.getUTCDate())
  const year = String(date.getUTCFullYear())
  const iso = date.toISOString().slice(0, 10)
  return new Map([
    ['', `${month} ${day}, ${year}`],
    ['iso', iso],
    ['day', day],
    ['month', month],
    ['year', year],
  ])
}
