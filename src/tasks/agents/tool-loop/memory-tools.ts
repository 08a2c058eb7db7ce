import { z } from 'zod'
import { beliefTypes } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import type { Memory } from '../../../memory/memory.ts'
import { beliefLine } from '../../../memory/render.ts'
import { defineTool, type Tool, ToolRefusal } from './tool.ts'

/** The parts of a memory that a model gets to use. */
export type UsedMemory = Pick<Memory, 'search' | 'remember' | 'correct' | 'forget' | 'close'>

const mostFound = 20

const text = (description: string) => ({ type: 'string', description })
const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** Credence's memory as tools. `memory` opens it on first use. */
export function memoryTools(memory: () => Promise<UsedMemory>): readonly Tool[] {
  return [
    defineTool({
      name: 'memory_search',
      description:
        'Look something up in what is remembered about the person and their work, also from earlier sessions.',
      schema: object({ query: text('Words to look for, or a question.') }, ['query']),
      given: z.strictObject({ query: z.string().min(1) }),
      use: ({ query }) =>
        answered(async () => {
          const { beliefs: hits } = await (await memory()).search(query, { limit: mostFound })
          return hits.length === 0
            ? 'Nothing is remembered about that.'
            : hits.map(({ belief }) => beliefLine(belief)).join('\n')
        }),
    }),
    defineTool({
      name: 'memory_remember',
      description: "Remember one statement, in the person's own words. The same name said again is a correction.",
      schema: object(
        {
          name: text('What it is about, in a few words: "favourite language".'),
          content: text('What is true.'),
          aliases: { type: 'array', items: { type: 'string' }, description: 'Other words one would ask for it by.' },
          why: text('What follows from it for you; may be left out.'),
          type: { type: 'string', enum: beliefTypes },
        },
        ['name', 'content'],
      ),
      given: z.strictObject({
        name: z.string(),
        content: z.string(),
        aliases: z.array(z.string()).default([]),
        why: z.string().default(''),
        type: z.enum(beliefTypes).optional(),
      }),
      use: ({ name, content, aliases, why, type }) =>
        answered(async () => {
          const draft = { name, content, aliases, why, ...(type === undefined ? {} : { type }) }
          const { outcome, belief } = await (await memory()).remember(draft)
          return `${outcome}: ${beliefLine(belief)}`
        }),
    }),
    defineTool({
      name: 'memory_correct',
      description: 'Replace what is remembered under a name by something newer.',
      schema: object({ name: text('The name it is remembered under.'), content: text('What is true now.') }, [
        'name',
        'content',
      ]),
      given: z.strictObject({ name: z.string(), content: z.string() }),
      use: ({ name, content }) =>
        answered(async () => {
          await (await memory()).correct(name, { content })
          return `Corrected: ${name}.`
        }),
    }),
    defineTool({
      name: 'memory_forget',
      description: 'Remove something from memory for good, when the person asks for it.',
      schema: object({ name: text('The name it is remembered under.') }, ['name']),
      given: z.strictObject({ name: z.string() }),
      use: ({ name }) =>
        answered(async () => {
          await (await memory()).forget(name)
          return `Forgotten: ${name}.`
        }),
    }),
  ]
}

/** What a memory refuses is for the model to read, and to do otherwise. */
async function answered(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
    throw new ToolRefusal(error.hint === undefined ? error.message : `${error.message} ${error.hint}`)
  }
}
