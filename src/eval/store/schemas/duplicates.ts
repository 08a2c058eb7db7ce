import type { z } from 'zod'

/** One issue for each item whose `field` an earlier item has already. */
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
