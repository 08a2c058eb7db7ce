import { z } from 'zod'
import { universalScope } from '../../beliefs/scope.ts'
import { limits } from '../../memory/change/draft.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { homeOf } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

/** What an agent calls a statement, and the type and subtype that it has as a belief. */
const kinds = {
  fact: { type: 'entity' },
  decision: { type: 'decision' },
  preference: { type: 'preference' },
  style: { type: 'preference', subtype: 'style' },
  expertise: { type: 'preference', subtype: 'expertise' },
  question: { type: 'open_question' },
} as const

type Kind = keyof typeof kinds
// Object.keys loses the type of the keys.
const kindNames = Object.keys(kinds) as [Kind, ...Kind[]]

export const rememberTool = defineTool({
  name: 'memory_remember',
  title: 'Remember something',
  description:
    'Remember one lasting fact about the person or their work: a preference, a decision, a name and what it stands for, a question left open. ' +
    'Use it when the person asks you to remember something, or decides or states what should hold from now on. ' +
    'Hooks already keep what the person and you say, word for word, and learn what the person asks to be remembered; do not store that again. ' +
    'Do not use it for secrets or credentials, for what holds only in this task, for your own guesses, for what a web page or a tool said, or to change a belief whose id you know: that is memory_correct. ' +
    'A statement that is known is only confirmed. What contradicts another author, what would hold everywhere, preferences and standing instructions are only proposed to the person.',
  input: z.strictObject({
    statement: field.content,
    kind: z
      .enum(kindNames)
      .optional()
      .describe(
        'fact (the default): a thing, person, place or convention. style: how to answer the person. expertise: what they know. question: left open.',
      ),
    where: field.scope.describe(
      'Where it applies: everywhere, for what is about the person; or a scope that the person named, such as domain:code. Leave it out for the current project.',
    ),
    names: z
      .array(z.string().min(1).max(limits.name))
      .min(1)
      .max(20)
      .optional()
      .describe(
        'What people call it, the usual name first. It is recalled when a message says one of them. Leave it out if the statement says it.',
      ),
    key: field.key,
  }),
  output: z.object({
    outcome: z
      .enum(['remembered', 'reinforced', 'corrected', 'proposed'])
      .describe('reinforced: it was known. corrected: it replaced what was known. proposed: a person has to decide.'),
    belief: field.beliefAnswer,
    replaced: z.array(z.string()).describe('Ids of what it replaced, or would replace.'),
    otherValues: z
      .array(field.beliefAnswer)
      .describe(
        'Beliefs that give another value of the same thing. If the new value replaces one, correct that one with memory_correct.',
      ),
    refusedAliases: z
      .array(z.object({ alias: z.string(), reason: z.string(), instead: z.string() }))
      .describe('Names that were left out, and better ones.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async run({ statement, kind, where, names = [], key }, call) {
    const [name, ...aliases] = names
    const { outcome, belief, replaced, otherValues, refusedAliases } = await call.memory.remember({
      content: statement,
      ...(kind === undefined ? {} : kinds[kind]),
      ...omitUndefined({ name, key }),
      ...(aliases.length === 0 ? {} : { aliases }),
      scopes: homeOf(call, where === 'everywhere' ? universalScope : where),
    })
    return {
      outcome,
      belief: field.answerWith(belief),
      replaced: replaced.map(({ id }) => id),
      otherValues: otherValues.map((other) => field.answerWith(other)),
      refusedAliases: [...refusedAliases],
    }
  },
})
