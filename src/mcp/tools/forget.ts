import { z } from 'zod'
import { omitUndefined } from '../../omit-undefined.ts'
import { idArgument, keyArgument, scopeArgument } from '../arguments.ts'
import { defineTool } from '../tool.ts'
import { beliefInView } from '../visit.ts'

export const forgetTool = defineTool({
  name: 'memory_forget',
  title: 'Forget a belief',
  description:
    'Remove every text of a belief for good; it cannot be undone. ' +
    'Use it only when the person asks for something you wrote to be forgotten. ' +
    'Do not use it to tidy up, or for what is merely out of date: that is memory_correct. ' +
    'What a person wrote is refused: only they can forget it, with `credence forget`.',
  input: z.strictObject({
    id: idArgument,
    scope: scopeArgument.describe('Where to look for the belief, when it is in another scope than the usual ones.'),
    key: keyArgument,
  }),
  output: z.object({
    forgotten: z
      .array(z.string())
      .describe('Ids; proposals for the belief and repetitions of its statement go with it.'),
    at: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async run({ id, scope, key }, visit) {
    const belief = await beliefInView(visit, id, scope)
    const { beliefIds, at } = await visit.memory.forget(belief.id, omitUndefined({ key }))
    return { forgotten: [...beliefIds], at }
  },
})
