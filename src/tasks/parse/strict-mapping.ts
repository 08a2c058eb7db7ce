import { z } from 'zod'

/**
 * A mapping that rejects other keys, and lists the allowed ones. `rule` is the message for a value that is not a
 * mapping.
 */
export const strictMapping = <Shape extends z.ZodRawShape>(shape: Shape, rule = 'must be a mapping') =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return rule
      const unknown = issue.keys.map((key) => `"${key}"`).join(', ')
      return `has ${unknown}; it may have ${Object.keys(shape).join(', ')}`
    },
  })
