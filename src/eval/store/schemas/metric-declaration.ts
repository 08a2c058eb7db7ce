import { z } from 'zod'
import { MetricName, Words } from './primitives.ts'

/** What a pack says about one of its metrics. */
export const MetricDeclaration = z
  .looseObject({
    name: MetricName,
    direction: z.enum(['higher', 'lower']).describe('Which way is better.'),
    unit: Words.optional(),
    range: z.tuple([z.number(), z.number()]).optional().describe('Lowest and highest possible value.'),
    minEffect: z
      .number()
      .nonnegative()
      .optional()
      .describe('The smallest change that matters. A smaller one is neither a regression nor an improvement.'),
    primary: z.boolean().optional().describe('The figure to look at first.'),
  })
  .refine(({ range }) => range === undefined || range[0] < range[1], {
    path: ['range'],
    error: 'must go from the lowest to the highest value',
  })

export type MetricDeclaration = z.infer<typeof MetricDeclaration>
