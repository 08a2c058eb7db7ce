import { z } from 'zod'
import { beliefInView } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

const change = z.object({ at: z.string(), kind: z.string(), author: z.string(), origin: z.string() })

export const getTool = defineTool({
  name: 'memory_get',
  title: 'Read one belief',
  description:
    'Read everything about one belief: its statement, other names, scopes, author and what happened to it. ' +
    'Use it before correcting or forgetting a belief, or when a hit of memory_search has to be judged. ' +
    'Do not use it to look for something: that is memory_search.',
  input: z.strictObject({ id: field.id, scope: field.scope }),
  output: z.object({
    belief: field.beliefAnswer.extend({
      createdAt: z.string(),
      supersededBy: z.string().nullable().describe('The belief that replaced it.'),
      proposedFor: z.string().nullable().describe('The belief it would replace if a person agrees.'),
      resolvedAt: z.string().nullable().describe('When this question was settled.'),
      participants: z.array(z.string()),
      relation: z.string().nullable(),
      timesConfirmed: z.int(),
    }),
    changes: z.array(change).describe('Oldest first, at most the last 20.'),
    notice: field.noticeField,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ id, scope }, call) {
    const belief = await beliefInView(call, id, scope)
    const { revisions } = await call.memory.history(belief.id)
    const { createdAt, supersededBy, proposedFor, resolvedAt, relation } = belief
    const [participants, timesConfirmed] = [[...belief.participants], belief.reinforcement.count]
    const more = { createdAt, supersededBy, proposedFor, resolvedAt, participants, relation, timesConfirmed }
    return {
      belief: { ...field.answerWith(belief), ...more },
      changes: revisions
        .slice(-20)
        .map(({ event: { at, kind, actor, origin } }) => ({ at, kind, author: actor, origin })),
      notice: field.notice,
    }
  },
})
