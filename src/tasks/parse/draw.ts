import { createHash } from 'node:crypto'
import { z } from 'zod'
import { randomFrom } from '../../eval/score/statistics.ts'
import { strictMapping } from './strict-mapping.ts'

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/u, { error: 'must be lower case letters, digits and _, beginning with a letter' })

/** Values are inserted into YAML, Markdown and Python, so they must not need quoting in any of them. */
const Value = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, or true or false' })
  .transform(String)
  .refine((value) => value.trim() !== '' && !/['"\\{}\n]/u.test(value), {
    error: 'must not be blank nor have quotes, braces, backslashes or line breaks',
  })

const DrawRule = strictMapping(
  { one_of: z.array(z.union([Value.transform((value) => ({ '': value })), z.record(Name, Value)])).min(1) },
  'must be { one_of: […] }',
)

/** The variables by name, each with its possible values. */
export const Draw = z.record(Name, DrawRule)
export type DrawRules = z.infer<typeof Draw>

const placeholder = /\{\{\s*([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?\s*\}\}/gu

/** Replaces every `{{name}}` and `{{name.part}}` with the value drawn by the seed. Other braces, as in Python, stay as they are. */
export function fillDrawn(text: string, draw: DrawRules, seed: string): string {
  // A plain value has the key ''. Every variable has a separate random stream, so that adding a variable changes no other.
  const values = new Map<string, Readonly<Record<string, string>> | undefined>(
    Object.entries(draw).map(([name, { one_of: choices }]) => {
      const random = randomFrom(createHash('sha256').update(`${seed}\n${name}`).digest().readUInt32LE(0))
      return [name, choices[Math.floor(random() * choices.length)]]
    }),
  )
  return text.replace(placeholder, (whole, name: string, part = '') => values.get(name)?.[part] ?? whole)
}

/** Placeholders without a declared variable, outside of Python code. They would reach the agent or a check unreplaced. */
export function findUndeclared(text: string, draw: DrawRules): readonly string[] {
  if (Object.keys(draw).length === 0) return []
  const left = fillDrawn(text, draw, '').replaceAll(/^```py[\s\S]*?^```/gmu, '')
  return [...new Set([...left.matchAll(placeholder)].map(([whole]) => whole))]
}
