import { z } from 'zod'
import { visibleScopes } from '../../beliefs/scope.ts'
import { isInView } from '../call-context.ts'
import { defineTool } from '../tool.ts'

export const statusTool = defineTool({
  name: 'memory_status',
  title: 'Status of memory',
  description:
    'Say which scopes of memory are in view, how much is in them, where new beliefs go, and whether proposals wait for the person. ' +
    'Use it when the person asks about the memory itself, or when memory_search finds nothing that should be there. ' +
    'Do not use it to look for content.',
  input: z.strictObject({}),
  output: z.object({
    user: z.string(),
    inView: z.array(z.object({ scope: z.string(), beliefs: z.int() })),
    writesTo: z.array(z.string()).describe('Where memory_remember puts what names no scope.'),
    otherScopes: z
      .int()
      .describe('How many more scopes the person has. They are not listed: name one only if the person does.'),
    proposals: z.int().describe('How many proposals wait for the person, in the scopes in view.'),
    lastChangeAt: z.string().nullable(),
    you: z.string().describe('How your writings are signed.'),
    version: z.string(),
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run(_none, { memory, view, author, version }) {
    const visible = visibleScopes(view.scopes)
    const counts = new Map((await memory.scopes()).map(({ scope, beliefs }) => [scope, beliefs]))
    const waiting = (await memory.proposals()).filter(({ proposal }) => isInView(proposal, view.scopes, view.agent))
    const [last] = await memory.events({ limit: 1 })
    return {
      user: view.user,
      inView: visible.map((scope) => ({ scope, beliefs: counts.get(scope) ?? 0 })),
      writesTo: [...view.homeScopes],
      otherScopes: [...counts.keys()].filter((scope) => !visible.includes(scope)).length,
      proposals: waiting.length,
      lastChangeAt: last?.at ?? null,
      you: `${author.actor}:${author.origin}`,
      version,
    }
  },
})
