import { z } from 'zod'
import { beliefTypes } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import type { Memory } from '../../../memory/memory.ts'
import { beliefLine } from '../../../memory/recall/render.ts'
import type { ToolDefinition } from '../../../models/chat-model.ts'

/** Something a model may do. `use` throws a ToolRefusal for the model to read when it cannot be done. */
export type Tool = ToolDefinition & { readonly use: (given: Readonly<Record<string, unknown>>) => Promise<string> }

/** Why a tool cannot do what was asked, in words for the model. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal'
}

/** A tool whose arguments are described and checked by one schema. */
export function defineTool<Given>(tool: {
  readonly name: string
  readonly description: string
  readonly given: z.ZodType<Given>
  readonly use: (given: Given) => Promise<string>
}): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.given, { io: 'input' })
  return {
    name: tool.name,
    description: tool.description,
    parameters,
    use: async (raw) => {
      const checked = tool.given.safeParse(raw)
      if (checked.success) return tool.use(checked.data)
      const [issue] = checked.error.issues
      throw new ToolRefusal(`${tool.name}: ${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'not valid'}.`)
    },
  }
}

/** What a tool gave back, or why it refused. */
export async function useTool(
  tools: readonly Tool[],
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) {
    const known = tools.map((one) => one.name).join(', ')
    return { text: `There is no tool ${name}. There are ${known}.`, isError: true }
  }
  try {
    return { text: await tool.use(given), isError: false }
  } catch (error) {
    if (error instanceof ToolRefusal) return { text: error.message, isError: true }
    throw error
  }
}

/** The parts of a memory that a model gets to use. */
export type UsedMemory = Pick<Memory, 'search' | 'remember' | 'correct' | 'forget' | 'close'>

const mostFound = 20
const knownName = z.string().describe('The name it is remembered under.')

/** Credence's memory as tools. `open` opens it on first use. */
export function memoryTools(open: () => Promise<UsedMemory>): readonly Tool[] {
  /** A refusal of the memory is for the model to read, and to try something else. */
  const withMemory = async (work: (memory: UsedMemory) => Promise<string>): Promise<string> => {
    try {
      return await work(await open())
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
      throw new ToolRefusal(error.hint === undefined ? error.message : `${error.message} ${error.hint}`)
    }
  }
  return [
    defineTool({
      name: 'memory_search',
      description:
        'Look something up in what is remembered about the person and their work, also from earlier sessions.',
      given: z.strictObject({ query: z.string().min(1).describe('Words to look for, or a question.') }),
      use: ({ query }) =>
        withMemory(async (memory) => {
          const { beliefs: hits } = await memory.search(query, { limit: mostFound })
          return hits.length === 0
            ? 'Nothing is remembered about that.'
            : hits.map(({ belief }) => beliefLine(belief)).join('\n')
        }),
    }),
    defineTool({
      name: 'memory_remember',
      description: "Remember one statement, in the person's own words. The same name said again is a correction.",
      given: z.strictObject({
        name: z.string().describe('What it is about, in a few words: "favourite language".'),
        content: z.string().describe('What is true.'),
        aliases: z.array(z.string()).default([]).describe('Other words one would ask for it by.'),
        why: z.string().default('').describe('What follows from it for you; may be left out.'),
        type: z.enum(beliefTypes).optional(),
      }),
      use: ({ type, ...draft }) =>
        withMemory(async (memory) => {
          const { outcome, belief } = await memory.remember({ ...draft, ...(type === undefined ? {} : { type }) })
          return `${outcome}: ${beliefLine(belief)}`
        }),
    }),
    defineTool({
      name: 'memory_correct',
      description: 'Replace what is remembered under a name by something newer.',
      given: z.strictObject({ name: knownName, content: z.string().describe('What is true now.') }),
      use: ({ name, content }) =>
        withMemory(async (memory) => {
          await memory.correct(name, { content })
          return `Corrected: ${name}.`
        }),
    }),
    defineTool({
      name: 'memory_forget',
      description: 'Remove something from memory for good, when the person asks for it.',
      given: z.strictObject({ name: knownName }),
      use: ({ name }) =>
        withMemory(async (memory) => {
          await memory.forget(name)
          return `Forgotten: ${name}.`
        }),
    }),
  ]
}
