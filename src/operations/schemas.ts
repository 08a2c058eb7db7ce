import { z } from 'zod'
import type { Field, Fields } from './field.ts'

/** A number in a URL. `Number` alone would also accept 1e3, 0x10 and blanks. */
const digits = z
  .string()
  .regex(/^\d{1,16}$/u, 'expected a whole number in digits')
  .transform(Number)
const trueOrFalse = z.stringbool({ truthy: ['true'], falsy: ['false'] })

/** `json`: values have JSON types. `text`: all values are texts, as in a URL. */
type Form = 'json' | 'text'

/** The schema of an object with these fields and no others. */
export const objectSchema = (fields: Fields, form: Form = 'json'): z.ZodObject =>
  z.strictObject(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field, form)])))

export function fieldSchema(field: Field, form: Form = 'json'): z.ZodType {
  const plain = plainSchema(field, form)
  const value = field.isNullable === true ? plain.nullable() : plain
  const present = presentSchema(value, field)
  return field.help === undefined ? present : present.describe(field.help)
}

function presentSchema(value: z.ZodType, { presence, default: otherwise }: Field): z.ZodType {
  if (presence === 'needed') return value
  return presence === 'default' ? value.default(otherwise) : value.optional()
}

function plainSchema(field: Field, form: Form): z.ZodType {
  const { min, max } = field
  switch (field.kind) {
    case 'text':
      return withLimits(field.isNotBlank === true ? notBlank : z.string(), min, max)
    case 'number':
      return withLimits(z.number(), min, max)
    case 'whole':
      return form === 'json' ? withLimits(z.int(), min, max) : digits.pipe(withLimits(z.int(), min, max))
    case 'flag':
      return form === 'json' ? z.boolean() : trueOrFalse
    case 'choice':
      return field.choices?.length === 1 ? z.literal(field.choices[0] ?? '') : z.enum(field.choices ?? [])
    case 'list':
      return withLimits(z.array(fieldSchema(field.item ?? text, form)), min, max)
    case 'object':
      return objectSchema(field.fields ?? {}, form)
  }
}

const notBlank = z.string().regex(/\S/u, 'it is blank')
const text: Field = { kind: 'text', presence: 'needed' }

type Limited<Schema> = { min(value: number): Schema; max(value: number): Schema }

function withLimits<Schema extends Limited<Schema>>(schema: Schema, min: number | undefined, max: number | undefined) {
  const withMin = min === undefined ? schema : schema.min(min)
  return max === undefined ? withMin : withMin.max(max)
}
