import { createHash } from 'node:crypto'
import { z } from 'zod'
import { randomFrom } from '../../eval/score/statistics.ts'
import type { Task } from '../task.ts'

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/u, { error: 'must be lower case letters, digits and _, beginning with a letter' })

const Value = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, or true or false' })
  .transform(String)
  .refine((value) => value.trim() !== '' && !value.includes('{{'), { error: 'must not be blank nor hold {{' })

const DrawRule = z.strictObject(
  { one_of: z.array(z.union([Value.transform((value) => ({ '': value })), z.record(Name, Value)])).min(1) },
  { error: 'must be { one_of: […] }' },
)

/** Variables by name, each with the values that one is drawn from. */
export const Draw = z.record(Name, DrawRule)
export type DrawRules = Readonly<Record<string, z.infer<typeof DrawRule>>>

/** A plain value under the name `''`, or the parts of a mapping under their names. */
type Drawn = Readonly<Record<string, string>>

const placeholder = /\{\{\s*([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?\s*\}\}/gu

/** Replaces every `{{name}}` by the value that the seed draws. A task that draws nothing is returned as it is. */
export function instantiate(task: Task, seed: number): Task {
  const values = drawAll(task.draw, `${task.id}\n${seed}`)
  if (values.size === 0) return task
  const fill = (text: string): string => replaceIn(text, values, (value) => value)
  const python = task.automatedChecks
  return {
    ...mapTexts(task, fill),
    draw: {},
    workspaceFiles: task.workspaceFiles.map((file) =>
      file.kind === 'inline' ? { ...file, content: fill(file.content) } : file,
    ),
    automatedChecks: python === null ? null : replaceIn(python, values, insidePython),
  }
}

/** Changes every text that the agent, a check of answers or a judge gets. `field` is its name in the file. */
const mapTexts = (task: Task, change: (text: string, field: string) => string): Task => ({
  ...task,
  sessions: task.sessions.map((one) => ({ ...one, prompt: change(one.prompt, `sessions.${one.id}.prompt`) })),
  prompt: change(task.prompt, '## Prompt'),
  expectedBehavior: change(task.expectedBehavior, '## Expected Behavior'),
  criteria: task.criteria.map((text) => change(text, '## Grading Criteria')),
  rubric: task.rubric === null ? null : change(task.rubric, '## LLM Judge Rubric'),
  answerChecks: task.answerChecks.map((check) => {
    const changed = (text: string): string => change(text, `credence.answer_checks.${check.id}`)
    return { ...check, expect: check.expect.map((ways) => ways.map(changed)), forbid: check.forbid.map(changed) }
  }),
  stateChecks: task.stateChecks.map((check) => {
    const changed = (text: string): string => change(text, `credence.state_checks.${check.id}`)
    const { contains, equals, command } = check
    return {
      ...check,
      contains: contains.map(changed),
      equals: equals === null ? null : changed(equals),
      command: command?.map(changed) ?? null,
    }
  }),
})

/** Placeholders without a value, each as the end of a sentence. One that is left would reach the agent or a check. */
export function findUndeclared(task: Task): readonly { readonly field: string; readonly message: string }[] {
  const values = drawAll(task.draw, task.id)
  if (values.size === 0) return []
  const known = [...values].flatMap(([name, parts]) => Object.keys(parts).map((part) => partNameOf(name, part)))
  const found = new Map<string, { readonly field: string; readonly message: string }>()
  mapTexts(task, (text, field) => {
    for (const [, name = '', part = ''] of text.matchAll(placeholder)) {
      const message = `has {{${partNameOf(name, part)}}}, but credence.draw knows only ${known.join(', ')}`
      if (values.get(name)?.[part] === undefined) found.set(`${field} ${message}`, { field, message })
    }
    return text
  })
  return [...found.values()]
}

const partNameOf = (name: string, part: string): string => (part === '' ? name : `${name}.${part}`)

const replaceIn = (text: string, values: ReadonlyMap<string, Drawn>, write: (value: string) => string): string =>
  text.replace(placeholder, (whole, name: string, part: string = '') => {
    const value = values.get(name)?.[part]
    // Python writes a brace as two braces, so unknown names are left alone.
    return value === undefined ? whole : write(value)
  })

/** Escaped for a Python string literal with any quotes. */
const insidePython = (value: string): string =>
  value
    .replace(/[\\'"]/gu, (mark) => `\\${mark}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')

/** Every variable has its own random stream, so that adding one changes no other. */
const drawAll = (draw: DrawRules, seed: string): ReadonlyMap<string, Drawn> =>
  new Map(
    Object.entries(draw).map(([name, { one_of: values }]) => {
      const random = randomFrom(createHash('sha256').update(`${seed}\n${name}`).digest().readUInt32LE(0))
      return [name, values[Math.floor(random() * values.length)] ?? {}]
    }),
  )
