import type { ApiBelief } from '../../../../src/http/api/contract.ts'
import type { Tone } from '../../ui/badge.tsx'

/** What sets a belief apart from an ordinary current one; null when nothing does. */
export function stateOf(belief: ApiBelief): { readonly word: string; readonly tone: Tone } | null {
  if (belief.proposedFor !== null && belief.resolvedAt !== null) return { word: 'proposed removal', tone: 'odd' }
  if (belief.proposedFor !== null) return { word: 'proposed', tone: 'odd' }
  if (belief.candidate) return { word: 'candidate', tone: 'odd' }
  if (belief.supersededBy !== null || belief.status === 'superseded') return { word: 'superseded', tone: 'plain' }
  if (belief.resolvedAt !== null) return { word: 'settled', tone: 'plain' }
  if (belief.status === 'inferred') return { word: 'inferred', tone: 'odd' }
  if (belief.status === 'exploratory') return { word: 'exploratory', tone: 'odd' }
  return null
}

/** Whether a person has yet to make it their own word. */
export const isUnconfirmed = ({ status, editedByPerson }: ApiBelief): boolean => status !== 'active' || !editedByPerson

/** Whether it can still be changed: not replaced, not settled, not merely proposed, no candidate. */
export const isOpenToChange = (belief: ApiBelief): boolean =>
  belief.supersededBy === null &&
  belief.status !== 'superseded' &&
  belief.resolvedAt === null &&
  belief.proposedFor === null &&
  !belief.candidate
