import { type Belief, isCurrent, isStanding, reinforcedAt } from '../../beliefs/belief.ts'
import type { FormKeyOf } from '../../search/forms.ts'
import { indexEntries } from '../../search/forms.ts'
import { heldName } from '../standing.ts'
import { countTerms, textFields, textTerms } from '../text-terms.ts'
import { agentKey, packFlags } from './belief-row.ts'

/** Everything the derived tables hold about one belief, worked out from the belief alone. */
export type DerivedBelief = {
  readonly belief: Belief
  readonly current: boolean
  readonly nameKey: string
  readonly scopes: readonly string[]
  readonly agent: string
  readonly audience: string
  readonly isPinned: boolean
  readonly flags: number
  readonly reinforced: number
  readonly forms: readonly FormKeyOf[]
  readonly typoTargets: readonly string[]
  /** The words of each searchable field. */
  readonly texts: readonly (readonly string[])[]
  readonly words: number
}

export function deriveBelief(belief: Belief): DerivedBelief {
  const current = isCurrent(belief)
  const scopes = [...new Set(belief.scopes)].sort()
  const { forms, typoTargets } = indexEntries(belief)
  const terms = textTerms(belief)
  return {
    belief,
    current,
    nameKey: heldName(belief.name),
    scopes,
    agent: agentKey(belief.agent),
    audience: JSON.stringify([belief.agent, ...scopes]),
    isPinned: belief.pinned && current,
    flags: packFlags(belief),
    reinforced: reinforcedAt(belief),
    forms,
    typoTargets,
    texts: textFields.map((field) => terms[field]),
    words: countTerms(terms),
  }
}

/** 0 for a standing instruction, 1 for another preference that is part of every context, null for everything else. */
export const shelfIn = (scope: string, belief: Belief): number | null =>
  isStanding(belief, scope) ? Number(belief.subtype !== 'instruction') : null
