import { z } from 'zod'
import * as belief from './belief-shapes.ts'

/** What every answer but 2xx is. */
export const ApiError = z.object({
  error: z.object({
    code: z.enum([
      'invalid',
      'not_found',
      'conflict',
      'forbidden',
      'unavailable',
      'unauthorized',
      'too_large',
      'unsupported',
      'too_many',
      'not_allowed',
      'bug',
    ]),
    message: z.string(),
    hint: z.string().nullable(),
    current: belief.Belief.nullable().optional().describe('With a conflict over a belief: what it says now.'),
  }),
})
