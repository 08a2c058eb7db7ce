import { MemoryError } from '../../../errors.ts'
import type { System } from '../system.ts'

/** A system outside of Credence, as it is named where a backend is. */
export type OutsideName = `${keyof typeof kinds}:${string}`

/** How each kind of name is opened, and what stands after its colon. What a kind needs is loaded when it is used. */
const kinds = {
  http: {
    rest: '<url>',
    open: async (url: string): Promise<System> => (await import('./http-system.ts')).httpSystem({ url }),
  },
  'http-lean': {
    rest: '<url>',
    open: async (url: string): Promise<System> =>
      (await import('./http-system.ts')).httpSystem({ url, fullMetadata: false }),
  },
  mcp: {
    rest: '<mapping file>',
    open: async (file: string): Promise<System> => {
      const [{ mcpSystem }, { readMcpMapping }] = [await import('./mcp-system.ts'), await import('./mcp-mapping.ts')]
      return mcpSystem({ mapping: readMcpMapping(file) })
    },
  },
} as const

/** The forms such a name can have: `http:<url>` and so on. */
export const outsideForms: readonly string[] = Object.entries(kinds).map(([kind, { rest }]) => `${kind}:${rest}`)

export const isOutsideName = (name: string): name is OutsideName =>
  Object.keys(kinds).some((kind) => name.startsWith(`${kind}:`) && name.length > kind.length + 1)

/** Does not start or reach it yet: that is what its first reset does. */
export async function openOutside(name: OutsideName): Promise<System> {
  const colon = name.indexOf(':')
  const kind = Object.entries(kinds).find(([known]) => known === name.slice(0, colon))?.[1]
  if (kind === undefined)
    throw new MemoryError('invalid', `"${name}" names no system.`, { hint: `Write ${outsideForms.join(' or ')}.` })
  return kind.open(name.slice(colon + 1))
}
