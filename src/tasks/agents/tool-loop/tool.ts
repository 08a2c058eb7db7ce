import type { z } from 'zod'
import type { ToolDefinition } from '../../../models/chat-model.ts'

/** Something a model may do. `use` throws a MemoryError for the model to read when it cannot be done. */
export type Tool = ToolDefinition & { readonly use: (given: Readonly<Record<string, unknown>>) => Promise<string> }

/** A tool whose arguments are checked by the schema that describes them. */
export const defineTool = <Given>(tool: {
  readonly name: string
  readonly description: string
  readonly given: z.ZodType<Given>
  readonly schema: ToolDefinition['parameters']
  readonly use: (given: Given) => Promise<string>
}): Tool => ({
  name: tool.name,
  description: tool.description,
  parameters: tool.schema,
  use: async (raw) => {
    const checked = tool.given.safeParse(raw)
    if (checked.success) return tool.use(checked.data)
    const [issue] = checked.error.issues
    throw new ToolRefusal(`${tool.name}: ${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'not valid'}.`)
  },
})

/** What a tool cannot do, in words for the model that asked. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal'
}
