import { z } from 'zod'
import { limits } from '../../memory/change/draft.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { beliefInView } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

export const correctTool = defineTool({
  name: 'memory_correct',
  title: 'Correct a belief',
  description:
    'Replace a belief by what is true now. The old statement is kept for the record and never recalled again. ' +
    'Use it when the person says that something remembered is wrong or has changed. ' +
    'Do not use it on your own judgement alone, or to remove something: that is memory_forget. ' +
    'What a person wrote is not changed: the correction is proposed to them, and the outcome says so.',
  input: z.strictObject({
    id: field.id,
    content: field.content,
    name: z.string().min(1).max(limits.name).optional().describe('A new name; the old one stays as an alias.'),
    why: field.why,
    aliases: field.aliases,
    confidence: field.confidence,
    scope: field.scope.describe('Where to look for the belief, when it is in another scope than the usual ones.'),
    key: field.key,
  }),
  output: z.object({
    outcome: z
      .enum(['corrected', 'proposed', 'unchanged'])
      .describe('proposed: nothing has changed yet; a person has to decide. unchanged: the belief says this already.'),
    belief: field.beliefAnswer.describe('As it is now, or as it is proposed.'),
    replaced: z.array(z.string()).describe('Ids of what it replaced, or would replace.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async run({ id, scope, ...correction }, call) {
    const target = await beliefInView(call, id, scope)
    const { outcome, belief, replaced } = await call.memory.correct(target.id, omitUndefined(correction))
    return { outcome, belief: field.answerWith(belief), replaced: replaced.map((old) => old.id) }
  },
})
