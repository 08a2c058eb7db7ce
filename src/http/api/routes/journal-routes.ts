import { z } from 'zod'
import * as belief from '../belief-shapes.ts'
import { digits, flag, limit } from '../request-shapes.ts'
import { type Route, route } from '../route.ts'

/** What happened, and taking it back. */
export const journalRoutes = {
  journal: route({
    method: 'GET',
    path: '/journal',
    tag: 'journal',
    summary: 'Recent changes, newest first.',
    query: z.strictObject({
      limit: limit(50),
      before: digits.pipe(z.int().positive()).optional().describe('Only changes with a lower number.'),
      hearing: flag.optional().describe('true: also changes that only kept what was said.'),
    }),
    answer: z.object({
      items: z.array(
        z.object({
          event: belief.JournalEntry,
          names: z
            .record(z.string(), z.string().nullable())
            .describe('What the first few beliefs are called now, by id; null for what is gone.'),
        }),
      ),
      nextBefore: z.int().nullable().describe('For `before`, to see older ones; null when there are none.'),
    }),
  }),
  undo: route({
    method: 'POST',
    path: '/journal/:number/undo',
    tag: 'journal',
    summary: 'Take back a change.',
    params: z.object({ number: digits.pipe(z.int().positive()) }),
    answer: z.object({
      undone: belief.JournalEntry,
      restored: z.array(belief.Belief).describe('The first 20.'),
      restoredCount: z.int(),
      withdrawn: z.array(z.string()).describe('The first 20.'),
      withdrawnCount: z.int(),
      event: z.int(),
    }),
  }),
} as const satisfies Readonly<Record<string, Route>>
