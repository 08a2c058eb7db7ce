import fc from 'fast-check'
import type { Belief } from '../../src/beliefs/belief.ts'
import { MemoryError } from '../../src/errors.ts'
import { correct } from '../../src/memory/change/correct.ts'
import { reinforce } from '../../src/memory/change/edit.ts'
import { forget } from '../../src/memory/change/forget.ts'
import { accept, reject } from '../../src/memory/change/proposals.ts'
import { remember } from '../../src/memory/change/remember.ts'
import { resolve } from '../../src/memory/change/resolve.ts'
import { undo } from '../../src/memory/change/undo.ts'
import type { Author, Ports } from '../../src/memory/ports.ts'
import { importBeliefs } from '../../src/memory/transfer/import.ts'
import { person } from '../recall/fixtures.ts'
import { addAliases, agent, everything, importer, otherAgent, pin, removeAliases, setWhy, unpin } from './fixtures.ts'

/** An operation on Ann's memory. Its target is a number, taken modulo the beliefs that exist at that time. */
export type Operation = {
  readonly kind: keyof typeof steps
  readonly author: Author
  readonly nth: number
  readonly name: string
  readonly content: string
  readonly alias: string
  readonly scopes: readonly string[]
  readonly isQuestion: boolean
  readonly isPinned: boolean
  readonly renames: boolean
  readonly key?: string
  /** The fixed target, if the operation does not use the number. */
  readonly reference?: string
}

const authors: readonly Author[] = [person, agent, otherAgent, importer]
const names = ['db', 'Cache', 'tone of voice']
const contents = ['alpha', 'Beta.', 'gamma rays']
const aliases = ['pg', 'storage', 'DB', 'cache']
const places = ['domain:code', 'project:ledger', 'user:universal']

type Step = (memory: Ports, operation: Operation) => Promise<unknown>

const request = ({ author, key }: Operation) => ({ user: 'ann', author, ...(key === undefined ? {} : { key }) })

/** The target of an operation: any existing belief, including retired and proposed ones. */
export async function pointedAt(
  memory: Ports,
  { nth, reference }: Operation,
  among: (belief: Belief) => boolean = () => true,
): Promise<string> {
  if (reference !== undefined) return reference
  const beliefs = (await everything(memory)).filter(among)
  return beliefs[nth % beliefs.length]?.id ?? 'nothing-at-all'
}

const about = async (memory: Ports, operation: Operation) => ({
  ...request(operation),
  reference: await pointedAt(memory, operation),
})

const steps = {
  remember: (memory, operation) => {
    const { name, content, scopes, alias, isPinned, isQuestion } = operation
    const type = isQuestion ? 'open_question' : 'entity'
    return remember(memory, {
      ...request(operation),
      draft: { name, content, scopes, type, pinned: isPinned, aliases: isPinned ? [alias] : [] },
    })
  },
  correct: async (memory, operation) =>
    correct(memory, {
      ...(await about(memory, operation)),
      content: operation.content,
      ...(operation.renames ? { name: operation.name } : {}),
    }),
  pin: async (memory, operation) => pin(memory, await about(memory, operation)),
  unpin: async (memory, operation) => unpin(memory, await about(memory, operation)),
  reinforce: async (memory, operation) => reinforce(memory, await about(memory, operation)),
  addAlias: async (memory, operation) =>
    addAliases(memory, { ...(await about(memory, operation)), aliases: [operation.alias] }),
  removeAlias: async (memory, operation) =>
    removeAliases(memory, { ...(await about(memory, operation)), aliases: [operation.alias] }),
  setWhy: async (memory, operation) => setWhy(memory, { ...(await about(memory, operation)), why: operation.content }),
  resolve: async (memory, operation) => {
    const reference = await pointedAt(memory, operation, ({ type }) => type === 'open_question')
    const by = operation.renames ? { by: { name: operation.name, content: operation.content } } : {}
    return resolve(memory, { ...request(operation), reference, ...by })
  },
  accept: async (memory, operation) =>
    accept(memory, { ...request(operation), reference: await pointedAt(memory, operation, isProposal) }),
  reject: async (memory, operation) =>
    reject(memory, { ...request(operation), reference: await pointedAt(memory, operation, isProposal) }),
  forget: async (memory, operation) =>
    forget(memory, { ...(await about(memory, operation)), wholeChain: operation.renames }),
  undo: async (memory, operation) => {
    const events = await memory.store.events('ann', { limit: 5 })
    const event = operation.renames ? undefined : events[operation.nth % events.length]?.number
    return undo(memory, { ...request(operation), ...(event === undefined ? {} : { event }) })
  },
  import: async (memory, { author, name, content, scopes, nth, renames }) => {
    const known = (await everything(memory))[nth]
    const record = renames && known !== undefined ? { ...known, content } : { id: `file-${nth}`, name, content, scopes }
    const text = JSON.stringify(record)
    return importBeliefs(memory, { user: 'ann', author, trusted: nth % 2 === 0, text, source: 'file', scopes })
  },
} satisfies Record<string, Step>

const isProposal = ({ proposedFor }: Belief): boolean => proposedFor !== null

export const operationKinds = Object.keys(steps) as readonly Operation['kind'][]

export const operation = (
  kinds: readonly Operation['kind'][] = operationKinds,
  by: readonly Author[] = authors,
): fc.Arbitrary<Operation> =>
  fc.record({
    // Half of all operations add a statement, so that the others have targets.
    kind: fc.oneof(fc.constantFrom(...kinds), fc.constant('remember' as const)),
    author: fc.constantFrom(...by),
    nth: fc.nat(7),
    name: fc.constantFrom(...names),
    content: fc.constantFrom(...contents),
    alias: fc.constantFrom(...aliases),
    scopes: fc.subarray(places, { minLength: 1 }),
    isQuestion: fc.integer({ min: 0, max: 4 }).map((chance) => chance === 0),
    isPinned: fc.boolean(),
    renames: fc.boolean(),
  })

export const operations = (...args: Parameters<typeof operation>): fc.Arbitrary<readonly Operation[]> =>
  fc.array(operation(...args), { minLength: 1, maxLength: 16 })

/**
 * Runs an operation and returns the code of its refusal, or null. Any other error fails the test, and so does the refusal "kept
 * changing" without concurrent writers.
 */
export async function perform(memory: Ports, one: Operation): Promise<string | null> {
  try {
    const step: Step = steps[one.kind]
    await step(memory, one)
    return null
  } catch (error) {
    if (error instanceof MemoryError && !error.message.includes('kept changing')) return error.code
    throw error
  }
}

export async function performAll(memory: Ports, all: readonly Operation[]): Promise<void> {
  for (const one of all) await perform(memory, one)
}
