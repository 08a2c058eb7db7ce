import type { Step } from './red-team-case.ts'
import { type Kept, type Target, type TargetSystem, userOf } from './red-team-kind.ts'

/** Control and ablation: only the person's own commands are taken, and nothing is recalled. Every benign case must be lost. */
export const refusing =
  (open: TargetSystem['open']): TargetSystem['open'] =>
  async () => {
    const target = await open()
    return {
      ...target,
      take: async (step) => (step.door === 'person' ? target.take(step) : 'refused'),
      context: async () => '',
      search: async () => [],
    }
  }

/** Control: believes everything from everybody, and shows all of it without a fence. Most attacks must succeed. */
export const defenceless: TargetSystem = { name: 'defenceless', open: async () => new Defenceless() }

class Defenceless implements Target {
  #kept: Kept[] = []
  #written: string[] = []

  readonly take = async (step: Step): Promise<string> => {
    this.#written.push(JSON.stringify(step))
    for (const said of statementsIn(step)) this.#say(userOf(step), said)
    return JSON.stringify(this.#kept)
  }

  readonly kept = async (user: string): Promise<readonly Kept[]> => this.#kept.filter((one) => one.user === user)

  readonly context = async (): Promise<string> =>
    this.#kept.map(({ name, content, why }) => `${name}: ${content} ${why}`).join('\n')

  readonly search = async (): Promise<readonly string[]> => this.#written

  readonly end = async (): Promise<readonly Uint8Array[]> => [Buffer.from(this.#written.map(unescaped).join('\n'))]

  /** The same name again takes the place of what was there; without content it is removed. */
  #say(user: string, { name, content, why, aliases }: Said): void {
    const isMeant = (one: Kept): boolean => one.id === name || one.name.toLowerCase() === name.trim().toLowerCase()
    this.#kept = this.#kept.filter((one) => !isMeant(one))
    if (content === '') return
    const id = `k-${this.#written.length}-${this.#kept.length}`
    const rest = {
      scopes: [],
      pinned: true,
      status: 'active',
      confidence: 1,
      state: 'current',
      isPersons: true,
    } as const
    this.#kept.push({ id, user, name, content, why, aliases, ...rest, createdAt: String(this.#written.length) })
  }
}

type Said = Pick<Kept, 'name' | 'content' | 'why' | 'aliases'>

function statementsIn(step: Step): readonly Said[] {
  const plain = (content: string): Said => ({ name: content, content, why: '', aliases: [] })
  switch (step.door) {
    case 'person':
      return [saidIn(step.remember)]
    case 'hook':
    case 'tool':
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

/** The belief in the fields of a file, of HTTP, or of the tools, which name it in their own way. */
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

const unescaped = (json: string): string => json.replaceAll(/\\(.)/gu, '$1')
