import type { Belief } from '../../src/beliefs/belief.ts'
import type { BeliefDraft } from '../../src/memory/change/draft.ts'
import { type EditRequest, type EditResult, type Edits, editBelief } from '../../src/memory/change/edit.ts'
import { type RememberResult, remember } from '../../src/memory/change/remember.ts'
import type { ChangeRequest } from '../../src/memory/change/transaction.ts'
import type { BeliefReference } from '../../src/memory/find-belief.ts'
import type { Author, Ports } from '../../src/memory/ports.ts'
import { person } from '../recall/fixtures.ts'

export const agent = { actor: 'agent', origin: 'codex' } as const
export const otherAgent = { actor: 'agent', origin: 'cursor' } as const
export const importer = { actor: 'document', origin: 'notes.jsonl' } as const

/** Remembers a statement about code in Ann's memory, by default as the person. */
export const tell = (
  ports: Ports,
  name: string,
  content: string,
  { author = person, key, ...draft }: Partial<BeliefDraft> & { author?: Author; key?: string } = {},
): Promise<RememberResult> =>
  remember(ports, {
    user: 'ann',
    author,
    draft: { name, content, scopes: ['domain:code'], ...draft },
    ...(key === undefined ? {} : { key }),
  })

/** A request about one of Ann's beliefs, by default from the person. */
export const about = (reference: string, author: Author = person): ChangeRequest & BeliefReference => ({
  user: 'ann',
  author,
  reference,
})

/** All of Ann's beliefs, including retired ones and proposals. */
export async function everything({ store }: Ports): Promise<readonly Belief[]> {
  return (await store.list({ user: 'ann' }, { limit: 100_000, offset: 0 })).items
}

/** The current state of the belief. */
export async function now({ store }: Ports, { id }: { readonly id: string }): Promise<Belief> {
  const belief = await store.get('ann', id)
  if (belief === null) throw new Error(`There is no belief ${id}.`)
  return belief
}

/** A belief without the fields that every change updates. */
export const lasting = ({ version: _version, updatedAt: _updatedAt, ...rest }: Belief) => rest

const editing =
  <Request extends EditRequest>(editsOf: (request: Request) => Edits) =>
  (memory: Ports, request: Request): Promise<EditResult> =>
    editBelief(memory, { ...request, edits: editsOf(request) })

export const pin = editing(() => ({ pinned: true }))
export const unpin = editing(() => ({ pinned: false }))
type AliasRequest = EditRequest & { readonly aliases: readonly string[] }
export const addAliases = editing(({ aliases }: AliasRequest) => ({ addAliases: aliases }))
export const removeAliases = editing(({ aliases }: AliasRequest) => ({ removeAliases: aliases }))
export const setWhy = editing(({ why }: EditRequest & { readonly why: string }) => ({ why }))
