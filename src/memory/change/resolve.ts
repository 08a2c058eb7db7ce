import { type Belief, mayChange } from '../../beliefs/belief.ts'
import type { BeliefChange } from '../../beliefs/journal.ts'
import { forbidden, invalid } from '../../errors.ts'
import { type BeliefReference, currentBelief, requireFreeName } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { reasonToWait } from './authority.ts'
import { parseDraft, refuseSecrets } from './draft.ts'
import { newBelief } from './remember.ts'
import { type ChangeRequest, change, createChange, reviseChange, stateAfter } from './transaction.ts'

export type ResolveRequest = ChangeRequest &
  BeliefReference & {
    /** The decision that settles the question: an existing belief, or a new one that is remembered with it. */
    readonly by?:
      | { readonly reference: string }
      | { readonly name: string; readonly content: string; readonly why?: string }
  }

export type ResolveResult = { readonly question: Belief; readonly decision: Belief | null; readonly event: number }

/** Closes an open question. The question is kept but no longer shown. */
export async function resolve(ports: Ports, request: ResolveRequest): Promise<ResolveResult> {
  return change(
    ports,
    { ...request, operation: 'resolve' },
    async (at) => {
      const question = await currentBelief(ports, request)
      if (question.type !== 'open_question')
        throw invalid(
          `"${question.name}" is not an open question; its type is ${question.type}.`,
          'Use correct to replace a belief.',
        )
      if (!mayChange(request.author, question))
        throw forbidden(
          `"${question.name}" was asked by another author; only a person can close it.`,
          'Remember the answer as a decision, and let the person resolve the question.',
        )
      const { decision, changes } = await decisionFor(ports, request, question, at)
      const closed = reviseChange(question, at, { resolvedAt: at, resolvedBy: decision?.id ?? null })
      return { kind: 'resolve', changes: [closed, ...changes] }
    },
    async (event, made) => {
      const question = await stateAfter(ports, event, made)
      const decision = question.resolvedBy === null ? null : await ports.store.get(event.user, question.resolvedBy)
      return { question, decision, event: event.number }
    },
  )
}

async function decisionFor(
  ports: Ports,
  { by, user, author }: ResolveRequest,
  question: Belief,
  at: string,
): Promise<{ readonly decision: Belief | null; readonly changes: readonly BeliefChange[] }> {
  if (by === undefined) return { decision: null, changes: [] }
  if ('reference' in by) {
    const decision = await currentBelief(ports, { user, reference: by.reference, scopes: question.scopes })
    if (decision.type !== 'open_question') return { decision, changes: [] }
    throw invalid(
      `"${decision.name}" is an open question, so it cannot settle another one.`,
      'Give the decision, or remember it first.',
    )
  }
  const statement = parseDraft({ ...by, type: 'decision', scopes: question.scopes, agent: question.agent })
  await refuseSecrets(author, statement)
  await requireFreeName(
    ports,
    { user, ...statement },
    { except: [question.id], hint: ({ id }) => `Resolve it by ${id}, or choose another name.` },
  )
  const provenance = { ...author, sourceId: question.id, model: null, at }
  const decision = newBelief(ports, { user, statement, provenance })
  const reason = await reasonToWait(author, decision)
  if (reason !== null)
    throw forbidden(
      `The decision "${decision.name}" waits for a person. ${reason}`,
      'Remember it first; it becomes a proposal for the person.',
    )
  return { decision, changes: [createChange(decision)] }
}
