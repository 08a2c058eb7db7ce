import { z } from 'zod'

/** Longest list in one answer. */
export const mostItems = 200

export const text = (most: number) => z.string().max(most)
export const message = text(100_000).describe('What the person says to the agent.')
export const scopes = z.array(text(200)).max(50)
export const beliefId = z.object({ id: text(200) })
export const version = z
  .int()
  .positive()
  .describe('The version that was looked at. If the belief has changed since, nothing is done: 409.')
export const time = text(40)
export const flag = z.stringbool({ truthy: ['true'], falsy: ['false'] })
/** A number in an address. `Number` alone would also take 1e3, 0x10 and blanks, and undo another change than was meant. */
export const digits = z
  .string()
  .regex(/^\d{1,16}$/u, 'expected a whole number in digits')
  .transform(Number)
export const limit = (usual: number) => digits.pipe(z.int().min(1).max(mostItems)).default(usual)
export const paging = (usual: number) => ({
  limit: limit(usual),
  offset: digits.pipe(z.int().min(0).max(1_000_000_000)).default(0),
})
export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), total: z.int() })
