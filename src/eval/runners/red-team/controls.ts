import type { AttackStep } from './red-team-case.ts'
import { type Kept, type Target, type TargetSystem, userOf } from './red-team-runner.ts'

/** A control and ablation: accepts only the person's own commands, and recalls nothing. Every benign case must fail. */
export const refuseEverything =
  (open: TargetSystem['open']): TargetSystem['open'] =>
  async () => {
    const target = await open()
    return {
      ...target,
      take: async (step) => (step.door === 'person' || step.door === 'forget' ? target.take(step) : 'refused'),
      context: async () => '',
      search: async () => [],
      surfaces: async (ask) =>
        Object.fromEntries(Object.keys(await target.surfaces(ask)).map((name) => [name, ''] as const)),
    }
  }

/** A control that believes every author and shows everything without a fence. Most attacks must succeed. */
export const defenceless: TargetSystem = { name: 'defenceless', open: async () => openDefenceless() }

function openDefenceless(): Target {
  let all: readonly Kept[] = []
  const written: string[] = []
  /** A repeated name replaces the old belief; empty content removes it. */
  const say = (user: string, { name, content, why, aliases }: Said): void => {
    all = all.filter((belief) => belief.id !== name && belief.name.toLowerCase() !== name.trim().toLowerCase())
    if (content === '') return
    const id = `k-${written.length}-${all.length}`
    const trusted = {
      scopes: [],
      pinned: true,
      status: 'active',
      confidence: 1,
      state: 'current',
      isPersons: true,
    } as const
    all = [...all, { id, user, name, content, why, aliases, ...trusted, createdAt: String(written.length) }]
  }
  return {
    take: async (step) => {
      written.push(JSON.stringify(step))
      for (const said of statementsIn(step)) say(userOf(step), said)
      return JSON.stringify(all)
    },
    kept: async (user) => all.filter((belief) => belief.user === user),
    context: async () => all.map(({ name, content, why }) => `${name}: ${content} ${why}`).join('\n'),
    search: async () => written,
    surfaces: async () => ({ everything: written.map(unescapeJson).join('\n') }),
    end: async () => [Buffer.from(written.map(unescapeJson).join('\n'))],
  }
}

type Said = Pick<Kept, 'name' | 'content' | 'why' | 'aliases'>

function statementsIn(step: AttackStep): readonly Said[] {
  const plain = (content: string): Said => ({ name: content, content, why: '', aliases: [] })
  switch (step.door) {
    case 'person':
      return [saidIn(step.remember)]
    case 'forget':
      return []
    case 'hook':
    case 'tool':
    case 'chats':
      return [plain(step.text)]
    case 'mcp':
      return step.tool === 'memory_search' ? [] : [saidIn(step.arguments)]
    case 'http':
      return step.method === 'GET' ? [] : [saidIn({ id: step.path.split(/[/?]/u)[4] ?? '', ...step.body })]
    case 'file':
      return [
        ...(step.old === undefined ? [] : [{ ...plain(''), name: step.old }]),
        ...(step.line === undefined ? [] : [plain(step.line)]),
      ]
    case 'import':
      return step.format === 'markdown' ? [plain(step.text)] : step.text.split('\n').map((line) => saidIn(object(line)))
    case 'extractor': {
      const { beliefs } = object(step.answer)
      return Array.isArray(beliefs) ? beliefs.map(saidIn) : []
    }
  }
}

/** Reads a belief. Its fields have different names in a file, an HTTP request and a tool call. */
const saidIn = (fields: Readonly<Record<string, unknown>>): Said => {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(text) : [])
  const [called = '', ...others] = list(fields.names)
  return {
    name: text(fields.id) || text(fields.name) || called,
    content: text(fields.content) || text(fields.statement),
    why: text(fields.why),
    aliases: [...list(fields.aliases), ...others],
  }
}

const object = (json: string): Record<string, unknown> => JSON.parse(json)

const unescapeJson = (json: string): string => json.replaceAll(/\\(.)/gu, '$1')
