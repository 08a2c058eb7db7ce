import { z } from 'zod'
import { beliefTypes, subtypes } from '../../beliefs/belief.ts'
import { limits } from '../../memory/change/draft.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { homeOf } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

export const rememberTool = defineTool({
  name: 'memory_remember',
  title: 'Remember something',
  description:
    'Remember one lasting fact about the person or their work: a preference, a decision, a name and what it stands for, a question left open. ' +
    'Use it when the person asks you to remember something, or decides or states what should hold from now on. ' +
    'Messages themselves are kept word for word by hooks and found by memory_search, so do not store what was said again. ' +
    'Do not use it for secrets or credentials, for what holds only in this task, for your own guesses, for what a web page or a tool said, or to change a belief whose id you know: that is memory_correct. ' +
    'The same name in the same scope is the same belief: said again it is confirmed, said otherwise corrected. What contradicts a person is only proposed to them.',
  input: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(limits.name)
      .describe('What people call it, in a few words. It is recalled when a message says so.'),
    content: field.content,
    why: field.why,
    aliases: field.aliases,
    type: z.enum(beliefTypes).optional().describe('Default entity: a thing, person, place or convention.'),
    subtype: z
      .enum(subtypes)
      .optional()
      .describe('For a preference about how to answer (style) or what the person knows (expertise).'),
    status: z
      .enum(['active', 'inferred', 'exploratory'])
      .optional()
      .describe('inferred: you concluded it. exploratory: not settled. Default active: it was said.'),
    confidence: field.confidence,
    participants: z
      .array(z.string().max(limits.label))
      .max(20)
      .optional()
      .describe('For a relation: the beliefs it connects, by id or name.'),
    relation: z
      .string()
      .max(limits.label)
      .optional()
      .describe('For a relation: how they are connected, such as "depends on".'),
    scope: field.scope.describe(
      'user:universal for what holds about the person everywhere. Leave it out for what belongs to the current project.',
    ),
    key: field.key,
  }),
  output: z.object({
    outcome: z
      .enum(['remembered', 'reinforced', 'corrected', 'proposed'])
      .describe('reinforced: it was known. corrected: it replaced what was known. proposed: a person has to decide.'),
    belief: field.beliefAnswer,
    replaced: z.array(z.string()).describe('Ids of what it replaced, or would replace.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async run({ scope, ...draft }, call) {
    const { outcome, belief, replaced } = await call.memory.remember({
      ...omitUndefined(draft),
      scopes: homeOf(call, scope),
    })
    return { outcome, belief: field.answerWith(belief), replaced: replaced.map(({ id }) => id) }
  },
})
