import { mayChange } from '../../beliefs/authority.ts'
import type { Belief } from '../../beliefs/belief.ts'
import type { BeliefChange } from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import type { BeliefReference } from '../find-belief.ts'
import { currentBelief } from './correct.ts'
import { parseDraft } from './draft.ts'
import { refuseSecrets } from './refuse-secrets.ts'
import { newBelief } from './remember.ts'
import { type ChangeRequest, change, created, type Ports, revised, stateAfter } from './transaction.ts'

export type ResolveRequest = ChangeRequest &
  BeliefReference & {
    /** The decision that settles it: a belief there is, or a new one to be remembered with it. */
    readonly by?:
      | { readonly reference: string }
      | { readonly name: string; readonly content: string; readonly why?: string }
  }

export type Resolved = { readonly question: Belief; readonly decision: Belief | null; readonly event: number }

/** Closes an open question. It is kept, and no longer shown. */
export async function resolve(ports: Ports, request: ResolveRequest): Promise<Resolved> {
  return change(
    ports,
    { ...request, operation: 'resolve' },
    async (at) => {
      const question = await currentBelief(ports, request)
      if (question.type !== 'open_question') {
        throw new MemoryError('invalid', `"${question.name}" is not an open question; its type is ${question.type}.`, {
          hint: 'Use correct to replace a belief.',
        })
      }
      if (!mayChange(request.author.actor, question)) {
        throw new MemoryError('forbidden', `"${question.name}" was asked by a person; only a person can close it.`, {
          hint: 'Remember the answer as a decision, and let the person resolve the question.',
        })
      }
      const { decision, changes } = await decisionFor(ports, request, question, at)
      const closed = revised(question, at, { resolvedAt: at, resolvedBy: decision?.id ?? null })
      return {
        kind: 'resolve',
        changes: [closed, ...changes],
        result: (event) => ({ question: closed.after, decision, event: event.number }),
      }
    },
    async (event) => {
      const question = await stateAfter(ports, event, event.beliefIds[0] as string)
      const decision = question.resolvedBy === null ? null : await ports.store.get(event.user, question.resolvedBy)
      return { question, decision, event: event.number }
    },
  )
}

async function decisionFor(
  ports: Ports,
  request: ResolveRequest,
  question: Belief,
  at: string,
): Promise<{ readonly decision: Belief | null; readonly changes: readonly BeliefChange[] }> {
  const { by, user, author } = request
  if (by === undefined) return { decision: null, changes: [] }
  if ('reference' in by) {
    const decision = await currentBelief(ports, { user, reference: by.reference, scopes: question.scopes })
    if (decision.type !== 'open_question') return { decision, changes: [] }
    throw new MemoryError('invalid', `"${decision.name}" is an open question itself and settles nothing.`, {
      hint: 'Name the decision, or remember it first.',
    })
  }
  const statement = parseDraft({ ...by, type: 'decision', scopes: question.scopes, agent: question.agent })
  await refuseSecrets(author, statement)
  const [taken] = await ports.store.holders(user, statement.name, statement.scopes)
  if (taken !== undefined && taken.id !== question.id) {
    throw new MemoryError('conflict', `The name "${statement.name}" already belongs to ${taken.id}.`, {
      hint: `Resolve it by ${taken.id}, or choose another name.`,
    })
  }
  const provenance = { ...author, sourceId: question.id, model: null, at }
  const decision = newBelief(ports, { user, statement, provenance })
  return { decision, changes: [created(decision)] }
}
