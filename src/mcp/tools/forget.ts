import { z } from 'zod'
import { omitUndefined } from '../../omit-undefined.ts'
import { beliefInView } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

export const forgetTool = defineTool({
  name: 'memory_forget',
  title: 'Forget a belief',
  description:
    'Remove every text of a belief for good; it cannot be undone. ' +
    'Use it only when the person asks for something you wrote to be forgotten. ' +
    'Do not use it to tidy up, or for what is merely out of date: that is memory_correct. ' +
    'What a person wrote is refused: only they can forget it, with `credence forget`.',
  input: z.strictObject({
    id: field.id,
    scope: field.scope.describe('Where to look for the belief, when it is in another scope than the usual ones.'),
    key: field.key,
  }),
  output: z.object({
    forgotten: z
      .array(z.string())
      .describe('Ids; proposals for the belief and repetitions of its statement go with it.'),
    at: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async run({ id, scope, key }, call) {
    const belief = await beliefInView(call, id, scope)
    const { beliefIds, at } = await call.memory.forget(belief.id, omitUndefined({ key }))
    return { forgotten: [...beliefIds], at }
  },
})
