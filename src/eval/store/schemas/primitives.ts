import { z } from 'zod'

/**
 * Control characters, lone surrogates, and characters that are invisible or change the direction of text. For use inside a
 * character class. Written out, because not all consumers of the published schemas support `\p{…}`.
 */
export const unprintable = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb`

/** Max length of an id in characters and in bytes. With its extension, an id must fit into a file name. */
const maxIdLength = 128
const maxIdBytes = 200

/**
 * An id that may become part of a path: no separator, no `..`, no leading dot (reserved for the store), no control or invisible
 * character, no lone surrogate, and no spaces at the ends, which some file systems trim.
 */
export const SafeId = z
  .string()
  .min(1)
  .max(maxIdLength)
  .regex(new RegExp(String.raw`^(?!\.)(?!.*\.\.)(?!\s)(?!.*\s$)[^/\\${unprintable}]+$`, 'u'), {
    error:
      'must be a safe id: no / or \\, no "..", no control or invisible characters, no dot at its beginning, no space at its ends',
  })
  .refine((id) => Buffer.byteLength(id) <= maxIdBytes, { error: `must fit into ${maxIdBytes} bytes of UTF-8` })

export const isSafeId = (id: string): boolean => SafeId.safeParse(id).success

/** A valid date with time and zone, such as `2026-03-06T10:00:00.000Z`. */
export const Timestamp = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 date and time with its zone, such as 2026-03-06T10:00:00.000Z',
})

export const Count = z.int({ error: 'must be a whole number' }).nonnegative()

export const Words = z.string().regex(/\S/u, { error: 'must not be blank' })

export const SchemaVersion = z.literal(1)

/** The digest of a file or of a pack. */
export const ContentHash = z.string().regex(/^sha256:[0-9a-f]{64}$/u, {
  error: 'must be sha256: followed by 64 hexadecimal digits',
})

export const MetricName = z
  .string()
  .min(1)
  .max(maxIdLength)
  .regex(new RegExp(String.raw`^[^\s${unprintable}]+$`, 'u'), { error: 'must be a metric name without spaces' })

/** Each value is a number. A metric that was not measured is omitted, never null. */
export const Metrics = z.record(MetricName, z.number())

export const SystemIdentity = z.looseObject({ name: Words, version: Words })

/** Reports an issue for each item whose `field` repeats that of an earlier item. */
export function reportDuplicates<Field extends string>(
  context: z.core.$RefinementCtx,
  path: readonly PropertyKey[],
  items: readonly Readonly<Record<Field, string>>[],
  field: Field,
): void {
  const first = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const earlier = first.get(item[field])
    if (earlier === undefined) {
      first.set(item[field], index)
      continue
    }
    const message = `must be unique, but item ${earlier} has it too`
    context.addIssue({ code: 'custom', path: [...path, index, field], message, input: item[field] })
  }
}

export const MetricDeclaration = z
  .looseObject({
    name: MetricName,
    direction: z.enum(['higher', 'lower']).describe('Which way is better.'),
    unit: Words.optional(),
    range: z.tuple([z.number(), z.number()]).optional().describe('Lowest and highest possible value.'),
    minEffect: z.number().nonnegative().optional().describe('The smallest change that matters; a smaller one is none.'),
    floor: z.number().optional().describe('The worst value that a gate lets pass, whatever the baseline.'),
    primary: z.boolean().optional().describe('The figure to look at first.'),
  })
  .refine(({ range }) => range === undefined || range[0] < range[1], {
    path: ['range'],
    error: 'must go from the lowest to the highest value',
  })

export type MetricDeclaration = z.infer<typeof MetricDeclaration>
