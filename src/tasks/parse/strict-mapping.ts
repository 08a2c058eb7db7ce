import { z } from 'zod'

/** A mapping that rejects other keys, and lists the allowed ones. `rule` is the message about a value that is no mapping. */
export const strictMapping = <Shape extends z.ZodRawShape>(shape: Shape, rule = 'must be a mapping') =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return rule
      const unknown = issue.keys.map((key) => `"${key}"`).join(', ')
      return `has ${unknown}; it may have ${Object.keys(shape).join(', ')}`
    },
  })
