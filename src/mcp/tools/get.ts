import { z } from 'zod'
import { idArgument, scopeArgument } from '../arguments.ts'
import { answerWith, beliefAnswer, notice, noticeField } from '../belief-answer.ts'
import { defineTool } from '../tool.ts'
import { beliefInView } from '../visit.ts'

const change = z.object({ at: z.string(), kind: z.string(), author: z.string(), origin: z.string() })

export const getTool = defineTool({
  name: 'memory_get',
  title: 'Read one belief',
  description:
    'Read everything about one belief: its statement, other names, scopes, author and what happened to it. ' +
    'Use it before correcting or forgetting a belief, or when a hit of memory_search has to be judged. ' +
    'Do not use it to look for something: that is memory_search.',
  input: z.strictObject({ id: idArgument, scope: scopeArgument }),
  output: z.object({
    belief: beliefAnswer.extend({
      createdAt: z.string(),
      supersededBy: z.string().nullable().describe('The belief that replaced it.'),
      proposedFor: z.string().nullable().describe('The belief it would replace if a person agrees.'),
      resolvedAt: z.string().nullable().describe('When this question was settled.'),
      participants: z.array(z.string()),
      relation: z.string().nullable(),
      timesConfirmed: z.int(),
    }),
    changes: z.array(change).describe('Oldest first, at most the last 20.'),
    notice: noticeField,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ id, scope }, visit) {
    const belief = await beliefInView(visit, id, scope)
    const { revisions } = await visit.memory.history(belief.id)
    const { createdAt, supersededBy, proposedFor, resolvedAt, participants, relation, reinforcement } = belief
    return {
      belief: {
        ...answerWith(belief),
        createdAt,
        supersededBy,
        proposedFor,
        resolvedAt,
        participants: [...participants],
        relation,
        timesConfirmed: reinforcement.count,
      },
      changes: revisions
        .slice(-20)
        .map(({ event: { at, kind, actor, origin } }) => ({ at, kind, author: actor, origin })),
      notice,
    }
  },
})
